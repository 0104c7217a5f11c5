//! The state machine: random histories, their replay, and the invariants after each entry.

use std::collections::HashMap;

use crate::common::{CLOCK, charge, config, delta, epsilon, orders, pico, price};
use mizan_core::Rho;
use mizan_ledger::log::{Denial, LedgerId};
use mizan_ledger::money::{Amount, Neighbours, Rule, Scale, Variance, Weight};
use mizan_ledger::state::{Executed, LedgerView, MAX_EVENT_BYTES, ReplayError, Request, State};
use mizan_ledger::*;
use proptest::prelude::*;

fn id(number: u8) -> RequestId {
    RequestId::from_bytes([number; 16])
}

fn grid() -> Orders {
    orders(&[4.0, 16.0, f64::INFINITY])
}

/// Dataset 0, department 1 below it, analysts 2 and 3 below that, and an
/// account 4 of its own.
fn opened() -> (State, Vec<Entry>) {
    let mut state = State::new();
    let mut log = Vec::new();
    let ledger = LedgerId::from_bytes([1; 16]);
    run(&mut state, &mut log, id(200), &Request::Open { ledger });
    let rho = Rho::new(0.3).unwrap();
    let approximate = |e| {
        let own = DeltaAmount::from_atto(40);
        Budget::approximate(epsilon(e), delta(1e-3), own, CLOCK, &grid()).unwrap()
    };
    let accounts = [
        ("dataset", None, approximate(4.0)),
        ("department", Some(0), approximate(3.8)),
        (
            "ada",
            Some(1),
            Budget::zero_concentrated(rho, DeltaAmount::from_atto(9), &grid()).unwrap(),
        ),
        ("بدر", Some(1), approximate(3.9)),
        ("other", None, Budget::pure(epsilon(2.0), &grid()).unwrap()),
    ];
    for (number, (name, parent, budget)) in (201..).zip(accounts) {
        let request = Request::Create {
            name: AccountName::new(name).unwrap(),
            parent: parent.map(AccountNumber::new),
            orders: grid(),
            budget,
        };
        run(&mut state, &mut log, id(number), &request);
    }
    (state, log)
}

fn run(state: &mut State, log: &mut Vec<Entry>, id: RequestId, request: &Request) -> Outcome {
    match state.execute(7, id, request).unwrap() {
        Executed::Appended { entry, outcome, .. } => {
            log.push(entry);
            outcome
        }
        Executed::Known(outcome) => outcome,
    }
}

/// A request under one of a few ids, so that ids are reused all the time.
fn request() -> impl Strategy<Value = (RequestId, Request)> {
    let amount = prop_oneof![
        4 => 0_u64..1_200_000_000_000,
        1 => Just(0),
        1 => Just(u64::MAX),
    ];
    let cost = (
        proptest::collection::vec(amount, 3),
        0_u64..12,
        price(100_000_000_000_000),
    );
    let cost = cost.prop_map(|(amounts, own, price)| {
        let amounts = amounts.into_iter().map(Amount::from_pico);
        Cost::new(amounts, DeltaAmount::from_atto(own)).with_price(price)
    });
    let answer = (0_u8..3).prop_map(|byte| Digest::of(&[&[byte]]));
    let raise = (0_u32..5, 3.0_f64..6.0).prop_map(|(account, e)| {
        let own = DeltaAmount::from_atto(40);
        let budget = Budget::approximate(epsilon(e), delta(1e-3), own, CLOCK, &grid()).unwrap();
        let account = AccountNumber::new(account);
        Request::Raise { account, budget }
    });
    let reserve = (0_u32..6, cost.clone())
        .prop_map(|(account, cost)| Request::Reserve(charge(account, cost)));
    let request = prop_oneof![
        6 => reserve,
        4 => Just(Request::Start),
        2 => Just(Request::Void),
        4 => (cost, answer).prop_map(|(cost, answer)| Request::Commit { cost, answer }),
        1 => raise,
    ];
    ((0_u8..12).prop_map(id), request)
}

/// The sums of every account, from the log alone.
fn sums(log: &[Entry], parents: &[Option<usize>]) -> Vec<[u128; 5]> {
    let mut live: HashMap<RequestId, (u32, Cost, Box<[Variance]>)> = HashMap::new();
    for entry in log {
        match &entry.body {
            Body::Reserved { charge, clock } => {
                let known = (charge.account.get(), charge.cost.clone(), clock.clone());
                assert!(live.insert(entry.id, known).is_none(), "charged twice");
            }
            Body::Committed { cost, .. } => live.get_mut(&entry.id).unwrap().1 = cost.clone(),
            Body::Voided => drop(live.remove(&entry.id).unwrap()),
            _ => {}
        }
    }
    let mut sums = vec![[0; 5]; parents.len()];
    for (account, cost, clock) in live.values() {
        let mut next = Some(*account as usize);
        let mut clock = clock.iter();
        while let Some(account) = next {
            for (sum, amount) in sums[account].iter_mut().zip(cost.amounts()) {
                *sum += u128::from(amount.pico());
            }
            sums[account][3] += u128::from(cost.reserved_delta().atto());
            sums[account][4] += clock.next().map_or(0, |taken| u128::from(taken.femto()));
            next = parents[account];
        }
    }
    sums
}

/// What must hold of every state that a log leads to.
fn check(state: &State, log: &[Entry]) {
    let accounts: Vec<&Account> = (0..state.accounts())
        .map(|number| state.account(AccountNumber::new(number)).unwrap())
        .collect();
    let parents: Vec<_> = (accounts.iter())
        .map(|account| account.parent().map(|parent| parent.get() as usize))
        .collect();
    for (account, sums) in accounts.iter().zip(sums(log, &parents)) {
        // I2: totals are the sum of the log, bit for bit.
        let (amounts, own, clock) = account.taken().raw();
        assert_eq!((amounts, own), (&sums[..3], sums[3]));
        // The clock may keep what a voided charge took; `common/check.rs` counts that exactly.
        let voided = log.iter().any(|entry| entry.body == Body::Voided);
        let clock = clock[0];
        assert!(
            clock == sums[4] || voided && clock > sums[4],
            "{clock} {sums:?}"
        );
        let (spent, pending) = (account.spent().raw(), account.pending().raw());
        for (total, (a, b)) in amounts.iter().zip(spent.0.iter().zip(pending.0)) {
            assert_eq!(*total, a + b);
        }
        // I3: inside the filter, for the account and all above it.
        let budget = account.budget();
        let mut within = amounts
            .iter()
            .zip(budget.limits())
            .filter_map(|(sum, limit)| limit.map(|limit| *sum <= u128::from(limit.pico())));
        let on_clock = budget
            .clock()
            .is_some_and(|own| clock <= u128::from(own.limit.femto()));
        assert!(match budget.rule() {
            Rule::Any => within.any(|x| x) || on_clock,
            Rule::Every => within.all(|x| x),
        });
        assert!(own <= u128::from(budget.reserved_delta().atto()));
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn random_histories(requests in proptest::collection::vec(request(), 1..60)) {
        let (mut state, mut log) = opened();
        // Outcomes that may never change again, by id.
        let mut settled: HashMap<RequestId, Outcome> = HashMap::new();
        for (id, request) in &requests {
            let before = state.clone();
            match state.execute(7, *id, request) {
                Err(_) | Ok(Executed::Known(_)) => prop_assert_eq!(&state, &before),
                Ok(Executed::Appended { entry, outcome, refusal }) => {
                    prop_assert!(!settled.contains_key(id));
                    prop_assert_eq!(refusal.is_some(), matches!(outcome, Outcome::Denied(_)));
                    log.push(entry);
                    check(&state, &log);
                    // A retry has the same outcome and costs nothing.
                    if *request != Request::Start {
                        let again = state.clone().execute(8, *id, request).unwrap();
                        prop_assert_eq!(again, Executed::Known(outcome));
                    }
                    if !matches!(outcome, Outcome::Reserved | Outcome::Started) {
                        settled.insert(*id, outcome);
                    }
                }
            }
        }
        for (id, outcome) in settled {
            prop_assert_eq!(state.record(id).unwrap().status.outcome(), outcome);
        }
        // A replay of the bytes ends in the same state.
        let mut replayed = State::new();
        for entry in &log {
            replayed.apply(&Entry::decode(&entry.encode()).unwrap()).unwrap();
        }
        prop_assert_eq!(replayed, state);
    }

    /// A log with an entry changed, dropped or repeated is refused, unless it is
    /// another honest history.
    #[test]
    fn a_forged_denial_or_acceptance_is_refused(
        requests in proptest::collection::vec(request(), 10..60),
        place in any::<usize>(),
    ) {
        let (mut state, mut log) = opened();
        for (id, request) in &requests {
            let _ = state.execute(7, *id, request).map(|done| {
                if let Executed::Appended { entry, .. } = done {
                    log.push(entry);
                }
            });
        }
        let place = place % log.len();
        let forged = match log[place].body.clone() {
            Body::Denied { charge, .. } => Body::Reserved {
                clock: [Variance::ZERO; 3].into(),
                charge,
            },
            Body::Reserved { charge, .. } => Body::Denied {
                denial: Denial { account: charge.account, largest: Scale::ZERO },
                charge,
            },
            other => other,
        };
        let repeated = forged == log[place].body;
        let mut replayed = State::new();
        for entry in &log[..place] {
            replayed.apply(entry).unwrap();
        }
        if repeated {
            replayed.apply(&log[place]).unwrap();
        }
        let entry = Entry { body: forged, ..log[place].clone() };
        let error = replayed.apply(&entry).unwrap_err();
        prop_assert!(["MZ1750", "MZ1751", "MZ1752"].contains(&error.code().as_str()));
    }
}

#[test]
fn the_life_of_a_charge() {
    let (mut state, mut log) = opened();
    let reserve = |amount| Request::Reserve(charge(2, pico(&[amount, amount, amount])));
    let (cost, answer) = (pico(&[5, 5, 5]), Digest::of(&[b"answer"]));
    let commit = Request::Commit { cost, answer };
    let code = |state: &State, request: &Request| {
        state.clone().execute(0, id(1), request).unwrap_err().code()
    };
    assert_eq!(code(&state, &Request::Start), "MZ1733");
    run(&mut state, &mut log, id(1), &reserve(9));
    assert_eq!(code(&state, &reserve(10)), "MZ1732");
    assert_eq!(code(&state, &commit), "MZ1742");
    run(&mut state, &mut log, id(1), &Request::Start);
    assert_eq!(code(&state, &Request::Start), "MZ1743");
    assert_eq!(code(&state, &Request::Void), "MZ1745");
    let cost = pico(&[9, 10, 9]);
    let more = Request::Commit { cost, answer };
    assert_eq!(code(&state, &more), "MZ1744");
    run(&mut state, &mut log, id(1), &commit);
    assert_eq!(code(&state, &more), "MZ1732");
    assert_eq!(code(&state, &Request::Void), "MZ1745");
    let released = Outcome::Released { answer };
    for request in [reserve(9), Request::Start, commit] {
        assert_eq!(run(&mut state, &mut log, id(1), &request), released);
    }
    // Every account above is charged what was committed, and nothing pends.
    for number in [2, 1, 0] {
        let account = state.account(AccountNumber::new(number)).unwrap();
        assert_eq!(account.taken().raw().0, &[5, 5, 5]);
        assert_eq!(account.pending().raw().0, &[0, 0, 0]);
    }
    let other = state.account(AccountNumber::new(3)).unwrap();
    assert_eq!(other.taken().raw().0, &[0, 0, 0]);
}

#[test]
fn a_denial_stays_even_when_there_is_room_again() {
    let (mut state, mut log) = opened();
    let big = |amount| Request::Reserve(charge(4, pico(&[0, 0, amount])));
    run(&mut state, &mut log, id(1), &big(1_500_000_000_000));
    let denied = run(&mut state, &mut log, id(2), &big(1_000_000_000_000));
    let Outcome::Denied(denial) = denied else {
        panic!("{denied:?}");
    };
    assert_eq!(denial.largest.to_string(), "0.5");
    run(&mut state, &mut log, id(1), &Request::Void);
    assert_eq!(
        run(&mut state, &mut log, id(2), &big(1_000_000_000_000)),
        denied
    );
    assert_eq!(run(&mut state, &mut log, id(2), &Request::Start), denied);
    assert_eq!(
        run(&mut state, &mut log, id(3), &big(1_000_000_000_000)),
        Outcome::Reserved
    );
}

#[test]
fn the_first_particular_charge_settles_the_neighbours() {
    let (mut state, mut log) = opened();
    let reserve = |account, neighbours| {
        let mut charge = charge(account, pico(&[1, 1, 1]));
        charge.neighbours = neighbours;
        Request::Reserve(charge)
    };
    let (poisson, replace) = (Some(Neighbours::AddOrRemove), Some(Neighbours::Replace));
    run(&mut state, &mut log, id(1), &reserve(2, None));
    run(&mut state, &mut log, id(2), &reserve(2, poisson));
    run(&mut state, &mut log, id(2), &Request::Void);
    // The siblings share the accounts above, which it settled too.
    let refused = state.execute(0, id(3), &reserve(3, replace)).unwrap_err();
    let account = AccountNumber::new(1);
    assert_eq!(refused, RequestError::OtherNeighbours { account });
    run(&mut state, &mut log, id(4), &reserve(3, poisson));
    run(&mut state, &mut log, id(5), &reserve(3, None));
    run(&mut state, &mut log, id(6), &reserve(4, replace));
}

#[test]
fn requests_that_make_no_sense() {
    let (state, _) = opened();
    let code = |state: &State, request: &Request| {
        state.clone().execute(0, id(9), request).unwrap_err().code()
    };
    let create = |name: &str, parent: Option<u32>, orders: Orders| Request::Create {
        name: AccountName::new(name).unwrap(),
        parent: parent.map(AccountNumber::new),
        budget: Budget::pure(epsilon(1.0), &orders).unwrap(),
        orders,
    };
    let ledger = LedgerId::from_bytes([2; 16]);
    assert_eq!(code(&State::new(), &create("a", None, grid())), "MZ1730");
    assert_eq!(code(&state, &Request::Open { ledger }), "MZ1731");
    assert_eq!(code(&state, &create("ada", None, grid())), "MZ1736");
    assert_eq!(code(&state, &create("a", Some(9), grid())), "MZ1735");
    assert_eq!(
        code(&state, &create("a", Some(0), Orders::standard())),
        "MZ1737"
    );
    let short = Request::Reserve(charge(0, pico(&[1])));
    assert_eq!(code(&state, &short), "MZ1740");
    let unknown = Request::Reserve(charge(9, pico(&[1, 1, 1])));
    assert_eq!(code(&state, &unknown), "MZ1735");
    let mut long = charge(0, pico(&[1, 1, 1]));
    long.event = "x".repeat(MAX_EVENT_BYTES + 1);
    assert_eq!(code(&state, &Request::Reserve(long)), "MZ1741");
    let mut deep = state;
    for level in 0..14_u8 {
        let parent = if level == 0 { 0 } else { 4 + u32::from(level) };
        let request = create(&format!("level {level}"), Some(parent), grid());
        deep.execute(0, id(100 + level), &request).unwrap();
    }
    deep.execute(0, id(150), &create("last", Some(18), grid()))
        .unwrap();
    assert_eq!(code(&deep, &create("beyond", Some(19), grid())), "MZ1738");
}

/// A forged log cannot give an account more than its target.
#[test]
fn a_budget_above_its_target_is_refused() {
    let (_, log) = opened();
    let Body::Created { budget, .. } = &log[1].body else {
        panic!("{:?}", log[1]);
    };
    let bytes = log[1].encode();
    let forge = |from: u64, to: u64| {
        let from = from.to_be_bytes();
        let place = bytes.windows(8).rposition(|window| window == from).unwrap();
        let mut forged = bytes.clone();
        forged[place..place + 8].copy_from_slice(&to.to_be_bytes());
        let mut state = State::new();
        state.apply(&log[0]).unwrap();
        state.apply(&Entry::decode(&forged).unwrap())
    };
    let unsound = ReplayError::Refused {
        position: 1,
        error: RequestError::Budget(BudgetError::Unsound),
    };
    for limit in budget.limits().iter().flatten() {
        assert!(forge(limit.pico(), limit.pico()).is_ok());
        assert!(forge(limit.pico(), limit.pico() - 1).is_ok());
        assert_eq!(forge(limit.pico(), limit.pico() + 2), Err(unsound.clone()));
    }
    for weight in budget
        .weights()
        .iter()
        .filter(|&&weight| weight > Weight::ZERO)
    {
        assert_eq!(
            forge(weight.atto(), weight.atto() - 1_000_000_000_000),
            Err(unsound.clone())
        );
        assert_eq!(
            forge(weight.atto(), Weight::ONE.atto()),
            Err(unsound.clone())
        );
    }
    let clock = budget.clock().unwrap();
    for (from, to) in [
        (clock.limit.femto(), clock.limit.femto() + 1000),
        (clock.weight.atto(), clock.weight.atto() - 1_000_000_000_000),
        (clock.weight.atto(), clock.weight.atto() + 1_000_000_000_000),
    ] {
        assert_eq!(forge(from, to), Err(unsound.clone()));
    }
    assert!(forge(clock.limit.femto(), clock.limit.femto() - 1).is_ok());
    let own = budget.reserved_delta().atto();
    assert_eq!(forge(own, own + 1_000_000_000_000), Err(unsound));
}
