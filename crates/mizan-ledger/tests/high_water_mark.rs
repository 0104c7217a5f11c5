//! The high-water mark: old and second copies are refused, and nothing else is.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::guarded::{GuardedLedger, log, spend};
use mizan_ledger::ledger::Note;
use mizan_ledger::*;

#[test]
fn a_restored_copy_is_refused_until_its_owner_marks_the_gap() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    spend(&ledger, "gaussian(20)").unwrap();
    ledger.close().unwrap();
    let backup = place.path().with_extension("backup");
    fs::copy(place.path(), &backup).unwrap();

    let ledger = place.open().unwrap();
    assert_eq!(ledger.notes(), []);
    let lost = spend(&ledger, "gaussian(30)").unwrap();
    let known = ledger.head().unwrap();
    ledger.close().unwrap();
    fs::copy(&backup, place.path()).unwrap();

    let error = place.open().unwrap_err();
    assert_eq!(error.code(), "MZ1775");
    let text = error.to_string();
    assert!(
        text.contains("5 entries") && text.contains("8 were"),
        "{text}"
    );
    // Reading it is harmless, and shows that the receipt is gone.
    let read = Ledger::read(&place.location()).unwrap();
    assert_eq!(read.show(&lost.receipt).unwrap_err().code(), "MZ1785");
    assert_eq!(spend(&read, "gaussian(20)").unwrap_err().code(), "MZ1783");
    drop(read);

    let (ledger, gap) = Ledger::restore(&place.location(), &place.state_dir()).unwrap();
    let gap = gap.unwrap();
    assert_eq!(
        (gap.position, gap.known_size, gap.known_root),
        (5, 8, known.root)
    );
    let view = ledger.account(AccountNumber::new(0)).unwrap();
    assert_eq!(view.since_gap(), Some(&gap));
    spend(&ledger, "gaussian(20)").unwrap();
    ledger.close().unwrap();
    let ledger = place.open().unwrap();
    assert_eq!(ledger.gaps().unwrap(), [gap]);
    let report = ledger.verify(&Witnesses::default(), |_, _| ()).unwrap();
    assert_eq!(report.gaps, 1);
    ledger.close().unwrap();
    // There is nothing to restore any more; a second gap is another one.
    let again = Ledger::restore(&place.location(), &place.state_dir()).unwrap();
    assert_eq!(again.1, None);
    drop(again);
    fs::copy(&backup, place.path()).unwrap();
    assert_eq!(place.refused(), "MZ1775");
    let (ledger, _) = Ledger::restore(&place.location(), &place.state_dir()).unwrap();
    assert_eq!(
        ledger.gaps().unwrap().len(),
        1,
        "the first was lost with the rest"
    );
}

#[test]
fn a_copy_that_went_on_elsewhere_is_refused() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    ledger.close().unwrap();
    let copy = Location::from(place.path().with_extension("copy"));
    fs::copy(place.path(), place.path().with_extension("copy")).unwrap();
    let ledger = place.open().unwrap();
    spend(&ledger, "gaussian(20)").unwrap();
    ledger.close().unwrap();

    // On another machine, which has never seen it, and there it comes further.
    let elsewhere = place.state_dir().with_extension("elsewhere");
    let ledger = Ledger::open(&copy, &elsewhere).unwrap();
    assert_eq!(ledger.notes(), [Note::MarkMade { size: 2 }]);
    for _ in 0..3 {
        spend(&ledger, "gaussian(30)").unwrap();
    }
    ledger.close().unwrap();
    let error = Ledger::open(&copy, &place.state_dir()).unwrap_err();
    assert_eq!(error.code(), "MZ1776");
    let (ledger, gap) = Ledger::restore(&copy, &place.state_dir()).unwrap();
    assert_eq!(gap.unwrap().known_size, 5);
    ledger.close().unwrap();
    // Now the first copy is the wrong one.
    assert_eq!(place.refused(), "MZ1775");
}

#[test]
fn a_ledger_that_went_on_elsewhere_is_welcome_back() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    ledger.close().unwrap();
    let elsewhere = place.state_dir().with_extension("elsewhere");
    let ledger = Ledger::open(&place.location(), &elsewhere).unwrap();
    spend(&ledger, "gaussian(30)").unwrap();
    ledger.close().unwrap();
    let ledger = place.open().unwrap();
    assert_eq!(ledger.notes(), []);
    spend(&ledger, "gaussian(30)").unwrap();
}

#[test]
fn two_copies_at_once_and_the_second_is_told_nothing() {
    for spends_of_the_first in [1, 3] {
        let place = GuardedLedger::new();
        place.init().close().unwrap();
        let path = place.path().with_extension("copy");
        fs::copy(place.path(), &path).unwrap();
        let copy = Location::from(path);
        let first = place.open().unwrap();
        let second = Ledger::open(&copy, &place.state_dir()).unwrap();
        for _ in 0..spends_of_the_first {
            spend(&first, "gaussian(20)").unwrap();
        }
        let expected = if spends_of_the_first == 1 {
            "MZ1776"
        } else {
            "MZ1775"
        };
        // It has as many entries then, or fewer.
        assert_eq!(spend(&second, "gaussian(20)").unwrap_err().code(), expected);
        assert_eq!(second.checkpoint().unwrap_err().code(), expected);
        spend(&first, "gaussian(20)").unwrap();
        drop(second);
        assert!(Ledger::open(&copy, &place.state_dir()).is_err());
        first.close().unwrap();
        place.open().unwrap();
    }
}

/// The newest valid slot, as anyone can read it; None while it is written.
fn newest(path: &Path) -> Option<u64> {
    let bytes = fs::read(path).unwrap();
    let slot = |at: usize| {
        let line = std::str::from_utf8(&bytes[at..at + 256]).ok()?;
        let fields: Vec<&str> = line.trim().split(':').collect();
        let check = Digest::of(&[fields[..4].join(":").as_bytes()]).to_string();
        (fields[4] == &check[..8]).then(|| fields[2].parse::<u64>().unwrap())
    };
    slot(0).max(slot(4096))
}

const CHILD: &str = "MIZAN_TEST_MARK_CHILD";

/// Set for processes that never end by themselves.
const FOR_EVER: &str = "MIZAN_TEST_MARK_FOR_EVER";

/// A process that spends.
fn spawn(directory: &Path) -> Command {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "high_water_mark::child"])
        .env(CHILD, directory)
        .stdout(std::process::Stdio::null());
    child
}

/// Not a test: what the processes of the tests below do.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let spends = if std::env::var_os(FOR_EVER).is_some() {
        u32::MAX
    } else {
        15
    };
    let directory = Path::new(&directory);
    let location = Location::from(directory.join("data/ledger"));
    let ledger = Ledger::open(&location, &directory.join("state")).unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..spends {
                    let done = spend(&ledger, "gaussian(200)").unwrap();
                    let mark = directory.join("state").join(ledger.id().to_string());
                    let mark = newest(&mark.join("mark"));
                    let size = done.receipt.head.size;
                    assert!(mark.is_none_or(|mark| mark >= size), "told before the mark");
                }
            });
        }
    });
    ledger.close().unwrap();
}

#[test]
fn the_mark_never_goes_back_under_eight_processes() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let mark = place.within_state(ledger.id(), "mark");
    let directory = place.state_dir().parent().unwrap().to_owned();
    let children: Vec<_> = (0..8).map(|_| spawn(&directory).spawn().unwrap()).collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (mut last, mut moves) = (0, 0);
            while !done.load(Ordering::Relaxed) {
                if let Some(size) = newest(&mark) {
                    assert!(size >= last, "{size} after {last}");
                    moves += u32::from(size > last);
                    last = size;
                }
            }
            moves
        });
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        done.store(true, Ordering::Relaxed);
        assert!(watcher.join().unwrap() > 20, "it was watched");
    });
    let head = ledger.head().unwrap();
    assert_eq!(head.size, 2 + 8 * 2 * 15 * 3);
    assert_eq!(newest(&mark), Some(head.size));
    ledger.verify(&Witnesses::default(), |_, _| ()).unwrap();
}

#[test]
fn damaged_marks_are_refused_and_torn_ones_are_not() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let mark = place.within_state(ledger.id(), "mark");
    let sizes: Vec<u64> = (0..2)
        .map(|_| spend(&ledger, "gaussian(20)").unwrap().receipt.head.size)
        .collect();
    ledger.close().unwrap();
    let whole = fs::read(&mark).unwrap();
    assert_eq!(newest(&mark), Some(sizes[1]));
    // A power failure in the midst of a write leaves the slot before.
    for slot in [0, 4096] {
        let mut torn = whole.clone();
        torn[slot + 60..slot + 100].fill(0);
        fs::write(&mark, &torn).unwrap();
        assert!(newest(&mark) >= Some(sizes[0]));
        place.open().unwrap().close().unwrap();
        assert_eq!(newest(&mark), Some(sizes[1]), "it catches up");
    }
    for damaged in [&b""[..], b"nonsense", &[0; 8192], &whole[..100]] {
        fs::write(&mark, damaged).unwrap();
        assert_eq!(place.refused(), "MZ1777");
        assert_eq!(fs::read(&mark).unwrap(), damaged, "it stays for inspection");
    }
    let other = GuardedLedger::new();
    let stranger = other.init();
    fs::copy(other.within_state(stranger.id(), "mark"), &mark).unwrap();
    assert_eq!(place.refused(), "MZ1777");
    fs::remove_file(&mark).unwrap();
    let ledger = place.open().unwrap();
    assert_eq!(ledger.notes(), [Note::MarkMade { size: sizes[1] }]);
}

#[test]
fn a_state_directory_must_be_writable_and_should_be_elsewhere() {
    let place = GuardedLedger::new();
    place.init().close().unwrap();
    let file = place.path().with_extension("file");
    fs::write(&file, "in the way").unwrap();
    let error = Ledger::open(&place.location(), &file).unwrap_err();
    assert_eq!(error.code(), "MZ1779");
    assert!(error.help().contains("MIZAN_STATE_DIR"));
    let new = Location::from(place.path().with_extension("new"));
    assert_eq!(Ledger::init(&new, &file).unwrap_err().code(), "MZ1779");
    assert!(!place.path().with_extension("new").exists());

    let beside = place.path().with_file_name("state");
    let ledger = Ledger::open(&place.location(), &beside).unwrap();
    assert!(ledger.notes().contains(&Note::StateBesideLedger));
    assert_eq!(log(&ledger).len(), 2);
}

/// A process that is killed at any moment leaves a mark that its log extends.
#[test]
fn kills_never_make_a_ledger_look_restored() {
    let place = GuardedLedger::new();
    place.init().close().unwrap();
    let directory = place.state_dir().parent().unwrap().to_owned();
    let mut last = 0;
    for kill in 0..25 {
        let mut child = spawn(&directory).env(FOR_EVER, "").spawn().unwrap();
        thread::sleep(std::time::Duration::from_millis(30 + 7 * (kill % 9)));
        child.kill().unwrap();
        child.wait().unwrap();
        let ledger = place.open().unwrap();
        let size = ledger.head().unwrap().size;
        assert_eq!(newest(&place.within_state(ledger.id(), "mark")), Some(size));
        assert!(size >= last);
        last = size;
    }
    assert!(last > 100, "{last} entries: they did spend");
    let ledger = place.open().unwrap();
    ledger.verify(&Witnesses::default(), |_, _| ()).unwrap();
}
