//! The Gaussian clock of an account: what fits, what it takes, and what gives it back.

mod chain;
mod conditional;

use self::chain::{Chain, DENIED, budget, cost, grid, unpriced};
use crate::common::{
    CLOCK, NO_CLOCK, account, admits, constant, delta, epsilon, growing, orders, take,
};
use mizan_core::Epsilon;
use mizan_ledger::log::Status;
use mizan_ledger::money::{Amount, ClockPrice, Taken, Variance, Weight, admit, how_many};
use mizan_ledger::state::{LedgerView, Request};
use mizan_ledger::*;

/// The column "hybrid" of the table of equal releases: with a tenth of δ reserved.
#[test]
fn equal_gaussian_releases_that_fit() {
    let budgets = [(0.5, 1e-6), (1.0, 1e-6), (3.0, 1e-7), (10.0, 1e-9)];
    for (event, fitting) in [
        ("gaussian(10)", [1, 5, 34, 233]),
        ("gaussian(20)", [5, 21, 137, 932]),
        ("gaussian(40)", [23, 86, 550, 3729]),
    ] {
        for ((e, d), fitting) in budgets.into_iter().zip(fitting) {
            let orders = Orders::standard();
            let own = DeltaAmount::from_atto(DeltaAmount::budget(delta(d)).atto() / 10);
            let budget = Budget::approximate(epsilon(e), delta(d), own, CLOCK, &orders).unwrap();
            budget.check(&orders).unwrap();
            let cost = Cost::of(&event.parse().unwrap(), &orders).unwrap();
            let account = account(&orders, budget);
            assert_eq!(
                how_many(std::iter::once(&account), &cost),
                fitting,
                "{event} {e}"
            );
        }
    }
}

/// The limits of the table in docs/benchmarks-history.md, to the digits that it has.
#[test]
fn limits_are_the_inverse_of_the_gaussian_profile() {
    for (e, d, limit) in [
        (0.5, 1e-6, "0.014885"),
        (1.0, 1e-6, "0.054293"),
        (3.0, 1e-7, "0.34386"),
        (10.0, 1e-9, "2.3307"),
    ] {
        let own = DeltaAmount::from_atto(DeltaAmount::budget(delta(d)).atto() / 10);
        let budget = Budget::approximate(epsilon(e), delta(d), own, CLOCK, &Orders::standard());
        let clock = budget.unwrap().clock().unwrap();
        let near: f64 = limit.parse().unwrap();
        let found: f64 = clock.limit.to_string().parse().unwrap();
        assert!((found / near - 1.0).abs() < 1e-4, "{found} {near}");
    }
}

#[test]
fn a_weight_of_zero_is_the_rule_of_the_orders_and_of_one_that_of_the_clock() {
    let without = budget(1.0, NO_CLOCK);
    assert_eq!(without.clock(), None);
    let event = "gaussian(40)".parse().unwrap();
    let gaussian = Cost::of(&event, &grid()).unwrap();
    assert!(gaussian.price().is_some());
    let clock_only = account(&grid(), budget(1.0, Weight::ONE));
    assert_eq!(clock_only.budget().limits()[0], None);
    assert!(
        clock_only.budget().limits()[1].is_some(),
        "∞ needs no part of delta"
    );
    assert!(!admits(&clock_only, &unpriced(1)));
    let one = how_many(std::iter::once(&clock_only), &gaussian);
    let shared = account(&grid(), budget(1.0, CLOCK));
    assert!(one > how_many(std::iter::once(&shared), &gaussian));
    // Without an order that has a limit the clock alone is a budget.
    let large = orders(&[2.0]);
    let small = |clock| {
        let e = Epsilon::new(0.1).unwrap();
        Budget::approximate(e, delta(1e-6), DeltaAmount::ZERO, clock, &large)
    };
    assert_eq!(small(NO_CLOCK).unwrap_err(), BudgetError::NothingFits);
    small(CLOCK).unwrap().check(&large).unwrap();
}

/// Entries without a clock stay what they were, also if the charge had a price.
#[test]
fn an_account_without_a_clock_is_charged_in_version_1() {
    let mut chain = Chain::new(&[budget(1.0, NO_CLOCK)]);
    let bare = Cost::new([Amount::from_pico(5); 2], DeltaAmount::ZERO);
    let priced = bare.clone().with_price(Some(constant(5)));
    chain.reserve(1, 0, &priced);
    assert!(chain.log.iter().all(|entry| entry.encode()[0] == 1));
    let charge = crate::common::charge(0, bare);
    let clock = Box::default();
    assert_eq!(chain.log[2].body, Body::Reserved { charge, clock });
    assert_eq!(chain.taken(0), 0);

    let mut chain = Chain::new(&[budget(1.0, CLOCK)]);
    chain.reserve(1, 0, &priced);
    let versions: Vec<_> = chain.log.iter().map(|entry| entry.encode()[0]).collect();
    assert_eq!(versions, [1, 2, 2]);
}

/// A later version of the program may find a smaller price for the same event.
#[test]
fn a_retry_with_another_price_is_the_same_request() {
    let mut chain = Chain::new(&[budget(1.0, CLOCK)]);
    assert_eq!(chain.reserve(1, 0, &cost(constant(10))), Outcome::Reserved);
    assert_eq!(chain.reserve(1, 0, &cost(constant(9))), Outcome::Reserved);
    assert_eq!((chain.log.len(), chain.taken(0)), (3, 10));
}

#[test]
fn a_price_grows_as_the_remainder_falls() {
    let mut chain = Chain::new(&[budget(1.0, Weight::ONE)]);
    let limit = chain.account(0).budget().clock().unwrap().limit.femto();
    let unit = limit / 20;
    let (mut taken, mut number) = (Vec::new(), 0);
    while !DENIED(&chain.reserve(number, 0, &cost(growing(unit)))) {
        taken.extend(chain.last());
        number += 1;
    }
    assert!(
        taken.is_sorted() && taken.last() > taken.first(),
        "{taken:?}"
    );
    assert!(taken[0] > unit && taken[0] < unit * 3 / 2, "{taken:?}");
    assert_eq!(chain.taken(0), taken.iter().sum::<u64>());
    // Less than the price where nothing is left.
    assert!(limit - chain.taken(0) < 2 * unit);
    let account = Chain::new(&[budget(1.0, Weight::ONE)]).account(0).clone();
    assert_eq!(
        how_many(std::iter::once(&account), &cost(growing(unit))),
        number
    );
}

/// Trap 6: the clock cannot pay for what only an order admitted, now or after a raise.
#[test]
fn a_charge_that_does_not_fit_exhausts_the_clock_forever() {
    let tiny = cost(constant(1));
    for charge in [
        unpriced(1),
        // A price that is too high, admitted by the order.
        unpriced(1).with_price(Some(constant(u64::MAX - 1))),
        // A price only where much is left.
        unpriced(1).with_price(ClockPrice::new([Some(1)])),
    ] {
        let mut chain = Chain::new(&[budget(1.0, CLOCK)]);
        let fits_both = unpriced(1).with_price(Some(constant(1)));
        assert_eq!(chain.reserve(1, 0, &fits_both), Outcome::Reserved);
        assert_eq!(chain.last(), [1]);
        assert_eq!(chain.reserve(2, 0, &charge), Outcome::Reserved);
        assert_eq!(chain.last(), [u64::MAX]);
        assert_eq!(chain.account(0).clock_left(), None);
        assert!(DENIED(&chain.reserve(3, 0, &tiny)));
        chain.raise(4, 0, 9.0);
        assert!(DENIED(&chain.reserve(5, 0, &tiny)));
        // The order goes on, and so does the exhausted sum.
        assert_eq!(chain.reserve(6, 0, &unpriced(1)), Outcome::Reserved);
        chain.run(2, &Request::Void);
        assert!(DENIED(&chain.reserve(7, 0, &tiny)));
    }
}

/// Trap 5: exactly what was taken, whatever the price would be now, if the price still holds.
#[test]
fn a_void_gives_back_what_was_taken() {
    let mut chain = Chain::new(&[budget(1.0, Weight::ONE), budget(1.0, Weight::ONE)]);
    let limit = chain.account(0).budget().clock().unwrap().limit.femto();
    let price = cost(growing(limit / 5));
    chain.reserve(1, 1, &price);
    let first = chain.taken(0);
    chain.reserve(2, 1, &price);
    chain.reserve(3, 1, &price);
    let all = chain.taken(0);
    assert!(all > 3 * first, "the later ones are dearer");
    // The last one was priced at what is left now, and so is the one before when it is gone.
    for number in [3, 2, 1] {
        chain.run(number, &Request::Void);
    }
    assert_eq!(
        (chain.taken(0), chain.account(1).pending().clock()),
        (0, Variance::ZERO)
    );
    // The only charge that exhausted the clock never ran.
    let mut chain = Chain::new(&[budget(1.0, CLOCK)]);
    chain.reserve(1, 0, &unpriced(1));
    chain.run(1, &Request::Void);
    assert_eq!(chain.reserve(2, 0, &cost(constant(1))), Outcome::Reserved);
}

/// A reservation is an option. `pure(0.2)` is reserved, then a Gaussian release of all that is left
/// is answered. In view of its answer the analyst runs the query, which is priced as if the other
/// came after it, or voids it. If the void gave its price back, the Gaussian noise that it then buys
/// would make 1.079 times the δ of the clock.
#[test]
fn a_void_keeps_what_does_not_hold_any_more() {
    let mut chain = Chain::new(&[budget(1.0, Weight::ONE)]);
    let limit = chain.account(0).budget().clock().unwrap().limit.femto();
    let option = growing(limit / 10);
    chain.reserve(1, 0, &cost(option));
    let taken = chain.taken(0);
    chain.reserve(2, 0, &cost(constant(limit - taken)));
    chain.run(2, &Request::Start);
    chain.run(1, &Request::Void);
    let account = chain.account(0);
    assert_eq!(account.clock_left(), Some(Variance::ZERO));
    assert_eq!(account.spent().clock().femto(), taken);
    assert_eq!(account.pending().clock().femto(), limit - taken);
    assert!(DENIED(&chain.reserve(3, 0, &cost(constant(1)))));
    // A constant price holds at every remainder.
    let mut chain = Chain::new(&[budget(1.0, Weight::ONE)]);
    chain.reserve(1, 0, &cost(constant(taken)));
    chain.reserve(2, 0, &cost(constant(limit - taken)));
    chain.run(1, &Request::Void);
    assert_eq!(chain.taken(0), limit - taken);
}

/// Trap 4: a smaller cost was not priced at the remainder of the reservation.
#[test]
fn a_commit_below_its_reservation_gives_the_clock_nothing() {
    let mut chain = Chain::new(&[budget(1.0, CLOCK)]);
    let reserved = unpriced(9).with_price(Some(constant(10)));
    chain.reserve(1, 0, &reserved);
    chain.run(1, &Request::Start);
    let answer = Digest::of(&[]);
    let less = unpriced(4).with_price(Some(constant(1)));
    chain.run(1, &Request::Commit { cost: less, answer });
    let account = chain.account(0);
    assert_eq!(account.spent().clock().femto(), 10);
    assert_eq!(account.pending().clock(), Variance::ZERO);
    assert_eq!(account.spent().amounts().next(), Some(Amount::from_pico(4)));
    // A commit has no numbers of the clock.
    assert_eq!(chain.log.last().unwrap().encode()[0], 1);
}

/// Trap 8: prices do not depend on the target, and are valid where more is left.
#[test]
fn a_raised_clock_keeps_what_was_taken() {
    let mut chain = Chain::new(&[budget(1.0, Weight::ONE)]);
    let before = chain.account(0).budget().clock().unwrap();
    let all = cost(constant(before.limit.femto()));
    assert_eq!(chain.reserve(1, 0, &all), Outcome::Reserved);
    assert!(DENIED(&chain.reserve(2, 0, &cost(constant(1)))));
    chain.raise(3, 0, 2.0);
    let after = chain.account(0).budget().clock().unwrap();
    assert!(after.limit > before.limit && after.weight == before.weight);
    assert_eq!(chain.taken(0), before.limit.femto());
    let rest = after.limit.femto() - before.limit.femto();
    assert!(DENIED(&chain.reserve(4, 0, &cost(constant(rest + 1)))));
    assert_eq!(
        chain.reserve(5, 0, &cost(constant(rest))),
        Outcome::Reserved
    );
    // No budget gets or loses a clock by a raise.
    let target = Target::Approximate {
        epsilon: epsilon(2.0),
        delta: delta(1e-6),
    };
    let raised = budget(1.0, NO_CLOCK).raised(target, DeltaAmount::ZERO, &grid());
    let raised = raised.unwrap();
    assert_eq!(raised.clock(), None);
    assert_eq!(
        budget(2.0, CLOCK).follows(&raised),
        Err(BudgetError::OtherKind)
    );
    assert_eq!(
        raised.follows(&budget(1.0, CLOCK)),
        Err(BudgetError::OtherKind)
    );
    let lower = budget(1.0, CLOCK).follows(&budget(2.0, CLOCK));
    assert_eq!(lower, Err(BudgetError::NotHigher));
}

/// A first charge may have a price for exactly ε and the part of δ that is not reserved.
#[test]
fn a_raise_lowers_no_part_of_delta() {
    let orders = Orders::standard();
    let reserved = |d| DeltaAmount::budget(delta(d));
    let before = Budget::approximate(epsilon(1.0), delta(1e-6), reserved(1e-7), CLOCK, &orders);
    let before = before.unwrap();
    let raised = |e, d, of_it| {
        let target = Target::Approximate {
            epsilon: epsilon(e),
            delta: delta(d),
        };
        let budget = before.raised(target, reserved(of_it), &orders);
        budget.and_then(|budget| budget.follows(&before))
    };
    // Every limit is higher. A charge that reveals all with probability 7e-7 fits the old budget.
    assert_eq!(raised(3.0, 2e-7, 1e-7), Err(BudgetError::NotHigher));
    assert_eq!(raised(1.5, 1e-6, 5e-7), Err(BudgetError::NotHigher));
    assert_eq!(raised(1.5, 1e-6, 1e-7), Ok(()));
    assert_eq!(raised(1.0, 2e-6, 2e-7), Ok(()));
}

/// Each account of a chain takes the price at its own remainder.
#[test]
fn parents_and_quotas_have_their_own_remainders() {
    let pure = Budget::pure(epsilon(1.0), &grid()).unwrap();
    let (one, half) = (budget(1.0, Weight::ONE), budget(0.5, Weight::ONE));
    let mut chain = Chain::new(&[one, half, pure]);
    let limit = |chain: &Chain, n| chain.account(n).budget().clock().unwrap().limit.femto();
    let small = limit(&chain, 1);
    let price = growing(small / 4);
    chain.reserve(1, 1, &cost(price.clone()));
    let [quota, root] = chain.last()[..] else {
        panic!("{:?}", chain.last());
    };
    assert!(root < quota, "more is left above: {root} {quota}");
    let left = |limit: u64| price.taken(Variance::from_femto(limit)).unwrap().femto();
    assert_eq!((quota, root), (left(small), left(limit(&chain, 0))));
    // An account without a clock below ones with: the order decides there.
    let both = Cost::new([Amount::from_pico(1); 2], DeltaAmount::ZERO);
    chain.reserve(2, 2, &both.clone().with_price(Some(price)));
    assert_eq!(chain.last()[0], 0);
    assert_eq!((chain.taken(2), chain.last().len()), (0, 3));
    // The quota is used up, the account above is not.
    while !DENIED(&chain.reserve(100 + chain.log.len() as u64, 1, &cost(constant(small / 8)))) {}
    assert_eq!(
        chain.reserve(3, 0, &cost(constant(small / 8))),
        Outcome::Reserved
    );
    // One without a price exhausts every clock of its chain.
    let pure = Budget::pure(epsilon(1.0), &grid()).unwrap();
    let mut chain = Chain::new(&[budget(1.0, CLOCK), budget(0.5, CLOCK), pure]);
    chain.reserve(1, 2, &both);
    assert_eq!(chain.last(), [0, u64::MAX, u64::MAX]);
}

/// A budget of an earlier version stays without a clock, and its new quotas have one.
#[test]
fn a_quota_with_a_clock_below_an_account_without_one() {
    let mut chain = Chain::new(&[budget(1.0, NO_CLOCK), budget(1.0, CLOCK)]);
    let both = Cost::new([Amount::from_pico(1); 2], DeltaAmount::ZERO);
    chain.reserve(1, 1, &both.with_price(Some(constant(7))));
    assert_eq!(chain.last(), [7, 0]);
    assert_eq!((chain.taken(1), chain.taken(0)), (7, 0));
    // The account above admits nothing by a clock.
    assert!(DENIED(&chain.reserve(2, 1, &cost(constant(1)))));
    chain.reserve(3, 0, &cost(constant(1)));
    assert_eq!(chain.log.last().unwrap().encode()[0], 1);
}

/// Trap 7: a statement about groups is a price of its own, never a multiple of a total.
#[test]
fn a_group_has_a_price_of_its_own() {
    let price = |event: &str| {
        let cost = Cost::of(&event.parse().unwrap(), &grid()).unwrap();
        cost.price().map(ClockPrice::least)
    };
    let one = price("gaussian(20)").unwrap();
    assert!(one.to_string().starts_with("0.0025"));
    assert!(price("group(2, gaussian(20))").is_none_or(|two| two.femto() >= 4 * (one.femto() - 1)));
    assert_eq!(price("zcdp(0.001)"), None);
    let sum = price("3 * gaussian(20) + gdp(0.05)").unwrap();
    assert!(sum.to_string().starts_with("0.01"), "{sum}");
}

#[test]
fn a_refusal_tells_the_clock() {
    let mut full = account(&grid(), budget(1.0, CLOCK));
    let clock = full.budget().clock().unwrap();
    take(&mut full, &cost(constant(clock.limit.femto() / 2)));
    let asked = cost(constant(clock.limit.femto()));
    let refusal = admit(std::iter::once(&full), &asked).unwrap_err();
    let told = refusal.clock.unwrap();
    assert_eq!((told.asked, told.limit), (Some(clock.limit), clock.limit));
    assert_eq!(told.pending.femto(), clock.limit.femto() / 2);
    assert!(
        refusal.largest.to_string().starts_with("0.5"),
        "{}",
        refusal.largest
    );
    assert!(admits(&full, &asked.scaled(refusal.largest)));
    let none = admit(std::iter::once(&full), &unpriced(u64::MAX)).unwrap_err();
    assert_eq!(none.clock.unwrap().asked, None);
    let old = account(&grid(), budget(1.0, NO_CLOCK));
    assert_eq!(
        admit(std::iter::once(&old), &asked).unwrap_err().clock,
        None
    );
}

/// What a reservation holds is in its record, so that a store finds it without the account.
#[test]
fn a_record_holds_what_was_taken() {
    let mut chain = Chain::new(&[budget(1.0, CLOCK), budget(1.0, CLOCK)]);
    chain.reserve(1, 1, &cost(constant(10)));
    let record = chain.state.record(crate::common::id(1)).unwrap();
    let Status::Reserved(held) = &record.status else {
        panic!("{record:?}");
    };
    let taken = Taken {
        variance: Variance::from_femto(10),
        ..Taken::default()
    };
    assert_eq!(*held.clock, [taken; 2]);
    assert_eq!(held.cost.price(), None);
}
