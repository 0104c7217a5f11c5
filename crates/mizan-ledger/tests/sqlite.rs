//! A ledger in SQLite: what is refused at opening, which changes are impossible, and several
//! concurrent handles.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::common::check::verify;
use crate::common::lab::Directory;
use crate::common::{id, is_damaged, one_account, pico, reserve};
use mizan_ledger::state::Request;
use mizan_ledger::store::{Sqlite, Store, Submission};
use mizan_ledger::*;
use rusqlite::Connection;

/// A ledger with one account of ε = 1, closed.
fn ledger(directory: &Directory) -> PathBuf {
    let path = directory.path().join("ledger");
    one_account(&Sqlite::create(&path).unwrap());
    path
}

/// The code and the sentence with which a file is refused.
fn refused(path: &Path) -> (&'static str, String) {
    let error = Sqlite::open(path).unwrap_err();
    assert!(!error.help().is_empty());
    (error.code().as_str(), error.to_string())
}

/// Changes a file as someone with a SQLite shell would.
fn shell(path: &Path, sql: &str) -> rusqlite::Result<()> {
    Connection::open(path).unwrap().execute_batch(sql)
}

#[test]
fn what_is_no_file_of_ours_is_refused() {
    let directory = Directory::new();
    let path = directory.path().join("it");
    assert_eq!(refused(&path).0, "MZ1760");
    assert!(!path.exists(), "looking creates nothing");
    let (code, sentence) = refused(directory.path());
    assert_eq!(code, "MZ1760");
    assert!(sentence.ends_with("it is a directory"), "{sentence}");
    for contents in ["", "short", &"no SQLite ".repeat(1000)] {
        fs::write(&path, contents).unwrap();
        assert_eq!(refused(&path).0, "MZ1761");
        assert_eq!(fs::read(&path).unwrap(), contents.as_bytes(), "untouched");
    }
    fs::remove_file(&path).unwrap();
    shell(&path, "CREATE TABLE log (seq)").unwrap();
    let (code, sentence) = refused(&path);
    assert_eq!(code, "MZ1761");
    assert!(sentence.ends_with("of something else"), "{sentence}");
}

#[test]
fn a_ledger_is_never_made_in_place_of_a_file() {
    let directory = Directory::new();
    let path = ledger(&directory);
    let before = fs::read(&path).unwrap();
    assert_eq!(Sqlite::create(&path).unwrap_err().code(), "MZ1760");
    assert_eq!(fs::read(&path).unwrap(), before);
    let nowhere = directory.path().join("no/such/ledger");
    assert_eq!(Sqlite::create(&nowhere).unwrap_err().code(), "MZ1760");
    let names: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "no draft is left: {names:?}");
}

#[test]
fn other_formats_are_refused() {
    let directory = Directory::new();
    let path = ledger(&directory);
    for version in [0, 2, -1] {
        shell(&path, &format!("PRAGMA user_version = {version}")).unwrap();
        let (code, sentence) = refused(&path);
        assert_eq!(code, "MZ1762");
        assert!(
            sentence.contains(&format!("format {version}")),
            "{sentence}"
        );
    }
    shell(&path, "PRAGMA user_version = 1").unwrap();
    Sqlite::open(&path).unwrap();
}

#[test]
fn read_only_files_are_refused() {
    let directory = Directory::new();
    let path = ledger(&directory);
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let (code, sentence) = refused(&path);
    assert_eq!(code, "MZ1760");
    assert!(sentence.ends_with("it is read-only"), "{sentence}");
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    let directory = Directory::new();
    let path = ledger(&directory);
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(997) {
        fs::write(&path, &whole[..length]).unwrap();
        let (code, sentence) = refused(&path);
        assert!(["MZ1761", "MZ1763"].contains(&code), "{length}: {sentence}");
    }
    fs::write(&path, &whole).unwrap();
    Sqlite::open(&path).unwrap();
}

#[test]
fn the_log_and_answers_cannot_be_changed() {
    let directory = Directory::new();
    let path = ledger(&directory);
    let whole = fs::read(&path).unwrap();
    for sql in [
        "UPDATE log SET bytes = x''",
        "DELETE FROM log",
        "INSERT OR REPLACE INTO log VALUES (0, x'')",
        "INSERT INTO log VALUES (7, x'')",
        "INSERT INTO answers VALUES (1, x'00'); DELETE FROM answers",
        "REPLACE INTO head VALUES (1, NULL, 0, 0, x'')",
    ] {
        shell(&path, sql).unwrap_err();
    }
    // Dropping the triggers, and cutting or extending the log, is detected.
    for sql in [
        "DROP TRIGGER log_keeps",
        "CREATE TRIGGER more AFTER INSERT ON log BEGIN DELETE FROM records; END",
        "INSERT INTO log VALUES (2, x'')",
        "UPDATE head SET size = 1",
        "UPDATE head SET frontier = x''",
        "UPDATE head SET ledger = NULL",
        "DELETE FROM head",
    ] {
        fs::write(&path, &whole).unwrap();
        shell(&path, sql).unwrap();
        assert_eq!(refused(&path).0, "MZ1763", "{sql}");
    }
}

#[test]
fn rows_that_the_log_does_not_bear_out_are_refused() {
    let directory = Directory::new();
    let path = ledger(&directory);
    let whole = fs::read(&path).unwrap();
    for sql in [
        "UPDATE accounts SET created = 0",
        "UPDATE accounts SET name = 'two'",
        "UPDATE accounts SET spent = x''",
        "UPDATE accounts SET raised = 1",
        "UPDATE accounts SET neighbours = 3",
        "UPDATE records SET first = 0, last = 0",
    ] {
        fs::write(&path, &whole).unwrap();
        shell(&path, sql).unwrap();
        is_damaged(&Sqlite::open(&path).unwrap(), sql);
    }
}

/// Totals that lack a voided reservation would go below zero; a total that stays at zero instead
/// would enlarge the budget.
#[test]
fn sums_that_lack_what_was_reserved_are_damage() {
    for give_back in [
        Submission::new(0, id(1), Request::Void),
        Submission::commit(0, id(2), pico(&[1, 1]), b"42".to_vec()).unwrap(),
    ] {
        let directory = Directory::new();
        let path = ledger(&directory);
        let store = Sqlite::open(&path).unwrap();
        for (number, request) in [(1, reserve(5)), (2, reserve(5)), (2, Request::Start)] {
            store
                .execute(Submission::new(0, id(number), request))
                .unwrap();
        }
        shell(&path, "UPDATE accounts SET pending = spent").unwrap();
        let error = store.execute(give_back).unwrap_err();
        assert_eq!(error.code(), "MZ1763", "{error}");
        assert_eq!(store.head().unwrap().size, 5, "nothing is written");
    }
}

#[test]
fn an_answer_that_was_changed_is_not_given_out() {
    let directory = Directory::new();
    let path = ledger(&directory);
    let store = Sqlite::open(&path).unwrap();
    for request in [reserve(5), Request::Start] {
        store.execute(Submission::new(0, id(1), request)).unwrap();
    }
    let commit = Submission::commit(0, id(1), pico(&[0, 0]), b"42".to_vec()).unwrap();
    store.execute(commit).unwrap();
    assert_eq!(store.answer(id(1)).unwrap().unwrap(), b"42");
    shell(&path, "INSERT OR REPLACE INTO answers VALUES (4, x'3433')").unwrap();
    assert_eq!(store.answer(id(1)).unwrap_err().code(), "MZ1763");
}

/// Several handles are what several processes are to the file.
#[test]
fn handles_on_one_file_never_overspend() {
    let directory = Directory::new();
    let path = ledger(&directory);
    let reserved = AtomicU64::new(0);
    thread::scope(|scope| {
        for handle in 0..4 {
            let (path, reserved) = (&path, &reserved);
            scope.spawn(move || {
                let store = Sqlite::open(path).unwrap();
                for round in 0..50 {
                    let submission = Submission::new(0, id(100 * handle + round), reserve(10));
                    let receipt = store.execute(submission).unwrap();
                    if receipt.outcome == Outcome::Reserved {
                        reserved.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(reserved.into_inner(), 100);
    let store = Sqlite::open(&path).unwrap();
    assert_eq!(verify(&store).state.size(), 202);
}

#[test]
fn a_retry_through_another_handle_is_known() {
    let directory = Directory::new();
    let path = ledger(&directory);
    let (one, two) = (Sqlite::open(&path).unwrap(), Sqlite::open(&path).unwrap());
    let submission = |number| Submission::new(0, id(number), reserve(600));
    let denied = |outcome| matches!(outcome, Outcome::Denied(_));
    assert_eq!(
        one.execute(submission(1)).unwrap().outcome,
        Outcome::Reserved
    );
    assert_eq!(two.execute(submission(1)).unwrap().position, None);
    assert!(denied(two.execute(submission(2)).unwrap().outcome));
    assert!(denied(one.execute(submission(2)).unwrap().outcome));
    assert_eq!(one.head().unwrap().size, 4);
}

/// All who share the ledger derive the same ids, in any order of requests for the key; an
/// audit does not see it.
#[test]
fn handles_on_one_file_have_one_key_of_ids() {
    let directory = Directory::new();
    let path = ledger(&directory);
    let of = Digest::of(&[b"x"]);
    let under = |store: &Sqlite| store.id_key().unwrap().unwrap().digest(&of);
    let found: Vec<Digest> = thread::scope(|scope| {
        let handles: Vec<_> = (0..8)
            .map(|number| {
                let path = &path;
                scope.spawn(move || {
                    let store = Sqlite::open(path).unwrap();
                    let submission = Submission::new(0, id(number), reserve(10));
                    store.execute(submission).unwrap();
                    under(&store)
                })
            })
            .collect();
        let found = handles.into_iter().map(|handle| handle.join().unwrap());
        found.collect()
    });
    assert!(found.iter().all(|other| *other == found[0]));
    let store = Sqlite::open(&path).unwrap();
    assert_eq!(under(&store), found[0]);
    assert_eq!(verify(&store).state.size(), 10);
    let report = mizan_ledger::evidence::verify(&store, &Witnesses::default(), |_, _| ()).unwrap();
    assert_eq!(report.answers, 0);
    shell(&path, "INSERT OR REPLACE INTO answers VALUES (-1, x'3433')").unwrap();
    assert_eq!(store.id_key().unwrap_err().code(), "MZ1763");
}
