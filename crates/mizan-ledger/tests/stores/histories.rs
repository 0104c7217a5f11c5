//! Random histories on each store, compared with the in-memory reference: reused ids, other requests
//! under the same id, commits above a reservation, budgets of several kinds in one tree, extreme
//! names and costs, faults and crashes.

use crate::common::check::verify;
use crate::common::lab::{Kind, Lab};
use crate::common::{CLOCK, config, delta, epsilon, id, orders, price};
use mizan_core::{Epsilon, Order, Rho};
use mizan_ledger::log::LedgerId;
use mizan_ledger::money::{Amount, Neighbours, Weight};
use mizan_ledger::state::{Executed, Request, State};
use mizan_ledger::store::{Fault, StoreError, Submission};
use mizan_ledger::*;
use mizan_test_support::long_run;
use proptest::prelude::*;

const NAMES: [&str; 8] = [
    "dataset",
    "باحث 'أول'",
    "\"; DROP TABLE log; --",
    "x",
    "X",
    "a\u{0301}",
    "%_\\ ?1 :id",
    "\u{1F4A7}\u{1F3FD}",
];

const EVENTS: [&str; 4] = ["", "line\nline\0", "'; DELETE FROM log; --", "عينة(0.1)"];

fn grid() -> Orders {
    orders(&[2.0, 16.0, f64::INFINITY])
}

/// A request with the answer of a commit that keeps it.
type Body = (Request, Option<Vec<u8>>);

/// One step: the id, what is asked, and what goes wrong.
type Step = (u64, Body, Option<Fault>, bool);

fn amount() -> impl Strategy<Value = Amount> {
    let unit = 100_000_000_000;
    let amount = prop_oneof![
        2 => Just(0),
        8 => (0_u64..12).prop_map(move |units| units * unit),
        1 => Just(1),
        1 => Just(u64::MAX - 1),
        1 => Just(u64::MAX),
        1 => any::<u64>(),
    ];
    amount.prop_map(Amount::from_pico)
}

fn cost() -> impl Strategy<Value = Cost> {
    let length = prop_oneof![30 => Just(3_usize), 1 => Just(2), 1 => Just(0), 1 => Just(64)];
    let own = prop_oneof![6 => Just(0), 2 => 0_u64..400_000_000_000, 1 => Just(u64::MAX)];
    let amounts = length.prop_flat_map(|length| prop::collection::vec(amount(), length));
    // A tenth of what is on the clock of the first account.
    let price = price(30_000_000_000_000);
    (amounts, own, price).prop_map(|(amounts, own, price)| {
        Cost::new(amounts, DeltaAmount::from_atto(own)).with_price(price)
    })
}

/// A budget of some kind; sizes overlap, so that some raises are higher.
fn budget() -> impl Strategy<Value = Budget> {
    let size = prop::sample::select(vec![1.0, 1.5, 2.0, 9.0]);
    let clock = prop::sample::select(vec![Weight::ZERO, CLOCK, CLOCK, Weight::ONE]);
    (0..5, size, clock).prop_map(|(kind, size, clock)| {
        let own = DeltaAmount::from_atto(250_000_000_000);
        let budget = match kind {
            0 | 4 => Budget::approximate(epsilon(2.0 * size), delta(1e-6), own, clock, &grid()),
            1 => Budget::pure(epsilon(size), &grid()),
            2 => Budget::zero_concentrated(Rho::new(size / 4.0).unwrap(), own, &grid()),
            _ => {
                let point = (Order::new(16.0).unwrap(), Epsilon::new(size).unwrap());
                Budget::curve(&[point], own, &grid())
            }
        };
        budget.unwrap()
    })
}

fn create() -> impl Strategy<Value = Request> {
    let parent = prop::option::of((0_u32..5).prop_map(AccountNumber::new));
    let orders = prop_oneof![12 => Just(grid()), 1 => Just(orders(&[2.0, 3.0, 4.0]))];
    let name = prop::sample::select(NAMES.to_vec());
    (name, parent, orders, budget()).prop_map(|(name, parent, orders, budget)| Request::Create {
        name: AccountName::new(name).unwrap(),
        parent,
        orders,
        budget,
    })
}

fn reserve() -> impl Strategy<Value = Request> {
    let neighbours = prop_oneof![
        8 => Just(None),
        1 => Just(Some(Neighbours::AddOrRemove)),
        1 => Just(Some(Neighbours::Replace)),
    ];
    let event = prop::sample::select(EVENTS.to_vec());
    (0_u32..5, cost(), neighbours, event).prop_map(|(account, cost, neighbours, event)| {
        Request::Reserve(Charge {
            account: AccountNumber::new(account),
            cost,
            neighbours,
            event: event.to_owned(),
            conditional: Box::default(),
            query: None,
        })
    })
}

fn body() -> impl Strategy<Value = Body> {
    let bare = |request: Request| (request, None);
    let commit = (cost(), 0_u8..2, any::<bool>()).prop_map(|(cost, byte, kept)| {
        let bytes = vec![byte; 3];
        let answer = Digest::of(&[&bytes]);
        (Request::Commit { cost, answer }, kept.then_some(bytes))
    });
    let raise = (0_u32..5, budget()).prop_map(|(account, budget)| Request::Raise {
        account: AccountNumber::new(account),
        budget,
    });
    let ledger = (0_u8..2).prop_map(|byte| LedgerId::from_bytes([byte; 16]));
    prop_oneof![
        10 => reserve().prop_map(bare),
        5 => Just((Request::Start, None)),
        3 => Just((Request::Void, None)),
        6 => commit,
        4 => create().prop_map(bare),
        2 => raise.prop_map(bare),
        1 => ledger.prop_map(move |ledger| bare(Request::Open { ledger })),
        1 => (0_u64..3).prop_map(move |size| bare(Request::Restore {
            size,
            root: Digest::of(&[]),
        })),
    ]
}

fn history() -> impl Strategy<Value = Vec<Step>> {
    let fault = prop_oneof![
        12 => Just(None),
        1 => Just(Some(Fault::BeforeCommit)),
        1 => Just(Some(Fault::AfterCommit)),
    ];
    // Few ids, so that they meet; most histories begin as they should.
    let step = (0_u64..10, body(), fault, prop::bool::weighted(0.05));
    prop::collection::vec(step, 1..40)
}

fn ask(number: u64, (request, answer): Body) -> Submission {
    match (request, answer) {
        (Request::Commit { cost, .. }, Some(answer)) => {
            Submission::commit(7, id(number), cost, answer).unwrap()
        }
        (request, _) => Submission::new(7, id(number), request),
    }
}

/// How most histories begin: a tree of three kinds of budgets.
fn beginning() -> Vec<(u64, Body)> {
    let ledger = LedgerId::from_bytes([1; 16]);
    let own = DeltaAmount::from_atto(250_000_000_000);
    let budgets = [
        Budget::approximate(epsilon(3.0), delta(1e-6), own, CLOCK, &grid()),
        Budget::pure(epsilon(1.5), &grid()),
        Budget::zero_concentrated(Rho::new(0.5).unwrap(), own, &grid()),
    ];
    let creations = budgets
        .into_iter()
        .zip(["a", "b", "c"])
        .map(|(budget, name)| {
            let request = Request::Create {
                name: AccountName::new(name).unwrap(),
                parent: (name != "a").then_some(AccountNumber::new(0)),
                orders: grid(),
                budget: budget.unwrap(),
            };
            (request, None)
        });
    (1000..)
        .zip(
            [(Request::Open { ledger }, None)]
                .into_iter()
                .chain(creations),
        )
        .collect()
}

fn nasty_histories_equal_the_model(kind: Kind) {
    let simulated = matches!(kind, Kind::Sim);
    let mut kinds = [0_u64; 3];
    let test = |(begins, history): (bool, Vec<Step>)| {
        let (mut lab, mut model, mut pending) = (Lab::new(kind), State::new(), None);
        let beginning = beginning().into_iter().filter(|_| begins);
        let beginning = beginning.map(|(number, body)| (number, body, None, false));
        for (number, body, fault, crash) in beginning.chain(history) {
            if let Some(fault) = fault.filter(|_| simulated) {
                lab.fail_next(fault);
                pending = Some(fault);
            }
            let mut expected = model.execute(7, id(number), &body.0);
            let mut found = lab.store().execute(ask(number, body.clone()));
            if let Err(StoreError::Unknown { .. }) = found {
                // It must have been about to write. Look again, ask again.
                let writes = matches!(expected, Ok(Executed::Appended { .. }));
                prop_assert!(writes);
                lab = lab.reopen();
                let there = lab.store().head().unwrap().size == model.size();
                prop_assert_eq!(there, pending.take() == Some(Fault::AfterCommit));
                if there {
                    expected = model.execute(7, id(number), &body.0);
                }
                found = lab.store().execute(ask(number, body));
            }
            kinds[usize::from(expected.is_ok())] += 1;
            match (found, expected) {
                (Ok(receipt), Ok(expected)) => {
                    prop_assert_eq!(receipt.outcome, expected.outcome());
                    prop_assert_eq!(receipt.head.size, model.size());
                    let new = matches!(&expected, Executed::Appended { .. });
                    prop_assert_eq!(receipt.position.is_some(), new);
                    kinds[2] += u64::from(new);
                }
                (Err(StoreError::Request(found)), Err(expected)) => {
                    prop_assert_eq!(found, expected);
                }
                (found, expected) => panic!("{found:?} where {expected:?}"),
            }
            if crash {
                lab = lab.reopen();
                pending = None;
            }
        }
        let checked = verify(lab.store());
        prop_assert_eq!(&checked.state, &model);
        Ok(())
    };
    let config = match kind {
        Kind::Sim | Kind::Sqlite => config(1000),
        // A server is asked for each step: 1,000 of them are for the long run.
        Kind::Postgres => ProptestConfig {
            cases: if long_run() { 1000 } else { 100 },
            ..config(1000)
        },
    };
    let enough = 5 * u64::from(config.cases);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let test = std::cell::RefCell::new(test);
    let strategy = (prop::bool::weighted(0.9), history());
    runner
        .run(&strategy, |input| (test.borrow_mut())(input))
        .unwrap();
    // Histories that only err, or never do, would say little.
    assert!(kinds.iter().all(|&count| count > enough), "{kinds:?}");
}

#[test]
fn sim() {
    nasty_histories_equal_the_model(Kind::Sim);
}

#[test]
fn sqlite() {
    nasty_histories_equal_the_model(Kind::Sqlite);
}

#[test]
fn postgres() {
    nasty_histories_equal_the_model(Kind::Postgres);
}

#[test]
fn invalid_names_and_costs_are_refused() {
    let many = "x".repeat(10_240);
    for name in [
        "two\nlines",
        "nul\0",
        "",
        " padded",
        "tab\t",
        &many,
        "line\u{2028}line",
        "\u{202e}susnec",
        "a\u{2066}b\u{2069}",
        "census\u{200e}",
        "cen\u{200b}sus",
        "cen\u{200d}sus",
        "cen\u{2060}sus",
        "\u{feff}census",
        "\u{61c}census",
    ] {
        assert!(AccountName::new(name).is_err(), "{name:?}");
    }
    for nats in [f64::NAN, -0.0, -1.0, f64::NEG_INFINITY] {
        assert!(Amount::cost(nats).is_err(), "{nats}");
    }
    assert_eq!(Amount::cost(1e30), Ok(Amount::EXHAUSTED));
}
