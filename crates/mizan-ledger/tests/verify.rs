//! What `verify` finds: every change of a file, accidental or malicious.

use std::fs;
use std::path::Path;

use crate::common::guarded::{GuardedLedger, create, log, spend};
use crate::common::{charge, pico};
use mizan_ledger::evidence::{VerifyError, VerifyReport};
use mizan_ledger::money::Neighbours;
use mizan_ledger::state::Request;
use mizan_ledger::store::Submission;
use mizan_ledger::*;
use mizan_test_support::long_run;
use rusqlite::Connection;

fn id(text: &str) -> RequestId {
    RequestId::from_text(text)
}

/// A ledger with something of everything, and a receipt from its midst.
fn rich(place: &GuardedLedger) -> (Ledger, ReceiptText) {
    let ledger = place.init();
    create(&ledger, "two", Some(AccountNumber::new(0)));
    let event = "gaussian(50)".parse().unwrap();
    let two = ledger.account(AccountNumber::new(1)).unwrap().account;
    let charge = Charge::of(&event, &two).unwrap();
    for number in 0..90 {
        let answered = id(&format!("answered {number}"));
        ledger.reserve(Some(answered), charge.clone()).unwrap();
        if number == 60 {
            ledger.void(answered).unwrap();
            continue;
        }
        ledger.start(answered).unwrap();
        let answer = format!("answer {number}").into_bytes();
        ledger
            .commit(answered, charge.cost.clone(), answer)
            .unwrap();
    }
    let middle = spend(&ledger, "gaussian(40)").unwrap();
    spend(&ledger, "gaussian(0.01)").unwrap();
    let orders = two.orders().clone();
    let target = Target::Approximate {
        epsilon: crate::common::epsilon(11.0),
        delta: crate::common::delta(1e-6),
    };
    let raised = two
        .budget()
        .raised(target, two.budget().reserved_delta(), &orders);
    ledger.raise(None, two.number(), raised.unwrap()).unwrap();
    (ledger, middle.receipt)
}

fn verified(path: &Path) -> Result<VerifyReport, VerifyError> {
    let ledger = Ledger::read(&Location::from(path))?;
    ledger.verify(&Witnesses::default(), |_, _| ())
}

#[test]
fn a_good_ledger_is_counted() {
    let place = GuardedLedger::new();
    let (ledger, receipt) = rich(&place);
    let mut witnesses = Witnesses {
        receipts: vec![receipt],
        checkpoints: vec![ledger.checkpoint().unwrap()],
        public_key: ledger.public_key(),
    };
    let mut told = Vec::new();
    let report = ledger.verify(&witnesses, |done, total| told.push((done, total)));
    let report = report.unwrap();
    let size = ledger.head().unwrap().size;
    assert_eq!(report.head, ledger.head().unwrap());
    assert_eq!((report.accounts, report.charges), (2, 91));
    assert_eq!((report.committed, report.voided, report.denied), (90, 1, 1));
    assert_eq!(
        (report.priced, report.unpriced, report.answers),
        (91, 0, 89)
    );
    assert_eq!((report.gaps, report.witnesses), (0, 2));
    assert_eq!(
        (told.first(), told.last()),
        (Some(&(0, size)), Some(&(size, size)))
    );

    witnesses.receipts[0].head.root = Digest::of(&[]);
    let error = ledger.verify(&witnesses, |_, _| ()).unwrap_err();
    assert_eq!(error.code(), "MZ1785");
    witnesses.receipts[0].head.size = size + 1;
    let error = ledger.verify(&witnesses, |_, _| ()).unwrap_err();
    assert_eq!(error.code(), "MZ1785");
    witnesses.receipts.clear();
    witnesses.checkpoints[0].signature[0] ^= 1;
    let error = ledger.verify(&witnesses, |_, _| ()).unwrap_err();
    assert_eq!(error.code(), "MZ1786");
}

/// Changes a file without its triggers, and puts them back.
fn tamper(path: &Path, sql: &str) {
    let shell = Connection::open(path).unwrap();
    let mut triggers: Vec<(String, String)> = Vec::new();
    let find = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";
    let mut statement = shell.prepare(find).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    triggers.extend(rows.unwrap().map(Result::unwrap));
    for (name, _) in &triggers {
        shell
            .execute_batch(&format!("DROP TRIGGER {name}"))
            .unwrap();
    }
    let changes = shell.total_changes();
    shell.execute_batch(sql).unwrap();
    assert!(shell.total_changes() > changes, "{sql} changed nothing");
    for (_, sql) in &triggers {
        shell.execute_batch(sql).unwrap();
    }
}

#[test]
fn whatever_is_changed_beside_or_in_the_log_is_found() {
    let place = GuardedLedger::new();
    let (ledger, _) = rich(&place);
    ledger.close().unwrap();
    verified(&place.path()).unwrap();
    let good = fs::read(place.path()).unwrap();
    // Blobs of the same length with one byte other than before.
    let flip = |column: &str, at: u32| {
        let before = format!("substr({column}, 1, {})", at - 1);
        let after = format!("substr({column}, {})", at + 1);
        let byte = format!(
            "unhex(substr('123456789abcdef01', 1 + instr('0123456789abcdef', lower(substr(hex(substr({column}, {at}, 1)), 1, 1))), 1) || substr(hex(substr({column}, {at}, 1)), 2, 1))"
        );
        format!("{column} = CAST({before} || {byte} || {after} AS BLOB)")
    };
    for (sql, codes) in [
        (
            format!("UPDATE accounts SET {} WHERE number = 0", flip("spent", 16)),
            "MZ1788",
        ),
        (
            format!(
                "UPDATE accounts SET {} WHERE number = 1",
                flip("pending", 30)
            ),
            "MZ1788",
        ),
        (
            "UPDATE accounts SET neighbours = 1 WHERE number = 1".to_owned(),
            "MZ1788",
        ),
        (
            "UPDATE accounts SET raised = NULL WHERE number = 1".to_owned(),
            "MZ1788",
        ),
        (
            "UPDATE accounts SET created = 0 WHERE number = 1".to_owned(),
            "MZ1763",
        ),
        (
            "UPDATE accounts SET name = 'three' WHERE number = 1".to_owned(),
            "MZ1763",
        ),
        ("DELETE FROM accounts WHERE number = 1".to_owned(), "MZ1788"),
        ("UPDATE head SET accounts = 3".to_owned(), "MZ1788"),
        (format!("UPDATE head SET {}", flip("frontier", 1)), "MZ1788"),
        (format!("UPDATE nodes SET {}", flip("hash", 9)), "MZ1788"),
        ("DELETE FROM nodes".to_owned(), "MZ1763"),
        (
            "INSERT INTO accounts SELECT 77, 'ghost', created, raised, neighbours, spent, pending \
             FROM accounts WHERE number = 0"
                .to_owned(),
            "MZ1788",
        ),
        // What the log has not come to would be in the way when it does.
        (
            "INSERT INTO nodes SELECT 8, max(place) + 9, hash FROM nodes WHERE level = 8"
                .to_owned(),
            "MZ1788",
        ),
        (
            "UPDATE records SET last = 5000000 WHERE last = 8".to_owned(),
            "MZ1788",
        ),
        (
            "INSERT INTO records VALUES (zeroblob(16), 1000000, 1000000)".to_owned(),
            "MZ1788",
        ),
        (
            "UPDATE records SET last = first WHERE last = 8".to_owned(),
            "MZ1788",
        ),
        (
            "UPDATE records SET first = 0 WHERE first = 12".to_owned(),
            "MZ1788",
        ),
        ("DELETE FROM records WHERE first = 12".to_owned(), "MZ1788"),
        (
            "INSERT INTO records VALUES (x'00112233445566778899aabbccddeeff', 3, 3)".to_owned(),
            "MZ1788",
        ),
        (
            "UPDATE answers SET bytes = x'00' WHERE seq = 5".to_owned(),
            "MZ1788",
        ),
        (
            "UPDATE answers SET seq = 6 WHERE seq = 5".to_owned(),
            "MZ1788",
        ),
        (
            "INSERT INTO answers VALUES (100000, x'00')".to_owned(),
            "MZ1788",
        ),
        // An answer is not in the log: deleting one only means it is kept elsewhere.
        (
            format!("UPDATE log SET {} WHERE seq = 4", flip("bytes", 11)),
            "MZ1750",
        ),
        (
            format!("UPDATE log SET {} WHERE seq = 7", flip("bytes", 10)),
            "MZ1788",
        ),
        ("DELETE FROM log WHERE seq = 100".to_owned(), "MZ1763"),
        (
            "DELETE FROM log WHERE seq = (SELECT max(seq) FROM log)".to_owned(),
            "MZ1763",
        ),
        (
            "UPDATE log SET bytes = (SELECT bytes FROM log WHERE seq = 6) WHERE seq = 9".to_owned(),
            "MZ1750 MZ1752",
        ),
    ] {
        tamper(&place.path(), &sql);
        let error = verified(&place.path()).expect_err(&sql);
        assert!(
            codes.contains(error.code().as_str()),
            "{sql}: {} {error}",
            error.code()
        );
        assert!(!error.help().is_empty());
        fs::write(place.path(), &good).unwrap();
    }
    verified(&place.path()).unwrap();
}

#[test]
fn charges_below_the_price_of_their_event_are_found() {
    let free = pico(&vec![1; Orders::standard().len()]);
    let price = |event: &str| Cost::of(&event.parse().unwrap(), &Orders::standard()).unwrap();
    let mut reserved_delta = price("approximate(0.1, 1e-9)");
    reserved_delta = Cost::new(reserved_delta.amounts().to_vec(), DeltaAmount::ZERO);
    for (event, cost, neighbours, code) in [
        ("gaussian(50)", price("gaussian(50)"), None, ""),
        ("gaussian(50)", price("gaussian(49)"), None, ""),
        ("gaussian(50)", price("gaussian(51)"), None, "MZ1789"),
        ("gaussian(50)", free.clone(), None, "MZ1789"),
        ("approximate(0.1, 1e-9)", reserved_delta, None, "MZ1789"),
        ("no event", free.clone(), None, "MZ1789"),
        (
            "poisson(0.1, gaussian(50))",
            price("gaussian(5)"),
            None,
            "MZ1789",
        ),
        (
            "gaussian(50)",
            price("gaussian(50)"),
            Some(Neighbours::Replace),
            "MZ1789",
        ),
        (
            "gaussian(50)",
            price("gaussian(50)").with_price(price("gaussian(51)").price().cloned()),
            None,
            "MZ1789",
        ),
        (
            "zcdp(0.0002)",
            price("zcdp(0.0002)").with_price(price("gaussian(50)").price().cloned()),
            None,
            "MZ1789",
        ),
        // Without a price the clock is exhausted.
        (
            "gaussian(50)",
            price("gaussian(50)").with_price(None),
            None,
            "",
        ),
        ("", free, None, ""),
    ] {
        let place = GuardedLedger::new();
        let ledger = place.init();
        let reserve = Request::Reserve(Charge {
            event: event.to_owned(),
            neighbours,
            ..charge(0, cost)
        });
        for number in ["first", "again"] {
            let submission = Submission::new(0, id(number), reserve.clone());
            ledger.store().execute(submission).unwrap();
        }
        let result = ledger.verify(&Witnesses::default(), |_, _| ());
        assert_eq!(
            result.as_ref().map_or_else(|e| e.code().as_str(), |_| ""),
            code,
            "{event}"
        );
        if let Ok(report) = result {
            assert_eq!(report.priced + report.unpriced, 2);
            assert_eq!(report.unpriced > 0, event.is_empty());
        }
    }
}

/// A gap that views would not find is a hole in every statement.
#[test]
fn a_hidden_gap_is_found() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let root = Digest::of(&[]);
    let restore = Request::Restore { size: 9, root };
    ledger
        .store()
        .execute(Submission::new(0, id("mine"), restore))
        .unwrap();
    let error = ledger.verify(&Witnesses::default(), |_, _| ()).unwrap_err();
    assert_eq!(error.code(), "MZ1788");
}

#[test]
fn others_may_write_meanwhile() {
    let place = GuardedLedger::new();
    let (ledger, _) = rich(&place);
    let other = place.open().unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                spend(&other, "gaussian(2000)").unwrap();
            }
        });
        for _ in 0..20 {
            ledger.verify(&Witnesses::default(), |_, _| ()).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// One byte of a file is flipped: opening and verifying it says that something is
/// wrong, or what it shows is exactly what was there.
fn flips(with_wal: bool) {
    let place = GuardedLedger::new();
    let ledger = place.init();
    for number in 0..8 {
        spend(&ledger, &format!("gaussian({})", 50 + number)).unwrap();
    }
    let (expected, accounts) = (log(&ledger), ledger.accounts().unwrap());
    let copy = |from: &Path, to: &Path| fs::write(to, fs::read(from).unwrap()).unwrap();
    let target = GuardedLedger::new();
    let wal = |path: &Path| path.with_file_name("ledger-wal");
    let path = place.path();
    if !with_wal {
        ledger.close().unwrap();
    }
    let files = if with_wal {
        vec![path.clone(), wal(&path)]
    } else {
        vec![path.clone()]
    };
    let bytes: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let mark = |place: &GuardedLedger| {
        let id = expected.iter().find_map(|entry| match entry.body {
            Body::Opened { ledger } => Some(ledger),
            _ => None,
        });
        place.within_state(id.unwrap(), "mark")
    };
    fs::create_dir_all(mark(&target).parent().unwrap()).unwrap();
    let (mut found, mut harmless) = (0, 0);
    for file in 0..files.len() {
        for at in (0..bytes[file].len()).step_by(if long_run() { 13 } else { 401 }) {
            let _ = fs::remove_file(target.path().with_file_name("ledger-shm"));
            let _ = fs::remove_file(wal(&target.path()));
            copy(&mark(&place), &mark(&target));
            for (number, bytes) in bytes.iter().enumerate() {
                let mut bytes = bytes.clone();
                if number == file {
                    bytes[at] ^= 1 << (at % 8);
                }
                let name = files[number].file_name().unwrap();
                fs::write(target.path().with_file_name(name), bytes).unwrap();
            }
            let checked = || -> Result<Ledger, VerifyError> {
                let ledger = target.open()?;
                ledger.verify(&Witnesses::default(), |_, _| ())?;
                Ok(ledger)
            };
            match checked() {
                Err(error) => {
                    assert!(error.code().as_str().starts_with("MZ17"));
                    found += 1;
                }
                Ok(ledger) => {
                    assert_eq!(log(&ledger), expected, "byte {at} of file {file}");
                    assert_eq!(ledger.accounts().unwrap(), accounts);
                    harmless += 1;
                }
            }
        }
    }
    // Free space, and pages that the log beside the file replaces, may be flipped.
    assert!(
        found > 10 && harmless > 0,
        "{found} found, {harmless} harmless"
    );
}

#[test]
fn flipped_bytes_never_show_another_log() {
    flips(false);
}

#[test]
fn flipped_bytes_with_a_write_ahead_log_never_show_another_log() {
    flips(true);
}
