//! What an account tells before and after a charge agrees with what its ledger decides: how many more
//! fit, why a charge was refused, how much is left.

use crate::common::lab::Directory;
use mizan_accounting::PrivacyProfile;
use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_ledger::evidence::Odometer;
use mizan_ledger::ledger::FittingCount;
use mizan_ledger::money::Weight;
use mizan_ledger::{
    Account, AccountName, AccountNumber, AccountView, Budget, Charge, DeltaAmount, Ledger,
    Location, NewAccount, Orders, Outcome, Refusal,
};

const ROOT: AccountNumber = AccountNumber::new(0);

fn event(text: &str) -> PrivacyEvent {
    text.parse().unwrap()
}

fn budget(reserved: DeltaAmount, clock: Weight) -> Budget {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    Budget::approximate(epsilon, delta, reserved, clock, &Orders::standard()).unwrap()
}

/// The usual budget of (1, 1e-6).
fn usual() -> Budget {
    let reserved = Budget::usual_reserved_delta(Delta::new(1e-6).unwrap());
    budget(reserved, Budget::usual_clock())
}

fn name(text: &str) -> AccountName {
    AccountName::new(text).unwrap()
}

/// A ledger in a directory that is removed with it.
struct Lab {
    ledger: Ledger,
    _directory: Directory,
}

impl Lab {
    fn new(budget: Budget) -> Self {
        let directory = Directory::in_memory();
        let location = Location::from(directory.path().join("ledger.db"));
        let ledger = Ledger::init(&location, &directory.path().join("state")).unwrap();
        let account = NewAccount {
            name: name("data"),
            parent: None,
            orders: Orders::standard(),
            budget,
        };
        ledger.create_account(None, account).unwrap();
        Self {
            ledger,
            _directory: directory,
        }
    }

    fn view(&self) -> AccountView {
        self.ledger.account(ROOT).unwrap()
    }

    fn how_many(&self, text: &str) -> FittingCount {
        let charge = self.ledger.price(ROOT, &event(text)).unwrap();
        self.view().how_many(&charge)
    }

    /// The refusal, if it is refused.
    fn spend(&self, text: &str) -> Option<Box<Refusal>> {
        let done = self.ledger.spend(None, ROOT, &event(text)).unwrap();
        assert_eq!(
            matches!(done.outcome, Outcome::Denied(_)),
            done.refusal.is_some()
        );
        done.refusal
    }
}

/// As charged one by one: the number is never above, it is exact unless it says that it may not be,
/// and it is 0 only if the next charge is refused.
#[test]
fn the_number_that_fits_is_what_the_ledger_admits() {
    for text in [
        "gaussian(10)",
        "laplace(20)",
        "pure(0.11)",
        "laplace(8) + gaussian(20)",
        "discrete-gaussian(12)",
    ] {
        let lab = Lab::new(usual());
        let mut told = Vec::new();
        while {
            told.push(lab.how_many(text));
            lab.spend(text).is_none()
        } {}
        let admitted = told.len() as u64 - 1;
        for (done, told) in (0..).zip(&told) {
            let left = admitted - done;
            assert!(told.count <= left, "{text} {done} {told:?} {left}");
            assert!(
                told.at_least || told.count == left,
                "{text} {done} {told:?} {left}"
            );
            assert_eq!(told.count == 0, left == 0, "{text} {done} {told:?} {left}");
        }
    }
}

/// Only as a first charge does the run fit.
#[test]
fn a_training_run_that_fits_as_a_first_charge_only() {
    let run = "2200 * poisson(0.004, gaussian(1.1))";
    let lab = Lab::new(usual());
    let once = FittingCount {
        count: 1,
        at_least: false,
    };
    assert_eq!(lab.how_many(run), once);
    assert_eq!(lab.spend(run), None);
    assert_eq!(lab.how_many(run), FittingCount::default());
    assert!(lab.spend(run).is_some());
}

/// A chain of which only one account has a clock.
#[test]
fn a_chain_counts_as_its_ledger_does() {
    let lab = Lab::new(usual());
    let old = budget(DeltaAmount::from_atto(250_000_000_000), Weight::ZERO);
    let below = NewAccount {
        name: name("below"),
        parent: Some(ROOT),
        orders: Orders::standard(),
        budget: old,
    };
    lab.ledger.create_account(None, below).unwrap();
    let below = AccountNumber::new(1);
    let one = event("laplace(20)");
    loop {
        let charge = lab.ledger.price(below, &one).unwrap();
        let told = lab.ledger.account(below).unwrap().how_many(&charge);
        let done = lab.ledger.spend(None, below, &one).unwrap();
        let denied = matches!(done.outcome, Outcome::Denied(_));
        assert_eq!(told.count == 0, denied, "{told:?}");
        if denied {
            break;
        }
    }
}

/// The clock of a refusal says what it lacks, or that it is not the reason.
#[test]
fn the_clock_of_a_refusal() {
    let lab = Lab::new(usual());
    assert_eq!(lab.spend("60 * gaussian(40)"), None);

    // More than what is left.
    let refusal = lab.spend("laplace(3)").unwrap();
    let (clock, left) = (
        refusal.clock.unwrap(),
        lab.view().account.clock_left().unwrap(),
    );
    assert!(!clock.fits && clock.needed.unwrap() > left);
    assert!(clock.needed > clock.asked, "{clock:?}");

    // Only the reserved delta is short.
    let refusal = lab.spend("gaussian(100) + approximate(0, 9e-7)").unwrap();
    let clock = refusal.clock.unwrap();
    assert!(clock.fits && clock.needed.unwrap() <= left, "{clock:?}");
    assert_eq!(clock.needed, clock.asked);
    assert_eq!(clock.tail, DeltaAmount::ZERO);

    // No price.
    let refusal = lab.spend("zcdp(0.5)").unwrap();
    let clock = refusal.clock.unwrap();
    assert_eq!((clock.fits, clock.needed, clock.asked), (false, None, None));
}

/// A plan whose variance fits, but not its tail.
#[test]
fn the_tail_of_a_refused_plan() {
    let lab = Lab::new(usual());
    let plan = "1400 * poisson(0.004, gaussian(1.1))";
    let price = lab.ledger.price(ROOT, &event(plan)).unwrap().cost;
    let tail = price.price().unwrap().tail();
    assert!(tail > DeltaAmount::ZERO);
    // All but half of the tail. An account that is not new has no price for a first charge.
    let reserved = lab.view().account.budget().reserved_delta().atto() - tail.atto() / 2;
    let used = format!("approximate(0, {}e-18)", reserved - 1);
    assert_eq!(lab.spend(&format!("gaussian(1000) + {used}")), None);
    let refusal = lab.spend(plan).unwrap();
    let clock = refusal.clock.unwrap();
    assert!(clock.fits && clock.tail == tail, "{clock:?}");
    let (taken, limit) = (refusal.taken_reserved_delta, refusal.reserved_delta_limit);
    assert_eq!(refusal.asked_reserved_delta, DeltaAmount::ZERO);
    assert!(taken.atto() + tail.atto() > limit.atto());
}

fn account(budget: Budget) -> Account {
    Account::new(ROOT, name("data"), None, Orders::standard(), budget)
}

/// As long as charges fit something is left, and what was spent is at least the exact ε of releases
/// that are fixed in advance.
#[test]
fn the_estimate_is_a_bound_and_leaves_something_while_charges_fit() {
    let delta = Delta::new(1e-6).unwrap();
    for text in ["gaussian(40)", "laplace(40)", "laplace(20) + gaussian(20)"] {
        let one = event(text);
        let mut view = AccountView {
            account: account(usual()),
            above: Vec::new(),
            gaps: Vec::new(),
        };
        let mut before = Epsilon::ZERO;
        for count in 1.. {
            let charge = Charge::of(&one, &view.account).unwrap();
            let Some(after) = view.after(&charge) else {
                assert!(count > 9, "{text}");
                break;
            };
            view = after;
            let odometer = Odometer::of(&view.account, None);
            let (spent, _) = odometer.estimate.unwrap();
            let all = event(&format!("{count} * ({text})"));
            let exact = PrivacyProfile::of(&all).unwrap().epsilon(delta).unwrap();
            assert!(spent >= exact.lower, "{text} {count} {spent:?} {exact:?}");
            assert!(spent >= before, "{text} {count}");
            before = spent;
            if view.account.clock_left().is_some() {
                // What conditional prices saved may use up the estimate, never as a remainder of 0.
                let least = if text == "gaussian(40)" { 0.016 } else { 0.0 };
                let left = odometer.remaining.map(Epsilon::get);
                assert!(
                    left.is_none_or(|left| left > least),
                    "{text} {count} {left:?}"
                );
                assert!(left.is_some() || text != "gaussian(40)", "{text} {count}");
            }
        }
    }
}

/// Only the clock, and all of the reserved delta used: the estimate is the whole ε although charges
/// fit. It is not told as "nothing is left".
#[test]
fn a_remainder_of_nothing_is_not_told_while_charges_fit() {
    let reserved = DeltaAmount::from_atto(100_000_000_000);
    let mut view = AccountView {
        account: account(budget(reserved, Weight::ONE)),
        above: Vec::new(),
        gaps: Vec::new(),
    };
    for text in [
        "gaussian(40) + approximate(0, 9.9999999999e-8)",
        "83 * gaussian(40)",
    ] {
        let charge = Charge::of(&event(text), &view.account).unwrap();
        view = view.after(&charge).unwrap();
    }
    let (remaining, room) = Odometer::remaining(&view.account, None);
    assert!(room.unwrap().share > 0.0);
    assert!(
        remaining.is_none_or(|left| left > Epsilon::ZERO),
        "{remaining:?}"
    );
    let charge = Charge::of(&event("gaussian(40)"), &view.account).unwrap();
    assert!(view.how_many(&charge).count > 0);
}
