//! Queries that failed after their charge: how they are found, limited and settled.

use std::time::Instant;

use crate::common::guarded::{GuardedLedger, create, spend};
use mizan_ledger::evidence::*;
use mizan_ledger::ledger::Running;
use mizan_ledger::*;

const ONE: AccountNumber = AccountNumber::new(0);

fn charge_to(ledger: &Ledger, account: AccountNumber) -> Charge {
    let account = ledger.account(account).unwrap().account;
    Charge::of(&"gaussian(200)".parse().unwrap(), &account).unwrap()
}

/// Charges that are started and not committed.
fn start(ledger: &Ledger, account: AccountNumber, name: &str) -> RequestId {
    let id = RequestId::from_text(name);
    ledger
        .reserve(Some(id), charge_to(ledger, account))
        .unwrap();
    ledger.start(id).unwrap();
    id
}

fn ids(ledger: &Ledger, account: AccountNumber) -> Vec<RequestId> {
    let account = ledger.account(account).unwrap().account;
    let found = ledger.unanswered(&account).unwrap();
    found.iter().map(|charge| charge.id).collect()
}

/// What a handle that was just opened finds, and one that has read before, is the same.
#[test]
fn open_charges_are_found_wherever_they_are_in_the_log() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let below = create(&ledger, "below", Some(ONE));
    let other = create(&ledger, "other", None);
    assert_eq!(ids(&ledger, ONE), []);
    let mut open = vec![start(&ledger, ONE, "first")];
    for round in 0..4 {
        for _ in 0..350 {
            spend(&ledger, "gaussian(2000)").unwrap();
        }
        open.push(start(&ledger, below, &format!("below {round}")));
        start(&ledger, other, &format!("other {round}"));
        // Reserved and given back, or not started: neither is without an answer.
        let reserved = RequestId::from_text(&format!("reserved {round}"));
        let charge = charge_to(&ledger, ONE);
        ledger.reserve(Some(reserved), charge).unwrap();
        if round % 2 == 0 {
            ledger.void(reserved).unwrap();
        }
        let answered = start(&ledger, ONE, &format!("answered {round}"));
        let cost = charge_to(&ledger, ONE).cost;
        ledger.commit(answered, cost, b"answer".to_vec()).unwrap();
        let reread = place.open().unwrap();
        for ledger in [&ledger, &reread] {
            assert_eq!(ids(ledger, ONE), open);
            assert_eq!(ids(ledger, below), open[1..]);
            assert_eq!(ids(ledger, other).len(), round + 1);
        }
    }
    for id in open.drain(1..) {
        ledger.settle(id).unwrap();
    }
    for ledger in [&ledger, &place.open().unwrap()] {
        assert_eq!(ids(ledger, ONE), open);
        assert_eq!(ids(ledger, below), []);
        assert_eq!(ids(ledger, other).len(), 4);
    }
}

/// The limit counts charges of the account and of those below it, beside the query's own
/// and those of queries that run.
#[test]
fn queries_are_refused_above_a_limit_until_charges_are_settled() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let below = create(&ledger, "below", Some(ONE));
    let check = |account: AccountNumber, id: Option<RequestId>| {
        let view = ledger.account(account).unwrap();
        ledger
            .check_unanswered(&view, id)
            .map_err(|error| error.code())
    };
    let refused = Err(mizan_core::Code::MZ1795);
    let mut open = Vec::new();
    for number in 0..MAX_UNANSWERED {
        assert_eq!(check(ONE, None), Ok(()));
        assert_eq!(check(below, None), Ok(()));
        open.push(start(&ledger, ONE, &format!("failed {number}")));
    }
    // The account below is charged to the one above it.
    assert_eq!(check(ONE, None), refused);
    assert_eq!(check(below, None), refused);
    assert_eq!(check(ONE, Some(open[0])), Ok(()));
    // Another process knows what runs here, and this one what runs there.
    let other = place.open().unwrap();
    let view = other.account(ONE).unwrap();
    let both = || {
        let theirs = other.check_unanswered(&view, None);
        assert_eq!(theirs.is_ok(), check(ONE, None).is_ok());
        theirs.is_ok()
    };
    assert!(!both());
    let running = ledger.running(open[1]).unwrap();
    let twice = other.running(open[1]).unwrap();
    assert!(both());
    drop(running);
    assert!(both());
    drop(twice);
    assert!(!both());
    assert_eq!(running_files(&place, &ledger).len(), 0);
    // The file of a process that was killed moves. Its charge counts once.
    let running = ledger.running(open[1]).unwrap();
    let held = running_files(&place, &ledger).pop().unwrap();
    let left = held.with_extension("00112233445566778899aabbccddeeff");
    drop(running);
    std::fs::write(&left, "").unwrap();
    assert!(!both());
    assert_eq!(running_files(&place, &ledger).len(), 0);
    assert_eq!(ids(&ledger, ONE).len(), MAX_UNANSWERED);
    let before = ledger.account(ONE).unwrap().account;
    let done = ledger.settle(open[2]).unwrap();
    assert!(done.fresh);
    assert_eq!(check(below, None), Ok(()));
    let after = ledger.account(ONE).unwrap().account;
    // The whole cost is spent.
    assert_eq!(after.taken(), before.taken());
    assert!(after.pending() != before.pending());
    assert_eq!(ledger.answer(open[2]).unwrap().unwrap(), SETTLED);
    ledger.verify(&Witnesses::default(), |_, _| ()).unwrap();
}

fn running_files(place: &GuardedLedger, ledger: &Ledger) -> Vec<std::path::PathBuf> {
    let directory = place.within_state(ledger.id(), "running");
    let files = std::fs::read_dir(directory).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

/// A query that failed counts until the data owner settles its charge, also if a repetition was
/// answered or runs now. The state directory has it.
#[test]
fn failures_count_although_a_repetition_was_answered() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let below = create(&ledger, "below", Some(ONE));
    let refused = |account: AccountNumber| {
        let view = ledger.account(account).unwrap();
        ledger.check_unanswered(&view, None).is_err()
    };
    let answer = |id: RequestId| {
        let cost = charge_to(&ledger, below).cost;
        ledger.commit(id, cost, b"answer".to_vec()).unwrap();
    };
    let mut failed = Vec::new();
    for number in 0..MAX_UNANSWERED {
        assert!(!refused(ONE) && !refused(below));
        let id = RequestId::from_text(&format!("failed {number}"));
        let mut running = ledger.running(id).unwrap();
        start(&ledger, below, &format!("failed {number}"));
        running.fail();
        drop(running);
        // A repetition that runs now does not hide that the first try failed.
        let repeated = ledger.running(id).unwrap();
        assert_eq!(refused(ONE), number + 1 == MAX_UNANSWERED);
        answer(id);
        drop(repeated);
        failed.push(id);
    }
    assert!(refused(ONE) && refused(below));
    let account = ledger.account(ONE).unwrap().account;
    let found = ledger.unanswered(&account).unwrap();
    assert!(found.iter().all(|charge| charge.answered));
    assert_eq!(found.len(), MAX_UNANSWERED);
    // A query whose process was killed counts until it is answered: its file is not locked.
    let id = RequestId::from_text("killed");
    start(&ledger, below, "killed");
    let left = place
        .within_state(ledger.id(), "running")
        .join(format!("{id}.{id}"));
    std::fs::write(&left, "").unwrap();
    assert_eq!(
        ledger.unanswered(&account).unwrap().len(),
        MAX_UNANSWERED + 1
    );
    answer(id);
    assert_eq!(ledger.unanswered(&account).unwrap(), found);
    // An id that was never charged is not a failure.
    let directory = place.within_state(ledger.id(), "failed");
    let unknown = RequestId::from_text("unknown");
    std::fs::write(directory.join(unknown.to_string()), "").unwrap();
    assert_eq!(ledger.unanswered(&account).unwrap(), found);
    // A handle without a state directory knows the log only.
    let reader = Ledger::read(&place.location()).unwrap();
    assert_eq!(ids(&reader, ONE), []);
    // Settling keeps the answer, and writes nothing.
    let size = ledger.head().unwrap().size;
    for id in failed {
        let done = ledger.settle(id).unwrap();
        assert!(!done.fresh && done.id == id);
        assert_eq!(ledger.show(&done.receipt).unwrap().entry.id, id);
        assert_eq!(ledger.answer(id).unwrap().unwrap(), b"answer");
        assert_eq!(ledger.settle(id).unwrap_err().code(), "MZ1732");
    }
    assert_eq!(ids(&ledger, ONE), []);
    assert_eq!(ledger.head().unwrap().size, size);
    assert!(!refused(ONE));
}

/// Each of many queries that begin at once passes the limit, so their number is limited too.
#[test]
fn few_queries_run_at_once() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let id = |number: usize| RequestId::from_text(&format!("query {number}"));
    let mut running: Vec<Running> = (0..mizan_ledger::guards::MAX_RUNNING)
        .map(|number| ledger.running(id(number)).unwrap())
        .collect();
    let other = place.open().unwrap();
    for ledger in [&ledger, &other] {
        let refused = ledger.running(id(999)).unwrap_err();
        assert_eq!(refused.code(), "MZ1796");
        assert!(refused.help().contains("Nothing was charged"));
    }
    running.pop();
    let last = other.running(id(999)).unwrap();
    assert!(ledger.running(id(998)).is_err());
    drop((running, last));
    assert_eq!(running_files(&place, &ledger).len(), 0);
}

/// Charges of queries that run are not failures, however many: each of them becomes one when it
/// ends.
#[test]
fn many_queries_begin_at_once_and_failures_are_limited() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let begin = |number: usize| {
        let id = RequestId::from_text(&format!("at once {number}"));
        let ledger = place.open().unwrap();
        let running = ledger.running(id).unwrap();
        let view = ledger.account(ONE).unwrap();
        let checked = ledger.check_unanswered(&view, Some(id));
        checked.map_err(|error| error.code())?;
        ledger.reserve(Some(id), charge_to(&ledger, ONE)).unwrap();
        ledger.start(id).unwrap();
        Ok::<_, mizan_core::Code>((id, running))
    };
    let begun: Vec<(RequestId, Running)> = std::thread::scope(|scope| {
        let threads = (0..20).map(|number| scope.spawn(move || begin(number)));
        let threads: Vec<_> = threads.collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.collect::<Result<_, _>>().unwrap()
    });
    for (number, (id, running)) in begun.into_iter().enumerate() {
        // The first are answered, the last eight fail.
        if number < 12 {
            let cost = charge_to(&ledger, ONE).cost;
            ledger.commit(id, cost, b"answer".to_vec()).unwrap();
        }
        drop(running);
    }
    assert_eq!(ids(&ledger, ONE).len(), MAX_UNANSWERED);
    assert_eq!(begin(200).unwrap_err(), "MZ1795");
}

#[test]
fn only_started_charges_are_settled() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let unknown = RequestId::from_text("unknown");
    assert_eq!(ledger.settle(unknown).unwrap_err().code(), "MZ1733");
    let id = RequestId::from_text("reserved");
    let charge = charge_to(&ledger, ONE);
    ledger.reserve(Some(id), charge.clone()).unwrap();
    assert!(ledger.settle(id).is_err());
    ledger.start(id).unwrap();
    ledger.settle(id).unwrap();
    assert_eq!(ledger.settle(id).unwrap_err().code(), "MZ1732");
    // Nothing can be released under it any more.
    let late = ledger.commit(id, charge.cost, b"late".to_vec());
    assert_eq!(late.unwrap_err().code(), "MZ1732");
    let size = ledger.head().unwrap().size;
    assert!(ledger.void(id).is_err());
    assert_eq!(ledger.head().unwrap().size, size);
}

/// How long it takes to look at a long log: `cargo test --release -p mizan-ledger --test
/// unanswered -- --ignored --nocapture`.
#[test]
#[ignore = "writes a million entries"]
fn a_long_log_is_looked_at_quickly() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let old = start(&ledger, ONE, "old");
    let spends = |ledger: &Ledger, threads: u32, each: u32| {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..each {
                        spend(ledger, "gaussian(200000)").unwrap();
                    }
                });
            }
        });
    };
    let rounds: u32 = std::env::var("ROUNDS").map_or(64, |rounds| rounds.parse().unwrap());
    spends(&ledger, 64, 5208 * rounds / 64);
    let new = start(&ledger, ONE, "new");
    println!("{} entries", ledger.head().unwrap().size);
    let timed = |what: &str, ledger: &Ledger| {
        let view = ledger.account(ONE).unwrap();
        let begun = Instant::now();
        ledger.check_unanswered(&view, None).unwrap();
        println!("{what}: {:?}", begun.elapsed());
    };
    timed(
        "first look, a charge at the beginning",
        &place.open().unwrap(),
    );
    timed("the same in this process", &ledger);
    timed("again", &ledger);
    spend(&ledger, "gaussian(200000)").unwrap();
    timed("after one more charge", &ledger);
    ledger.settle(old).unwrap();
    let opened = place.open().unwrap();
    timed("first look, a charge at the end", &opened);
    timed("again", &opened);
    ledger.settle(new).unwrap();
    timed("first look, no charge", &place.open().unwrap());
}
