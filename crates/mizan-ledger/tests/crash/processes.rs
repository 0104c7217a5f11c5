//! Processes that open and close the file while another has it open, like a server and a command
//! line.

use std::path::Path;
use std::thread;

use crate::common::check::{ClientRecord, verify};
use crate::common::lab::Directory;
use crate::common::{account_with_orders, charge, child, id, pico};
use mizan_ledger::state::Request;
use mizan_ledger::store::{Sqlite, Store, Submission};

fn begin(store: &dyn Store) {
    account_with_orders(store, &[f64::INFINITY]);
}

fn spend(store: &dyn Store, number: u64) -> ClientRecord {
    let submission = Submission::new(0, id(number), Request::Reserve(charge(0, pico(&[1]))));
    ClientRecord::new(id(number), &store.execute(submission).unwrap())
}

/// Not a test of its own: opens, spends once, closes.
#[test]
fn child() {
    let Some(words) = child::words() else { return };
    let store = Sqlite::open(Path::new(&words[0])).unwrap();
    child::say(&spend(&store, words[1].parse().unwrap()).to_line());
}

/// A process that closes the file takes the write-ahead log away if it believes
/// to be the last. Another that goes on writing into it loses all of that.
#[test]
fn closing_the_file_does_not_disturb_another_process() {
    let directory = Directory::new();
    let path = directory.path().join("ledger");
    let server = Sqlite::create(&path).unwrap();
    begin(&server);
    let mut told = Vec::new();
    for round in 0..5 {
        // A second handle in this process must not give its locks away either.
        drop(Sqlite::open(&path).unwrap());
        told.push(spend(&server, 2 * round));
        let words = [path.to_str().unwrap(), &(2 * round + 1).to_string()];
        let child = child::command(module_path!(), &[], &words).spawn().unwrap();
        let (lines, all, well) = child::listen(child);
        assert!(well, "{all}");
        told.extend(child::told(&lines));
    }
    assert_eq!(told.len(), 10);
    verify(&server).bears_out(&told);
    drop(server);
    verify(&Sqlite::open(&path).unwrap()).bears_out(&told);
}

/// A file that is opened and closed beside SQLite takes the locks of the whole
/// process with it, and other processes then see the ledger as closed.
#[cfg(target_os = "linux")]
#[test]
fn opening_again_keeps_the_locks() {
    use std::os::unix::fs::MetadataExt;
    let directory = Directory::new();
    let path = directory.path().join("ledger");
    let store = Sqlite::create(&path).unwrap();
    let inode = format!(":{} ", std::fs::metadata(&path).unwrap().ino());
    let locked = || {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().filter(|line| line.contains(&inode)).count()
    };
    assert_eq!(locked(), 1);
    drop(Sqlite::open(&path).unwrap());
    assert_eq!(locked(), 1);
    drop(store);
    assert_eq!(locked(), 0);
}

/// Two that make a ledger under one name: one of them does, wholly.
#[test]
fn only_one_makes_a_ledger() {
    for _ in 0..20 {
        let directory = Directory::new();
        let path = directory.path().join("ledger");
        let made: Vec<bool> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| Sqlite::create(&path).map(drop)))
                .collect();
            let threads = threads.into_iter().map(|thread| thread.join().unwrap());
            threads.map(|made| made.is_ok()).collect()
        });
        assert_eq!(made.iter().filter(|made| **made).count(), 1, "{made:?}");
        let store = Sqlite::open(&path).unwrap();
        begin(&store);
        assert_eq!(verify(&store).log.len(), 2);
        drop(store);
        let names = std::fs::read_dir(directory.path()).unwrap();
        assert_eq!(names.count(), 1, "no draft is left");
    }
}
