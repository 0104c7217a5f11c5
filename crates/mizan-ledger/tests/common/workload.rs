//! A fixed workload that uses every request of a ledger, and a client that follows the error
//! messages: it opens the ledger again and retries with the same id.

use std::path::Path;
use std::sync::OnceLock;

use mizan_core::Rho;
use mizan_ledger::log::LedgerId;
use mizan_ledger::money::Amount;
use mizan_ledger::state::{Request, State};
use mizan_ledger::store::{Receipt, Sqlite, Store, StoreError, Submission};
use mizan_ledger::*;

use super::check::{ClientRecord, verify};
use super::lab::Directory;
use super::{
    CLOCK, charge, conditional, constant, delta, epsilon, growing, id, in_present_state, orders,
};

/// How often a client asks again before it gives up.
const TRIES: usize = 6;

fn grid() -> Orders {
    orders(&[8.0, 32.0, f64::INFINITY])
}

/// A hundredth of a nat.
const UNIT: u64 = 10_000_000_000;

/// A thousandth of the variance on the clock.
const VARIANCE: u64 = 340_000_000_000;

fn cost(units: u64) -> Cost {
    let amounts = [1, 2, 3].map(|part| Amount::from_pico(part * units * UNIT));
    let price = match units % 3 {
        0 => constant(units * VARIANCE),
        1 => growing(units * VARIANCE).with_tail(DeltaAmount::from_atto(1)),
        _ => growing(units * VARIANCE),
    };
    Cost::new(amounts, DeltaAmount::from_atto(units)).with_price(Some(price))
}

/// A step of the work: the same id and body whenever it is done.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    number: u64,
    request: Request,
    answer: Option<Vec<u8>>,
}

impl Step {
    fn ask(&self) -> Submission {
        match (&self.request, &self.answer) {
            (Request::Commit { cost, .. }, Some(answer)) => {
                Submission::commit(7, id(self.number), cost.clone(), answer.clone()).unwrap()
            }
            _ => Submission::new(7, id(self.number), self.request.clone()),
        }
    }
}

fn accounts() -> Vec<Request> {
    let (delta, own) = (delta(1e-6), DeltaAmount::from_atto(1000));
    let kinds = [
        Budget::approximate(epsilon(3.0), delta, own, CLOCK, &grid()),
        Budget::zero_concentrated(Rho::new(1.0).unwrap(), own, &grid()),
        Budget::approximate(epsilon(2.0), delta, own, CLOCK, &grid()),
    ];
    let names = ["dataset", "باحث 'one'; --", "two"];
    let accounts = names
        .into_iter()
        .zip(kinds)
        .map(|(name, budget)| Request::Create {
            name: AccountName::new(name).unwrap(),
            parent: (name != "dataset").then_some(AccountNumber::new(0)),
            orders: grid(),
            budget: budget.unwrap(),
        });
    accounts.collect()
}

fn raise(create: &Request) -> Request {
    let Request::Create { budget, .. } = create else {
        panic!("{create:?}");
    };
    let target = Target::Approximate {
        epsilon: epsilon(4.0),
        delta: delta(1e-6),
    };
    Request::Raise {
        account: AccountNumber::new(0),
        budget: budget
            .raised(target, budget.reserved_delta(), &grid())
            .unwrap(),
    }
}

/// The work, step by step.
pub(crate) fn work() -> Vec<Step> {
    let ledger = LedgerId::from_bytes([1; 16]);
    let accounts = accounts();
    let raise = raise(&accounts[0]);
    let mut work = vec![(900, Request::Open { ledger })];
    work.extend((901..).zip(accounts));
    let reserve = |account, units| Request::Reserve(charge(account, cost(units)));
    for number in 0..30 {
        let account = 1 + u32::try_from(number % 2).unwrap();
        let mut charge = charge(account, cost(1 + number % 3));
        if number == 26 {
            // From here on the clocks are exhausted.
            charge.cost = charge.cost.with_price(None);
        }
        if number % 4 == 1 {
            // At half of the price, which the state of the accounts allows.
            let price = conditional((1 + number % 3) * VARIANCE / 2);
            charge.conditional = [Some(price), Some(price)].into();
        }
        work.push((number, Request::Reserve(charge)));
        match number % 5 {
            1 => work.push((number, Request::Start)),
            3 => work.push((number, Request::Void)),
            _ => {}
        }
    }
    work.extend((50..54).map(|number| (number, reserve(1, 100_000))));
    work.push((910, raise));
    for number in [1, 6, 11, 16, 21] {
        let (cost, answer) = (cost(1), Digest::of(&[&answer(number)]));
        work.push((number, Request::Commit { cost, answer }));
    }
    // The steps come one after the other, so the state before each of them is known.
    let mut model = State::new();
    let step = |(number, request)| {
        let request = in_present_state(&model, request);
        model.execute(7, id(number), &request).unwrap();
        Step {
            answer: matches!(request, Request::Commit { .. }).then(|| answer(number)),
            number,
            request,
        }
    };
    work.into_iter().map(step).collect()
}

/// Some answers are small and some need many pages.
pub(crate) fn answer(number: u64) -> Vec<u8> {
    let length = if number == 11 { 50_000 } else { 20 };
    vec![u8::try_from(number).unwrap(); length]
}

/// What the client meets on its way.
#[derive(Debug)]
pub(crate) enum Event {
    Received(ClientRecord),
    Failed(StoreError),
}

/// Does the work from the start, opening the ledger again as often as it takes.
/// Whatever was done before is known and costs nothing.
///
/// # Errors
///
/// The client gave up.
pub(crate) fn run(path: &Path, mut meet: impl FnMut(Event)) -> Result<(), StoreError> {
    let mut store = None;
    for step in work() {
        let mut tries = 0..TRIES;
        loop {
            let error = match execute(&mut store, path, &step) {
                Ok(receipt) => {
                    meet(Event::Received(ClientRecord::new(
                        id(step.number),
                        &receipt,
                    )));
                    break;
                }
                // Whether a try before did it or an earlier run, the only
                // worker there is knows that it was itself.
                Err(StoreError::Request(
                    RequestError::AlreadyStarted { .. } | RequestError::Voided { .. },
                )) => break,
                Err(error @ StoreError::Request(_)) => panic!("{error}: {step:?}"),
                Err(error) => error,
            };
            store = None;
            meet(Event::Failed(error.clone()));
            if tries.next().is_none() {
                return Err(error);
            }
        }
    }
    Ok(())
}

fn execute(store: &mut Option<Sqlite>, path: &Path, step: &Step) -> Result<Receipt, StoreError> {
    let open = match store.take() {
        Some(open) => open,
        None => Sqlite::open(path)?,
    };
    store.insert(open).execute(step.ask())
}

/// Does what is left of the work where nothing fails, and checks that the log
/// is byte for byte the one of a run where nothing ever failed.
pub(crate) fn finish(path: &Path, told: &[ClientRecord]) {
    let checked = verify(&Sqlite::open(path).unwrap());
    checked.bears_out(told);
    run(path, |_| {}).unwrap();
    let store = Sqlite::open(path).unwrap();
    let checked = verify(&store);
    checked.bears_out(told);
    assert!(checked.log == *reference(), "the log is another");
    for number in [1, 6, 11, 16, 21] {
        assert!(
            store.answer(id(number)).unwrap() == Some(answer(number)),
            "I4"
        );
    }
}

/// The log of the work where nothing fails.
pub(crate) fn reference() -> &'static Vec<Entry> {
    static LOG: OnceLock<Vec<Entry>> = OnceLock::new();
    LOG.get_or_init(|| {
        let directory = Directory::in_memory();
        let path = directory.path().join("ledger");
        drop(Sqlite::create(&path).unwrap());
        run(&path, |_| {}).unwrap();
        let log = verify(&Sqlite::open(&path).unwrap()).log;
        let denied = |entry: &&Entry| matches!(entry.body, Body::Denied { .. });
        assert!(log.len() == work().len() && log.iter().filter(denied).count() == 4);
        let in_state = |entry: &&Entry| matches!(&entry.body, Body::Reserved { charge, .. } if !charge.conditional.is_empty());
        assert!(log.iter().filter(in_state).count() > 4);
        log
    })
}
