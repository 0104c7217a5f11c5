//! Prices that hold in one state of one account only.

use mizan_ledger::money::{Amount, Variance};
use mizan_ledger::state::Request;
use mizan_ledger::*;

use super::chain::{Chain, DENIED};
use crate::common::{CLOCK, admits, delta, epsilon};

/// The charge of an event in the present state of an account without a parent.
fn in_state(chain: &Chain, event: &str) -> Charge {
    let (event, account) = (event.parse().unwrap(), chain.account(0));
    let charge = Charge::of(&event, account).unwrap();
    charge.in_state(&event, std::iter::once(account))
}

fn standard(e: f64) -> Chain {
    let orders = Orders::standard();
    let own = DeltaAmount::from_atto(DeltaAmount::budget(delta(1e-6)).atto() / 10);
    let budget = Budget::approximate(epsilon(e), delta(1e-6), own, CLOCK, &orders).unwrap();
    let mut chain = Chain::of(&orders, &[budget]);
    chain.number = 1;
    chain
}

impl Chain {
    /// Reserves an event until it is denied. Returns how often it fitted.
    fn fill(&mut self, event: &str) -> u64 {
        let before = self.number;
        loop {
            let request = Request::Reserve(in_state(self, event));
            let number = self.number;
            self.number += 1;
            if DENIED(&self.run(number, &request)) {
                return number - before;
            }
        }
    }

    fn charge(&mut self, event: &str) -> Outcome {
        let request = Request::Reserve(in_state(self, event));
        self.number += 1;
        self.run(self.number - 1, &request)
    }
}

/// Pure charges before all others need less, because the likelihood ratio is bounded.
#[test]
fn pure_charges_first_leave_more_for_gaussian_noise() {
    let mut first = standard(1.0);
    for _ in 0..5 {
        assert_eq!(first.charge("pure(0.1)"), Outcome::Reserved);
    }
    let left = first.account(0).clock_left().unwrap().femto();
    let limit = first.account(0).budget().clock().unwrap().limit.femto();
    // 0.408 of the clock are left; 0.410 is exact for charges that are fixed in advance.
    let share = left as f64 / limit as f64;
    assert!((0.38..0.42).contains(&share), "{share}");
    let saved = first.account(0).taken().surplus();
    assert!(saved > Variance::ZERO);
    let after = first.fill("gaussian(40)");
    let mut last = standard(1.0);
    for _ in 0..after {
        assert_eq!(last.charge("gaussian(40)"), Outcome::Reserved);
    }
    assert!(last.fill("pure(0.1)") < 5, "no band after Gaussian noise");
    assert_eq!(last.account(0).taken().surplus(), Variance::ZERO);
    // Twenty-two: ∞ alone admits 20, prices that hold anywhere 21.
    assert!(standard(1.0).fill("laplace(20)") >= 21);
}

/// Before the first charge only the profile at ε matters.
#[test]
fn a_training_run_as_the_first_charge() {
    let run = |count: u32| format!("{count} * poisson(0.004, gaussian(1.1))");
    let mut chain = standard(1.0);
    let event = run(2200);
    let anywhere = Cost::of(&event.parse().unwrap(), chain.account(0).orders()).unwrap();
    assert!(!admits(chain.account(0), &anywhere));
    assert_eq!(chain.charge(&event), Outcome::Reserved);
    let taken = chain.account(0).taken();
    // Without amplification it would take 2200/1.1².
    assert_eq!(taken.surplus().femto() / 1_000_000_000_000_000, 1818);
    assert!(chain.account(0).clock_left().is_some());
    // Not a second time: the account is not as it was.
    assert!(DENIED(&chain.charge(&event)));
    // A voided run gives nothing back.
    let before = chain.taken(0);
    chain.run(1, &Request::Void);
    assert_eq!(chain.taken(0), before);
    assert_ne!(chain.account(0).taken().losses(), Amount::ZERO);
}

/// Blocks of a training run are priced by a certificate, at any time.
#[test]
fn blocks_of_a_training_run() {
    let mut chain = standard(1.0);
    assert_eq!(chain.charge("gaussian(100)"), Outcome::Reserved);
    let before = chain.account(0).taken().reserved_delta().atto();
    let block = "200 * poisson(0.004, gaussian(1.1))";
    let count = chain.fill(block);
    assert!((5..9).contains(&count), "{count}");
    // Each took a fiftieth of the reserved δ for its tail.
    let tails = chain.account(0).taken().reserved_delta().atto() - before;
    assert_eq!(
        tails,
        count * (chain.account(0).budget().reserved_delta().atto() / 50)
    );
    assert_eq!(chain.account(0).taken().surplus(), Variance::ZERO);
    let last = (1..=count).next_back().unwrap() + 1;
    let taken = chain.taken(0);
    chain.run(last, &Request::Void);
    assert!(
        chain.taken(0) < taken,
        "the last block was priced at what is left"
    );
    let own = chain.account(0).taken().reserved_delta().atto();
    assert_eq!(own, before + tails - tails / count);
}

/// A conditional price is for one state of the account only.
#[test]
fn a_stale_conditional_price_is_not_used() {
    let mut chain = standard(1.0);
    let stale = in_state(&chain, "pure(0.1)");
    assert!(stale.conditional[0].is_some());
    assert_eq!(chain.charge("pure(0.01)"), Outcome::Reserved);
    let request = Request::Reserve(stale.clone());
    chain.run(100, &request);
    let anywhere = stale.cost.price().unwrap();
    let last = chain.last()[0];
    assert!(last >= anywhere.least().femto());
    assert!(matches!(&chain.log.last().unwrap().body,
        Body::Reserved { charge, .. } if charge.conditional.is_empty()));
    // The same request, whatever the state was when it was priced.
    assert_eq!(
        stale.conditional[0].map(|price| price.losses),
        Some(Amount::ZERO)
    );
    assert_eq!(
        request.digest(),
        Request::Reserve(in_state(&chain, "pure(0.1)")).digest()
    );
    // After a charge without a bound on its loss there are none.
    chain.charge("gaussian(100)");
    assert_eq!(in_state(&chain, "pure(0.1)").conditional[..], [None]);
}

/// A raise pays for what conditional prices saved, or the clock stays that of the old ε.
#[test]
fn a_raise_of_an_account_with_conditional_prices() {
    let mut chain = standard(1.0);
    for _ in 0..3 {
        chain.charge("pure(0.1)");
        let number = chain.number - 1;
        chain.run(number, &Request::Start);
        let answer = Digest::of(&[]);
        let cost = in_state(&chain, "pure(0.1)").cost;
        chain.run(number, &Request::Commit { cost, answer });
    }
    let before = chain.account(0).clone();
    let saved = before.taken().surplus().femto();
    assert!(saved > 0);
    let left = before.clock_left().unwrap().femto();
    // A small raise does not pay for it.
    chain.raise(100, 0, 1.01);
    let after = chain.account(0);
    assert_eq!(after.clock_left().unwrap().femto(), left);
    assert_eq!(after.taken().surplus().femto(), saved);
    // A larger one does.
    let limit = after.budget().clock().unwrap().limit.femto();
    chain.raise(101, 0, 2.0);
    let after = chain.account(0);
    let growth = after.budget().clock().unwrap().limit.femto() - limit;
    assert_eq!(after.taken().surplus(), Variance::ZERO);
    assert_eq!(after.clock_left().unwrap().femto(), left + growth - saved);
    assert_eq!(in_state(&chain, "pure(0.1)").conditional[..], [None]);
    // While a charge with one is pending, it may still be voided: the clock stays.
    let mut chain = standard(1.0);
    chain.charge("pure(0.1)");
    let left = chain.account(0).clock_left();
    chain.raise(100, 0, 9.0);
    assert_eq!(chain.account(0).clock_left(), left);
}
