//! Properties of group privacy: no chain of neighbours exceeds the group event, exact laws are exact,
//! sizes multiply, and every size has an answer.

use std::time::{Duration, Instant};

use crate::common::random::{self, at, config, log_uniform, reported};
use mizan_accounting::{
    FiniteDistribution, Reason, RenyiCurve, basic_composition, group_privacy, methods,
};
use mizan_core::{Count, Delta, Epsilon, PrivacyEvent};
use proptest::prelude::*;

fn event(text: &str) -> PrivacyEvent {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn curve(event: &PrivacyEvent) -> RenyiCurve {
    RenyiCurve::of(event).unwrap_or_else(|error| panic!("{event}: {error}"))
}

fn group(size: u64, event: PrivacyEvent) -> PrivacyEvent {
    PrivacyEvent::Group {
        size: Count::new(size).unwrap(),
        event: Box::new(event),
    }
}

/// A chain of distributions: each is the one before with every probability
/// moved by a random factor. In multiples of 2^-40, so sums are exactly one.
fn chain() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (2_usize..5, 2_usize..6, log_uniform(1e-3, 2.0)).prop_flat_map(|(outcomes, steps, size)| {
        let start = prop::collection::vec(log_uniform(1e-3, 1.0), outcomes);
        let moves = prop::collection::vec(-size..size, outcomes);
        (start, prop::collection::vec(moves, steps)).prop_map(|(start, moves)| {
            let mut chain = vec![normalised(&start)];
            for step in moves {
                let last = &chain[chain.len() - 1];
                let moved: Vec<f64> = last.iter().zip(step).map(|(p, by)| p * by.exp()).collect();
                chain.push(normalised(&moved));
            }
            chain
        })
    })
}

fn normalised(weights: &[f64]) -> Vec<f64> {
    let unit = 2f64.powi(40);
    let sum: f64 = weights.iter().sum();
    let cut = |weight: &f64| (weight / sum * unit).floor().max(1.0) / unit;
    let mut masses: Vec<f64> = weights.iter().map(cut).collect();
    masses[0] += 1.0 - masses.iter().sum::<f64>();
    masses
}

/// The certified ends of D_α(p ‖ q).
fn divergence(p: &[f64], q: &[f64], order: f64) -> (f64, f64) {
    let made = |masses| FiniteDistribution::new(masses).unwrap();
    let bracket = made(p).divergence(&made(q), at(order)).unwrap();
    (bracket.lower.get(), bracket.upper.get())
}

/// The largest divergence of neighbours along a chain, in both directions.
fn step(chain: &[Vec<f64>], order: f64) -> f64 {
    let both = |pair: &[Vec<f64>]| {
        let (p, q) = (&pair[0], &pair[1]);
        divergence(p, q, order).1.max(divergence(q, p, order).1)
    };
    chain.windows(2).map(both).fold(0.0, f64::max)
}

/// Both ends of the chain are within the curve of the group event.
fn reaches(chain: &[Vec<f64>], orders: &[f64]) -> Result<(), TestCaseError> {
    let points: Vec<(f64, f64)> = orders.iter().map(|&a| (a, step(chain, a))).collect();
    let steps = chain.len() - 1;
    let event = group(steps as u64, reported(&points));
    let curve = curve(&event);
    for order in [
        1.0,
        1.01,
        1.2,
        1.5,
        2.0,
        2.3,
        3.0,
        4.0,
        5.5,
        8.0,
        12.0,
        16.0,
        31.0,
        32.0,
        100.0,
        f64::INFINITY,
    ] {
        let claimed = curve.at(at(order)).upper.get();
        let (first, last) = (&chain[0], &chain[steps]);
        for truth in [
            divergence(first, last, order).0,
            divergence(last, first, order).0,
        ] {
            prop_assert!(
                truth <= claimed,
                "{event} at {order}: {truth} above {claimed} for {chain:?}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn no_chain_exceeds_a_group_with_a_largest_loss(chain in chain()) {
        reaches(&chain, &[2.0, 4.0, 8.0, 16.0, 32.0, f64::INFINITY])?;
    }

    #[test]
    fn no_chain_exceeds_a_group_without_a_largest_loss(chain in chain()) {
        reaches(&chain, &[2.0, 4.0, 8.0, 16.0, 32.0])?;
    }

    #[test]
    fn no_chain_exceeds_a_group_of_one_order(chain in chain(), order in 16.0..100.0_f64) {
        reaches(&chain, &[order])?;
    }

    /// Proposition 2: order α/2^c, 3^c ε, for α >= 2^(c+1); and for a pair the
    /// sharper ((α-1)/(α-2) + 1) ε at α/2.
    #[test]
    fn never_worse_than_proposition_2(order in prop_oneof![log_uniform(4.0, 300.0), (2_i32..9).prop_map(|n| 2f64.powi(n))], epsilon in log_uniform(1e-9, 100.0)) {
        let report = reported(&[(order, epsilon)]);
        let sharper = ((order - 1.0) / (order - 2.0) + 1.0) * epsilon;
        let pair = curve(&group(2, report.clone())).at(at(order / 2.0)).upper.get();
        prop_assert!(pair <= sharper * (1.0 + 1e-11), "rdp({order}, {epsilon}): {pair} above {sharper}");
        for c in 1..5 {
            if order < 2f64.powi(c + 1) {
                break;
            }
            let ours = curve(&group(1 << c, report.clone())).at(at(order / 2f64.powi(c))).upper.get();
            let paper = 3f64.powi(c) * epsilon;
            prop_assert!(ours <= paper * (1.0 + 1e-11), "group of 2^{c}, rdp({order}, {epsilon}): {ours} above {paper}");
        }
    }

    /// A largest loss is never multiplied by more than the size.
    #[test]
    fn never_worse_than_the_largest_loss(size in 1_u64..200, epsilon in log_uniform(1e-6, 10.0)) {
        let curve = curve(&group(size, reported(&[(f64::INFINITY, epsilon)])));
        let most = size as f64 * epsilon;
        for order in [1.0, 1.5, 2.0, 10.0, f64::INFINITY] {
            prop_assert!(curve.at(at(order)).upper.get() <= most * (1.0 + 1e-12));
        }
    }

    /// A group of one person is the event itself; a group of groups is a larger group.
    #[test]
    fn sizes_multiply(event in random::event(), first in 2_u64..40, second in 1_u64..40) {
        prop_assert_eq!(group_privacy(Count::ONE, &event).unwrap(), event.clone());
        let size = |size| Count::new(size).unwrap();
        let whole = group_privacy(size(first * second), &event);
        prop_assert_eq!(group_privacy(size(first), &group(second, event.clone())), whole.clone());
        prop_assert_eq!(group_privacy(size(first), &group(second, group(1, event.clone()))), whole.clone());
        // The event means what the function says.
        if let Ok(whole) = whole {
            let (grouped, direct) = (curve(&group(first * second, event)), curve(&whole));
            for order in [1.0, 1.5, 4.0, 64.0, f64::INFINITY] {
                prop_assert_eq!(grouped.at(at(order)).upper, direct.at(at(order)).upper);
            }
        }
    }

    /// The cost of a larger group is not smaller.
    #[test]
    fn larger_groups_cost_more(event in random::event(), size in 1_u64..1000) {
        let (less, more) = (curve(&group(size, event.clone())), curve(&group(size + 1, event.clone())));
        for order in [1.0, 1.5, 4.0, 64.0, f64::INFINITY] {
            let (less, more) = (less.at(at(order)), more.at(at(order)));
            prop_assert!(less.lower <= more.upper, "{event}: {size} cost {less:?}, one more {more:?}");
        }
    }
}

/// Laws of scale, at parameters that doubles hold exactly.
#[test]
fn groups_are_the_scaled_event() {
    for (grouped, scaled) in [
        ("group(3, gaussian(2))", "gaussian(2, 3)"),
        ("group(4, gaussian(2, 0.5))", "gaussian(2, 2)"),
        ("group(3, laplace(2))", "laplace(2, 3)"),
        ("group(3, laplace(20, 0.25))", "laplace(20, 0.75)"),
        ("group(5, discrete-gaussian(2))", "discrete-gaussian(2, 5)"),
        ("group(2, discrete-laplace(2, 3))", "discrete-laplace(2, 6)"),
        ("group(3, pure(0.5))", "pure(1.5)"),
        ("group(3, exponential(0.5))", "exponential(1.5)"),
        ("group(3, zcdp(0.125))", "zcdp(1.125)"),
        ("group(3, gdp(0.5))", "gdp(1.5)"),
        // Through ρ = τ²/2.
        ("group(3, cdp(0.125, 0.5))", "zcdp(1.125)"),
        ("group(3, cdp(0, 0.5))", "zcdp(1.125)"),
        ("group(3, rr(0.75))", "3 * rr(0.75)"),
        ("group(3, 10 * rr(0.25, 8))", "10 * (3 * rr(0.25, 8))"),
        ("group(1, gaussian(2))", "gaussian(2)"),
        ("group(2, group(3, pure(0.5)))", "pure(3)"),
        (
            "group(2, gaussian(2) + 10 * pure(0.5))",
            "gaussian(2, 2) + 10 * pure(1)",
        ),
        (
            "group(2, 3 * (laplace(2) + 5 * (gdp(0.25) + zcdp(0.5))))",
            "3 * (laplace(2, 2) + 5 * (gdp(0.5) + zcdp(2)))",
        ),
        (
            "7 * group(2, gaussian(1) + group(3, laplace(4)))",
            "7 * (gaussian(1, 2) + laplace(4, 6))",
        ),
        (
            "group(5, gaussian(1)) + group(2, pure(1))",
            "gaussian(1, 5) + pure(2)",
        ),
    ] {
        let (left, right) = (event(grouped), event(scaled));
        let (by_group, by_scale) = (curve(&left), curve(&right));
        for order in [1.0, 1.001, 1.5, 2.0, 3.7, 16.0, 1000.0, f64::INFINITY] {
            assert_eq!(
                by_group.at(at(order)).upper,
                by_scale.at(at(order)).upper,
                "{grouped} at {order}"
            );
        }
        for delta in [1e-3, 1e-9] {
            let delta = Delta::new(delta).unwrap();
            // A price of a group need not be reached: it may have no lower bound.
            let uppers = |event: &PrivacyEvent| -> Vec<_> {
                let bounds = methods::epsilon(event, delta).bounds;
                bounds
                    .iter()
                    .map(|bound| (bound.method, bound.upper))
                    .collect()
            };
            assert_eq!(uppers(&left), uppers(&right), "{grouped}");
        }
    }
}

/// (sε, δ (1 + e^ε + ... + e^((s-1)ε))).
#[test]
fn groups_of_approximate_privacy_iterate() {
    for epsilon in [0.0, 1e-9, 0.125, 1.0, 3.0_f64] {
        for size in [1_u32, 2, 3, 10] {
            let text = format!("group({size}, approximate({epsilon}, 1e-20))");
            let (whole, failing) = basic_composition(&event(&text)).unwrap();
            let terms: f64 = (0..size).map(|i| (f64::from(i) * epsilon).exp()).sum();
            let sum = 1e-20 * terms;
            assert!(
                failing.get() >= sum * (1.0 - 1e-12) && failing.get() <= sum * (1.0 + 1e-12),
                "{text}: {failing}"
            );
            let all = f64::from(size) * epsilon;
            assert!(
                whole.upper.get() >= all && whole.upper.get() <= all * (1.0 + 1e-15),
                "{text}"
            );
        }
    }
}

/// Group sizes that no population has.
const HUGE: [u64; 4] = [1_000_003, 1 << 40, (1 << 53) - 1, 1 << 53];

/// Every word that has a law of scale, in groups up to 2^53 and beyond.
#[test]
fn huge_groups_are_answered() {
    for text in [
        "gaussian(2)",
        "gaussian(1e300)",
        "laplace(2)",
        "laplace(1e-300)",
        "discrete-gaussian(2)",
        "discrete-laplace(2)",
        "rr(0.75)",
        "rr(0.25, 10)",
        "exponential(0.5)",
        "pure(0.5)",
        "pure(0)",
        "pure(1e300)",
        "approximate(0.5, 1e-9)",
        "approximate(0, 1e-300)",
        "approximate(1e-300, 0)",
        "zcdp(0.5)",
        "zcdp(1e-300)",
        "cdp(0.5, 1)",
        "gdp(0.5)",
        "gdp(1e300)",
        "gaussian(2) + 3 * laplace(4)",
    ] {
        for size in HUGE {
            let grouped = group(size, event(text));
            for nested in [grouped.clone(), group(1 << 53, grouped)] {
                answered(&nested);
            }
        }
    }
}

/// Nothing panics, nothing is undefined.
fn answered(event: &PrivacyEvent) {
    if let Ok(curve) = RenyiCurve::of(event) {
        for order in [1.0, 2.0, f64::INFINITY] {
            assert!(!curve.at(at(order)).upper.get().is_nan(), "{event}");
        }
    }
    for bound in methods::epsilon(event, Delta::new(1e-6).unwrap()).bounds {
        assert!(bound.upper.is_finite(), "{event}: {bound:?}");
    }
    for bound in methods::delta(event, Epsilon::new(1.0).unwrap()).bounds {
        assert!((0.0..=1.0).contains(&bound.upper.get()), "{event}");
    }
}

/// Reports have no law of scale; only with a largest loss does one say
/// something about any group.
#[test]
fn huge_groups_of_reports_are_answered() {
    for (text, largest) in [
        ("rdp(2, 0.1)", None),
        ("rdp(1:0.1, 2:0.1)", None),
        ("rdp(1:0.1)", None),
        ("rdp(2:0.1, 4:0.2, 8:0.3, 16:0.5, 32:0.7, 64:1)", None),
        ("rdp(2:0.1, 4:0.2, 8:0.3, inf:4)", Some(4.0)),
    ] {
        for size in HUGE {
            let started = Instant::now();
            let grouped = group_privacy(Count::new(size).unwrap(), &event(text));
            match (grouped, largest) {
                (Err(Reason::GroupTooLarge), None) => {}
                (Ok(grouped), Some(largest)) => {
                    let whole = curve(&grouped).at(at(f64::INFINITY)).upper.get();
                    let most = largest * Count::new(size).unwrap().as_f64();
                    assert!(whole >= most && whole <= most * (1.0 + 1e-12), "{text}");
                }
                (other, _) => panic!("group({size}, {text}): {other:?}"),
            }
            let took = started.elapsed();
            assert!(took < TEST_TIMEOUT, "group({size}, {text}) took {took:?}");
        }
    }
}

/// Some seconds, for machines that are busy.
const TEST_TIMEOUT: Duration = Duration::from_secs(20);

/// The largest orders and groups that an event may name.
#[test]
fn large_orders_in_large_groups_are_answered() {
    for size in [1 << 17, 1 << 20, 1 << 53] {
        let started = Instant::now();
        let grouped = group_privacy(Count::new(size).unwrap(), &event("rdp(1000000, 1e-9)"));
        drop(grouped);
        assert!(started.elapsed() < TEST_TIMEOUT, "a group of {size}");
    }
}
