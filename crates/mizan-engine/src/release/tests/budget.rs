//! The cost of noise plans: at most the target, and close to it.

use mizan_core::Epsilon;
use mizan_sql::Groups;

use super::super::noise_plan::StatisticMechanism;
use super::super::price;
use super::super::{ChoiceReason, NoiseKind, NoiseTarget, choose, predicted};
use super::*;

fn shapes() -> Vec<BoundedPlan> {
    let three = || Groups::Public(vec![text("a"), text("b"), text("c")]);
    vec![
        plan(None, 1, statistics(1)[..2].to_vec(), vec![count()]),
        plan(
            None,
            1,
            statistics(4),
            vec![count(), sum(), mean(), variance(true, true)],
        ),
        plan(Some(three()), 3, statistics(10)[..3].to_vec(), vec![mean()]),
        plan(None, 1, statistics(2), vec![quantile(0.5), quantile(0.0)]),
        plan(
            Some(Groups::Private),
            1,
            statistics(3)[..2].to_vec(),
            vec![count()],
        ),
        plan(
            Some(Groups::Private),
            10,
            statistics(3),
            vec![sum(), quantile(0.9)],
        ),
    ]
}

#[test]
fn epsilon_is_kept_and_used() {
    for plan in shapes() {
        for delta in [1e-9, 1e-6] {
            for epsilon in [0.01, 0.1, 1.0, 8.0] {
                let noise_plan = choose(&plan, &request(epsilon, delta)).unwrap();
                let event = noise_plan.event();
                let cost = price::price(&event, delta / 2.0, false).epsilon;
                assert_eq!(cost, noise_plan.epsilon().get());
                assert!(cost <= epsilon, "{event} costs {cost}, above {epsilon}");
                assert!(cost >= 0.98 * epsilon, "{event} costs {cost} of {epsilon}");
                // An event that is stored in a ledger reads back as the same event.
                assert_eq!(
                    event
                        .to_string()
                        .parse::<mizan_core::PrivacyEvent>()
                        .unwrap()
                        .to_string(),
                    event.to_string()
                );
                mizan_ledger::Cost::of(&event, &mizan_ledger::Orders::standard()).unwrap();
            }
        }
    }
}

#[test]
fn more_epsilon_is_less_noise() {
    let plan = plan(None, 1, statistics(4)[..3].to_vec(), vec![sum()]);
    let mut last = f64::INFINITY;
    for epsilon in [0.01, 0.02, 0.1, 0.5, 1.0, 2.0, 10.0] {
        let noise_plan = choose(&plan, &request(epsilon, 1e-6)).unwrap();
        let width = predicted(&plan, &noise_plan).unwrap()[0]
            .half_width
            .unwrap();
        assert!(width < last, "{width} after {last} at {epsilon}");
        last = width;
    }
}

/// One count: Laplace noise, by the closed form. Many groups: Gaussian noise.
#[test]
fn the_narrower_noise_is_taken() {
    let one = plan(
        None,
        1,
        statistics(1)[1..2].to_vec(),
        vec![Aggregate::Count { of: 0 }],
    );
    let noise_plan = choose(&one, &request(1.0, 1e-6)).unwrap();
    assert_eq!(noise_plan.event().to_string(), "discrete-laplace(1)");
    assert!(
        matches!(
            noise_plan.why()[1],
            ChoiceReason::Other {
                noise: NoiseKind::DiscreteGaussian,
                ..
            }
        ),
        "{:?}",
        noise_plan.why()
    );
    let keys: Vec<Vec<Value>> = (0..100).map(|key| text(&key.to_string())).collect();
    let many = plan(
        Some(Groups::Public(keys)),
        100,
        statistics(1)[1..2].to_vec(),
        vec![Aggregate::Count { of: 0 }],
    );
    let noise_plan = choose(&many, &request(1.0, 1e-6)).unwrap();
    assert!(
        matches!(
            noise_plan.noise.mechanisms[0],
            StatisticMechanism::Gaussian { .. }
        ),
        "{noise_plan:?}"
    );
    // Without a delta only Laplace noise is possible, at the sum of all epsilons.
    let noise_plan = choose(&many, &request(1.0, 0.0)).unwrap();
    assert_eq!(
        noise_plan.event().to_string(),
        "100 * discrete-laplace(100.002)"
    );
}

#[test]
fn extremes_are_answered_or_refused() {
    for plan in shapes() {
        for epsilon in [1e-6, 1e3] {
            let noise_plan = choose(&plan, &request(epsilon, 1e-6)).unwrap();
            assert!(
                noise_plan.epsilon().get() <= epsilon,
                "{epsilon}: {}",
                noise_plan.epsilon().get()
            );
        }
        let refused = choose(&plan, &request(0.0, 1e-6)).unwrap_err();
        assert_eq!(refused.code(), "MZ1950");
        let private = plan.groups == Groups::Private;
        assert_eq!(choose(&plan, &request(1.0, 0.0)).is_err(), private);
    }
    let mut wide = plan(None, 10_000, statistics(1)[..3].to_vec(), vec![sum()]);
    wide.statistics[2].high = 1 << 29;
    assert!(choose(&wide, &request(1.0, 1e-6)).is_ok());
    assert!(choose(&wide, &request(1e-3, 1e-9)).is_ok());
    assert_eq!(
        choose(&wide, &request(1e-15, 0.0)).unwrap_err().code(),
        "MZ1955"
    );
}

#[test]
fn accuracy_is_solved_for() {
    for plan in [
        plan(None, 1, statistics(1)[..2].to_vec(), vec![count()]),
        plan(None, 1, statistics(4)[..3].to_vec(), vec![sum(), count()]),
        plan(
            Some(Groups::Private),
            10,
            statistics(3)[..2].to_vec(),
            vec![count()],
        ),
    ] {
        for half_width in [5.0, 50.0, 5000.0] {
            let request = spend_request(NoiseTarget::Accuracy(half_width), 1e-6);
            let noise_plan = choose(&plan, &request).unwrap();
            let width = predicted(&plan, &noise_plan).unwrap()[0]
                .half_width
                .unwrap();
            assert!(
                width <= half_width && width > 0.7 * half_width,
                "{width} {half_width}"
            );
            // Requesting the epsilon of this noise gives about the same noise.
            let epsilon = Epsilon::new(noise_plan.epsilon().get()).unwrap();
            let again = spend_request(NoiseTarget::Epsilon(epsilon), 1e-6);
            let again = choose(&plan, &again).unwrap();
            assert!(again.epsilon().get() >= 0.98 * noise_plan.epsilon().get());
        }
    }
    let plan = plan(None, 1, statistics(1), vec![mean()]);
    let refused = choose(&plan, &spend_request(NoiseTarget::Accuracy(5.0), 1e-6)).unwrap_err();
    assert_eq!(refused.code(), "MZ1952");
    let refused = choose(&plan, &spend_request(NoiseTarget::Accuracy(f64::NAN), 1e-6)).unwrap_err();
    assert_eq!(refused.code(), "MZ1951");
}

#[test]
fn a_group_is_not_released_twice() {
    let twice = Groups::Public(vec![text("a"), text("b"), text("a")]);
    let plan = plan(Some(twice), 3, statistics(4)[..2].to_vec(), vec![count()]);
    let refused = choose(&plan, &request(1.0, 1e-6)).unwrap_err();
    assert_eq!(refused.code(), "MZ1957");
}
