//! The odometer against adaptive adversaries, who choose queries and the stopping time in view of
//! earlier answers. Every tree is enumerated, so the means are exact (up to rounding).

use crate::common::{CLOCK, NO_CLOCK, account, admits, delta, epsilon, orders, take};
use mizan_core::{Epsilon, PrivacyEvent, Rho};
use mizan_ledger::evidence::Odometer;
use mizan_ledger::log::Reservation;
use mizan_ledger::money::{Amount, Scale, Taken, Weight, admit};
use mizan_ledger::*;

/// Numbers that are the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        low + (high - low) * ((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// The probabilities of two answers on two neighbouring inputs.
#[derive(Clone, Copy)]
struct Mechanism {
    p: [f64; 2],
    q: [f64; 2],
}

impl Mechanism {
    /// A rare answer that says much, and one that says little.
    fn random(random: &mut Random) -> Self {
        let q = random.next(-7.0, -1.0).exp();
        let ratio = random.next(0.1, 2.5).exp().min(0.9 / q);
        let p = q * ratio;
        Self {
            p: [p, 1.0 - p],
            q: [q, 1.0 - q],
        }
    }

    /// With the price of its largest loss, if the account has a clock.
    fn cost(&self, account: &Account) -> Cost {
        let orders = account.orders();
        let divergence = |p: [f64; 2], q: [f64; 2], order: f64| {
            let ratios = [p[0] / q[0], p[1] / q[1]];
            if order == f64::INFINITY {
                return ratios[0].max(ratios[1]).ln();
            }
            let moment = q[0] * ratios[0].powf(order) + q[1] * ratios[1].powf(order);
            moment.ln() / (order - 1.0)
        };
        let amounts = orders.iter().map(|order| {
            let order = order.get();
            let worst = divergence(self.p, self.q, order).max(divergence(self.q, self.p, order));
            Amount::cost(worst.max(0.0) * (1.0 + 1e-13)).unwrap()
        });
        let cost = Cost::new(amounts, DeltaAmount::ZERO);
        if account.budget().clock().is_none() {
            return cost;
        }
        let loss = divergence(self.p, self.q, f64::INFINITY);
        let loss = loss.max(divergence(self.q, self.p, f64::INFINITY)) * (1.0 + 1e-13);
        let pure = PrivacyEvent::Pure {
            epsilon: epsilon(loss),
        };
        let price = Cost::of(&pure, orders).unwrap().price().cloned();
        cost.with_price(price)
    }
}

/// The largest mean of max(0, r - e^E) that looking at the best moment gives,
/// over all ways to look, in a tree of random questions.
fn worst(
    account: &Account,
    read: &dyn Fn(&Account) -> f64,
    (p, q): (f64, f64),
    depth: u32,
    random: &mut Random,
) -> f64 {
    let now = (p - q * read(account).exp()).max(0.0);
    if depth == 0 {
        return now;
    }
    let mechanism = Mechanism::random(random);
    let cost = mechanism.cost(account);
    if !admits(account, &cost) {
        return now;
    }
    let mut after = account.clone();
    take(&mut after, &cost);
    let later: f64 = (0..2)
        .map(|answer| {
            let both = (p * mechanism.p[answer], q * mechanism.q[answer]);
            worst(&after, read, both, depth - 1, random)
        })
        .sum();
    now.max(later)
}

fn promised(e: f64, d: f64, clock: Weight, values: &[f64]) -> Account {
    let orders = orders(values);
    let budget = Budget::approximate(epsilon(e), delta(d), DeltaAmount::ZERO, clock, &orders);
    account(&orders, budget.unwrap())
}

#[test]
fn the_reading_holds_whenever_one_looks() {
    let guarantee = |account: &Account| Odometer::of(account, None).guarantee.unwrap().0.get();
    let half = |account: &Account| guarantee(account) / 2.0;
    let (mut most, mut most_of_half) = (0.0_f64, 0.0_f64);
    for seed in 0..400 {
        for (e, d, clock) in [
            (3.0, 0.01, NO_CLOCK),
            (6.0, 0.003, NO_CLOCK),
            (3.0, 0.01, CLOCK),
            (6.0, 0.003, CLOCK),
        ] {
            if clock != NO_CLOCK && seed % 4 != 0 {
                continue;
            }
            let account = promised(e, d, clock, &[2.0, 3.0, 5.0, 9.0, 17.0]);
            let mean = |read: &dyn Fn(&Account) -> f64| {
                worst(&account, read, (1.0, 1.0), 5, &mut Random(seed)) / d
            };
            let reached = mean(&guarantee);
            assert!(reached <= 1.0, "seed {seed}: {reached} δ");
            most = most.max(reached);
            most_of_half = most_of_half.max(mean(&half));
        }
    }
    // The same adversaries break a reading that promises too much.
    assert!(most_of_half > 1.5, "{most_of_half}");
    println!("at most {most} δ, {most_of_half} δ with half the reading");
}

#[test]
fn readings_grow_and_stay_above_the_estimate() {
    for clock in [NO_CLOCK, CLOCK] {
        readings_grow(clock);
    }
}

fn readings_grow(clock: Weight) {
    let orders = Orders::standard();
    let (e, d) = (epsilon(2.0), delta(1e-6));
    let reserved_delta = Budget::usual_reserved_delta(d);
    let budget = Budget::approximate(e, d, reserved_delta, clock, &orders).unwrap();
    let mut account = account(&orders, budget);
    let zero = Odometer::of(&account, None);
    assert_eq!(zero.estimate.unwrap().0, Epsilon::ZERO);
    assert_eq!(zero.guarantee.unwrap().0, Epsilon::ZERO);
    assert_eq!(zero.remaining, Some(e));
    let cost = Cost::of(&"gaussian(30)".parse().unwrap(), &orders).unwrap();
    let mut last = zero;
    while admits(&account, &cost) {
        take(&mut account, &cost);
        let now = Odometer::of(&account, None);
        let (estimate, reading) = (now.estimate.unwrap().0, now.guarantee.unwrap().0);
        // The estimate is at the orders, where more than the target may fit the clock.
        assert!(estimate < reading);
        let grows = estimate > last.estimate.unwrap().0 && now.remaining < last.remaining;
        assert!(grows || clock != NO_CLOCK && estimate == e);
        // Every charge shows.
        let before = last.guarantee.unwrap().0;
        assert!(reading > before);
        for line in &now.left {
            let rest = line.left.map(|left| left.pico() + line.taken.pico());
            assert!(line.limit.is_none() || rest >= line.limit.map(Amount::pico));
        }
        last = now;
    }
    // A reading that stops at ε would have more than δ.
    let reading = last.guarantee.unwrap().0;
    assert!(reading > e && reading.get() < 1.3 * e.get(), "{reading:?}");
    assert_eq!(last.room.unwrap().order.is_none(), clock != NO_CLOCK);
}

#[test]
fn pure_charges_are_read_exactly_and_rho_only_with_a_delta() {
    let orders = Orders::standard();
    let laplace = Cost::of(&"laplace(4)".parse().unwrap(), &orders).unwrap();
    let mut pure = account(&orders, Budget::pure(epsilon(1.0), &orders).unwrap());
    take(&mut pure, &laplace);
    let read = Odometer::of(&pure, None);
    let (reading, none) = read.guarantee.unwrap();
    assert!((0.25..0.25 + 1e-11).contains(&reading.get()) && none == delta(0.0));
    assert_eq!(read.estimate, read.guarantee);
    let rest = read.remaining.unwrap().get();
    assert!((0.75 - 1e-11..=0.75).contains(&rest), "{rest}");

    let rho = Rho::new(0.5).unwrap();
    let budget = Budget::zero_concentrated(rho, DeltaAmount::ZERO, &orders).unwrap();
    let mut concentrated = account(&orders, budget);
    let gaussian = Cost::of(&"gaussian(2)".parse().unwrap(), &orders).unwrap();
    take(&mut concentrated, &gaussian);
    let read = Odometer::of(&concentrated, None);
    assert_eq!(
        (read.estimate, read.guarantee, read.remaining),
        (None, None, None)
    );
    let read = Odometer::of(&concentrated, Some(delta(1e-6)));
    // The exact ε of this noise at this δ is 2.3808.
    let estimate = read.estimate.unwrap().0.get();
    assert!((2.39..2.7).contains(&estimate), "{estimate}");
    assert_eq!(read.guarantee, None);
}

/// A budget of (1, 1e-6) of which a tenth is reserved.
fn census(clock: Weight) -> Account {
    let orders = Orders::standard();
    let reserved_delta = DeltaAmount::budget(delta(1e-7));
    let budget = Budget::approximate(epsilon(1.0), delta(1e-6), reserved_delta, clock, &orders);
    account(&orders, budget.unwrap())
}

fn reading(account: &Account) -> f64 {
    let (reading, at) = Odometer::of(account, None).guarantee.unwrap();
    assert_eq!(at, delta(1e-6));
    reading.get()
}

fn charge(account: &mut Account, event: &str) {
    let cost = Cost::of(&event.parse().unwrap(), account.orders()).unwrap();
    take(account, &cost);
}

/// A twentieth of a fifth of the clock.
const HUNDREDTH: &str = "gaussian(42.917)";

#[test]
fn a_fifth_is_read_at_the_delta_of_the_account() {
    for clock in [CLOCK, NO_CLOCK] {
        let mut account = census(clock);
        for _ in 0..20 {
            charge(&mut account, HUNDREDTH);
        }
        if let Some(clock) = account.budget().clock() {
            let share = account.taken().clock().femto() as f64 / clock.limit.femto() as f64;
            assert!((0.2 - 1e-4..0.2).contains(&share), "{share}");
        }
        // 0.415 had the charges been fixed in advance.
        let reading = reading(&account);
        assert!((0.415..0.490).contains(&reading), "{reading}");
    }
}

/// No kind of charge has to be left out of a reading: it is made at the orders.
#[test]
fn charges_without_a_price_and_charges_that_may_fail_are_read() {
    for event in [
        "zcdp(0.0054293)",
        "50 * poisson(0.1, gaussian(4))",
        "30 * laplace(80)",
        "20 * discrete-gaussian(60) + approximate(0.05, 1e-9)",
    ] {
        let mut account = census(CLOCK);
        charge(&mut account, event);
        let alone = reading(&account);
        // Above what the totals convert to, had the charge been fixed in advance.
        let fixed = Odometer::of(&account, None).estimate.unwrap().0.get();
        assert!(
            fixed < alone && alone < 1.3 * fixed,
            "{event}: {fixed} {alone}"
        );
        charge(&mut account, HUNDREDTH);
        assert!(reading(&account) > alone, "{event}");
    }
}

/// A void takes a charge out of the reading; a smaller commit lowers it, although the clock keeps
/// what was reserved. A raise ends readings.
#[test]
fn voids_commits_and_raises_are_read() {
    let orders = Orders::standard();
    let event: PrivacyEvent = HUNDREDTH.parse().unwrap();
    let whole = Cost::of(&event, &orders).unwrap();
    let mut account = census(CLOCK);
    take(&mut account, &whole);
    let before = reading(&account);
    let charge = Charge::of(&event, &account).unwrap();
    let clock = admit(std::iter::once(&account), &charge.cost).unwrap();
    let held = Reservation {
        account: account.number(),
        cost: charge.cost.clone(),
        // The price of Gaussian noise holds at every remainder.
        clock: (clock.iter())
            .map(|&variance| Taken {
                variance,
                ..Taken::default()
            })
            .collect(),
    };
    account
        .take(&Body::Reserved { charge, clock }, None, 0)
        .unwrap();
    let pending = reading(&account);
    assert!(pending > before);

    let mut voided = account.clone();
    voided.take(&Body::Voided, Some(&held), 0).unwrap();
    assert_eq!(reading(&voided), before);

    let mut committed = account.clone();
    let body = Body::Committed {
        cost: whole.scaled(Scale::from_nano(500_000_000)).with_price(None),
        answer: Digest::of(&[b"answer"]),
    };
    committed.take(&body, Some(&held), 0).unwrap();
    assert_eq!(committed.taken().clock(), account.taken().clock());
    assert!((before..pending).contains(&reading(&committed)));

    let raised = Budget::approximate(epsilon(2.0), delta(1e-6), DeltaAmount::ZERO, CLOCK, &orders);
    account.raise(raised.unwrap());
    assert_eq!(Odometer::of(&account, None).guarantee, None);
}
