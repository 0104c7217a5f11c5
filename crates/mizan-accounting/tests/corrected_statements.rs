//! Corrected statements of papers and other sources, against brute force on random discrete
//! mechanisms; the misprints fail in the same tests.
//!
//! Everything here is summed from the definitions; Rényi divergences are
//! certified upper bounds, which only makes a violation harder to excuse.

use crate::common::random::{self, at, log_uniform, reported};
use mizan_accounting::methods::{self, Method};
use mizan_accounting::{
    ExactIncrease, FiniteDistribution, Increase, RenyiCurve, basic_composition,
};
use mizan_core::{Count, Epsilon, PrivacyEvent, Probability};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

/// What plain sums of probabilities may be off by.
const ROUNDING: f64 = 1e-12;

/// A distribution in multiples of 2^-40, so that it sums to one exactly.
fn distribution(outcomes: usize) -> impl Strategy<Value = Vec<f64>> + Clone {
    prop::collection::vec(log_uniform(1e-5, 1.0), outcomes).prop_map(|weights| {
        let unit = 2f64.powi(40);
        let sum: f64 = weights.iter().sum();
        let cut = |weight: f64| (weight / sum * unit).floor().max(1.0) / unit;
        let mut masses: Vec<f64> = weights.into_iter().map(cut).collect();
        masses[0] += 1.0 - masses.iter().sum::<f64>();
        masses
    })
}

/// `length` distributions over the same two to five outcomes.
fn chain(length: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    (2_usize..6).prop_flat_map(move |n| prop::collection::vec(distribution(n), length))
}

/// Values from a strategy, the same ones every time.
fn drawn<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::new(ProptestConfig {
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    });
    let mut draw = || strategy.new_tree(&mut runner).unwrap().current();
    (0..count).map(|_| draw()).collect()
}

/// D_α(p ‖ q), rounded up.
fn divergence(p: &[f64], q: &[f64], order: f64) -> f64 {
    let made = |masses| FiniteDistribution::new(masses).unwrap();
    let bracket = made(p).divergence(&made(q), at(order)).unwrap();
    bracket.upper.get()
}

/// The divergence of a pair of neighbours: the larger of both directions.
fn both_ways(p: &[f64], q: &[f64], order: f64) -> f64 {
    divergence(p, q, order).max(divergence(q, p, order))
}

/// Σ max(0, p - e^ε q).
fn hockey_stick(p: &[f64], q: &[f64], epsilon: f64) -> f64 {
    let outcomes = p.iter().zip(q);
    outcomes
        .map(|(p, q)| (p - epsilon.exp() * q).max(0.0))
        .sum()
}

fn curve(event: &PrivacyEvent) -> RenyiCurve {
    RenyiCurve::of(event).unwrap()
}

/// Pr[ratio > β] <= (e^ε/β)^(α-1). Printed: e^ε/β^(1/(α-1)).
#[test]
fn the_bayes_factor_tail() {
    let (mut printed_fails, mut checked) = (0, 0);
    let cases = (chain(2), log_uniform(0.05, 30.0), 1.0..30.0_f64);
    for (pair, excess, factor) in drawn(&cases, 4000) {
        let (p, q) = (&pair[0], &pair[1]);
        let tail: f64 = p
            .iter()
            .zip(q)
            .filter(|(p, q)| **p > factor * **q)
            .map(|(p, _)| p)
            .sum();
        let alpha = 1.0 + excess;
        let renyi = both_ways(p, q, alpha);
        let bound = curve(&reported(&[(alpha, renyi)])).bayes_factor(factor);
        let bound = bound.probability.get();
        assert!(
            tail <= bound * (1.0 + ROUNDING),
            "{pair:?} at {alpha}, {factor}: {tail} above {bound}"
        );
        let corrected = ((renyi - factor.ln()) * excess).exp().min(1.0);
        assert!(
            (bound - corrected).abs() <= 1e-9 * corrected,
            "{bound} is not {corrected}"
        );
        let printed = renyi.exp() / factor.powf(1.0 / excess);
        printed_fails += usize::from(tail > printed * (1.0 + ROUNDING));
        checked += 1;
    }
    assert!(
        printed_fails > checked / 50,
        "the misprint failed {printed_fails} times in {checked}"
    );
}

/// The whole curve says more than one order, and still the truth.
#[test]
fn the_bayes_factor_tail_from_several_orders() {
    for (pair, factor) in drawn(&(chain(2), 1.0..30.0_f64), 500) {
        let (p, q) = (&pair[0], &pair[1]);
        let orders = [1.5, 2.0, 4.0, 16.0, f64::INFINITY];
        let points = orders.map(|order| (order, both_ways(p, q, order)));
        let outcomes = p.iter().zip(q).filter(|(p, q)| **p > factor * **q);
        let tail: f64 = outcomes.map(|(p, _)| p).sum();
        let bound = curve(&reported(&points)).bayes_factor(factor);
        assert!(
            tail <= bound.probability.get() * (1.0 + ROUNDING),
            "{points:?}"
        );
    }
}

/// E[ln ratio] = D_1, and a report at any order bounds it.
#[test]
fn expected_log_odds() {
    for pair in drawn(&chain(2), 2000) {
        let (p, q) = (&pair[0], &pair[1]);
        let outcomes = p.iter().zip(q);
        let mean: f64 = outcomes.map(|(p, q)| p * (p / q).ln()).sum();
        let one = divergence(p, q, 1.0);
        assert!((one - mean).abs() <= 1e-12, "{one} is not {mean}");
        let points = [(2.0, both_ways(p, q, 2.0)), (8.0, both_ways(p, q, 8.0))];
        let bound = curve(&reported(&points)).expected_log_odds().get();
        assert!(
            mean <= bound + ROUNDING && bound <= points[0].1,
            "{points:?}: {bound}"
        );
        // With the odds of section III turned around the change is not positive.
        let turned: f64 = p.iter().zip(q).map(|(p, q)| p * (q / p).ln()).sum();
        assert!(turned <= ROUNDING);
    }
}

/// (sε, δ (e^(sε) - 1)/(e^ε - 1)), and so within (sε, s e^((s-1)ε) δ).
/// Printed: s e^(s-1) δ.
#[test]
fn group_delta_on_random_chains() {
    for length in [3, 4, 5] {
        let cases = (chain(length), 0.0..3.0_f64);
        for (chain, epsilon) in drawn(&cases, 1500) {
            let delta = chain
                .windows(2)
                .flat_map(|pair| [(&pair[0], &pair[1]), (&pair[1], &pair[0])])
                .map(|(p, q)| hockey_stick(p, q, epsilon))
                .fold(0.0, f64::max);
            let s = chain.len() - 1;
            let far = hockey_stick(&chain[0], &chain[s], epsilon * s as f64);
            let claimed = group_delta(s, epsilon, delta);
            assert!(
                far <= claimed * (1.0 + ROUNDING) + 1e-15,
                "{chain:?} at {epsilon}: {far} above {claimed}"
            );
            let simple = s as f64 * ((s - 1) as f64 * epsilon).exp() * delta;
            assert!(claimed <= simple.min(1.0) * (1.0 + ROUNDING) + 1e-300);
        }
    }
}

/// What Mizan says of a group of s.
fn group_delta(s: usize, epsilon: f64, delta: f64) -> f64 {
    let text = format!("group({s}, approximate({epsilon}, {delta}))");
    basic_composition(&text.parse().unwrap()).unwrap().1.get()
}

/// A chain that attains the iteration: every step puts δ of fresh mass on the
/// bad outcome and multiplies what is there by e^ε. For ε > 1 it breaks the
/// misprint s e^(s-1) δ.
#[test]
fn group_delta_is_attained_and_the_misprint_is_not_a_bound() {
    let mut misprint_fails = 0;
    for s in 2..=4_usize {
        for epsilon in [0.1, 0.5, 1.0, 1.5, 2.0, 3.0_f64] {
            let delta = 1e-7;
            // Outcomes: bad, good. P_0 = (Q_s, 1 - Q_s) down to P_s = (0, 1).
            let mut bad = vec![0.0];
            for step in 0..s {
                bad.push(delta + epsilon.exp() * bad[step]);
            }
            let pairs: Vec<[f64; 2]> = bad.iter().rev().map(|&b| [b, 1.0 - b]).collect();
            for pair in pairs.windows(2) {
                for (p, q) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                    assert!(hockey_stick(&p, &q, epsilon) <= delta * (1.0 + 1e-9));
                }
            }
            let far = hockey_stick(&pairs[0], &pairs[s], epsilon * s as f64);
            let claimed = group_delta(s, epsilon, delta);
            assert!(
                (far - claimed).abs() <= 1e-9 * claimed,
                "{s} {epsilon}: {far:e} {claimed:e}"
            );
            let misprint = s as f64 * ((s - 1) as f64).exp() * delta;
            if far > misprint {
                misprint_fails += 1;
                assert!(epsilon > 1.0);
            }
        }
    }
    assert!(misprint_fails >= 4, "only {misprint_fails}");
}

/// The largest probability under the first of n rounds of ε-randomized
/// response, of an event that has probability q under the other
/// (Neyman-Pearson: the likeliest ratios first, the last one in part).
fn neyman_pearson(n: u32, epsilon: f64, q: f64) -> f64 {
    let k = f64::from(n);
    let (mut ln_choose, mut used, mut gained) = (0.0, 0.0, 0.0);
    for lies in 0..=n {
        let l = f64::from(lies);
        if lies > 0 {
            ln_choose += ((k - l + 1.0) / l).ln();
        }
        let ln_q = ln_choose + l * epsilon - k * epsilon.exp().ln_1p();
        let mass = ln_q.exp();
        let ratio = ((k - 2.0 * l) * epsilon).exp();
        let taken = mass.min(q - used);
        gained += taken * ratio;
        used += taken;
        if used >= q {
            break;
        }
    }
    gained.min(1.0)
}

/// P <= Q e^(2ε √(n ln 1/Q)), and the sharper forms of docs/spec/mathematics.md 4.6. As
/// transcribed, Q e^√(2 ε n ln 1/Q) is never better than what is trivial.
#[test]
fn proposition_4() {
    let mut informative = 0;
    let cases = (1_u32..400, log_uniform(1e-3, 3.0), log_uniform(1e-30, 0.9));
    for (n, epsilon, q) in drawn(&cases, 4000) {
        let exact = neyman_pearson(n, epsilon, q);
        let (k, l) = (f64::from(n), -q.ln());
        let holds = |exponent: f64, form: &str| {
            assert!(
                exact <= q * exponent.exp() * (1.0 + 1e-9),
                "{form}: {n} times {epsilon} at {q:e}: {exact:e}"
            );
        };
        let corrected = 2.0 * epsilon * (k * l).sqrt();
        let sharper = epsilon * (2.0 * k * l).sqrt() - k * epsilon * epsilon / 2.0;
        let rate = k * epsilon * (epsilon / 2.0).tanh();
        holds(corrected, "Proposition 4");
        if 2.0 * l >= k * epsilon * epsilon {
            holds(sharper, "sharper");
        }
        if l >= rate {
            let sharpest = 2.0 * (rate * l).sqrt() - rate;
            holds(sharpest, "sharpest");
            assert!(sharpest <= corrected * (1.0 + ROUNDING));
        }
        let trivial = (k * epsilon).min(l);
        informative += u32::from(corrected < trivial);
        let transcribed = (2.0 * epsilon * k * l).sqrt();
        assert!(
            transcribed >= trivial,
            "{n} {epsilon} {q:e}: {transcribed} below {trivial}"
        );
        // And what Mizan says for n rounds is not below the optimum either.
        let rounds: PrivacyEvent = format!("{n} * pure({epsilon})").parse().unwrap();
        let high = curve(&rounds).bad_outcome_by_proposition_10(Probability::new(q).unwrap());
        assert!(high.high.get() >= exact * (1.0 - 1e-9));
        let round = curve(&random::pure(epsilon));
        let (rounds, q) = (
            Count::new(u64::from(n)).unwrap(),
            Probability::new(q).unwrap(),
        );
        let increase = Increase::after(&round, rounds, q);
        for bound in [
            increase.naive,
            increase.generic,
            increase.advanced,
            increase.renyi.0,
            increase.renyi_restricted.0,
        ] {
            assert!(
                bound >= exact / q.get() * (1.0 - 1e-9),
                "{n} times {epsilon} at {q}: {increase:?} below {}",
                exact / q.get()
            );
        }
    }
    assert!(
        informative > 100,
        "Proposition 4 said something {informative} times"
    );
}

/// The exact increase that figures show is that of Neyman and Pearson.
#[test]
fn the_exact_increase_of_randomized_response() {
    let baselines = [1e-6, 1e-3, 0.1];
    let p = 0.51_f64;
    let epsilon = (p / (1.0 - p)).ln();
    let round = [random::randomized_response(p, 2)];
    let mut exact = ExactIncrease::new(&round, Count::new(250).unwrap()).unwrap();
    for n in 1..=250 {
        exact.next_round();
        let increases = exact.increase(&baselines.map(|q| Probability::new(q).unwrap()));
        for (q, increase) in baselines.into_iter().zip(increases) {
            let truth = neyman_pearson(n, epsilon, q) / q;
            assert!(
                increase >= truth * (1.0 - 1e-9) && increase <= truth * (1.0 + 1e-3),
                "{n} rounds at {q:e}: {increase}, exactly {truth}"
            );
            if n == 100 && q < 1e-5 {
                assert!((truth - 6.494).abs() < 5e-4, "{truth}");
            }
        }
    }
}

/// Proposition 10 and the exact region hold for every set of outcomes, in both
/// directions.
#[test]
fn bad_outcomes_of_random_mechanisms() {
    for (pair, excess) in drawn(&(chain(2), log_uniform(0.1, 30.0)), 1000) {
        let (p, q) = (&pair[0], &pair[1]);
        let order = 1.0 + excess;
        let curve = curve(&reported(&[(order, both_ways(p, q, order))]));
        // Every set of outcomes but the empty one and all of them; each pair
        // of sets once is enough, alternating which side is the baseline.
        for set in 1..(1_u32 << p.len()) - 1 {
            let sum = |masses: &[f64]| -> f64 {
                let kept = masses.iter().enumerate();
                kept.filter(|(i, _)| (set >> i) & 1 == 1)
                    .map(|(_, mass)| mass)
                    .sum()
            };
            let (with, without) = if set % 2 == 0 {
                (sum(p), sum(q))
            } else {
                (sum(q), sum(p))
            };
            let baseline = Probability::new(without).unwrap();
            let paper = curve.bad_outcome_by_proposition_10(baseline);
            assert!(
                paper.low.get() <= with * (1.0 + ROUNDING)
                    && with <= paper.high.get() * (1.0 + ROUNDING),
                "{pair:?} {order}: {with} not in {paper:?}"
            );
            // The exact region takes longer.
            if set < 3 {
                let exact = curve.bad_outcome(baseline);
                assert!(
                    exact.low.get() <= with * (1.0 + ROUNDING)
                        && with <= exact.high.get() * (1.0 + ROUNDING),
                    "{pair:?} {order}: {with} not in {exact:?}"
                );
                assert!(exact.low.get() >= paper.low.get() * (1.0 - ROUNDING));
                assert!(exact.high.get() <= paper.high.get() * (1.0 + ROUNDING));
            }
        }
    }
}

/// With two outcomes and one order the exact region is exact: its ends are
/// attained by a pair with this very divergence.
#[test]
fn the_exact_region_is_attained() {
    for (pair, excess) in drawn(&(chain(2), log_uniform(0.5, 20.0)), 300) {
        if pair[0].len() != 2 {
            continue;
        }
        let (p, q) = (&pair[0], &pair[1]);
        let order = 1.0 + excess;
        let curve = curve(&reported(&[(order, both_ways(p, q, order))]));
        let range = curve.bad_outcome(Probability::new(q[0]).unwrap());
        let gap = (range.high.get() - p[0])
            .abs()
            .min((range.low.get() - p[0]).abs());
        assert!(gap <= 1e-6 * p[0], "{pair:?} {order}: {range:?}");
    }
}

/// (ε, δ)-DP does not mean Pr[L > ε] <= δ: Gaussian noise of m = 1 at ε = 1
/// has δ = .1269 and Pr[L > 1] = .3085. The converse is true.
#[test]
fn a_delta_is_not_a_tail_probability() {
    let event: PrivacyEvent = "gaussian(1)".parse().unwrap();
    let one = Epsilon::new(1.0).unwrap();
    let delta = methods::delta_by(Method::GaussianExact, &event, one)
        .unwrap()
        .upper
        .get();
    // L ~ N(1/2, 1) exceeds 1 as often as a normal number exceeds 1/2.
    let tail = 0.5 * core_math::erfc(0.5 * std::f64::consts::FRAC_1_SQRT_2);
    assert!((delta - 0.1269).abs() < 5e-5 && (tail - 0.3085).abs() < 5e-5);
    let mut exceeded = 0;
    for (pair, epsilon) in drawn(&(chain(2), 0.0..3.0_f64), 2000) {
        let (p, q) = (&pair[0], &pair[1]);
        let tail = |epsilon: f64| -> f64 {
            let lost = p.iter().zip(q).filter(|(p, q)| **p > epsilon.exp() * **q);
            lost.map(|(p, _)| p).sum()
        };
        let delta = hockey_stick(p, q, epsilon);
        assert!(delta <= tail(epsilon) + 1e-15);
        exceeded += u32::from(tail(epsilon) > delta * 1.01);
        // (ε, δ)-DP gives Pr[L > ε + t] <= δ/(1 - e^-t).
        for t in [0.1, 0.5, 2.0_f64] {
            assert!(tail(epsilon + t) <= delta / -(-t).exp_m1() + 1e-12);
        }
    }
    assert!(exceeded > 200, "only {exceeded}");
}
