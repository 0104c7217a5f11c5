//! The audit finds planted bugs, and does not refute correct mechanisms.
//!
//! Each test states its false-alarm rate. By the theorem, a correct mechanism is refuted with
//! probability at most 1e-6 per audit, and far less in fact. A bug is missed with probability below
//! 1e-9: the required bound is more than seven standard deviations below the expected one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used
)]

use mizan_accounting::methods::{self, Method};
use mizan_audit::{Audit, AuditError, Confidence, Feature, Plan, Released, Subject, World, audit};
use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_noise::{DiscreteLaplace, Entropy, ExactScale, ExponentialMechanism};

fn claimed(event: &str, delta: f64) -> Epsilon {
    let event: PrivacyEvent = event.parse().unwrap();
    let delta = Delta::new(delta).unwrap();
    if delta == Delta::ZERO {
        methods::epsilon_by(Method::Pure, &event, delta)
            .unwrap()
            .upper
    } else {
        methods::epsilon(&event, delta).best().unwrap().upper
    }
}

fn attack(subject: &mut impl Subject, samples: u64, delta: f64) -> Audit {
    let confidence = Confidence::new(0.999_999).unwrap();
    let plan = Plan::new(samples, confidence, Delta::new(delta).unwrap()).unwrap();
    audit(subject, plan, &mut |_| ()).unwrap()
}

fn released(event: &str) -> Released {
    Released::of(&event.parse().unwrap()).unwrap()
}

/// The mechanism that runs is not the claimed one.
#[test]
fn another_mechanism_than_promised() {
    for (promised, runs, samples, delta) in [
        // The scale halved.
        ("discrete-laplace(10)", "discrete-laplace(5)", 200_000, 0.0),
        (
            "discrete-gaussian(10)",
            "discrete-gaussian(5)",
            8_000_000,
            1e-5,
        ),
        (
            "20 * discrete-gaussian(20)",
            "20 * discrete-gaussian(10)",
            200_000,
            1e-2,
        ),
        // The sensitivity is larger than claimed.
        (
            "discrete-laplace(10)",
            "discrete-laplace(10, 2)",
            200_000,
            0.0,
        ),
        (
            "discrete-gaussian(10)",
            "discrete-gaussian(10, 2)",
            8_000_000,
            1e-5,
        ),
        // A larger p than claimed.
        ("rr(0.6)", "rr(0.65)", 200_000, 0.0),
        ("rr(0.3, 5)", "rr(0.4, 5)", 200_000, 0.0),
        ("exponential(0.5)", "exponential(1)", 100_000, 0.0),
        // More rounds than claimed.
        ("10 * rr(0.55)", "20 * rr(0.55)", 400_000, 1e-2),
    ] {
        let found = attack(&mut released(runs), samples, delta);
        let (promise, truth) = (claimed(promised, delta), claimed(runs, delta));
        assert!(found.contradicts(promise), "{promised}, {runs}: {found:?}");
        assert!(!found.contradicts(truth), "{runs}: {found:?}");
    }
}

/// The same noise in every call.
struct SeedReused {
    noise: Vec<i64>,
}

impl SeedReused {
    fn new(scale: &str) -> Self {
        let scale: ExactScale = scale.parse().unwrap();
        let mut noise = vec![0; 1 << 16];
        let laplace = DiscreteLaplace::new(scale);
        laplace
            .fill(&mut Entropy::system().unwrap(), &mut noise)
            .unwrap();
        Self { noise }
    }
}

impl Subject for SeedReused {
    fn run(&mut self, world: World, outputs: &mut [f64]) -> Result<(), AuditError> {
        let answer = if world == World::With { 1 } else { 0 };
        for (output, noise) in outputs.iter_mut().zip(&self.noise) {
            *output = (answer + noise) as f64;
        }
        Ok(())
    }
}

/// Every batch of runs begins with the same seed. Each output alone has the right distribution; two
/// of them together reveal the answer.
#[test]
fn a_seed_that_is_reused_for_the_other_input() {
    for scale in ["10", "1000"] {
        let found = attack(&mut SeedReused::new(scale), 10_000, 0.0);
        assert_eq!(found.attack.feature, Feature::Difference);
        assert!(found.lower_bound.get() > 5.0, "{found:?}");
        assert!(found.contradicts(claimed("discrete-laplace(1)", 0.0)));
    }
}

/// Every single run begins with the same seed.
#[test]
fn a_seed_that_is_reused_in_every_run() {
    struct Constant;
    impl Subject for Constant {
        fn run(&mut self, world: World, outputs: &mut [f64]) -> Result<(), AuditError> {
            outputs.fill(if world == World::With { -3.0 } else { -4.0 });
            Ok(())
        }
    }
    let found = attack(&mut Constant, 10_000, 1e-5);
    assert!(found.lower_bound.get() > 5.0, "{found:?}");
}

/// A selection whose scores have twice the claimed sensitivity.
#[test]
fn scores_of_the_wrong_sensitivity() {
    struct Selection(ExponentialMechanism, Entropy);
    impl Subject for Selection {
        fn run(&mut self, world: World, outputs: &mut [f64]) -> Result<(), AuditError> {
            let mut scores = [2; 9];
            scores[0] = if world == World::With { 4 } else { 0 };
            for output in outputs {
                *output = self.0.select(&mut self.1, &scores)? as f64;
            }
            Ok(())
        }
    }
    let promise = Epsilon::new(1.0).unwrap();
    let mechanism = ExponentialMechanism::new(promise, 1).unwrap();
    let mut subject = Selection(mechanism, Entropy::system().unwrap());
    let found = attack(&mut subject, 40_000, 0.0);
    assert!(found.contradicts(promise), "{found:?}");
}

/// A sampler that is right but for one value in a thousand.
#[test]
fn a_value_that_only_one_world_gives() {
    struct Rare(Released);
    impl Subject for Rare {
        fn run(&mut self, world: World, outputs: &mut [f64]) -> Result<(), AuditError> {
            self.0.run(world, outputs)?;
            for output in outputs.iter_mut().step_by(1000) {
                *output = if world == World::With { 0.5 } else { *output };
            }
            Ok(())
        }
    }
    let found = attack(&mut Rare(released("discrete-laplace(10)")), 400_000, 0.0);
    assert!(
        found.contradicts(claimed("discrete-laplace(10)", 0.0)),
        "{found:?}"
    );
}

/// A thousand audits of correct mechanisms.
#[test]
fn correct_mechanisms_are_not_refuted() {
    let events = [
        ("discrete-laplace(10)", 0.0),
        ("discrete-laplace(0.5)", 0.0),
        ("discrete-laplace(3, 2)", 0.0),
        ("discrete-gaussian(1)", 1e-5),
        ("discrete-gaussian(20, 3)", 1e-3),
        ("rr(0.75)", 0.0),
        ("rr(0.5)", 0.0),
        ("rr(0.4, 10)", 0.0),
        ("exponential(0.5)", 0.0),
        (
            "3 * (rr(0.6) + discrete-laplace(4)) + discrete-gaussian(9)",
            1e-5,
        ),
    ];
    let mut subjects: Vec<_> = events
        .iter()
        .map(|&(event, delta)| (released(event), claimed(event, delta), delta))
        .collect();
    let mut positive = 0;
    for _ in 0..100 {
        for (subject, claim, delta) in &mut subjects {
            let samples = if subject.usual_samples() < 1_000_000 {
                500
            } else {
                4_000
            };
            let found = attack(subject, samples, *delta);
            assert!(!found.contradicts(*claim), "{found:?}");
            positive += u32::from(found.lower_bound > Epsilon::ZERO);
        }
    }
    assert!(positive > 300, "the audits see something: {positive}");
}

/// At a confidence of 0.9 a bound may be wrong, but not too often: 2000 audits
/// that are wrong with probability 0.1 at most are wrong more than 300 times
/// with probability e^-24 (Chernoff). The second mechanism reveals nothing, with
/// hundreds of sets to choose from: an audit that counted on the runs on which
/// it chose is wrong 540 times of 2000.
#[test]
fn the_confidence_is_honest() {
    for event in ["rr(0.7)", "discrete-laplace(1e6)"] {
        let mut subject = released(event);
        let claim = claimed(event, 0.0);
        let plan = Plan::new(1000, Confidence::new(0.9).unwrap(), Delta::ZERO).unwrap();
        let mut contradicted = || {
            let found = audit(&mut subject, plan, &mut |_| ()).unwrap();
            found.contradicts(claim)
        };
        let wrong = (0..2000).filter(|_| contradicted()).count();
        assert!(wrong <= 300, "{event}: {wrong} of 2000");
    }
}

/// The bound is close to the true ε.
#[test]
fn the_bound_is_near_the_truth() {
    for (event, delta, part) in [
        ("discrete-laplace(1)", 0.0, 0.93),
        ("discrete-laplace(0.2)", 0.0, 0.8),
        ("rr(0.9)", 0.0, 0.95),
        ("rr(0.5, 100)", 0.0, 0.85),
        ("discrete-gaussian(1)", 1e-5, 0.25),
        ("10 * discrete-gaussian(10)", 1e-2, 0.55),
    ] {
        let found = attack(&mut released(event), 400_000, delta);
        let truth = claimed(event, delta).get();
        let bound = found.lower_bound.get();
        assert!(
            bound > part * truth && bound <= truth,
            "{event}: {bound} of {truth}"
        );
    }
}
