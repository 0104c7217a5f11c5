//! Concurrency on one file: 4 processes with 16 threads each spend from one account and retry ids of
//! each other. The account is never overspent, nothing is lost, and the history is linearizable.

use std::path::Path;
use std::thread;

use crate::common::check::{Checked, ClientRecord, verify};
use crate::common::lab::{Directory, Kind, Lab};
use crate::common::linearize::{Operation, Seen, check, now};
use crate::common::{charge, child, constant, delta, epsilon, id, orders, pico};
use mizan_ledger::log::LedgerId;
use mizan_ledger::money::Weight;
use mizan_ledger::state::{LedgerView, Request};
use mizan_ledger::store::{Sqlite, Store, StoreError, Submission};
use mizan_ledger::*;
use mizan_test_support::long_run;

const PROCESSES: u64 = 4;
const THREADS: u64 = 16;

/// A thousandth of the budget: of the limit of a clock with all of the delta 1e-6 at ε = 1.
const UNIT: u64 = 56_000_000_000;

/// Numbers that are random enough, from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

fn budget(orders: &Orders) -> Budget {
    let (e, d, own) = (epsilon(1.0), delta(1e-6), DeltaAmount::ZERO);
    Budget::approximate(e, d, own, Weight::ONE, orders).unwrap()
}

fn begin(store: &dyn Store) {
    let orders = orders(&[2.0, f64::INFINITY]);
    let ledger = LedgerId::from_bytes([1; 16]);
    let create = |name, parent: Option<u32>| Request::Create {
        name: AccountName::new(name).unwrap(),
        parent: parent.map(AccountNumber::new),
        budget: budget(&orders),
        orders: orders.clone(),
    };
    let requests = [
        Request::Open { ledger },
        create("dataset", None),
        create("analyst", Some(0)),
    ];
    for (number, request) in (u64::MAX - 9..).zip(requests) {
        store
            .execute(Submission::new(0, id(number), request))
            .unwrap();
    }
}

/// The request follows from the id, so that every retry has the same request.
fn request(number: u64) -> Request {
    // Only the clock admits it.
    let cost = pico(&[u64::MAX; 2]).with_price(Some(constant((1 + number % 3) * UNIT)));
    let account = u32::try_from(number % 2).unwrap();
    Request::Reserve(charge(account, cost))
}

fn recorded(seen: impl FnOnce() -> Option<Seen>) -> Option<Operation> {
    let invoked = now();
    let seen = seen()?;
    Some(Operation {
        invoked,
        responded: now(),
        seen,
    })
}

/// What one thread does: new ids, ids that others ask too, and reads.
fn spend(store: &Sqlite, process: u64, thread: u64, rounds: u64) -> Vec<Operation> {
    let mut draw = Draw(process * 1000 + thread);
    let mut history = Vec::new();
    for round in 0..rounds {
        let number = match draw.below(3) {
            // Few enough for threads of all processes to meet.
            0 => 1_000_000 + draw.below(200),
            _ => (process * THREADS + thread) * 1000 + round,
        };
        let submission = Submission::new(0, id(number), request(number));
        let told = || loop {
            match store.execute(submission.clone()) {
                Ok(receipt) => {
                    return Some(Seen::Received(ClientRecord::new(id(number), &receipt)));
                }
                Err(StoreError::Busy) => {}
                Err(error) => panic!("{error}"),
            }
        };
        history.extend(recorded(told));
        if draw.below(4) == 0 {
            let read = || match store.head() {
                Ok(head) => Some(Seen::head(head)),
                Err(StoreError::Busy) => None,
                Err(error) => panic!("{error}"),
            };
            history.extend(recorded(read));
        }
    }
    history
}

#[test]
fn child() {
    let Some(words) = child::words() else { return };
    let [path, process, rounds] = &words[..] else {
        panic!("{words:?}");
    };
    let store = Sqlite::open(Path::new(path)).unwrap();
    let (process, rounds) = (process.parse().unwrap(), rounds.parse().unwrap());
    let history: Vec<Operation> = thread::scope(|scope| {
        let store = &store;
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || spend(store, process, thread, rounds)))
            .collect();
        let threads = threads.into_iter();
        threads.flat_map(|thread| thread.join().unwrap()).collect()
    });
    for operation in history {
        child::say(&operation.to_line());
    }
}

#[test]
fn four_processes_with_sixteen_threads_each_on_one_account() {
    let rounds = if long_run() { 400 } else { 40 };
    let directory = Directory::new();
    let path = directory.path().join("ledger");
    begin(&Sqlite::create(&path).unwrap());
    let run = |process: u64| {
        let words = [
            path.to_str().unwrap(),
            &process.to_string(),
            &rounds.to_string(),
        ];
        let child = child::command(module_path!(), &[], &words).spawn().unwrap();
        let (lines, all, well) = child::listen(child);
        assert!(well, "{all}");
        lines
    };
    let lines: Vec<String> = thread::scope(|scope| {
        let processes: Vec<_> = (0..PROCESSES)
            .map(|process| scope.spawn(move || run(process)))
            .collect();
        let processes = processes.into_iter();
        processes
            .flat_map(|process| process.join().unwrap())
            .collect()
    });
    let history: Vec<_> = lines
        .iter()
        .map(|l| Operation::from_line(l).unwrap())
        .collect();
    assert!(history.len() as u64 >= PROCESSES * THREADS * rounds);

    let store = Sqlite::open(&path).unwrap();
    let checked = verify(&store);
    check(&checked, &history).unwrap();
    // The client of every entry received its outcome, and no retry appended an entry.
    let made = |operation: &&Operation| matches!(&operation.seen, Seen::Received(told) if told.position.is_some());
    assert_eq!(history.iter().filter(made).count() + 3, checked.log.len());
    let account = checked.state.account(AccountNumber::new(0)).unwrap();
    let limit = account.budget().clock().unwrap().limit.femto();
    assert!((1000 * UNIT..1001 * UNIT).contains(&limit), "{limit}");
    let taken = account.taken().clock().femto();
    assert!(taken <= limit, "overspent: {taken}");
    // Charges of one unit are asked all the time, so nothing is left.
    assert!(taken >= 998 * UNIT, "room was left: {taken}");
    // The crowd did meet.
    let told = history
        .iter()
        .filter(|o| matches!(o.seen, Seen::Received(_)));
    assert!(
        told.count() > checked.log.len() + 20,
        "there were no retries"
    );
}

/// A log of three reservations, and the outcomes of their clients in turn.
fn three() -> (Checked, Vec<Operation>) {
    let lab = Lab::new(Kind::Sim);
    begin(lab.store());
    let mut history = Vec::new();
    for (time, number) in (1..).zip(1..=3) {
        let submission = Submission::new(0, id(number), request(number));
        let receipt = lab.store().execute(submission).unwrap();
        history.push(Operation {
            invoked: 10 * time,
            responded: 10 * time + 5,
            seen: Seen::Received(ClientRecord::new(id(number), &receipt)),
        });
    }
    history.push(Operation {
        invoked: 40,
        responded: 45,
        seen: Seen::head(lab.store().head().unwrap()),
    });
    (verify(lab.store()), history)
}

/// The check fails where it should: otherwise it would say nothing.
#[test]
fn planted_histories_do_not_pass() {
    let fails = |history: &[Operation]| check(&three().0, history).unwrap_err();
    let (checked, good) = three();
    check(&checked, &good).unwrap();
    let told = |operation: &Operation| match &operation.seen {
        Seen::Received(told) => told.clone(),
        Seen::Head { .. } => panic!("a read"),
    };

    // A lost update: two clients received the same position, and one entry is gone.
    let mut lost = good.clone();
    lost[1].seen = Seen::Received(ClientRecord {
        id: id(77),
        ..told(&good[1])
    });
    assert!(fails(&lost).contains("another entry"), "{}", fails(&lost));
    // ... or a client received an entry beyond the end of the log.
    let mut lost = good.clone();
    lost[2].seen = Seen::Received(ClientRecord {
        position: Some(6),
        size: 7,
        ..told(&good[2])
    });
    assert!(fails(&lost).contains("does not extend"), "{}", fails(&lost));
    let mut twice = good.clone();
    twice.push(good[0].clone());
    assert!(fails(&twice).contains("two clients"), "{}", fails(&twice));

    // A stale read: invoked after the outcome of the third entry, without that entry.
    let mut stale = good.clone();
    stale[3].seen = Seen::Head {
        size: 5,
        root: checked.roots[5].to_string(),
    };
    assert!(fails(&stale).contains("does not see"), "{}", fails(&stale));
    // A read of the future: responded before the entry was asked for.
    let mut early = good.clone();
    (early[3].invoked, early[3].responded) = (1, 2);
    assert!(fails(&early).contains("does not see"), "{}", fails(&early));
    // ... while a read beside the write may see it or not.
    let mut beside = good.clone();
    (beside[3].invoked, beside[3].responded) = (31, 34);
    check(&checked, &beside).unwrap();

    // Reordering: the second has an outcome before the first was invoked.
    let mut reordered = good.clone();
    (reordered[0].invoked, reordered[0].responded) = (26, 28);
    assert!(fails(&reordered).contains("does not see"));
    // Another outcome than the replay says.
    let mut other = good.clone();
    other[0].seen = Seen::Received(ClientRecord {
        outcome: "Voided".to_owned(),
        ..told(&good[0])
    });
    assert!(fails(&other).contains("outcome"), "{}", fails(&other));
}
