//! Budgets: limits are the formula rounded down, weights add up to at most one, little of a target
//! is lost, and the edge cases of the filter.

use crate::common::{
    CLOCK, NO_CLOCK, account, admits, config, constant, delta, epsilon, orders, pico, take,
};
use mizan_accounting::{GaussianProfile, RenyiConversion, RenyiCurve};
use mizan_core::{Order, PrivacyEvent, Rho, Sensitivity, Sigma};
use mizan_ledger::money::{Amount, Rule, Scale, Weight, admit, how_many};
use mizan_ledger::*;
use proptest::prelude::*;

fn approximate(e: f64, d: f64, orders: &Orders) -> Budget {
    let own = Budget::usual_reserved_delta(delta(d));
    Budget::approximate(epsilon(e), delta(d), own, NO_CLOCK, orders).unwrap()
}

fn rho(value: f64) -> Rho {
    Rho::new(value).unwrap()
}

proptest! {
    #![proptest_config(config(300))]

    /// A limit converts back to at most its part of δ at ε, and to about that.
    #[test]
    fn limits_keep_their_part_of_delta(
        e in 0.01_f64..50.0,
        ln_delta in -40.0_f64..-1.0,
        clock in proptest::sample::select(vec![NO_CLOCK, CLOCK, Weight::ONE]),
    ) {
        let orders = Orders::standard();
        let d = ln_delta.exp();
        let own = Budget::usual_reserved_delta(delta(d));
        let budget = Budget::approximate(epsilon(e), delta(d), own, clock, &orders).unwrap();
        budget.check(&orders).unwrap();
        let weight = budget.clock().map_or(NO_CLOCK, |clock| clock.weight);
        let rest = u128::from(Weight::ONE.atto() - weight.atto());
        let sum: u128 = budget.weights().iter().map(|w| u128::from(w.atto())).sum();
        prop_assert!(sum <= rest);
        prop_assert!(sum == 0 || sum + 100 > rest);
        let filter = d - budget.reserved_delta().atto() as f64 * 1e-18;
        if let Some(clock) = budget.clock() {
            let part = weight.atto() as f64 * 1e-18 * filter;
            let v = clock.limit.femto() as f64 * 1e-15;
            let sigma = Sigma::new(1.0 / v.sqrt()).unwrap();
            let profile = GaussianProfile::new(sigma, Sensitivity::new(1.0).unwrap());
            let reached = profile.delta(epsilon(e));
            prop_assert!(reached.lower.get() <= part * (1.0 + 1e-9), "{part:e} {reached:?}");
            // A unit of 1e-15 moves a small variance by much.
            let slack = 1e-9 + 1e-12 * (e / v).powi(2);
            prop_assert!(reached.upper.get() >= part * (1.0 - slack), "{part:e} {reached:?}");
        }
        for ((order, limit), weight) in orders.iter().zip(budget.limits()).zip(budget.weights()) {
            let Some(limit) = limit else { continue };
            let limit = limit.pico() as f64 * 1e-12;
            if !order.is_finite() {
                prop_assert!(limit <= e && limit >= e - 2e-12);
                continue;
            }
            let part = weight.atto() as f64 * 1e-18 * filter;
            let way = RenyiConversion::CanonneKamathSteinke;
            let reached = way.delta(order, epsilon(limit), epsilon(e)).get();
            // A pico-nat moves δ by (α-1) 1e-12.
            let slack = 1e-9 + 4e-12 * order.get();
            prop_assert!(reached <= part * (1.0 + 1e-9), "{order}: {reached:e} {part:e}");
            prop_assert!(reached >= part * (1.0 - slack), "{order}: {reached:e} {part:e}");
        }
    }

    /// What is said to fit at most does fit, and nothing much larger.
    #[test]
    fn the_largest_that_fits(
        taken in proptest::collection::vec(0_u64..2_000, 3),
        asked in proptest::collection::vec(0_u64..5_000, 3),
        every in any::<bool>(),
        own in (0_u64..30, 0_u64..30),
        on_clock in proptest::option::of((0_u64..2_000, 0_u64..5_000)),
    ) {
        let orders = orders(&[2.0, 3.0, 4.0]);
        let points: Vec<_> = orders.iter().map(|a| (a, epsilon(1e-9))).collect();
        let budget = if every {
            Budget::curve(&points, DeltaAmount::from_atto(20), &orders).unwrap()
        } else {
            let own = DeltaAmount::from_atto(20);
            let clock = if on_clock.is_some() { CLOCK } else { NO_CLOCK };
            Budget::approximate(epsilon(30.0), delta(0.5), own, clock, &orders).unwrap()
        };
        let limits: Vec<u64> = budget.limits().iter().map(|l| l.unwrap().pico()).collect();
        // Bring the random amounts near the limits of either kind.
        let unit: Vec<u64> = limits.iter().map(|limit| limit / 1000).collect();
        let near = |x: &[u64]| x.iter().zip(&unit).map(|(x, u)| x * u).collect::<Vec<_>>();
        let (taken, asked) = (near(&taken), near(&asked));
        let clock = budget.clock().map_or(0, |clock| clock.limit.femto());
        let price = |units: u64| on_clock.map(|_| constant(clock / 1000 * units));
        let amounts = |x: &[u64], own| {
            let amounts = x.iter().map(|&x| Amount::from_pico(x));
            Cost::new(amounts, DeltaAmount::from_atto(own))
        };
        let mut account = account(&orders, budget);
        let (before, now) = on_clock.unwrap_or_default();
        take(&mut account, &amounts(&taken, own.0).with_price(price(before)));
        let cost = amounts(&asked, own.1).with_price(price(now));
        let within = (0..3).map(|i| taken[i] + asked[i] <= limits[i]);
        let expected = if every { within.clone().all(|x| x) } else { within.clone().any(|x| x) };
        let fits_clock = clock > 0 && before <= 1000 && clock / 1000 * (before + now) <= clock;
        let expected = (expected || fits_clock) && own.0 + own.1 <= 20;
        match admit(std::iter::once(&account), &cost) {
            Ok(_) => {
                prop_assert!(expected);
                let more = how_many(std::iter::once(&account), &cost);
                prop_assert!(more >= 1);
                if more < 10_000 {
                    let times = |n: u64| {
                        let asked: Vec<u64> = asked.iter().map(|x| x * n).collect();
                        amounts(&asked, own.1 * n).with_price(price(now * n))
                    };
                    prop_assert!(admits(&account, &times(more)));
                    prop_assert!(!admits(&account, &times(more + 1)));
                }
            }
            Err(refusal) => {
                prop_assert!(!expected);
                prop_assert!(refusal.largest < Scale::ONE);
                if refusal.largest > Scale::ZERO && refusal.largest < Scale::ONE {
                    prop_assert!(admits(&account, &cost.scaled(refusal.largest)));
                    let more = Scale::from_nano(refusal.largest.nano() + 1);
                    prop_assert!(!admits(&account, &cost.scaled(more)));
                }
            }
        }
    }
}

/// How much of a target is left by the grid, the weights and the tenth of δ
/// set aside: repeated events up to the limit, against the same with the whole
/// δ at the best of all orders.
#[test]
fn targets_lose_little() {
    let orders = Orders::standard();
    let mut kept = Vec::new();
    for text in [
        "zcdp(1e-7)",
        "poisson(0.1, gaussian(20))",
        "laplace(3000)",
        "rr(0.5002)",
    ] {
        let event: PrivacyEvent = text.parse().unwrap();
        let cost = Cost::of(&event, &orders).unwrap();
        for (e, d) in [0.1, 0.3, 1.0, 3.0, 10.0]
            .into_iter()
            .flat_map(|e| [1e-5, 1e-6, 1e-9].map(|d| (e, d)))
        {
            let budget = approximate(e, d, &orders);
            let fits = |(asked, limit): (&Amount, &Option<Amount>)| {
                limit.map_or(0, |limit| limit.pico() / asked.pico().max(1))
            };
            let ours = (cost.amounts().iter().zip(budget.limits()).map(fits))
                .max()
                .unwrap();
            let best = most_at_any_order(&event, e, d);
            println!("eps {e:4} delta {d:e} {text:28} {ours:9} of {best:9.0}");
            kept.push(ours as f64 / best);
        }
    }
    let worst = kept.iter().copied().fold(1.0, f64::min);
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    println!("worst {worst:.3} mean {mean:.3}");
    assert!(
        worst > 0.85 && mean > 0.91,
        "worst {worst:.3} mean {mean:.3}"
    );
}

/// The most repetitions within (ε, δ) by the conversion of the filter, at the
/// best of all orders and with the whole δ.
fn most_at_any_order(event: &PrivacyEvent, e: f64, d: f64) -> f64 {
    let curve = RenyiCurve::of(event).unwrap();
    let excess = (-80..=800).map(|k| 2_f64.powf(f64::from(k) / 60.0));
    let most = excess.map(|b| {
        let a = 1.0 + b;
        let limit = e + (d.ln() + a.ln()) / b + (1.0 / b).ln_1p();
        limit / curve.at(Order::new(a).unwrap()).upper.get()
    });
    let pure = e / curve.at(Order::INFINITE).upper.get();
    most.fold(pure, f64::max)
}

#[test]
fn a_full_account_takes_nothing_more_and_no_crumbs() {
    let orders = orders(&[f64::INFINITY]);
    let budget = Budget::pure(epsilon(1.0), &orders).unwrap();
    let mut account = account(&orders, budget);
    let one = pico(&[1_000_000_000_000]);
    assert!(admits(&account, &one));
    take(&mut account, &one);
    assert!(admits(&account, &pico(&[0])));
    assert!(!admits(&account, &pico(&[1])));
    let crumb = Cost::new([Amount::cost(1e-300).unwrap()], DeltaAmount::ZERO);
    assert!(!admits(&account, &crumb));
}

#[test]
fn what_exhausts_one_order_may_fit_another() {
    let orders = orders(&[20.0, f64::INFINITY]);
    let budget = approximate(2.0, 1e-6, &orders);
    let mut account = account(&orders, budget);
    let gaussian = Cost::of(&"gaussian(8)".parse().unwrap(), &orders).unwrap();
    assert_eq!(gaussian.amounts()[1], Amount::EXHAUSTED);
    assert!(admits(&account, &gaussian));
    take(&mut account, &gaussian);
    // From here on the infinite order is exhausted, and exhausted twice stays exhausted.
    take(&mut account, &gaussian);
    assert_eq!(account.taken().amounts().last(), Some(Amount::EXHAUSTED));
    let all = Cost::new([Amount::EXHAUSTED; 2], DeltaAmount::ZERO);
    let refusal = admit(std::iter::once(&account), &all).unwrap_err();
    assert_eq!(refusal.largest, Scale::ZERO);
    assert_eq!(refusal.lines[1].asked, Amount::EXHAUSTED);
}

#[test]
fn reserved_deltas_have_a_limit() {
    let orders = Orders::standard();
    let mut account = account(&orders, approximate(1.0, 1e-6, &orders));
    let cost = |text: &str| Cost::of(&text.parse().unwrap(), &orders).unwrap();
    take(&mut account, &cost("approximate(0.01, 8e-8)"));
    let refusal = admit(std::iter::once(&account), &cost("approximate(0.01, 4e-8)")).unwrap_err();
    // Just below 1e-7 is set aside, so almost half of it would fit.
    assert!(
        refusal.largest.to_string().starts_with("0.49999"),
        "{}",
        refusal.largest
    );
    assert!(admits(&account, &cost("approximate(0.01, 1.9e-8)")));
    assert!(admits(&account, &cost("pure(0.1)")));
}

#[test]
fn a_rho_is_kept_at_every_order() {
    let orders = orders(&[2.0, 8.0, f64::INFINITY]);
    let budget = Budget::zero_concentrated(rho(0.5), DeltaAmount::ZERO, &orders).unwrap();
    assert_eq!(budget.rule(), Rule::Every);
    assert_eq!(budget.limits()[2], None);
    let account = account(&orders, budget);
    let cost = |text: &str| Cost::of(&text.parse().unwrap(), &orders).unwrap();
    assert!(admits(&account, &cost("gaussian(1)")));
    assert!(!admits(&account, &cost("gaussian(0.999)")));
    // Fits at order 8 only.
    assert!(!admits(&account, &pico(&[1_000_000_000_001, 0, 0])));
}

#[test]
fn budgets_that_cannot_be_kept_are_refused() {
    let grid = Orders::standard();
    let approximate = |e, d, own| {
        Budget::approximate(
            epsilon(e),
            delta(d),
            DeltaAmount::from_atto(own),
            NO_CLOCK,
            &grid,
        )
    };
    assert_eq!(approximate(0.0, 1e-6, 0).unwrap_err().code(), "MZ1710");
    assert_eq!(approximate(1.0, 0.0, 0).unwrap_err().code(), "MZ1711");
    assert_eq!(approximate(1.0, 1.0, 0).unwrap_err().code(), "MZ1711");
    assert_eq!(
        approximate(1.0, 1e-6, 1_000_000_000_000)
            .unwrap_err()
            .code(),
        "MZ1711"
    );
    assert!(approximate(2e-12, 1e-300, 0).is_ok());
    assert_eq!(approximate(1e-13, 1e-300, 0).unwrap_err().code(), "MZ1710");
    let finite = orders(&[2.0, 3.0]);
    assert_eq!(
        Budget::pure(epsilon(1.0), &finite).unwrap_err().code(),
        "MZ1710"
    );
    let infinite = mizan_core::Epsilon::INFINITE;
    assert_eq!(Budget::pure(infinite, &grid).unwrap_err().code(), "MZ1703");
    let unknown = [(Order::new(2.5).unwrap(), epsilon(1.0))];
    let error = Budget::curve(&unknown, DeltaAmount::ZERO, &grid).unwrap_err();
    assert_eq!(error.code(), "MZ1712");
    let nothing = Budget::zero_concentrated(rho(0.0), DeltaAmount::ZERO, &grid);
    assert_eq!(nothing.unwrap_err().code(), "MZ1710");
    let certain = Budget::curve(&[(Order::INFINITE, epsilon(1.0))], DeltaAmount::ONE, &grid);
    assert_eq!(certain.unwrap_err().code(), "MZ1711");
    // It would be kept at large orders and left out at small ones.
    let partly = Budget::zero_concentrated(rho(1e-13), DeltaAmount::ZERO, &grid);
    assert_eq!(partly.unwrap_err().code(), "MZ1710");
}

#[test]
fn raising_keeps_the_weights_and_never_lowers() {
    let orders = Orders::standard();
    let budget = approximate(1.0, 1e-6, &orders);
    let own = budget.reserved_delta();
    let target = |e, d| Target::Approximate {
        epsilon: epsilon(e),
        delta: delta(d),
    };
    let raised = budget.raised(target(2.0, 1e-6), own, &orders).unwrap();
    assert_eq!(raised.weights(), budget.weights());
    raised.check(&orders).unwrap();
    let lower = budget.raised(target(0.9, 1e-6), own, &orders);
    assert_eq!(lower.unwrap_err().code(), "MZ1713");
    let less_delta = budget.raised(target(2.0, 1e-6), DeltaAmount::ZERO, &orders);
    assert_eq!(less_delta.unwrap_err().code(), "MZ1713");
    let other = Target::Pure {
        epsilon: epsilon(9.0),
    };
    let other = budget.raised(other, DeltaAmount::ZERO, &orders);
    assert_eq!(other.unwrap_err().code(), "MZ1714");
}
