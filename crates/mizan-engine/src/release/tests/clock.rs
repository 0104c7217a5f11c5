//! Releases of accounts with a Gaussian clock: their noise, their events, and the choice between
//! families.

use mizan_accounting::clock;
use mizan_core::{Epsilon, Interval, PrivacyEvent};
use mizan_ledger::money::{Variance, Weight, how_many};
use mizan_ledger::{
    Account, AccountName, AccountNumber, Budget, Cost, Orders, Target as AccountTarget,
};

use super::super::noise_plan::{self, Charged, StatisticMechanism};
use super::super::price;
use super::super::{AccountClock, ChoiceReason, NoiseKind, NoisePlan, choose, predicted};
use super::clipping::{capped, keys};
use super::*;

/// The clock of the account (ε, δ), with nine tenths of its delta and 0.8 of those.
fn account(epsilon: f64, delta: f64) -> AccountClock {
    let epsilon = Epsilon::new(epsilon).unwrap();
    let variance = clock::limit(epsilon, Interval::from(0.8 * 0.9 * delta).ln());
    AccountClock {
        epsilon,
        variance: Variance::from_femto(variance),
    }
}

/// A request at the whole delta of an account, with or without its clock.
fn asked(target: NoiseTarget, delta: f64, clock: Option<AccountClock>) -> Request {
    Request {
        target,
        delta: Delta::new(delta).unwrap(),
        threshold_delta: Delta::new(delta / 200.0).unwrap(),
        on_clock: clock.is_some(),
        clock,
    }
}

fn label(epsilon: f64) -> NoiseTarget {
    NoiseTarget::Epsilon(Epsilon::new(epsilon).unwrap())
}

/// Counts in so many groups, in each of which a unit may be.
fn counts(groups: usize) -> BoundedPlan {
    let count = vec![Aggregate::Count { of: 0 }];
    let statistics = statistics(1)[1..2].to_vec();
    plan(Some(keys(groups)), groups as u64, statistics, count)
}

fn width(plan: &BoundedPlan, noise_plan: &NoisePlan) -> f64 {
    predicted(plan, noise_plan).unwrap()[0].half_width.unwrap()
}

fn is_gaussian(noise_plan: &NoisePlan) -> bool {
    let first = &noise_plan.noise.mechanisms[0];
    matches!(first, StatisticMechanism::Gaussian { .. })
}

/// The share of the account and of the other noise, and whether it decided.
fn share(noise_plan: &NoisePlan) -> (Option<f64>, Option<f64>, bool) {
    let found = noise_plan
        .why()
        .into_iter()
        .find_map(|reason| match reason {
            ChoiceReason::Share {
                share,
                other,
                decided,
                ..
            } => Some((share, other.and_then(|(_, share)| share), decided)),
            _ => None,
        });
    found.expect("a share")
}

const BUDGETS: [(f64, f64); 4] = [(0.5, 1e-6), (1.0, 1e-6), (3.0, 1e-7), (10.0, 1e-9)];

/// An account of the ledger with a clock of this weight.
fn ledger_account(epsilon: f64, delta: f64, clock: Weight) -> Account {
    let (orders, delta) = (Orders::standard(), Delta::new(delta).unwrap());
    let reserved = Budget::usual_reserved_delta(delta);
    let epsilon = Epsilon::new(epsilon).unwrap();
    let budget = Budget::approximate(epsilon, delta, reserved, clock, &orders).unwrap();
    let (number, name) = (AccountNumber::new(1), AccountName::new("census").unwrap());
    Account::new(number, name, None, orders, budget)
}

/// The least half width of a count that so many times fits an account, with its noise plan.
fn narrowest(account: &Account, times: u64) -> (f64, NoisePlan) {
    let (AccountTarget::Approximate { epsilon, delta }, clock) =
        (account.budget().target(), account.budget().clock())
    else {
        panic!("a target with a delta");
    };
    let clock = clock.map(|clock| AccountClock {
        epsilon,
        variance: clock.limit,
    });
    let plan = counts(1);
    let least = (1..1000).map(f64::from).find_map(|width| {
        let target = NoiseTarget::Accuracy(width);
        let noise_plan = choose(&plan, &asked(target, delta.get(), clock)).unwrap();
        let cost = Cost::of(&noise_plan.event(), account.orders()).unwrap();
        let fits = how_many([account].into_iter(), &cost) >= times;
        fits.then_some((width, noise_plan))
    });
    least.unwrap()
}

/// Counts that use up an account together, all of the same accuracy.
#[test]
fn counts_that_use_up_an_account() {
    let usual = Budget::usual_clock();
    for (epsilon, delta) in BUDGETS {
        for times in [1, 3, 10, 30, 100] {
            let [(with, plan), (without, before)] = [usual, Weight::ZERO]
                .map(|clock| narrowest(&ledger_account(epsilon, delta, clock), times));
            println!(
                "({epsilon}, {delta:e}) {times} counts: ± {with} {} {:?}; before ± {without} {}",
                plan.event(),
                share(&plan),
                before.event()
            );
            assert!(with <= without, "{with} {without}");
            if (epsilon, delta, times) == (1.0, 1e-6, 100) {
                assert!(is_gaussian(&plan) && !is_gaussian(&before));
                assert_eq!((with, without), (84.0, 137.0));
                let (taken, other, decided) = share(&plan);
                assert!(decided && taken.unwrap() <= 0.01 && other.unwrap() > 0.02);
            }
        }
    }
}

/// The same label with less noise: 6.0 to 7.6 % where noise is Gaussian.
#[test]
fn gaussian_noise_is_calibrated_by_its_own_profile() {
    let sigma = |noise_plan: &NoisePlan| match noise_plan.noise.mechanisms[0] {
        StatisticMechanism::Gaussian { sigma, .. } => sigma,
        ref other => panic!("{other:?}"),
    };
    for (epsilon, delta) in BUDGETS {
        for part in [0.1, 0.5, 1.0] {
            let many = counts(100);
            let target = label(part * epsilon);
            let clock = account(epsilon, delta);
            let before = choose(&many, &asked(target, delta, None)).unwrap();
            let now = choose(&many, &asked(target, delta, Some(clock))).unwrap();
            let less = 1.0 - sigma(&now) / sigma(&before);
            println!(
                "({epsilon}, {delta:e}) at {part}: sigma {} -> {} ({:.1} % less)",
                sigma(&before),
                sigma(&now),
                100.0 * less
            );
            assert!((0.03..0.1).contains(&less), "{epsilon} {part}: {less}");
            assert!(now.epsilon().get() <= part * epsilon);
            assert!(now.epsilon().get() >= 0.99 * part * epsilon);
            // The label is that of the ledger's accountant too.
            let bound = clock::epsilon(&now.event(), Delta::new(delta).unwrap()).unwrap();
            assert_eq!(bound.get(), now.epsilon().get());
        }
    }
}

/// Accounts without a clock have the plans of earlier versions.
#[test]
fn accounts_without_a_clock_keep_their_noise() {
    let plans = [counts(1), counts(10), counts(100), capped(30)];
    let kept = [
        ("discrete-laplace(1)", 1.0),
        ("10 * discrete-gaussian(14.3293)", 1.0),
        ("100 * discrete-gaussian(45.3132)", 1.0),
        ("zcdp(0.0243507)", 1.0),
    ];
    for (plan, (event, epsilon)) in plans.iter().zip(kept) {
        let noise_plan = choose(plan, &asked(label(epsilon), 1e-6, None)).unwrap();
        println!("{}", noise_plan.event());
        assert_eq!(noise_plan.event().to_string(), event);
        let cost = |reason: &ChoiceReason| matches!(reason, ChoiceReason::Cost { .. });
        assert!(noise_plan.why().iter().any(cost));
    }
}

/// For a requested epsilon the narrower interval is used, or one that is at most a quarter wider
/// and takes a smaller share.
#[test]
fn the_family_for_an_epsilon() {
    for (epsilon, delta) in BUDGETS {
        let clock = account(epsilon, delta);
        let mut first = [None, None];
        for groups in 1..=30 {
            let plan = counts(groups);
            let target = label(epsilon / 10.0);
            let noise_plan = choose(&plan, &asked(target, delta, Some(clock))).unwrap();
            let before = choose(&plan, &asked(target, delta, None)).unwrap();
            println!(
                "({epsilon}, {delta:e}) {groups} groups: {} ± {} {:?}; before {} ± {}",
                noise_plan.event(),
                width(&plan, &noise_plan),
                share(&noise_plan),
                before.event(),
                width(&plan, &before),
            );
            for (first, plan) in first.iter_mut().zip([&before, &noise_plan]) {
                if is_gaussian(plan) {
                    first.get_or_insert(groups);
                } else {
                    assert_eq!(*first, None, "once Gaussian, always Gaussian");
                }
            }
            let (taken, other, decided) = share(&noise_plan);
            if decided {
                let width = width(&plan, &noise_plan);
                let narrower = noise_plan
                    .why()
                    .into_iter()
                    .find_map(|reason| match reason {
                        ChoiceReason::Other { accuracy, .. } => Some(accuracy),
                        _ => None,
                    });
                assert!(
                    taken.unwrap() < 0.65 * other.unwrap(),
                    "{taken:?} {other:?}"
                );
                let super::super::Accuracy::HalfWidth { width: least, .. } = narrower.unwrap()
                else {
                    panic!("a half width");
                };
                assert!(least <= width && width <= 1.25 * least, "{least} {width}");
            }
        }
        let [before, now] = first.map(Option::unwrap);
        println!("({epsilon}, {delta:e}): Gaussian from {before} groups before, {now} now");
        assert!(now < before);
        assert!(now >= 3, "a few counts keep the narrower interval");
    }
}

/// For a requested accuracy the smaller share is used: Gaussian noise for single counts once the
/// account is meant for more than so many of them.
#[test]
fn the_family_for_an_accuracy() {
    for ((epsilon, delta), most) in BUDGETS.into_iter().zip([7.0, 8.0, 11.0, 18.0]) {
        let clock = account(epsilon, delta);
        let single = counts(1);
        let chosen = |times: f64| {
            // The width of Laplace noise with a loss of ε/times.
            let width = (3.0 * times / epsilon).round();
            let noise_plan = choose(
                &single,
                &asked(NoiseTarget::Accuracy(width), delta, Some(clock)),
            );
            let noise_plan = noise_plan.unwrap();
            println!(
                "({epsilon}, {delta:e}) {times} ± {width}: {}",
                noise_plan.event()
            );
            let (taken, other, _) = share(&noise_plan);
            assert!(taken.is_none() || other.is_none() || taken <= other);
            is_gaussian(&noise_plan)
        };
        assert!(!chosen(0.5 * most) && chosen(2.0 * most), "{epsilon}");
    }
}

/// Clipped releases are discrete Gaussian noise over a norm, which has a price.
#[test]
fn clipped_releases_have_a_price() {
    let clock = account(1.0, 1e-6);
    for target in [label(0.1), label(1.0), NoiseTarget::Accuracy(100.0)] {
        let before = choose(&capped(30), &asked(target, 1e-6, None)).unwrap();
        let now = choose(&capped(30), &asked(target, 1e-6, Some(clock))).unwrap();
        let (plan, event) = (now.apply_to(capped(30)), now.event());
        assert_eq!(plan.group_bounding, GroupBounding::ClipL2);
        println!("{} -> {event} {:?}", before.event(), share(&now));
        assert!(
            matches!(event, PrivacyEvent::DiscreteGaussian(_)),
            "{event}"
        );
        assert_eq!(event.to_string().parse::<PrivacyEvent>().unwrap(), event);
        Cost::of(&event, &Orders::standard()).unwrap();
        assert!(clock::Price::of(&event).unwrap().taken(1 << 62).is_some());
        // Never below ρ-zCDP on the curve, and at most a hair above.
        let charged = |on_clock| Charged {
            group_bounding: GroupBounding::ClipL2,
            on_clock,
        };
        let event = |on_clock| {
            let mechanisms = &now.noise.mechanisms;
            noise_plan::event(30, mechanisms, None, charged(on_clock)).unwrap()
        };
        let cost = |on_clock| price::price(&event(on_clock), 1e-6, false).epsilon;
        let ratio = cost(true) / cost(false);
        assert!((0.999_99..1.000_05).contains(&ratio), "{ratio}");
    }
    // Noise that hides nothing keeps its event.
    let gaussian = |sigma, sensitivity| StatisticMechanism::Gaussian { sigma, sensitivity };
    let charged = Charged {
        group_bounding: GroupBounding::ClipL2,
        on_clock: true,
    };
    let event =
        |sigma| noise_plan::event(3, &[gaussian(sigma, 1), gaussian(30.0, 6)], None, charged);
    assert!(matches!(
        event(1.9).unwrap(),
        PrivacyEvent::ZeroConcentrated { .. }
    ));
    // Three groups of two statistics, the first of which is the dearer one: 6, and the margin.
    assert_eq!(
        event(4.0).unwrap().to_string(),
        "discrete-gaussian(4, 2.64578)"
    );
}

/// An account without a clock below one with a clock: the charge has a price there, and the noise is
/// chosen without shares.
#[test]
fn an_account_below_one_with_a_clock() {
    let below = Request {
        on_clock: true,
        ..asked(label(1.0), 1e-6, None)
    };
    let noise_plan = choose(&capped(30), &below).unwrap();
    let event = noise_plan.event();
    assert!(
        matches!(event, PrivacyEvent::DiscreteGaussian(_)),
        "{event}"
    );
    let why = noise_plan.why();
    let share = |reason: &ChoiceReason| matches!(reason, ChoiceReason::Share { .. });
    let cost = |reason: &ChoiceReason| matches!(reason, ChoiceReason::Cost { .. });
    assert!(!why.iter().any(share) && why.iter().any(cost), "{why:?}");
}

/// Private groups: thresholds are compared, and failures are not part of the label.
#[test]
fn private_groups_have_lower_thresholds() {
    let clock = account(1.0, 1e-6);
    for groups in [1, 10, 100] {
        let plan = plan(
            Some(Groups::Private),
            groups,
            statistics(3)[..2].to_vec(),
            vec![count()],
        );
        let before = choose(&plan, &asked(label(1.0), 1e-6, None)).unwrap();
        let now = choose(&plan, &asked(label(1.0), 1e-6, Some(clock))).unwrap();
        println!(
            "{groups} private groups: threshold {:?} -> {:?}",
            before.threshold(),
            now.threshold()
        );
        let [above, was] = [&now, &before].map(|plan| plan.threshold().unwrap() as f64);
        assert!(above <= 1.25 * was, "{above} {was}");
        assert!(groups < 100 || above < 0.96 * was, "{above} {was}");
        let kinds: Vec<NoiseKind> = [&before, &now]
            .into_iter()
            .filter_map(|noise_plan| match noise_plan.why().first() {
                Some(ChoiceReason::Chosen { noise, .. }) => Some(*noise),
                _ => None,
            })
            .collect();
        assert_eq!(kinds.len(), 2);
    }
}
