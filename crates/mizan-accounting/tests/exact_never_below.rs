//! No method ever reports below the exact value where one is known: Gaussian
//! noise, randomized response, and small products of unequal parts, each also
//! with parts that may fail. Exact values are computed here, in plain doubles,
//! from the definition of the profile:
//!
//! > δ(ε) = 1 - Π(1-δ_i) (1 - Σ p_j (1 - e^(ε - L_j))_+).

use crate::common::random::{
    self, config, gaussian, gaussian_dp, log_uniform, pure, randomized_response, repeat,
};
use mizan_accounting::methods::{self, Method, MethodBound};
use mizan_core::{Delta, Epsilon, PrivacyEvent};
use proptest::prelude::*;

/// A loss with finitely many values, and how often the parts fail.
#[derive(Debug)]
struct Exact {
    losses: Vec<(f64, f64)>,
    failing: f64,
}

impl Exact {
    /// Every sum of ±ε_i, by brute force over all subsets.
    fn product(parts: &[(f64, f64)]) -> Self {
        let mut losses = vec![(0.0, 1.0)];
        for &(epsilon, _) in parts {
            let (likely, unlikely) = two_point(epsilon);
            losses = losses
                .iter()
                .flat_map(|&(loss, p)| {
                    [(loss + epsilon, p * likely), (loss - epsilon, p * unlikely)]
                })
                .collect();
        }
        let surviving: f64 = parts.iter().map(|(_, delta)| (-delta).ln_1p()).sum();
        Self {
            losses,
            failing: -surviving.exp_m1(),
        }
    }

    /// k equal parts: binomial, the coefficients by their ratios.
    fn equal(k: u32, epsilon: f64, delta: f64) -> Self {
        let n = f64::from(k);
        let (ln_likely, ln_unlikely) = (-(-epsilon).exp().ln_1p(), -epsilon.exp().ln_1p());
        let mut ln_choose = 0.0;
        let losses = (0..=k)
            .map(|l| {
                let l = f64::from(l);
                if l > 0.0 {
                    ln_choose += ((n - l + 1.0) / l).ln();
                }
                let ln_p = ln_choose + (n - l) * ln_likely + l * ln_unlikely;
                ((n - 2.0 * l) * epsilon, ln_p.exp())
            })
            .collect();
        Self {
            losses,
            failing: -(n * (-delta).ln_1p()).exp_m1(),
        }
    }

    fn delta(&self, epsilon: f64) -> f64 {
        let inner: f64 = self
            .losses
            .iter()
            .map(|&(loss, p)| p * (-(epsilon - loss).exp_m1()).max(0.0))
            .sum();
        self.failing + (1.0 - self.failing) * inner
    }
}

/// e^ε/(1 + e^ε) and the rest.
fn two_point(epsilon: f64) -> (f64, f64) {
    (1.0 / (1.0 + (-epsilon).exp()), 1.0 / (1.0 + epsilon.exp()))
}

/// The exact δ of Gaussian noise, plainly.
fn plain_gaussian(m: f64, epsilon: f64) -> f64 {
    let above = |x: f64| 0.5 * core_math::erfc(x * std::f64::consts::FRAC_1_SQRT_2);
    above(epsilon / m - m / 2.0) - epsilon.exp() * above(epsilon / m + m / 2.0)
}

fn approximate(epsilon: f64, delta: f64) -> PrivacyEvent {
    PrivacyEvent::Approximate {
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Delta::new(delta).unwrap(),
    }
}

/// The point of a profile that is computed.
struct ProfileQuery {
    epsilon: f64,
    delta: f64,
    all: bool,
}

/// The δ by every method; without the ones that search twice unless `all`.
fn deltas(event: &PrivacyEvent, epsilon: f64, all: bool) -> Vec<MethodBound<Delta>> {
    let slow = [Method::Cdp, Method::Zcdp, Method::Renyi];
    let methods = Method::ALL.into_iter();
    methods
        .filter(|method| all || !slow.contains(method))
        .filter_map(|method| methods::delta_by(method, event, Epsilon::new(epsilon).unwrap()).ok())
        .collect()
}

/// One time in four.
fn sometimes() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.25)
}

/// No method is below the exact profile, in either direction. A hair of ε is
/// allowed for, where the plain sums here lose digits near a jump.
fn never_below(
    event: &PrivacyEvent,
    exact: &Exact,
    ProfileQuery {
        epsilon: asked,
        delta: target,
        all,
    }: ProfileQuery,
) -> Result<(), TestCaseError> {
    let truth = exact.delta(asked * (1.0 + 1e-13));
    for bound in deltas(event, asked, all) {
        let upper = bound.upper.get();
        prop_assert!(
            upper >= truth * (1.0 - 1e-10),
            "{event} at ε {asked}: {bound:?} below {truth:e}"
        );
        let above = exact.delta(asked * (1.0 - 1e-13));
        prop_assert!(
            bound
                .lower
                .is_none_or(|lower| lower.get() <= above * (1.0 + 1e-10)),
            "{event} at ε {asked}: {bound:?} above {above:e}"
        );
    }
    for bound in methods::epsilon(event, Delta::new(target).unwrap()).bounds {
        let leaked = exact.delta(bound.upper.get() * (1.0 + 1e-13));
        prop_assert!(
            leaked <= target * (1.0 + 1e-10),
            "{event} at δ {target:e}: {bound:?} leaks {leaked:e}"
        );
        if let Some(lower) = bound.lower.filter(|lower| lower.get() > 0.0) {
            let leaked = exact.delta(lower.get() * (1.0 - 1e-13));
            prop_assert!(
                leaked >= target * (1.0 - 1e-10),
                "{event} at δ {target:e}: {bound:?} leaks only {leaked:e} at the lower end"
            );
        }
    }
    Ok(())
}

/// The share of the largest loss that an ε is asked at.
fn share() -> impl Strategy<Value = f64> {
    prop_oneof![3 => 0.0..1.0_f64, 1 => 0.9..1.01_f64]
}

fn target() -> impl Strategy<Value = f64> {
    prop_oneof![3 => log_uniform(1e-15, 0.5), 1 => log_uniform(1e-250, 1e-15)]
}

proptest! {
    #![proptest_config(config(2600))]

    #[test]
    fn gaussian_compositions(
        parts in prop::collection::vec((log_uniform(0.3, 1e3), 1_u64..100, any::<bool>()), 1..4),
        spread in 0.0..8.0_f64, target in target(), all in sometimes(),
    ) {
        let square: f64 = parts.iter().map(|&(sigma, count, _)| count as f64 / (sigma * sigma)).sum();
        let m = square.sqrt();
        let event = PrivacyEvent::Compose(parts.into_iter().map(|(sigma, count, as_gdp)| {
            repeat(count, if as_gdp { gaussian_dp(1.0 / sigma) } else { gaussian(sigma, 1.0) })
        }).collect());
        let asked = 0.5 * square + spread * m;
        let deltas = deltas(&event, asked, all);
        let exact = deltas.iter().find(|bound| bound.method == Method::GaussianExact).unwrap();
        for bound in &deltas {
            prop_assert!(bound.upper >= exact.lower.unwrap(), "{event}: {bound:?} below {exact:?}");
        }
        // The plain formula loses its digits by cancellation where m is small.
        let plain = plain_gaussian(m, asked);
        let slack = 1e-11 * (1.0 + square) * (1.0 + 1.0 / m) * plain + 1e-15 * (1.0 + asked);
        prop_assert!(asked > 700.0 || (exact.upper.get() - plain).abs() <= slack, "{event} at {asked}: {exact:?}, plainly {plain:e}");

        let target = Delta::new(target).unwrap();
        let epsilons = methods::epsilon(&event, target);
        let exact = epsilons.bounds.iter().find(|bound| bound.method == Method::GaussianExact).unwrap();
        for bound in &epsilons.bounds {
            prop_assert!(bound.upper >= exact.lower.unwrap(), "{event}: {bound:?} below {exact:?}");
        }
        let plain = plain_gaussian(m, exact.upper.get());
        prop_assert!(exact.upper.get() > 700.0 || plain <= target.get() * (1.0 + 1e-9) + 1e-15 * (1.0 + asked), "{event}: {exact:?} leaks {plain:e}");
    }

    #[test]
    fn randomized_responses(k in 1_u32..200, lie in log_uniform(1e-3, 0.4999), share in share(), delta in target(), all in sometimes()) {
        let p = 1.0 - lie;
        let epsilon = ((2.0 * p - 1.0) / (1.0 - p)).ln_1p();
        let exact = Exact::equal(k, epsilon, 0.0);
        let event = repeat(u64::from(k), randomized_response(p, 2));
        never_below(&event, &exact, ProfileQuery { epsilon: share * f64::from(k) * epsilon, delta, all })?;
    }

    #[test]
    fn equal_parts(
        k in 1_u32..200, epsilon in log_uniform(1e-4, 8.0),
        failing in prop_oneof![Just(0.0), log_uniform(1e-12, 1e-3)], share in share(), delta in target(), all in sometimes(),
    ) {
        let exact = Exact::equal(k, epsilon, failing);
        let part = if failing > 0.0 { approximate(epsilon, failing) } else { pure(epsilon) };
        never_below(&repeat(u64::from(k), part), &exact, ProfileQuery { epsilon: share * f64::from(k) * epsilon, delta, all })?;
    }

    #[test]
    fn different_parts(
        parts in prop::collection::vec((log_uniform(1e-3, 5.0), prop_oneof![2 => Just(0.0), 1 => log_uniform(1e-12, 1e-2)]), 1..11),
        share in share(), delta in target(), all in sometimes(),
    ) {
        let exact = Exact::product(&parts);
        let most: f64 = parts.iter().map(|part| part.0).sum();
        let event = PrivacyEvent::Compose(parts.iter().map(|&(epsilon, delta)| {
            if delta > 0.0 { approximate(epsilon, delta) } else { pure(epsilon) }
        }).collect());
        never_below(&event, &exact, ProfileQuery { epsilon: share * most, delta, all })?;
    }
}

/// A few kinds of (ε, δ) parts, each some times.
fn kinds(most: usize) -> impl Strategy<Value = PrivacyEvent> {
    let kind = (
        log_uniform(1e-4, 2.0),
        prop_oneof![Just(0.0), log_uniform(1e-12, 1e-6)],
        1_u64..20,
    );
    prop::collection::vec(kind, 1..=most).prop_map(|kinds| {
        let parts = kinds
            .into_iter()
            .map(|(epsilon, delta, count)| repeat(count, approximate(epsilon, delta)));
        PrivacyEvent::Compose(parts.collect())
    })
}

/// Below, ε is lost in the rounding of ε(α) at huge orders. Above, the search
/// for the best order may miss a valley that is narrower than its steps; the
/// bound is then 1, true and useless.
const EVERYDAY: std::ops::Range<f64> = 1e-2..1000.0;

/// The theorems that use (ε, δ) and nothing else.
const TOLD_THE_SAME: [Method; 3] = [
    Method::Basic,
    Method::Advanced,
    Method::ConcentratedAdvanced,
];

/// Optimal composition is the best of those, in both directions.
fn optimal_is_best(event: &PrivacyEvent, share: f64, target: f64) -> Result<(), TestCaseError> {
    let target = Delta::new(target).unwrap();
    let (all, _) = mizan_accounting::basic_composition(event).unwrap();
    let asked = Epsilon::new(share * all.upper.get()).unwrap();
    let optimal =
        methods::epsilon_by(Method::Optimal, event, target).map(|bound| bound.upper.get());
    let optimal_delta = methods::delta_by(Method::Optimal, event, asked).unwrap();
    for method in TOLD_THE_SAME {
        if let Ok(other) = methods::epsilon_by(method, event, target) {
            let optimal = optimal.as_ref().unwrap();
            prop_assert!(
                *optimal <= other.upper.get() * (1.0 + 1e-9),
                "{event} at {target}: {optimal}, but {other:?}"
            );
        }
        let other = methods::delta_by(method, event, asked).unwrap();
        prop_assert!(
            optimal_delta.upper.get() <= other.upper.get() * (1.0 + 1e-9) + 1e-300,
            "{event} at ε {asked}: {optimal_delta:?}, but {other:?}"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn optimal_is_the_best_of_few_kinds(event in kinds(3), share in share(), target in log_uniform(1e-12, 0.1)) {
        optimal_is_best(&event, share, target)?;
    }

    /// δ undoes ε by every method.
    #[test]
    fn the_delta_of_an_epsilon(event in prop_oneof![kinds(3), random::event()], target in log_uniform(1e-12, 0.1)) {
        let target = Delta::new(target).unwrap();
        for bound in methods::epsilon(&event, target).bounds {
            if !EVERYDAY.contains(&bound.upper.get()) {
                continue;
            }
            // A curve may bend closer to order one than the search goes: a
            // declared mean far below half the variance.
            if bound.order.is_some_and(|order| order.get() < 1.0 + 1e-5) {
                continue;
            }
            // Where numeric is wide, so is what it gives back.
            let wide = |lower: Epsilon| bound.upper.get() - lower.get() > 1e-9 * bound.upper.get();
            if bound.method == Method::Numeric && bound.lower.is_none_or(wide) {
                continue;
            }
            // The two directions use different lattices, where they use one, and
            // δ may fall by many times what ε is off by.
            let slack = match bound.method {
                Method::Optimal => 1e-3,
                Method::Numeric => 1e-2,
                _ => 1e-6,
            };
            let back = methods::delta_by(bound.method, &event, bound.upper).unwrap();
            prop_assert!(back.upper.get() <= target.get() * (1.0 + slack), "{event} at {target}: {bound:?}, {back:?}");
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// Many kinds, where optimal composition is computed on a lattice.
    #[test]
    fn optimal_is_the_best_of_many_kinds(event in kinds(30), share in 0.0..0.9_f64, target in log_uniform(1e-12, 0.1)) {
        optimal_is_best(&event, share, target)?;
    }
}
