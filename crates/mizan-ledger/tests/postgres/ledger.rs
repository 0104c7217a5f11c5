//! [`Ledger`] over PostgreSQL: the same guarantees as over a file.

use std::ffi::OsStr;

use mizan_ledger::evidence::VerifyReport;
use mizan_ledger::store::Postgres;
use mizan_ledger::*;

use crate::common::check;
use crate::common::guarded::{create, log, spend};
use crate::common::lab::Directory;
use mizan_test_support::postgres_server::{Database, Server};

/// A database and a state directory.
struct DatabaseWithState {
    database: Database,
    state: Directory,
}

impl DatabaseWithState {
    fn new() -> Self {
        Self {
            database: Server::shared().database(""),
            state: Directory::new(),
        }
    }

    fn location(&self) -> Location {
        Location::parse(OsStr::new(&self.database.url()))
    }

    fn init(&self) -> Result<Ledger, LedgerError> {
        Ledger::init(&self.location(), self.state.path())
    }

    fn open(&self) -> Result<Ledger, LedgerError> {
        Ledger::open(&self.location(), self.state.path())
    }

    /// A copy of the present database. No client may be connected.
    fn copy(&self) -> Database {
        let options = format!("TEMPLATE {}", self.database.name);
        Server::shared().database(&options)
    }
}

fn verify(ledger: &Ledger, witnesses: &Witnesses) -> VerifyReport {
    ledger.verify(witnesses, |_, _| {}).unwrap()
}

#[test]
fn from_the_first_entry_to_a_checkpoint() {
    let place = DatabaseWithState::new();
    let ledger = place.init().unwrap();
    let dataset = create(&ledger, "dataset", None);
    let analyst = create(&ledger, "محلل", Some(dataset));
    let id = RequestId::from_text("report-7");
    let event = "gaussian(5)".parse().unwrap();
    let spent = ledger.spend(Some(id), analyst, &event).unwrap();
    assert!(matches!(spent.outcome, Outcome::Released { .. }) && spent.fresh);
    // The log of a spend is one transaction: its rows have one writer.
    let mut client = place.database.client();
    let sql = "SELECT count(*), count(DISTINCT xmin::text) FROM mizan.log WHERE seq >= 3";
    let row = client.query_one(sql, &[]).unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (3, 1));

    let denied = ledger.spend(None, analyst, &"pure(20)".parse().unwrap());
    let denied = denied.unwrap();
    assert!(matches!(denied.outcome, Outcome::Denied(_)), "{denied:?}");
    assert!(denied.refusal.is_some());
    let again = ledger.spend(Some(id), analyst, &event).unwrap();
    assert_eq!((again.outcome, again.fresh), (spent.outcome, false));
    let other = ledger.spend(Some(id), analyst, &"gaussian(6)".parse().unwrap());
    assert_eq!(other.unwrap_err().code(), "MZ1732");

    let held = Charge::of(&event, &ledger.account(dataset).unwrap().account).unwrap();
    let cost = held.cost.clone();
    let reserved = ledger.reserve(None, held).unwrap().id;
    ledger.start(reserved).unwrap();
    let released = ledger.commit(reserved, cost, b"42".to_vec()).unwrap();
    assert_eq!(ledger.answer(reserved).unwrap().unwrap(), b"42");

    let checkpoint = ledger.checkpoint().unwrap();
    spend(&ledger, "gaussian(9)").unwrap();
    ledger.close().unwrap();

    let ledger = place.open().unwrap();
    assert!(ledger.notes().is_empty(), "{:?}", ledger.notes());
    let receipt = spent.receipt.to_string().parse().unwrap();
    let shown = ledger.show(&receipt).unwrap();
    assert_eq!((shown.entry.id, shown.head.size), (id, 13));
    assert!(matches!(shown.entry.body, Body::Committed { .. }));
    let key = ledger.public_key().unwrap();
    ledger.check_checkpoint(&checkpoint, &key).unwrap();
    let witnesses = Witnesses {
        receipts: vec![receipt, released.receipt],
        checkpoints: vec![checkpoint],
        public_key: Some(key),
    };
    let report = verify(&ledger, &witnesses);
    assert_eq!((report.charges, report.committed, report.denied), (3, 3, 1));
    assert_eq!((report.priced, report.answers), (3, 1));
    assert_eq!((report.witnesses, report.accounts), (3, 2));
    assert_eq!(log(&ledger).len(), 13);
    check::verify(ledger.store());
}

/// Nodes of the tree are kept from 256 entries on; proofs need them.
#[test]
fn receipts_of_a_log_with_nodes() {
    let place = DatabaseWithState::new();
    let ledger = place.init().unwrap();
    create(&ledger, "one", None);
    let receipts: Vec<_> = (0..180)
        .map(|_| spend(&ledger, "gaussian(100)").unwrap().receipt)
        .collect();
    for receipt in receipts.iter().step_by(20) {
        ledger.show(receipt).unwrap();
    }
    let witnesses = Witnesses {
        receipts,
        ..Witnesses::default()
    };
    assert_eq!(verify(&ledger, &witnesses).witnesses, 180);
    // One that was changed shows.
    let change = "UPDATE mizan.nodes SET hash = sha256(hash) WHERE level = 8 AND place = 1";
    place.database.shell(change).unwrap();
    let wrong = ledger.verify(&Witnesses::default(), |_, _| {}).unwrap_err();
    assert!(wrong.to_string().contains("node"), "{wrong}");
}

#[test]
fn a_restored_copy_is_refused_until_its_owner_says_so() {
    let mut place = DatabaseWithState::new();
    let ledger = place.init().unwrap();
    create(&ledger, "one", None);
    spend(&ledger, "gaussian(5)").unwrap();
    ledger.close().unwrap();
    let copy = place.copy();
    let ledger = place.open().unwrap();
    spend(&ledger, "gaussian(4)").unwrap();
    ledger.close().unwrap();
    let original = std::mem::replace(&mut place.database, copy);
    let behind = place.open().unwrap_err();
    assert_eq!(behind.code(), "MZ1775", "{behind}");

    let (ledger, gap) = Ledger::restore(&place.location(), place.state.path()).unwrap();
    assert_eq!(gap.map(|gap| (gap.position, gap.known_size)), Some((5, 8)));
    spend(&ledger, "gaussian(3)").unwrap();
    assert_eq!(verify(&ledger, &Witnesses::default()).gaps, 1);
    ledger.close().unwrap();
    place.open().unwrap();
    place.database = original;
    let forked = place.open().unwrap_err();
    assert!(
        ["MZ1775", "MZ1776"].contains(&forked.code().as_str()),
        "{forked}"
    );
}

#[test]
fn a_ledger_begins_once() {
    let place = DatabaseWithState::new();
    place.init().unwrap();
    assert_eq!(place.init().unwrap_err().code(), "MZ1773");
    place.open().unwrap();
    // An attempt that died before the first entry is continued.
    let place = DatabaseWithState::new();
    drop(Postgres::create(&place.database.url()).unwrap());
    assert_eq!(place.open().unwrap_err().code(), "MZ1730");
    place.init().unwrap();
    // The keys of attempts that failed are not left.
    let kept = std::fs::read_dir(place.state.path()).unwrap();
    assert_eq!(kept.count(), 1);
}

#[test]
fn no_password_in_what_is_said_of_a_location() {
    let state = Directory::new();
    for address in [
        "postgres://me:hunter2@localhost:1/ledger",
        "postgres://me:hunter2@%2Fnowhere/ledger?application_name=x",
        "postgres://me@localhost:1/ledger?password=hunter2",
        "postgres://localhost:1/ledger?password=un@hunter2",
        "postgres://me:un@hunter2@localhost:1/ledger",
        "postgres://me:un@hunter2/hunter2@localhost:1/ledger",
        "postgres://me:hunter2",
        "postgresql://me:hunter2@",
    ] {
        let location = Location::parse(OsStr::new(address));
        let shown = format!("{location} {location:?}");
        let error = Ledger::open(&location, state.path()).unwrap_err();
        let init = Ledger::init(&location, state.path()).unwrap_err();
        let said = format!("{shown} {error} {error:?} {init} {init:?} {}", init.help());
        assert!(!said.contains("hunter2"), "{address}: {said}");
        assert!(shown.starts_with("postgres"), "{shown}");
    }
}
