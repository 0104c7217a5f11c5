//! The ledger as programs open it: charges, receipts, keys, checkpoints, time.

use std::fs;

use crate::common::guarded::{GuardedLedger, create, log, shell, spend};
use crate::common::lab::{Directory, Kind, Lab};
use mizan_ledger::evidence::{CheckpointKey, TreeHead};
use mizan_ledger::log::{LedgerId, Status, Tree, leaf_hash};
use mizan_ledger::money::Amount;
use mizan_ledger::state::{LedgerView, Request};
use mizan_ledger::store::{Sim, Sqlite, Store, Submission};
use mizan_ledger::*;

const ONE: AccountNumber = AccountNumber::new(0);

fn id(text: &str) -> RequestId {
    RequestId::from_text(text)
}

fn charge(ledger: &Ledger, event: &str) -> Charge {
    let account = ledger.account(ONE).unwrap().account;
    Charge::of(&event.parse().unwrap(), &account).unwrap()
}

#[test]
fn a_spend_is_one_batch_and_its_retry_is_free() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let event = "gaussian(20)".parse().unwrap();
    let first = ledger.spend(Some(id("report 7")), ONE, &event).unwrap();
    assert!(first.fresh && matches!(first.outcome, Outcome::Released { .. }));
    // Reservation, start and commit share one head, so one transaction.
    assert_eq!((first.receipt.position, first.receipt.head.size), (4, 5));
    let before = ledger.account(ONE).unwrap();
    spend(&ledger, "gaussian(30)").unwrap();
    let again = ledger.spend(Some(id("report 7")), ONE, &event).unwrap();
    assert_eq!((again.outcome, again.fresh), (first.outcome, false));
    assert_eq!(again.receipt.position, 4);
    assert_eq!(again.receipt.head, ledger.head().unwrap(), "as of now");
    let other = "gaussian(21)".parse().unwrap();
    let error = ledger.spend(Some(id("report 7")), ONE, &other).unwrap_err();
    assert_eq!(error.code(), "MZ1732");
    assert_eq!(ledger.head().unwrap().size, 8);
    let after = ledger.account(ONE).unwrap();
    assert!(after.account.spent() != before.account.spent());
    assert_eq!(after.account.pending().amounts().max(), Some(Amount::ZERO));
}

/// A price that depends on the remainder pays for the query that was charged, or for one that is chosen
/// later as long as so much is left.
#[test]
fn a_reservation_pays_for_a_later_choice_while_its_price_holds() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let full = ledger.account(ONE).unwrap().account;
    let limit = full.clock_left().unwrap();
    let amounts = full.orders().iter().map(|_| Amount::EXHAUSTED);
    let cost = Cost::new(amounts, DeltaAmount::ZERO);
    let growing = crate::common::growing(limit.femto() / 100);
    let query = Digest::of(&[b"a query"]);
    let mut falling = crate::common::charge(0, cost.clone().with_price(Some(growing)));
    falling.query = Some(query);
    ledger.reserve(Some(id("falling")), falling).unwrap();
    let constant = charge(&ledger, "gaussian(100)");
    ledger.reserve(Some(id("constant")), constant).unwrap();
    for name in ["falling", "constant"] {
        assert!(ledger.still_pays(id(name), None).unwrap());
    }
    // Less than half is left now, and the price is for the largest power of two that was left.
    let most = crate::common::constant(limit.femto() / 100 * 60);
    let most = crate::common::charge(0, cost.with_price(Some(most)));
    ledger.reserve(Some(id("most")), most).unwrap();
    assert!(!ledger.still_pays(id("falling"), None).unwrap());
    // What was charged is paid for, and another query is not.
    let pays = |query| ledger.still_pays(id("falling"), Some(query)).unwrap();
    assert!(pays(query) && !pays(Digest::of(&[b"another query"])));
    assert!(ledger.still_pays(id("constant"), None).unwrap());
    assert_eq!(
        ledger.still_pays(id("none"), None).unwrap_err().code(),
        "MZ1733"
    );
}

#[test]
fn a_denied_spend_stays_denied_and_costs_nothing() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let event = "gaussian(0.01)".parse().unwrap();
    let denied = ledger.spend(Some(id("greedy")), ONE, &event).unwrap();
    assert!(matches!(denied.outcome, Outcome::Denied(_)) && denied.refusal.is_some());
    let again = ledger.spend(Some(id("greedy")), ONE, &event).unwrap();
    assert_eq!((again.outcome, again.fresh), (denied.outcome, false));
    assert_eq!(again.receipt.position, denied.receipt.position);
    assert_eq!(log(&ledger).len(), 3);
    assert_eq!(
        spend(&ledger, "zcdp(0.1) + poisson(0.1, approximate(1, 1e-9))")
            .unwrap_err()
            .code(),
        "MZ1707"
    );
    let unknown = AccountNumber::new(7);
    let error = ledger.spend(None, unknown, &event).unwrap_err();
    assert_eq!(error.code(), "MZ1735");
}

#[test]
fn a_spend_goes_on_with_what_was_left_behind() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let text = "gaussian(20)";
    let event = text.parse().unwrap();
    let taken = || ledger.account(ONE).unwrap().account.taken().clone();
    for started in [false, true] {
        let id = id(&format!("left {started}"));
        ledger.reserve(Some(id), charge(&ledger, text)).unwrap();
        if started {
            ledger.start(id).unwrap();
        }
        let before = taken();
        let done = ledger.spend(Some(id), ONE, &event).unwrap();
        assert!(done.fresh && matches!(done.outcome, Outcome::Released { .. }));
        assert_eq!(taken(), before, "it was counted all the time");
        // The first attempt can neither release another answer nor void the charge.
        let cost = charge(&ledger, text).cost;
        let late = ledger.commit(id, cost, b"42".to_vec()).unwrap_err();
        assert_eq!(late.code(), "MZ1732");
        assert_eq!(ledger.void(id).unwrap_err().code(), "MZ1745");
    }
    // What a server has released under the id is that release, and no other: one
    // made elsewhere would have no charge.
    let cost = charge(&ledger, text).cost;
    ledger
        .reserve(Some(id("42")), charge(&ledger, text))
        .unwrap();
    ledger.start(id("42")).unwrap();
    ledger.commit(id("42"), cost, b"42".to_vec()).unwrap();
    let size = ledger.head().unwrap().size;
    let error = ledger.spend(Some(id("42")), ONE, &event).unwrap_err();
    assert_eq!(error.code(), "MZ1732");
    assert_eq!(ledger.answer(id("42")).unwrap().unwrap(), b"42");
    // What was given back is not charged by accident.
    ledger
        .reserve(Some(id("void")), charge(&ledger, text))
        .unwrap();
    ledger.void(id("void")).unwrap();
    let error = ledger.spend(Some(id("void")), ONE, &event).unwrap_err();
    assert_eq!(error.code(), "MZ1746");
    // Another body under a started id is neither started nor committed.
    ledger
        .reserve(Some(id("mine")), charge(&ledger, text))
        .unwrap();
    let other = "gaussian(5)".parse().unwrap();
    let error = ledger.spend(Some(id("mine")), ONE, &other).unwrap_err();
    assert_eq!(error.code(), "MZ1732");
    let record = ledger.record(id("mine")).unwrap().unwrap();
    assert!(matches!(record.status, Status::Reserved(_)));
    assert_eq!(ledger.head().unwrap().size, size + 3);
}

#[test]
fn requests_in_a_row_stop_at_the_first_error() {
    for kind in [Kind::Sim, Kind::Sqlite] {
        let lab = Lab::new(kind);
        let open = |byte| Request::Open {
            ledger: LedgerId::from_bytes([byte; 16]),
        };
        let submissions = [(1, open(1)), (2, open(2)), (3, Request::Void)];
        let submissions = submissions
            .map(|(byte, request)| Submission::new(0, RequestId::from_bytes([byte; 16]), request));
        let results = lab.store().execute_all(submissions.to_vec());
        let codes: Vec<_> = results
            .iter()
            .map(|r| r.as_ref().map_err(|e| e.code().as_str()))
            .collect();
        assert!(matches!(codes[..], [Ok(_), Err("MZ1731")]), "{codes:?}");
        let lab = lab.reopen();
        assert_eq!(lab.store().head().unwrap().size, 1);
    }
}

/// Every receipt that could ever have been handed out for a log is checked, with
/// its proofs, across the borders of the nodes that are kept.
#[test]
fn every_receipt_of_a_log_holds_and_no_other() {
    let place = GuardedLedger::new();
    let sim = Sim::new();
    let ledger = LedgerId::from_bytes([5; 16]);
    let begin = Submission::new(0, id("begin"), Request::Open { ledger });
    sim.execute(begin).unwrap();
    let elsewhere = place.state_dir().with_extension("sim");
    let sim = Ledger::over(Box::new(sim), Some(&elsewhere)).unwrap();
    create(&sim, "one", None);
    // The one in memory keeps no nodes and hashes all entries every time.
    for (ledger, step) in [(place.init(), 1), (sim, 17)] {
        for number in 0..180 {
            let id = Some(id(&format!("{number}")));
            ledger
                .spend(id, ONE, &"gaussian(500)".parse().unwrap())
                .unwrap();
        }
        let mut tree = Tree::default();
        for entry in log(&ledger) {
            tree.push(leaf_hash(&entry.encode()));
        }
        assert_eq!(tree.size(), 542);
        let now = ledger.head().unwrap();
        assert_eq!(tree.root(542), Some(now.root));
        for size in (1..=542).step_by(step) {
            let root = tree.root(size).unwrap();
            let head = TreeHead { size, root, ..now };
            for position in [0, size / 2, size - 1] {
                let shown = ledger.show(&ReceiptText { position, head }).unwrap();
                let leaf = leaf_hash(&shown.entry.encode());
                assert!(shown.proof.holds(leaf, now.root));
            }
            let wrong = tree.root(size - 1).unwrap();
            let head = TreeHead {
                root: wrong,
                ..head
            };
            let position = size - 1;
            let error = ledger.show(&ReceiptText { position, head }).unwrap_err();
            assert_eq!(error.code(), "MZ1785");
        }
        let found = ledger.find(id("7")).unwrap().unwrap();
        assert_eq!((found.position, found.head), (2 + 3 * 7 + 2, now));
        assert_eq!(ledger.find(id("unknown")).unwrap(), None);
    }
}

#[test]
fn receipts_are_lines_with_a_checksum() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let receipt = spend(&ledger, "gaussian(20)").unwrap().receipt;
    let line = receipt.to_string();
    assert_eq!(format!(" {line}\n").parse(), Ok(receipt));
    for at in 0..line.len() {
        let mut wrong = line.clone().into_bytes();
        wrong[at] = if wrong[at] == b'7' { b'8' } else { b'7' };
        let wrong = String::from_utf8(wrong).unwrap();
        assert_eq!(wrong.parse::<ReceiptText>().unwrap_err().code(), "MZ1782");
    }
    let other = GuardedLedger::new().init();
    assert_eq!(other.show(&receipt).unwrap_err().code(), "MZ1784");
}

#[test]
fn checkpoints_are_signed_by_the_key_of_the_ledger() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let key = ledger.public_key().unwrap();
    assert_eq!(key.to_string().parse(), Ok(key));
    let checkpoint = ledger.checkpoint().unwrap();
    assert_eq!(checkpoint.to_string().parse(), Ok(checkpoint));
    spend(&ledger, "gaussian(20)").unwrap();
    ledger.check_checkpoint(&checkpoint, &key).unwrap();
    let mut forged = checkpoint;
    forged.head.size += 1;
    let error = ledger.check_checkpoint(&forged, &key).unwrap_err();
    assert_eq!(error.code(), "MZ1786");
    // Signed by the right key for a log that is not this one.
    let secret = place.within_state(ledger.id(), "key");
    let text = fs::read_to_string(&secret).unwrap();
    let seed = Digest::from_hex(text.split(':').nth(1).unwrap()).unwrap();
    let secret_key = CheckpointKey::from_seed(seed.as_bytes());
    let mut head = checkpoint.head;
    head.root = Digest::of(&[b"another log"]);
    let other = secret_key.sign(head);
    let error = ledger.check_checkpoint(&other, &key).unwrap_err();
    assert_eq!(error.code(), "MZ1785");

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&secret), 0o600);
        assert_eq!(mode(&secret.parent().unwrap().to_owned()), 0o700);
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(ledger.checkpoint().unwrap_err().code(), "MZ1781");
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs::write(&secret, text.replace(":", ";")).unwrap();
    assert_eq!(ledger.checkpoint().unwrap_err().code(), "MZ1782");
    fs::remove_file(&secret).unwrap();
    assert_eq!(ledger.checkpoint().unwrap_err().code(), "MZ1780");
    spend(&ledger, "gaussian(20)").unwrap();
}

#[test]
fn a_clock_that_goes_back_does_not_take_the_log_with_it() {
    let place = GuardedLedger::new();
    let ledger = place.init();
    let future = 4_000_000_000_000;
    let open = Request::Reserve(charge(&ledger, "gaussian(50)"));
    ledger
        .store()
        .execute(Submission::new(future, id("late"), open))
        .unwrap();
    spend(&ledger, "gaussian(20)").unwrap();
    let times: Vec<u64> = log(&ledger).iter().map(|entry| entry.unix_ms).collect();
    assert!(
        times.is_sorted() && times[3..].iter().all(|&time| time == future),
        "{times:?}"
    );
    ledger.close().unwrap();
    // Another process with a slow clock knows too.
    let ledger = place.open().unwrap();
    spend(&ledger, "gaussian(20)").unwrap();
    assert_eq!(log(&ledger).last().unwrap().unix_ms, future);
    assert_eq!(ledger.size_at(future).unwrap(), 9);
    assert_eq!(ledger.size_at(future - 1).unwrap(), 2);
    assert_eq!(ledger.size_at(0).unwrap(), 0);
    let then = ledger.at(future - 1).unwrap();
    assert_eq!((then.size(), then.accounts()), (2, 1));
    let now = ledger.at(u64::MAX).unwrap();
    assert_eq!(
        now.account(ONE),
        Some(&ledger.account(ONE).unwrap().account)
    );
}

#[test]
fn a_ledger_is_made_once_and_goes_on_where_it_was_left() {
    let place = GuardedLedger::new();
    let states = || fs::read_dir(place.state_dir()).unwrap().count();
    // A process that died before the first entry.
    drop(Sqlite::create(&place.path()).unwrap());
    assert_eq!(place.refused(), "MZ1730");
    let ledger = place.init();
    assert_eq!((log(&ledger).len(), states()), (2, 1));
    let error = Ledger::init(&place.location(), &place.state_dir()).unwrap_err();
    assert_eq!(error.code(), "MZ1760");
    assert_eq!(states(), 1, "the key of no ledger is not left behind");
    assert_eq!(log(&ledger).len(), 2);
}

#[test]
fn other_formats_are_refused_with_what_to_do() {
    let place = GuardedLedger::new();
    place.init().close().unwrap();
    for (version, step) in [(0, "mizan init --upgrade"), (2, "newer")] {
        shell(&place.path(), &format!("PRAGMA user_version = {version}"));
        let error = place.open().unwrap_err();
        assert_eq!(error.code(), "MZ1762");
        assert!(error.help().contains(step), "{}", error.help());
        // No way leads from either, and trying changes nothing.
        let before = fs::read(place.path()).unwrap();
        let error = place.location().upgrade().unwrap_err();
        assert_eq!(error.code(), "MZ1762");
        assert_eq!(fs::read(place.path()).unwrap(), before);
    }
    shell(&place.path(), "PRAGMA user_version = 1");
    assert_eq!(place.location().upgrade(), Ok(1));
    place.open().unwrap();
    let directory = Directory::new();
    let stranger = directory.path().join("stranger");
    shell(&stranger, "CREATE TABLE log (seq)");
    let error = Location::from(stranger).upgrade().unwrap_err();
    assert_eq!(error.code(), "MZ1761");
}
