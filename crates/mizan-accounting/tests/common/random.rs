//! Random events and orders for property tests, the extremes included.
//!
//! Parameters are log-uniform, so that every magnitude is visited as often as
//! every other. The seed is fixed: a failure on one machine is a failure on
//! all of them.

use mizan_core::{
    Count, DiscreteGaussian, DiscreteLaplace, Epsilon, Mu, Order, PrivacyEvent, Probability,
    RandomizedResponse, RenyiPoints, Rho, Scale, Sensitivity, Sigma, Tau,
};
use mizan_test_support::long_run;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// `cases` random cases from a fixed seed; 20 times as many in a long run.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: if long_run() { 20 * cases } else { cases },
        rng_seed: RngSeed::Fixed(20_170_224),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Every magnitude between two positive numbers equally often.
pub(crate) fn log_uniform(low: f64, high: f64) -> impl Strategy<Value = f64> + Clone {
    (low.ln()..high.ln()).prop_map(move |ln| ln.exp().clamp(low, high))
}

/// Orders above 1, from 1 + 1e-9 to a million.
pub(crate) fn order() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => log_uniform(1e-9, 1e6).prop_map(|excess| 1.0 + excess),
        2 => log_uniform(0.1, 100.0).prop_map(|excess| 1.0 + excess),
        1 => (2_u32..200).prop_map(f64::from),
    ]
}

pub(crate) fn at(order: f64) -> Order {
    Order::new(order).unwrap()
}

/// Noise from almost none to almost nothing else.
pub(crate) fn noise() -> impl Strategy<Value = f64> + Clone {
    log_uniform(1e-6, 1e9)
}

pub(crate) fn sensitivity() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![Just(1.0), log_uniform(1e-6, 1e6)]
}

/// Losses from one that is below rounding errors to one that gives no privacy.
pub(crate) fn loss() -> impl Strategy<Value = f64> + Clone {
    log_uniform(1e-12, 1e4)
}

/// The probability of the truth in binary randomized response: from a hair
/// above chance to a hair below certainty.
pub(crate) fn truthful() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![
        log_uniform(1e-12, 0.499).prop_map(|excess| 0.5 + excess),
        log_uniform(1e-12, 0.499).prop_map(|lie| 1.0 - lie),
    ]
}

pub(crate) fn gaussian(sigma: f64, sensitivity: f64) -> PrivacyEvent {
    PrivacyEvent::Gaussian {
        sigma: Sigma::new(sigma).unwrap(),
        sensitivity: Sensitivity::new(sensitivity).unwrap(),
    }
}

pub(crate) fn laplace(scale: f64, sensitivity: f64) -> PrivacyEvent {
    PrivacyEvent::Laplace {
        scale: Scale::new(scale).unwrap(),
        sensitivity: Sensitivity::new(sensitivity).unwrap(),
    }
}

pub(crate) fn discrete_gaussian(sigma: f64, sensitivity: f64) -> PrivacyEvent {
    let (sigma, sensitivity) = (Sigma::new(sigma), Sensitivity::new(sensitivity));
    let noise = DiscreteGaussian::new(sigma.unwrap(), sensitivity.unwrap());
    PrivacyEvent::DiscreteGaussian(noise.unwrap())
}

pub(crate) fn discrete_laplace(scale: f64, sensitivity: f64) -> PrivacyEvent {
    let (scale, sensitivity) = (Scale::new(scale), Sensitivity::new(sensitivity));
    let noise = DiscreteLaplace::new(scale.unwrap(), sensitivity.unwrap());
    PrivacyEvent::DiscreteLaplace(noise.unwrap())
}

pub(crate) fn randomized_response(p: f64, categories: u64) -> PrivacyEvent {
    let (p, categories) = (Probability::new(p), Count::new(categories));
    let response = RandomizedResponse::new(p.unwrap(), categories.unwrap());
    PrivacyEvent::RandomizedResponse(response.unwrap())
}

pub(crate) fn exponential(epsilon: f64) -> PrivacyEvent {
    PrivacyEvent::Exponential {
        epsilon: Epsilon::new(epsilon).unwrap(),
    }
}

pub(crate) fn pure(epsilon: f64) -> PrivacyEvent {
    PrivacyEvent::Pure {
        epsilon: Epsilon::new(epsilon).unwrap(),
    }
}

pub(crate) fn zero_concentrated(rho: f64) -> PrivacyEvent {
    PrivacyEvent::ZeroConcentrated {
        rho: Rho::new(rho).unwrap(),
    }
}

pub(crate) fn concentrated(mu: f64, tau: f64) -> PrivacyEvent {
    PrivacyEvent::Concentrated {
        mu: Mu::new(mu).unwrap(),
        tau: Tau::new(tau).unwrap(),
    }
}

pub(crate) fn gaussian_dp(mu: f64) -> PrivacyEvent {
    PrivacyEvent::GaussianDp {
        mu: Mu::new(mu).unwrap(),
    }
}

pub(crate) fn reported(points: &[(f64, f64)]) -> PrivacyEvent {
    let points = points
        .iter()
        .map(|&(order, epsilon)| (at(order), Epsilon::new(epsilon).unwrap()));
    PrivacyEvent::Renyi(RenyiPoints::new(points.collect()).unwrap())
}

pub(crate) fn repeat(count: u64, event: PrivacyEvent) -> PrivacyEvent {
    PrivacyEvent::Repeat {
        count: Count::new(count).unwrap(),
        event: Box::new(event),
    }
}

/// A single mechanism whose curve is exact: everything but reported points.
pub(crate) fn mechanism() -> impl Strategy<Value = PrivacyEvent> {
    prop_oneof![
        (noise(), sensitivity()).prop_map(|(sigma, s)| gaussian(sigma, s)),
        (noise(), sensitivity()).prop_map(|(scale, s)| laplace(scale, s)),
        (noise(), squared_sensitivity()).prop_map(|(sigma, s)| discrete_gaussian(sigma, s)),
        (log_uniform(0.05, 20.0), squared_sensitivity())
            .prop_map(|(sigma, s)| discrete_gaussian(sigma, s)),
        (noise(), whole_sensitivity()).prop_map(|(scale, s)| discrete_laplace(scale, s)),
        truthful().prop_map(|p| randomized_response(p, 2)),
        (3_u64..1_000_000, log_uniform(1e-12, 1.0)).prop_map(|(k, lie)| {
            // The double nearest to chance may be below it.
            let chance = (1.0 / Count::new(k).unwrap().as_f64()).next_up();
            randomized_response((1.0 - lie).clamp(chance, 1.0_f64.next_down()), k)
        }),
        loss().prop_map(exponential),
        loss().prop_map(pure),
        loss().prop_map(zero_concentrated),
        (loss(), loss()).prop_map(|(mu, tau)| concentrated(mu, tau)),
        loss().prop_map(gaussian_dp),
    ]
}

/// Roots of small whole numbers (L2 norms of integer vectors), and others.
pub(crate) fn squared_sensitivity() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => Just(1.0),
        2 => (1_u32..50).prop_map(|square| f64::from(square).sqrt().max(1.0)),
        1 => (1_u32..1000).prop_map(f64::from),
        1 => log_uniform(1.0, 100.0),
    ]
}

pub(crate) fn whole_sensitivity() -> impl Strategy<Value = f64> {
    prop_oneof![2 => Just(1.0), 1 => (1_u32..20).prop_map(f64::from), 1 => (1_u32..1_000_000).prop_map(f64::from)]
}

/// Compositions and counts of single mechanisms.
pub(crate) fn event() -> impl Strategy<Value = PrivacyEvent> {
    prop_oneof![
        4 => mechanism(),
        1 => (1_u64..1_000_000, mechanism()).prop_map(|(count, event)| repeat(count, event)),
        1 => prop::collection::vec(mechanism(), 2..6).prop_map(PrivacyEvent::Compose),
        1 => (1_u64..1000, prop::collection::vec(mechanism(), 2..4))
            .prop_map(|(count, events)| repeat(count, PrivacyEvent::Compose(events))),
    ]
}
