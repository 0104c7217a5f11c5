//! A soak test of one file: a server with several threads, four command lines that start and end, a
//! reader, and kill -9.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::check::{ClientRecord, verify};
use crate::common::lab::Directory;
use crate::common::{charge, child, epsilon, id, orders, pico};
use mizan_ledger::log::{Frontier, LedgerId, leaf_hash};
use mizan_ledger::state::{LedgerView, Request, State};
use mizan_ledger::store::{Sqlite, Store, StoreError, Submission};
use mizan_ledger::*;
use mizan_test_support::long_run;
use rusqlite::{Connection, OpenFlags};

/// Account 0 `dataset`; 1 has room for all, 2 for a few.
fn begin(store: &dyn Store) {
    let orders = orders(&[2.0, f64::INFINITY]);
    let ledger = LedgerId::from_bytes([1; 16]);
    let create = |name: &str, e: f64| Request::Create {
        name: AccountName::new(name).unwrap(),
        parent: (name != "dataset").then_some(AccountNumber::new(0)),
        budget: Budget::pure(epsilon(e), &orders).unwrap(),
        orders: orders.clone(),
    };
    let requests = [
        Request::Open { ledger },
        create("dataset", 1.0),
        create("large", 1.0),
        create("small", 1e-10),
    ];
    for (number, request) in (u64::MAX - 9..).zip(requests) {
        store
            .execute(Submission::new(0, id(number), request))
            .unwrap();
    }
}

/// Retries until there is an outcome, as long as the only error is a busy file.
fn say(store: &Sqlite, number: u64, submission: &Submission) {
    let receipt = loop {
        match store.execute(submission.clone()) {
            Err(StoreError::Busy) => {}
            receipt => break receipt.unwrap(),
        }
    };
    child::say(&ClientRecord::new(id(number), &receipt).to_line());
}

/// A charge from its reservation to its end; which end, the number tells.
fn spend(store: &Sqlite, number: u64) {
    let account = if number.is_multiple_of(5) { 2 } else { 1 };
    let cost = pico(&[1 + number % 3; 2]);
    let submit = |request| say(store, number, &Submission::new(0, id(number), request));
    submit(Request::Reserve(charge(account, cost.clone())));
    match number % 4 {
        0 => submit(Request::Void),
        1 => {
            submit(Request::Start);
            let answer = number.to_be_bytes().to_vec();
            let commit = Submission::commit(0, id(number), pico(&[1, 1]), answer);
            say(store, number, &commit.unwrap());
        }
        _ => {}
    }
}

/// Not a test of its own: spends once, or until it is killed.
#[test]
fn child() {
    let Some(words) = child::words() else { return };
    let store = Sqlite::open(Path::new(&words[1])).unwrap();
    let first: u64 = words[2].parse().unwrap();
    if words[0] == "once" {
        return spend(&store, first);
    }
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || (first + thread..).step_by(4).for_each(|n| spend(store, n)));
        }
    });
}

/// Looks at the file as a shell would: at every snapshot the sums are those of
/// the log, and the log only grows.
struct Reader {
    connection: Connection,
    state: State,
    frontier: Frontier,
}

impl Reader {
    fn new(path: &Path) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(path, flags).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        Self {
            connection,
            state: State::new(),
            frontier: Frontier::default(),
        }
    }

    fn look(&mut self) {
        let snapshot = self.connection.unchecked_transaction().unwrap();
        let sql = "SELECT size, frontier FROM head";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (size, frontier): (i64, Vec<u8>) = snapshot.query_row(sql, [], row).unwrap();
        let (size, known) = (u64::try_from(size).unwrap(), self.state.size());
        assert!(size >= known, "the log became shorter");
        let sql = "SELECT bytes FROM log WHERE seq >= ? ORDER BY seq";
        let mut statement = snapshot.prepare(sql).unwrap();
        let rows = statement
            .query_map([i64::try_from(known).unwrap()], |row| row.get(0))
            .unwrap();
        for bytes in rows {
            let bytes: Vec<u8> = bytes.unwrap();
            self.state.apply(&Entry::decode(&bytes).unwrap()).unwrap();
            self.frontier.push(leaf_hash(&bytes));
        }
        assert_eq!(self.state.size(), size);
        let full = self
            .frontier
            .full()
            .iter()
            .flat_map(|hash| *hash.as_bytes());
        assert!(frontier.into_iter().eq(full), "the tree is another");
        let sql = "SELECT number, spent, pending FROM accounts";
        let mut statement = snapshot.prepare(sql).unwrap();
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        for row in statement.query_map([], row).unwrap() {
            let (number, spent, pending): (u32, Vec<u8>, Vec<u8>) = row.unwrap();
            let account = self.state.account(AccountNumber::new(number)).unwrap();
            for (found, totals) in [(spent, account.spent()), (pending, account.pending())] {
                let (amounts, own, _) = totals.raw();
                let bytes = amounts
                    .iter()
                    .chain([&own])
                    .flat_map(|sum| sum.to_be_bytes());
                assert!(found.into_iter().eq(bytes), "the sums of {number}");
            }
        }
    }
}

#[test]
fn a_server_four_command_lines_and_a_reader() {
    let time = Duration::from_secs(if long_run() { 600 } else { 20 });
    let directory = Directory::new();
    let path = directory.path().join("ledger");
    begin(&Sqlite::create(&path).unwrap());
    let (told, next, begun) = (Mutex::new(Vec::new()), AtomicU64::new(0), Instant::now());
    let (kills, looks) = (AtomicU64::new(0), AtomicU64::new(0));
    let run = |what: &str, kill: Option<Duration>| {
        // A server has as many numbers as it likes.
        let first = next.fetch_add(1, Ordering::Relaxed) << 32;
        let words = [
            what,
            path.to_str().unwrap(),
            &first.wrapping_add(first >> 32).to_string(),
        ];
        let lines = child::run_for(&mut child::command(module_path!(), &[], &words), kill);
        kills.fetch_add(u64::from(kill.is_some()), Ordering::Relaxed);
        told.lock().unwrap().extend(child::told(&lines));
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0_u64.. {
                if begun.elapsed() >= time {
                    break;
                }
                run(
                    "always",
                    Some(Duration::from_millis(300 + round * 719 % 2000)),
                );
            }
        });
        for line in 0..4_u64 {
            let run = &run;
            scope.spawn(move || {
                for round in 0_u64.. {
                    if begun.elapsed() >= time {
                        break;
                    }
                    // From before it has opened the file to after it is done.
                    let kill = Duration::from_micros((round * 4 + line) * 1117 % 25_000);
                    run("once", (round % 3 == 0).then_some(kill));
                }
            });
        }
        scope.spawn(|| {
            let mut reader = Reader::new(&path);
            while begun.elapsed() < time {
                reader.look();
                looks.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }
        });
    });
    let (told, kills, looks) = (
        told.into_inner().unwrap(),
        kills.into_inner(),
        looks.into_inner(),
    );
    let checked = verify(&Sqlite::open(&path).unwrap());
    checked.bears_out(&told);
    let denied = |entry: &&Entry| matches!(entry.body, Body::Denied { .. });
    let denied = checked.log.iter().filter(denied).count();
    let (entries, told) = (checked.log.len(), told.len());
    println!("{entries} entries, {told} told, {denied} denied, {kills} kills, {looks} looks");
    assert!(told > 500 && kills > 20 && looks > 50 && denied > 5);
}
