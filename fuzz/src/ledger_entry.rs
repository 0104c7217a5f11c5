//! The entries of the log.
//!
//! - Bytes are the canonical bytes of an entry, or are refused: what is decoded is encoded to the
//!   same bytes, and no bytes more or less are read as an entry.
//! - The same holds for checkpoints and for the lines of receipts.
//! - A ledger that replays entries refuses each, and then has not changed, or accepts it, and then
//!   every account is within its budget. An entry that was accepted is not accepted again.
//!
//! An input is read as one entry, and as a log: the length of each entry in two bytes, little-endian,
//! then its bytes.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use mizan_core::{Delta, Epsilon, Order, PrivacyEvent, Rho};
use mizan_ledger::log::{LedgerId, leaf_hash};
use mizan_ledger::money::Rule;
use mizan_ledger::state::{Executed, LedgerView, Request, State};
use mizan_ledger::{
    Account, AccountName, AccountNumber, Budget, Charge, Checkpoint, DeltaAmount, Digest, Entry,
    Orders, ReceiptText, RequestId,
};

/// Checks the properties for some bytes.
pub fn check(data: &[u8]) {
    check_entry(data);
    if let Ok(checkpoint) = Checkpoint::decode(data) {
        assert_eq!(checkpoint.encode(), data);
    }
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(receipt) = text.parse::<ReceiptText>()
    {
        assert_eq!(receipt.to_string().parse(), Ok(receipt));
    }
    accepted(data);
}

/// The entry of these bytes, if they are one.
fn check_entry(bytes: &[u8]) -> Option<Entry> {
    let entry = match Entry::decode(bytes) {
        Ok(entry) => entry,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return None;
        }
    };
    assert_eq!(entry.encode(), bytes, "another encoding of {entry:?}");
    let longer = [bytes, &[0]].concat();
    assert!(Entry::decode(&longer).is_err(), "a byte more");
    assert!(
        Entry::decode(&bytes[..bytes.len() - 1]).is_err(),
        "a byte less"
    );
    Some(entry)
}

/// The ledger that every log continues.
static OPENED: LazyLock<State> = LazyLock::new(|| opened().0);

/// Replays a log from the opened ledger; returns how many entries it accepts.
pub fn accepted(log: &[u8]) -> usize {
    let mut state = OPENED.clone();
    let mut accepted = 0;
    let mut rest = log;
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(after.len());
        let (bytes, after) = after.split_at(length);
        rest = after;
        let Some(entry) = check_entry(bytes) else {
            continue;
        };
        let before = state.clone();
        match state.apply(&entry) {
            Ok(_) => {
                accepted += 1;
                assert_eq!(state.size(), before.size() + 1);
                let after = state.clone();
                assert!(state.apply(&entry).is_err(), "accepted twice: {entry:?}");
                assert!(state == after, "a refused entry changed the ledger");
                let accounts = (0..state.accounts()).map(AccountNumber::new);
                let accounts = accounts.map(|number| state.account(number).expect("numbered"));
                accounts.for_each(is_within_budget);
            }
            Err(error) => {
                assert!(error.code().as_str().starts_with("MZ17"));
                assert!(state == before, "a refused entry changed the ledger");
            }
        }
    }
    accepted
}

/// The filter in so many words.
fn is_within_budget(account: &Account) {
    let budget = account.budget();
    let (amounts, reserved_delta, [variance, _, _, tails]) = account.taken().raw();
    assert!(
        reserved_delta + tails <= u128::from(budget.reserved_delta().atto()),
        "reserved deltas of {account:?}"
    );
    let limits = budget.limits().iter().zip(amounts);
    let mut within =
        limits.filter_map(|(limit, taken)| Some(*taken <= limit.as_ref()?.pico().into()));
    let fits = match budget.rule() {
        Rule::Any => {
            let clock = budget.clock();
            within.any(|fits| fits)
                || clock.is_some_and(|clock| variance <= clock.limit.femto().into())
        }
        Rule::Every => within.all(|fits| fits),
    };
    assert!(fits, "{account:?} is overspent");
}

fn id(number: u8) -> RequestId {
    RequestId::from_bytes([number; 16])
}

/// A ledger with a dataset, a department below it, an analyst below that, and an account of its
/// own; with its log.
fn opened() -> (State, Vec<Entry>) {
    let (mut state, mut log) = (State::new(), Vec::new());
    let ledger = LedgerId::from_bytes([1; 16]);
    run(&mut state, &mut log, 200, &Request::Open { ledger });
    let orders = [4.0, 16.0, f64::INFINITY].map(|order| Order::new(order).expect("an order"));
    let orders = Orders::new(orders).expect("orders");
    let epsilon = |epsilon| Epsilon::new(epsilon).expect("an epsilon");
    let approximate = |e| {
        let delta = Delta::new(1e-3).expect("a delta");
        let (own, clock) = (DeltaAmount::from_atto(40), Budget::usual_clock());
        Budget::approximate(epsilon(e), delta, own, clock, &orders)
    };
    let rho = Rho::new(0.3).expect("a rho");
    let accounts = [
        ("dataset", None, approximate(4.0)),
        ("department", Some(0), approximate(3.8)),
        (
            "analyst",
            Some(1),
            Budget::zero_concentrated(rho, DeltaAmount::from_atto(9), &orders),
        ),
        ("other", None, Budget::pure(epsilon(2.0), &orders)),
    ];
    for (number, (name, parent, budget)) in (201..).zip(accounts) {
        let request = Request::Create {
            name: AccountName::new(name).expect("a name"),
            parent: parent.map(AccountNumber::new),
            orders: orders.clone(),
            budget: budget.expect("a budget"),
        };
        run(&mut state, &mut log, number, &request);
    }
    (state, log)
}

fn run(state: &mut State, log: &mut Vec<Entry>, number: u8, request: &Request) {
    let executed = state.execute(7, id(number), request);
    if let Executed::Appended { entry, .. } = executed.expect("a request that fits") {
        log.push(entry);
    }
}

/// Every kind of entry: one by one, and as a log that the ledger accepts.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let (mut state, mut log) = opened();
    let before = log.len();
    let mut charges = Vec::new();
    for (number, account, event) in [
        (1, 1, "gaussian(9)"),
        (2, 1, "pure(0.2) + laplace(8)"),
        (3, 0, "rdp(16:0.1)"),
        (4, 2, "gaussian(100)"),
        (5, 3, "pure(0.5)"),
        (6, 3, "pure(9)"),
        (7, 0, "poisson(0.1, gaussian(20))"),
    ] {
        let event: PrivacyEvent = event.parse().expect("an event");
        let account = state
            .account(AccountNumber::new(account))
            .expect("numbered");
        if let Ok(charge) = Charge::of(&event, account) {
            charges.push((number, charge.clone()));
            let request = Request::Reserve(charge);
            run(&mut state, &mut log, number, &request);
        }
    }
    run(&mut state, &mut log, 1, &Request::Start);
    let (_, charge) = &charges[0];
    let commit = Request::Commit {
        cost: charge.cost.clone(),
        answer: Digest::of(&[b"an answer"]),
    };
    run(&mut state, &mut log, 1, &commit);
    run(&mut state, &mut log, 2, &Request::Void);
    let root = leaf_hash(b"a longer log");
    let size = 1000;
    run(&mut state, &mut log, 210, &Request::Restore { size, root });
    let mut bytes: Vec<Vec<u8>> = log.iter().map(Entry::encode).collect();
    let mut whole = Vec::new();
    for entry in &bytes[before..] {
        let length = u16::try_from(entry.len()).expect("a short entry");
        whole.extend(length.to_le_bytes());
        whole.extend(entry);
    }
    bytes.push(whole);
    bytes
}

/// The bytes of entries have no words.
#[must_use]
pub const fn words() -> BTreeSet<String> {
    BTreeSet::new()
}
