//! Shuffling against brute force, independent sums, published bounds and invalid inputs.

use crate::common::{golden, number};
use mizan_accounting::{PrivacyProfile, Reason, RenyiCurve};
use mizan_core::{Delta, Epsilon, Order, PrivacyEvent};

fn event(text: &str) -> PrivacyEvent {
    text.parse().unwrap()
}

fn delta(text: &str, epsilon: f64) -> f64 {
    let profile = PrivacyProfile::of(&event(text)).unwrap();
    let found = profile.delta(Epsilon::new(epsilon).unwrap()).unwrap();
    assert_eq!(found.lower.get(), 0.0, "only a bound from above is known");
    found.upper.get()
}

fn epsilon(text: &str, delta: f64) -> f64 {
    let profile = PrivacyProfile::of(&event(text)).unwrap();
    let found = profile.epsilon(Delta::new(delta).unwrap()).unwrap();
    found.upper.get()
}

/// C(n, k) exactly, for small n.
fn choose(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1))
}

/// δ of one randomized response among fair coins, by its definition.
fn by_definition(people: u32, epsilon0: f64, epsilon: f64) -> f64 {
    let truth = epsilon0.exp() / (epsilon0.exp() + 1.0);
    let coin = 2.0 / (epsilon0.exp() + 1.0);
    let mut delta = 0.0;
    for c in 0..people {
        let others = (people - 1 - c) as i32;
        let crowd = choose(people - 1, c) * coin.powi(c as i32) * (1.0 - coin).powi(others);
        let heads = |k: u32| {
            if k <= c {
                choose(c, k) * 0.5_f64.powi(c as i32)
            } else {
                0.0
            }
        };
        for a in 0..=c + 1 {
            let (less, same) = (a.checked_sub(1).map_or(0.0, heads), heads(a));
            let p = truth * less + (1.0 - truth) * same;
            let q = (1.0 - truth) * less + truth * same;
            delta += crowd * (p - epsilon.exp() * q).max(0.0);
        }
    }
    delta
}

#[test]
fn few_people_by_definition() {
    for people in [1, 2, 3, 5, 8, 12] {
        for epsilon0 in [0.1, 1.0, 3.0] {
            for share in [0.0, 0.1, 0.5, 0.9, 0.99] {
                let epsilon = share * epsilon0;
                let truth = by_definition(people, epsilon0, epsilon);
                let ours = delta(&format!("shuffle({people}, pure({epsilon0}))"), epsilon);
                let close = (1.0 - 1e-12) * truth <= ours && ours <= (1.0 + 1e-9) * truth + 1e-15;
                assert!(close, "{people} {epsilon0} {epsilon}: {ours} {truth}");
            }
        }
    }
}

/// n people with k-ary randomized response, all outputs counted: the bound is
/// for the worst randomizer and the worst others, so it holds for this one.
#[test]
fn holds_for_ternary_randomized_response() {
    let (people, epsilon0) = (6_usize, 1.0_f64);
    let truth = epsilon0.exp() / (epsilon0.exp() + 2.0);
    let law = |value: usize| {
        let mut law = [(1.0 - truth) / 2.0; 3];
        law[value] = truth;
        law
    };
    for others in [[0; 5], [1; 5], [2; 5], [0, 1, 2, 2, 2], [0, 0, 0, 1, 1]] {
        let mut histogram = vec![(vec![0_u8; 3], 1.0)];
        let add = |histogram: Vec<(Vec<u8>, f64)>, law: [f64; 3]| {
            let mut next = std::collections::BTreeMap::new();
            for (counts, p) in histogram {
                for (value, share) in law.iter().enumerate() {
                    let mut counts = counts.clone();
                    counts[value] += 1;
                    *next.entry(counts).or_insert(0.0) += p * share;
                }
            }
            next.into_iter().collect::<Vec<_>>()
        };
        for value in others {
            histogram = add(histogram, law(value));
        }
        let (p, q) = (add(histogram.clone(), law(0)), add(histogram, law(1)));
        for epsilon in [0.0, 0.05, 0.2, 0.5, 0.8, 0.95] {
            let excess =
                |((_, p), (_, q)): (&(_, f64), &(_, f64))| (p - f64::exp(epsilon) * q).max(0.0);
            let truth: f64 = p.iter().zip(&q).map(excess).sum();
            let ours = delta(&format!("shuffle({people}, pure({epsilon0}))"), epsilon);
            assert!(truth <= ours, "{others:?} {epsilon}: {truth} above {ours}");
        }
    }
}

#[test]
fn many_people_by_independent_sums() {
    let records = golden("shuffle.json", "values");
    for record in &records {
        let [n, epsilon0, epsilon, truth] =
            ["n", "epsilon0", "epsilon", "delta"].map(|name| number(&record[name]));
        let event = format!("shuffle({n}, pure({epsilon0}))");
        let ours = delta(&event, epsilon);
        assert!(ours >= truth * (1.0 - 1e-11), "{record}: {ours:e}");
        assert!(ours <= truth * (1.0 + 1e-3), "{record}: {ours:e}");
        let found = self::epsilon(&event, truth);
        assert!(found >= epsilon * (1.0 - 1e-11), "{record}: {found}");
        assert!(found <= epsilon * (1.0 + 1e-5), "{record}: {found}");
    }
    assert_eq!(records.len(), 18);
}

/// Feldman, McMillan and Talwar 2021, Theorem 3.1: closed, and coarser.
#[test]
fn below_the_closed_form() {
    for (n, epsilon0, delta) in [
        (1e4, 1.0_f64, 1e-6_f64),
        (1e6, 2.0, 1e-8),
        (1e6, 4.0, 1e-6),
        (1e8, 0.5, 1e-10),
    ] {
        let x = epsilon0.exp();
        assert!(epsilon0 <= (n / (16.0 * (2.0 / delta).ln())).ln());
        let noise = 8.0 * (x * (4.0 / delta).ln()).sqrt() / n.sqrt() + 8.0 * x / n;
        let closed = ((x - 1.0) / (x + 1.0) * noise).ln_1p();
        let ours = epsilon(&format!("shuffle({n}, pure({epsilon0}))"), delta);
        assert!(ours < 0.8 * closed, "{n} {epsilon0}: {ours} {closed}");
        assert!(ours > 0.05 * closed, "{n} {epsilon0}: {ours} {closed}");
    }
}

#[test]
fn more_people_are_better_and_a_larger_epsilon_is_worse() {
    let mut last = f64::INFINITY;
    for n in [
        1_u64,
        2,
        10,
        150,
        200,
        1000,
        30_000,
        1_000_000,
        1 << 30,
        1 << 53,
    ] {
        let next = epsilon(&format!("shuffle({n}, pure(2))"), 1e-6);
        assert!(next <= last, "{n}: {next} {last}");
        last = next;
    }
    assert!(last < 1e-3);
    last = 0.0;
    for epsilon0 in [
        0.0, 1e-300, 1e-9, 0.01, 0.5, 1.0, 3.0, 10.0, 30.0, 599.0, 601.0, 1e9,
    ] {
        let next = epsilon(&format!("shuffle(1000, pure({epsilon0}))"), 1e-6);
        assert!(
            next >= last && next <= epsilon0,
            "{epsilon0}: {next} {last}"
        );
        last = next;
    }
}

/// With one person, shuffling costs as much as randomized response itself.
#[test]
fn one_person_is_not_amplified() {
    assert_eq!(epsilon("shuffle(1, pure(1))", 0.0), 1.0);
    assert_eq!(epsilon("shuffle(1000, pure(0))", 0.0), 0.0);
    let alone = delta("shuffle(1, pure(1))", 0.5);
    let profile = PrivacyProfile::of(&event("pure(1)")).unwrap();
    let pure = profile.delta(Epsilon::new(0.5).unwrap()).unwrap();
    assert_eq!(alone, pure.upper.get());
}

/// Composition, Rényi curves and samples go on from the pair.
#[test]
fn composes_like_other_events() {
    let (once, often) = ("shuffle(5000, rr(0.9))", "10 * shuffle(5000, rr(0.9))");
    let (one, ten) = (epsilon(once, 1e-6), epsilon(often, 1e-6));
    assert!(one < ten && ten < 10.0 * one, "{one} {ten}");
    let curve = RenyiCurve::of(&event(once)).unwrap();
    let at = |order: f64| curve.at(Order::new(order).unwrap()).upper.get();
    assert!(at(1.0) < at(2.0) && at(2.0) < at(50.0) && at(50.0) < at(f64::INFINITY));
    assert!((at(f64::INFINITY) - 9.0_f64.ln()).abs() < 1e-12);
    let sampled = "without-replacement(50000, 5000, shuffle(5000, rr(0.9)))";
    assert!(epsilon(sampled, 1e-6) < one);
    // Several answers of a person are one randomizer.
    let both = epsilon("shuffle(5000, rr(0.75) + rr(0.75))", 1e-6);
    assert!((both / one - 1.0).abs() < 1e-9, "{both} {one}");
}

#[test]
fn what_is_no_pure_local_randomizer_is_refused() {
    for (text, reason) in [
        ("shuffle(100, gaussian(1))", Reason::NotLocal),
        ("shuffle(100, approximate(1, 1e-9))", Reason::NotLocal),
        ("shuffle(100, zcdp(1))", Reason::NotLocal),
        ("shuffle(100, pure(1) + gaussian(1))", Reason::NotLocal),
        ("shuffle(100, shuffle(100, pure(1)))", Reason::NotLocal),
        (
            "shuffle(100, poisson(0.1, pure(1)))",
            Reason::MixedNeighbours,
        ),
        (
            "poisson(0.1, shuffle(100, pure(1)))",
            Reason::MixedNeighbours,
        ),
        (
            "shuffle(9, pure(1)) + poisson(0.1, pure(1))",
            Reason::MixedNeighbours,
        ),
    ] {
        let error = PrivacyProfile::of(&event(text)).unwrap_err();
        assert_eq!(error.reason(), reason, "{text}");
        assert!(!error.help().is_empty());
    }
    let error = RenyiCurve::of(&event("shuffle(100, gaussian(1))")).unwrap_err();
    assert_eq!(
        (error.reason(), error.code().as_str()),
        (Reason::NotLocal, "MZ1217")
    );
    let error = RenyiCurve::of(&event("poisson(0.1, shuffle(100, pure(1)))")).unwrap_err();
    assert_eq!(error.reason(), Reason::MixedNeighbours);
}
