//! Properties of the Rényi divergence, over random finite distributions: Propositions 8 to 11 of
//! Mironov 2017, data processing and additivity; and inputs that are refused.
//!
//! # Reference
//! Mironov 2017, Appendix A; van Erven and Harremoës 2014, Theorems 9 and 28.

use crate::common::random::{at, config, log_uniform, order};
use mizan_accounting::FiniteDistribution;
use mizan_accounting::divergence::DistributionError;
use proptest::prelude::*;

/// A distribution as plain numbers; each stands for a multiple of 2^-53, and
/// the numerators add up to 2^53, so the doubles add up to one exactly.
type Masses = Vec<f64>;

/// Random weights over many magnitudes, some of them zero, as exact masses.
fn masses(size: usize, zeros: bool) -> impl Strategy<Value = Masses> {
    let weight = if zeros {
        prop_oneof![1 => Just(0.0), 6 => log_uniform(1e-6, 1.0)].boxed()
    } else {
        log_uniform(1e-6, 1.0).boxed()
    };
    prop::collection::vec(weight, size).prop_map(normalised)
}

/// Rounds weights to multiples of 2^-53 that add up to exactly one.
fn normalised(mut weights: Vec<f64>) -> Masses {
    const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0;
    if weights.iter().all(|&weight| weight == 0.0) {
        weights[0] = 1.0;
    }
    let sum: f64 = weights.iter().sum();
    let mut masses: Masses = weights
        .iter()
        .map(|weight| (weight / sum / UNIT).floor() * UNIT)
        .collect();
    // Multiples of 2^-53 below one are added without rounding.
    let missing = 1.0 - masses.iter().sum::<f64>();
    let largest = (0..masses.len())
        .max_by(|&i, &j| masses[i].total_cmp(&masses[j]))
        .unwrap();
    masses[largest] += missing;
    masses
}

/// Two distributions over the same outcomes.
fn pair(zeros: bool) -> impl Strategy<Value = (Masses, Masses)> {
    size().prop_flat_map(move |n| (masses(n, zeros), masses(n, zeros)))
}

fn triple() -> impl Strategy<Value = (Masses, Masses, Masses)> {
    size().prop_flat_map(|n| (masses(n, false), masses(n, false), masses(n, false)))
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 1_usize..10, 3 => 10_usize..100, 1 => 100_usize..=1000]
}

/// A nearby distribution, for divergences close to zero.
fn close_pair() -> impl Strategy<Value = (Masses, Masses)> {
    (1_usize..20).prop_flat_map(|n| {
        let factors = prop::collection::vec(-1.0..1.0, n);
        (masses(n, false), factors, log_uniform(1e-12, 0.1)).prop_map(|(p, factors, size)| {
            let moved = p.iter().zip(&factors).map(|(p, f)| p * (1.0 + size * f));
            let moved = normalised(moved.collect());
            (p, moved)
        })
    })
}

fn distribution(masses: &[f64]) -> FiniteDistribution {
    FiniteDistribution::new(masses).unwrap_or_else(|error| panic!("{masses:?}: {error}"))
}

/// (lower, upper) of D_α(p ‖ q).
fn divergence(p: &[f64], q: &[f64], order: f64) -> (f64, f64) {
    let bracket = distribution(p).divergence(&distribution(q), at(order));
    let bracket = bracket.unwrap();
    (bracket.lower.get(), bracket.upper.get())
}

/// A bound computed here in plain doubles, a little enlarged for that.
fn plus(bound: f64) -> f64 {
    bound * (1.0 + 1e-12) + 1e-300
}

proptest! {
    #![proptest_config(config(1000))]

    /// Proposition 8, and zero only for equal distributions.
    #[test]
    fn never_negative((p, q) in pair(true), (r, s) in close_pair(), order in order()) {
        for (p, q) in [(&p, &q), (&r, &s)] {
            for order in [1.0, order, f64::INFINITY] {
                let (lower, upper) = divergence(p, q, order);
                prop_assert!(lower >= 0.0 && lower <= upper, "[{lower:e}, {upper:e}]");
                prop_assert!(p == q || upper > 0.0, "{p:?} and {q:?} at {order}");
                let (_, itself) = divergence(p, p, order);
                prop_assert!(itself <= 1e-300, "{itself:e} from itself");
            }
        }
    }

    /// Both bounds agree to 1e-12 wherever the definition is finite.
    #[test]
    fn brackets_are_tight((p, q) in pair(true), (r, s) in close_pair(), order in order()) {
        for (p, q) in [(&p, &q), (&r, &s)] {
            for order in [1.0, order, f64::INFINITY] {
                let (lower, upper) = divergence(p, q, order);
                prop_assert!(
                    upper == lower || upper - lower <= 1e-12 * upper || upper - lower <= 1e-300,
                    "{p:?} and {q:?} at {order}: [{lower:e}, {upper:e}]"
                );
            }
        }
    }

    /// The definition, summed in plain doubles where that is accurate.
    #[test]
    fn agrees_with_the_definition((p, q) in pair(true), order in 1.5..20.0_f64) {
        let reachable = p.iter().zip(&q).all(|(&p, &q)| p == 0.0 || q > 0.0);
        let (lower, upper) = divergence(&p, &q, order);
        if reachable {
            let terms = p.iter().zip(&q).filter(|&(&p, _)| p > 0.0);
            let moment: f64 = terms.map(|(p, q)| p * (p / q).powf(order - 1.0)).sum();
            let expected = moment.ln() / (order - 1.0);
            prop_assert!((upper - expected).abs() <= 1e-10 * (1.0 + expected), "{upper:e}, expected {expected:e}");
        } else {
            prop_assert!(lower == f64::INFINITY && upper == f64::INFINITY, "[{lower:e}, {upper:e}]");
        }
    }

    /// Proposition 9.
    #[test]
    fn grows_with_the_order((p, q) in pair(true), (r, s) in close_pair(), (a, b) in (order(), order())) {
        for (p, q) in [(&p, &q), (&r, &s)] {
            let orders = [1.0, a.min(b), a.max(b), f64::INFINITY];
            for step in orders.windows(2) {
                let (less, more) = (divergence(p, q, step[0]).0, divergence(p, q, step[1]).1);
                prop_assert!(less <= more, "{less:e} at {}, {more:e} at {}", step[0], step[1]);
            }
        }
    }

    /// The limit at order one.
    #[test]
    fn order_one_is_the_limit((p, q) in pair(true), (r, s) in close_pair()) {
        for (p, q) in [(&p, &q), (&r, &s)] {
            let (one, above) = (divergence(p, q, 1.0).1, divergence(p, q, 1.0 + 1e-9).1);
            prop_assert!(one == above || (above - one).abs() <= 1e-6 * one, "{one:e}, {above:e}");
        }
    }

    /// Proposition 10: P(A) <= (e^D Q(A))^((α-1)/α) for every event A.
    #[test]
    fn preserves_probabilities((p, q) in pair(true), chosen in any::<u64>(), order in order()) {
        let bound = divergence(&p, &q, order).1;
        let inside = |index: usize| chosen >> (index % 64) & 1 == 1;
        let mass = |masses: &[f64]| -> f64 {
            masses.iter().enumerate().filter(|&(index, _)| inside(index)).map(|(_, p)| p).sum()
        };
        let (in_p, in_q) = (mass(&p), mass(&q));
        if bound.is_finite() && in_p > 0.0 {
            let ln_bound = (bound + in_q.ln()) * (order - 1.0) / order;
            prop_assert!(in_p.ln() <= ln_bound + 1e-12 * (1.0 + bound), "{in_p:e} {in_q:e} {bound:e}");
        }
    }

    /// Proposition 11 and the four forms of Corollary 4 (docs/spec/mathematics.md 1.2).
    #[test]
    fn weak_triangle_inequality((p, q, r) in triple(), excess in log_uniform(1e-3, 1e3), ln_weight in -3.0..3.0_f64) {
        let a = 1.0 + excess;
        let direct = divergence(&p, &q, a).0;
        let by = |order: f64, factor: f64, then: f64| {
            factor * divergence(&p, &r, order).1 + divergence(&r, &q, then).1
        };
        // 1/w + 1/v = 1
        let w = 1.0 + ln_weight.exp();
        let v = w / (w - 1.0);
        let general = by(w * a, (a - 1.0 / w) / (a - 1.0), v * (a - 1.0 / w));
        let halves = by(2.0 * a, (a - 0.5) / (a - 1.0), 2.0 * a - 1.0);
        let first_infinite = by(f64::INFINITY, a / (a - 1.0), a);
        let second_infinite = by(a, 1.0, f64::INFINITY);
        let b = a + (a * (a - 1.0)).sqrt();
        let equal_orders = by(b, (a - a / b) / (a - 1.0), b);
        for bound in [general, halves, first_infinite, second_infinite, equal_orders] {
            prop_assert!(direct <= plus(bound), "order {a}, weight {w}: {direct:e} above {bound:e}");
        }
    }

    /// Merging outcomes, or any other processing, never costs privacy.
    #[test]
    fn data_processing((p, q) in pair(true), targets in prop::collection::vec(0_usize..8, 1000), order in order()) {
        let merged = |masses: &[f64]| {
            let mut merged = vec![0.0; 8];
            for (mass, &target) in masses.iter().zip(&targets) {
                // Multiples of 2^-53 below one: no rounding.
                merged[target] += mass;
            }
            merged
        };
        for order in [1.0, order, f64::INFINITY] {
            let (processed, before) = (divergence(&merged(&p), &merged(&q), order).0, divergence(&p, &q, order).1);
            prop_assert!(processed <= before, "{processed:e} above {before:e} at {order}");
        }
    }

    /// Processing by a channel: each outcome is answered at random.
    #[test]
    fn noisy_data_processing((p, q) in pair(false), lie in 0.0..1.0_f64, order in order()) {
        let n = p.len();
        let noisy = |masses: &[f64]| -> Masses {
            let mixed = (0..n).map(|i| (1.0 - lie) * masses[i] + lie * masses[(i + 1) % n]);
            mixed.collect()
        };
        let (p_noisy, q_noisy) = (noisy(&p), noisy(&q));
        let made = (FiniteDistribution::new(&p_noisy), FiniteDistribution::new(&q_noisy));
        // The sums here are rounded; skip the rare ones beyond what is accepted.
        if let (Ok(p_noisy), Ok(q_noisy)) = made {
            let processed = p_noisy.divergence(&q_noisy, at(order)).unwrap().lower.get();
            prop_assert!(processed <= plus(divergence(&p, &q, order).1) + 1e-13);
        }
    }

    /// Independent pairs add up: the product distribution costs the sum.
    #[test]
    fn products_add((p, q) in dyadic_pair(), (r, s) in dyadic_pair(), order in order()) {
        let product = |a: &[f64], b: &[f64]| -> Masses {
            a.iter().flat_map(|x| b.iter().map(move |y| x * y)).collect()
        };
        for order in [1.0, order, f64::INFINITY] {
            let (lower, upper) = divergence(&product(&p, &r), &product(&q, &s), order);
            let (first, second) = (divergence(&p, &q, order), divergence(&r, &s, order));
            prop_assert!(lower <= plus(first.1 + second.1), "at {order}: {lower:e}");
            prop_assert!(plus(upper) >= first.0 + second.0, "at {order}: {upper:e}");
            prop_assert!(
                upper <= (first.1 + second.1) * (1.0 + 1e-11) + 1e-300,
                "at {order}: {upper:e}, expected {:e}", first.1 + second.1
            );
        }
    }

    /// Outcomes that neither has, and the order of the outcomes, do not count.
    #[test]
    fn only_the_masses_count((p, q) in pair(true), order in order()) {
        let before = divergence(&p, &q, order).1;
        let extended = |masses: &[f64]| -> Masses { masses.iter().rev().copied().chain([0.0, 0.0]).collect() };
        let after = divergence(&extended(&p), &extended(&q), order).1;
        prop_assert!(before == after || (before - after).abs() <= 1e-12 * before, "{before:e}, {after:e}");
    }
}

/// Masses with 20 bits, whose products are doubles.
fn dyadic_pair() -> impl Strategy<Value = (Masses, Masses)> {
    let one = |n: usize| {
        prop::collection::vec(1_u32..60_000, n).prop_map(|weights| {
            let total = f64::from(1 << 20);
            let mut masses: Masses = weights.iter().map(|&w| f64::from(w) / total).collect();
            masses[0] += 1.0 - masses.iter().sum::<f64>();
            masses
        })
    };
    (2_usize..16).prop_flat_map(move |n| (one(n), one(n)))
}

#[test]
fn zeros_mean_what_the_definition_says() {
    let orders = [1.0, 1.0 + 1e-9, 1.5, 2.0, 1e6, f64::INFINITY];
    for order in orders {
        // Only P has the outcome: infinite at every order.
        let (lower, upper) = divergence(&[0.5, 0.5], &[1.0, 0.0], order);
        assert_eq!((lower, upper), (f64::INFINITY, f64::INFINITY), "{order}");
        // Only Q has it: 0^α = 0, and ln 2 is left at every order.
        let (lower, upper) = divergence(&[1.0, 0.0], &[0.5, 0.5], order);
        let ln_two = 2f64.ln();
        assert!(lower <= ln_two && upper >= ln_two, "{order}");
        assert!(upper - lower <= 1e-12, "{order}: [{lower:e}, {upper:e}]");
        // Nothing in common.
        let (lower, _) = divergence(&[1.0, 0.0], &[0.0, 1.0], order);
        assert_eq!(lower, f64::INFINITY, "{order}");
        // One outcome.
        assert_eq!(divergence(&[1.0], &[1.0], order), (0.0, 0.0), "{order}");
    }
}

#[test]
fn a_thousand_outcomes() {
    let p = normalised((1..=1000).map(f64::from).collect());
    let q = normalised((1..=1000).rev().map(f64::from).collect());
    for order in [1.0, 2.0, 64.0, f64::INFINITY] {
        let (lower, upper) = divergence(&p, &q, order);
        assert!(lower > 0.0 && upper - lower <= 1e-12 * upper);
    }
    // The largest ratio is that of the last outcome, 1000 to 1.
    let largest = divergence(&p, &q, f64::INFINITY).1;
    assert!((largest - 1000f64.ln()).abs() < 1e-9);
}

#[test]
fn what_is_no_distribution_is_refused() {
    let code =
        |masses: &[f64]| FiniteDistribution::new(masses).map_err(|error| error.code().as_str());
    assert_eq!(code(&[]).unwrap_err(), "MZ1301");
    for bad in [
        &[f64::NAN, 1.0][..],
        &[-0.25, 1.25],
        &[-1e-300, 1.0],
        &[f64::INFINITY, 0.0],
        &[f64::NEG_INFINITY, 1.0],
        &[1.5],
        &[1.0, -f64::from_bits(1)],
    ] {
        assert_eq!(code(bad).unwrap_err(), "MZ1302", "{bad:?}");
    }
    for bad in [
        &[0.5, 0.4][..],
        &[0.5, 0.6],
        &[0.0],
        &[0.0, 0.0],
        &[0.3, 0.3, 0.3],
        &[1.0, 1.0],
        &[0.5, 0.5 + 1e-9],
        &[1.0 - 1e-9],
    ] {
        assert_eq!(code(bad).unwrap_err(), "MZ1303", "{bad:?}");
    }
    // Rounding alone is not a reason to refuse: ten times 0.1 is not 1 in doubles.
    assert!(code(&[0.1; 10]).is_ok());
    assert!(code(&[1.0 / 3.0; 3]).is_ok());
}

#[test]
fn different_sizes_are_refused() {
    let (two, three) = (distribution(&[0.5, 0.5]), distribution(&[0.5, 0.25, 0.25]));
    let error = two.divergence(&three, at(2.0)).unwrap_err();
    assert_eq!(error, DistributionError::DifferentSizes { p: 2, q: 3 });
    assert_eq!(error.code(), "MZ1304");
    assert!(three.divergence(&two, at(1.0)).is_err());
}

/// The index in the message counts from one, as people do.
#[test]
fn the_offending_outcome_is_named() {
    let error = FiniteDistribution::new(&[0.5, f64::NAN, 0.5]).unwrap_err();
    assert!(
        matches!(error, DistributionError::NotAProbability { index: 2, .. }),
        "{error}"
    );
    assert!(!error.help().is_empty());
}
