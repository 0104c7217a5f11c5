//! Damaged files: cut, with flipped bits, without their write-ahead log or with that of another
//! ledger. The result is a clear error or a prefix of the log; never a panic, and never a mixture.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::check::verify;
use crate::common::lab::Directory;
use crate::common::workload::{reference, run};
use crate::common::{charge, id, pico};
use mizan_ledger::log::{Frontier, leaf_hash};
use mizan_ledger::state::{LedgerView, Request, State};
use mizan_ledger::store::{Sqlite, Store, StoreError, Submission};
use mizan_ledger::*;
use rusqlite::Connection;

/// Reads everything as an auditor does, and believes nothing.
fn audit(path: &Path) -> Result<Vec<Entry>, String> {
    let text = |error: StoreError| {
        assert!(!error.help().is_empty() && error.code().as_str().starts_with("MZ17"));
        error.to_string()
    };
    let store = Sqlite::open(path).map_err(text)?;
    let head = store.head().map_err(text)?;
    let (mut log, mut state, mut frontier) = (Vec::new(), State::new(), Frontier::default());
    loop {
        let page = store.entries(log.len() as u64).map_err(text)?;
        if page.is_empty() {
            break;
        }
        log.extend(page);
    }
    for entry in &log {
        state.apply(entry).map_err(|error| error.to_string())?;
        frontier.push(leaf_hash(&entry.encode()));
    }
    if (head.size, head.root, head.accounts) != (state.size(), frontier.root(), state.accounts()) {
        return Err("the head is another".to_owned());
    }
    for number in (0..head.accounts).map(AccountNumber::new) {
        if store.account(number).map_err(text)?.as_ref() != state.account(number) {
            return Err(format!("account {number} is another"));
        }
    }
    for entry in &log {
        if store.record(entry.id).map_err(text)?.as_ref() != state.record(entry.id) {
            return Err("a record is another".to_owned());
        }
        store.answer(entry.id).map_err(text)?;
    }
    Ok(log)
}

/// A ledger that was killed: its file, and a write-ahead log that holds some
/// of its entries.
struct Killed {
    directory: Directory,
    path: PathBuf,
    file: Vec<u8>,
    wal: Vec<u8>,
}

impl Killed {
    /// With so many entries in its file; the rest is in the write-ahead log.
    fn new(more: u64) -> Self {
        let directory = Directory::in_memory();
        let path = directory.path().join("ledger");
        drop(Sqlite::create(&path).unwrap());
        run(&path, |_| {}).unwrap();
        let store = Sqlite::open(&path).unwrap();
        for number in 0..more {
            let cost = pico(&[1, 1, 1]);
            let submission =
                Submission::new(7, id(2000 + number), Request::Reserve(charge(2, cost)));
            store.execute(submission).unwrap();
        }
        let file = fs::read(&path).unwrap();
        let wal = fs::read(wal(&path)).unwrap();
        drop(store);
        Self {
            directory,
            path,
            file,
            wal,
        }
    }

    fn put(&self, file: &[u8], log: Option<&[u8]>) {
        let _ = fs::remove_file(self.directory.path().join("ledger-shm"));
        let _ = fs::remove_file(wal(&self.path));
        fs::write(&self.path, file).unwrap();
        if let Some(bytes) = log {
            fs::write(wal(&self.path), bytes).unwrap();
        }
    }

    fn whole(&self) -> Vec<Entry> {
        self.put(&self.file, Some(&self.wal));
        audit(&self.path).unwrap()
    }
}

fn wal(path: &Path) -> PathBuf {
    path.with_file_name("ledger-wal")
}

#[test]
fn a_write_ahead_log_that_is_gone_or_cut_leaves_a_beginning() {
    let killed = Killed::new(40);
    let whole = killed.whole();
    assert_eq!(whole.len(), reference().len() + 40);
    let lengths = (0..killed.wal.len())
        .step_by(1013)
        .chain([32, 32 + 24 + 4096]);
    let mut sizes = Vec::new();
    for length in lengths {
        killed.put(&killed.file, Some(&killed.wal[..length]));
        let log = audit(&killed.path).unwrap();
        assert!(whole.starts_with(&log), "{length}");
        sizes.push(log.len());
    }
    // Each transaction is there or not, and those before it are.
    assert!(sizes.contains(&reference().len()) && sizes.iter().max() > Some(&90));
    killed.put(&killed.file, None);
    assert!(audit(&killed.path).unwrap() == *reference());
}

#[test]
fn a_flipped_bit_in_the_write_ahead_log_leaves_a_beginning() {
    let killed = Killed::new(10);
    let whole = killed.whole();
    for at in (0..killed.wal.len()).step_by(211) {
        let mut wal = killed.wal.clone();
        wal[at] ^= 1 << (at % 8);
        killed.put(&killed.file, Some(&wal));
        if let Ok(log) = audit(&killed.path) {
            assert!(whole.starts_with(&log), "{at}");
        }
    }
}

#[test]
fn a_file_cut_at_any_page_is_refused_or_whole() {
    let killed = Killed::new(10);
    let whole = killed.whole();
    let mut refused = 0;
    for pages in 0..killed.file.len() / 4096 {
        for rest in [0, 100, 4095] {
            let cut = &killed.file[..4096 * pages + rest];
            for wal in [None, Some(&killed.wal[..])] {
                killed.put(cut, wal);
                match audit(&killed.path) {
                    Ok(log) => assert!(whole == log, "{pages} {rest}"),
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(refused > 20);
}

#[test]
fn a_flipped_bit_in_the_file_is_noticed_or_does_nothing() {
    let killed = Killed::new(0);
    let whole = killed.whole();
    assert!(whole == *reference());
    killed.put(&killed.file, None);
    drop(Sqlite::open(&killed.path).unwrap());
    let file = fs::read(&killed.path).unwrap();
    let mut noticed = 0;
    for at in (0..file.len()).step_by(89) {
        let mut flipped = file.clone();
        flipped[at] ^= 1 << (at % 8);
        killed.put(&flipped, None);
        match audit(&killed.path) {
            Ok(log) => assert!(whole == log, "{at}"),
            Err(_) => noticed += 1,
        }
    }
    assert!(noticed > 50, "{noticed}");
}

#[test]
fn the_write_ahead_log_of_another_ledger_is_no_mixture() {
    let (one, two) = (Killed::new(10), Killed::new(25));
    let (first, second) = (one.whole(), two.whole());
    one.put(&one.file, Some(&two.wal));
    if let Ok(log) = audit(&one.path) {
        assert!(log == first || log == second);
    }
    one.put(&one.file, Some(&two.wal[..two.wal.len() / 2]));
    if let Ok(log) = audit(&one.path) {
        assert!(first.starts_with(&log) || second.starts_with(&log));
    }
}

#[test]
fn a_new_ledger_is_not_made_over_what_an_old_one_left() {
    let killed = Killed::new(10);
    for name in ["ledger-wal", "ledger-journal"] {
        killed.put(&killed.file, None);
        fs::remove_file(&killed.path).unwrap();
        let left = killed.path.with_file_name(name);
        fs::write(&left, &killed.wal).unwrap();
        let error = Sqlite::create(&killed.path).unwrap_err();
        assert_eq!(error.code(), "MZ1760");
        assert!(error.to_string().contains(name), "{error}");
        assert!(!killed.path.exists() && fs::read(&left).unwrap() == killed.wal);
        fs::remove_file(&left).unwrap();
    }
    assert!(
        verify(&Sqlite::create(&killed.path).unwrap())
            .log
            .is_empty()
    );
}

#[test]
fn what_is_no_file_is_refused_and_links_are_followed() {
    let killed = Killed::new(10);
    let whole = killed.whole();
    let beside = |name: &str| killed.directory.path().join(name);
    let code = |path: &Path| Sqlite::open(path).unwrap_err().code();

    let made = Command::new("mkfifo").arg(beside("fifo")).status().unwrap();
    assert!(made.success());
    assert_eq!(code(&beside("fifo")), "MZ1761");
    assert_eq!(code(Path::new("/dev/null")), "MZ1761");
    std::os::unix::fs::symlink("loop", beside("loop")).unwrap();
    assert_eq!(code(&beside("loop")), "MZ1760");
    assert_eq!(code(&killed.path.join("below")), "MZ1760");
    assert_eq!(code(Path::new("")), "MZ1760");

    // The write-ahead log is found beside the file, not beside the link.
    std::os::unix::fs::symlink("ledger", beside("link")).unwrap();
    killed.put(&killed.file, Some(&killed.wal));
    assert!(audit(&beside("link")).unwrap() == whole);
    let cut = &killed.file[..killed.file.len() - 100];
    for name in ["ledger", "link"] {
        killed.put(cut, Some(&killed.wal));
        let found = audit(&beside(name));
        assert!(found.is_err() || found.unwrap() == whole, "{name}");
    }
    assert_eq!(
        Sqlite::create(&beside("loop")).unwrap_err().code(),
        "MZ1760"
    );
}

/// What a program of something else keeps is not touched by looking at it.
#[test]
fn a_foreign_file_is_left_as_it_is() {
    let directory = Directory::in_memory();
    let path = directory.path().join("ledger");
    let other = Connection::open(&path).unwrap();
    let sql = "PRAGMA journal_mode = WAL; CREATE TABLE log (seq); INSERT INTO log VALUES (7)";
    other.execute_batch(sql).unwrap();
    let before = (fs::read(&path).unwrap(), fs::read(wal(&path)).unwrap());
    assert_eq!(Sqlite::open(&path).unwrap_err().code(), "MZ1761");
    let after = (fs::read(&path).unwrap(), fs::read(wal(&path)).unwrap());
    assert!(before == after);
    let seen: i64 = other
        .query_row("SELECT seq FROM log", [], |row| row.get(0))
        .unwrap();
    assert_eq!(seen, 7);
}

/// Root may write where others may not, so the disk itself is read-only there.
#[test]
fn a_directory_that_is_read_only() {
    let directory = Directory::new();
    let place = directory.path().to_str().unwrap();
    let mount = |words: &[&str]| {
        let done = Command::new("mount").args(words).output();
        done.is_ok_and(|done| done.status.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=8m", "tmpfs", place]) {
        eprintln!("skipped: only root may mount a disk");
        return;
    }
    let path = directory.path().join("ledger");
    let done = std::panic::catch_unwind(|| {
        drop(Sqlite::create(&path).unwrap());
        run(&path, |_| {}).unwrap();
        assert!(mount(&["-o", "remount,ro", place]));
        let opened = Sqlite::open(&path).unwrap_err();
        let created = Sqlite::create(&directory.path().join("new")).unwrap_err();
        assert!(mount(&["-o", "remount,rw", place]));
        assert_eq!(
            (opened.code().as_str(), created.code().as_str()),
            ("MZ1760", "MZ1760"),
            "{opened}"
        );
        assert!(audit(&path).unwrap() == *reference());
    });
    let gone = Command::new("umount").arg(place).status().unwrap();
    assert!(gone.success() && done.is_ok());
}
