//! Crashes of connections and servers under a ledger in PostgreSQL: every acknowledged entry is in
//! the log, once, at its position.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use crate::common::check::{ClientRecord, verify};
use crate::common::{charge, id, one_account, pico};
use mizan_ledger::state::Request;
use mizan_ledger::store::{Postgres, Receipt, Store, StoreError, Submission};
use mizan_ledger::*;
use mizan_test_support::long_run;
use mizan_test_support::postgres_server::{Database, Server};

/// A thousandth of what may be spent.
fn reserve() -> Request {
    Request::Reserve(charge(0, pico(&[1_000_000_000, 1_000_000_000])))
}

/// How often something dies, in the quick run and in the long one.
fn deaths(quick: u32) -> u32 {
    if long_run() { 20 * quick } else { quick }
}

fn ledger(server: &Server) -> Database {
    let database = server.database("");
    one_account(&Postgres::create(&database.url()).unwrap());
    database
}

/// Ends all connections of stores to a database; how many there were.
fn end_connections(server: &Server, database: &Database) -> u64 {
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = $1 AND application_name = 'mizan-ledger'";
    server.client().execute(sql, &[&database.name]).unwrap()
}

/// A client that retries as the error messages say: with the same id, on the same handle or on a new
/// one.
struct Stubborn {
    url: String,
    store: RwLock<Arc<Postgres>>,
    /// How often nothing had happened, and how often that was not known.
    failed: AtomicU64,
    unknown: AtomicU64,
}

impl Stubborn {
    fn new(database: &Database) -> Self {
        let url = database.url();
        let store = RwLock::new(Arc::new(Postgres::open(&url).unwrap()));
        Self {
            url,
            store,
            failed: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
        }
    }

    fn ask(&self, number: u64) -> Receipt {
        loop {
            let store = Arc::clone(&self.store.read().unwrap());
            match store.execute(Submission::new(0, id(number), reserve())) {
                Ok(receipt) => return receipt,
                Err(StoreError::Unreachable { .. } | StoreError::Busy) => {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(5));
                }
                Err(StoreError::Unknown { .. } | StoreError::Closed) => {
                    self.unknown.fetch_add(1, Ordering::Relaxed);
                    self.open_again(&store);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Unless another thread has done so.
    fn open_again(&self, old: &Arc<Postgres>) {
        let mut store = self.store.write().unwrap();
        while Arc::ptr_eq(&store, old) {
            match Postgres::open(&self.url) {
                Ok(new) => *store = Arc::new(new),
                Err(StoreError::Unreachable { .. }) => thread::sleep(Duration::from_millis(5)),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Eight threads spend all the time while `kill` is called again and again.
fn spend_while(database: &Database, deaths: u32, kill: impl Fn()) {
    let client = Stubborn::new(database);
    let (done, told) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for thread in 0..8 {
            let (client, done, told) = (&client, &done, &told);
            scope.spawn(move || {
                for number in (1 << 20..).map(|round| 8 * round + thread) {
                    if done.load(Ordering::Relaxed) {
                        return;
                    }
                    let receipt = client.ask(number);
                    told.lock().unwrap().push((number, receipt));
                }
            });
        }
        for death in 0..deaths {
            // At any moment of a transaction.
            let pause = 200_000 + u64::from(death) * 7919 % 300_000;
            thread::sleep(Duration::from_micros(pause));
            kill();
        }
        done.store(true, Ordering::Relaxed);
    });

    let store = Postgres::open(&database.url()).unwrap();
    let checked = verify(&store);
    let told = told.into_inner().unwrap();
    let lines: Vec<ClientRecord> = told
        .iter()
        .map(|(number, receipt)| ClientRecord::new(id(*number), receipt))
        .collect();
    checked.bears_out(&lines);
    // Every request has an outcome in the end, so nothing else is in the log.
    assert_eq!(checked.state.size(), 2 + told.len() as u64);
    let reserved = told.iter().filter(|(_, r)| r.outcome == Outcome::Reserved);
    assert_eq!(reserved.count(), told.len().min(1000));
    let (failed, unknown) = (client.failed.into_inner(), client.unknown.into_inner());
    println!("{} told, {failed} failed, {unknown} unknown", told.len());
    assert!(failed + unknown > 0, "nothing was hit");
    assert!(told.len() > 100, "hardly anything was asked");
}

#[test]
fn connections_that_end_between_requests_are_made_again() {
    let server = Server::shared();
    let database = ledger(&server);
    let store = Postgres::open(&database.url()).unwrap();
    for number in 0..5 {
        assert_eq!(end_connections(&server, &database), 2);
        let receipt = store
            .execute(Submission::new(0, id(number), reserve()))
            .unwrap();
        assert_eq!(receipt.outcome, Outcome::Reserved);
        assert_eq!(store.head().unwrap(), receipt.head);
    }
    assert_eq!(verify(&store).state.size(), 7);
}

#[test]
fn a_connection_that_ends_before_the_commit_has_charged_nothing() {
    let server = Server::shared();
    let database = ledger(&server);
    let store = Postgres::open(&database.url()).unwrap();
    // The writer waits for the head when its connection ends.
    let mut holder = database.client();
    let mut held = holder.transaction().unwrap();
    held.execute(
        "SELECT one FROM mizan.accounts, mizan.head FOR UPDATE OF accounts",
        &[],
    )
    .unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| store.execute(Submission::new(0, id(1), reserve())));
        thread::sleep(Duration::from_millis(300));
        end_connections(&server, &database);
        assert_eq!(waiting.join().unwrap().unwrap_err().code(), "MZ1772");
    });
    held.rollback().unwrap();
    assert_eq!(store.record(id(1)).unwrap(), None);
    let receipt = store.execute(Submission::new(0, id(1), reserve())).unwrap();
    assert_eq!(receipt.position, Some(2));
}

/// A commit that waits for a standby which never answers is not durable enough;
/// a client that cancels the wait receives a success with a warning from the server.
#[test]
fn a_commit_that_no_standby_has_is_unknown() {
    let server = Server::own();
    let database = ledger(&server);
    let store = Postgres::open(&database.url()).unwrap();
    let mut client = server.client();
    client
        .batch_execute("ALTER SYSTEM SET synchronous_standby_names = 'none'")
        .unwrap();
    client.execute("SELECT pg_reload_conf()", &[]).unwrap();
    thread::sleep(Duration::from_millis(500));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| store.execute(Submission::new(0, id(1), reserve())));
        thread::sleep(Duration::from_millis(500));
        let sql = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity \
                   WHERE datname = $1 AND wait_event = 'SyncRep'";
        assert_eq!(client.execute(sql, &[&database.name]).unwrap(), 1);
        assert_eq!(waiting.join().unwrap().unwrap_err().code(), "MZ1766");
    });
    assert_eq!(
        store.head().unwrap_err().code(),
        "MZ1774",
        "it says no more"
    );
}

#[test]
fn connections_killed_under_load_lose_nothing() {
    let server = Server::shared();
    let database = ledger(&server);
    spend_while(&database, deaths(15), || {
        end_connections(&server, &database);
    });
}

#[test]
fn a_server_killed_under_load_loses_nothing() {
    let server = Server::own();
    let database = ledger(&server);
    spend_while(&database, deaths(4), || server.crash());
}
