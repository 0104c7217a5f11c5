//! The checker of the invariants I1 to I8 of docs/spec/ledger.md, from the log of a ledger alone and
//! against the outcomes that clients received.

use std::collections::HashMap;

use mizan_ledger::log::{Frontier, Status, leaf_hash};
use mizan_ledger::money::{Rule, Totals, Variance};
use mizan_ledger::state::{LedgerView, State};
use mizan_ledger::store::{Head, Receipt, Store};
use mizan_ledger::*;

/// A log that was verified, with what follows from it.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) log: Vec<Entry>,
    /// What each entry came to.
    pub(crate) outcomes: Vec<Outcome>,
    /// The root of the first entries, for each number of them.
    pub(crate) roots: Vec<Digest>,
    pub(crate) state: State,
    /// Where the entries of an id stand.
    places: HashMap<RequestId, Vec<u64>>,
}

/// All entries of a store.
pub(crate) fn log(store: &dyn Store) -> Vec<Entry> {
    let mut log = Vec::new();
    loop {
        let page = store.entries(log.len() as u64).unwrap();
        if page.is_empty() {
            return log;
        }
        log.extend(page);
    }
}

/// Adds up what accounts hold without the code under test.
#[derive(Default)]
struct Sums(HashMap<(u32, bool), Vec<u128>>);

impl Sums {
    fn add(&mut self, state: &State, held: &Held, spent: bool, cost: &Cost, more: bool) {
        let amounts = cost.amounts().iter().map(|amount| amount.pico());
        let mut parts: Vec<u64> = amounts.chain([cost.reserved_delta().atto(), 0]).collect();
        let mut next = Some(AccountNumber::new(held.account));
        let mut clock = held.clock.iter();
        while let Some(number) = next {
            *parts.last_mut().unwrap() = clock.next().map_or(0, |taken| taken.femto());
            let sums = self.0.entry((number.get(), spent)).or_default();
            sums.resize(parts.len(), 0);
            for (sum, &part) in sums.iter_mut().zip(&parts) {
                let part = u128::from(part);
                *sum = if more { *sum + part } else { *sum - part };
            }
            next = state.account(number).unwrap().parent();
        }
        assert_eq!(
            clock.next(),
            None,
            "I2: clocks of accounts that are not there"
        );
    }

    /// The filter in so many words, for an account and all above it: some (or
    /// every) order with a limit is within it or the clock is, and so are the reserved deltas.
    fn are_within_limits(&self, state: &State, number: AccountNumber) {
        let mut next = Some(number);
        while let Some(number) = next {
            let account = state.account(number).unwrap();
            let budget = account.budget();
            let nothing = vec![0; budget.limits().len() + 2];
            let sums = |spent| self.0.get(&(number.get(), spent)).unwrap_or(&nothing);
            let both = sums(true).iter().zip(sums(false));
            let taken: Vec<u128> = both.map(|(spent, pending)| spent + pending).collect();
            let limits = budget.limits().iter().zip(&taken);
            let mut within = limits
                .filter_map(|(limit, &taken)| limit.map(|limit| taken <= u128::from(limit.pico())));
            let clock = taken[taken.len() - 1];
            let on_clock = match budget.clock() {
                Some(own) => clock <= u128::from(own.limit.femto()),
                None => false,
            };
            assert!(
                budget.clock().is_some() || clock == 0,
                "I2: {number} has no clock"
            );
            let fits = match budget.rule() {
                Rule::Any => within.any(|fits| fits) || on_clock,
                Rule::Every => within.all(|fits| fits),
            };
            assert!(fits, "I3: {number} has taken {taken:?} of {budget:?}");
            let own = u128::from(budget.reserved_delta().atto());
            assert!(
                taken[taken.len() - 2] <= own,
                "I3: reserved deltas of {number}"
            );
            next = account.parent();
        }
    }

    fn are(&self, number: u32, spent: bool, totals: &Totals) -> bool {
        let (amounts, own, clock) = totals.raw();
        let mut found = amounts.iter().copied().chain([own, clock]);
        match self.0.get(&(number, spent)) {
            Some(sums) => found.eq(sums.iter().copied()),
            None => found.all(|sum| sum == 0),
        }
    }
}

/// A charge that is reserved, as the log says it.
#[derive(Debug, PartialEq)]
struct Held {
    account: u32,
    cost: Cost,
    clock: Box<[Variance]>,
}

/// A raised budget admits all that the one before did. Where every limit has to
/// be kept, a new one would take away too.
fn is_not_lower(now: &Budget, before: &Budget) {
    assert_eq!(
        now.limits().len(),
        before.limits().len(),
        "I3: other orders"
    );
    for (now_at, before_at) in now.limits().iter().zip(before.limits()) {
        let lower = match (now_at, before_at) {
            (Some(now), Some(before)) => now < before,
            (None, Some(_)) => true,
            (Some(_), None) => matches!(now.rule(), Rule::Every),
            (None, None) => false,
        };
        assert!(!lower, "I3: a budget was lowered");
    }
    assert!(
        now.reserved_delta() >= before.reserved_delta(),
        "I3: reserved deltas were lowered"
    );
    let clock = |budget: &Budget| budget.clock().map(|clock| clock.limit);
    assert!(clock(now) >= clock(before), "I3: a clock was lowered");
}

/// I1, I2, I3, I5, I6, I7, I8 from the log alone, and that the store says no
/// more and no less than its log.
pub(crate) fn verify(store: &dyn Store) -> Checked {
    let log = log(store);
    let head = store.head().unwrap();
    let (mut state, mut frontier) = (State::new(), Frontier::default());
    let (mut outcomes, mut roots) = (Vec::new(), vec![frontier.root()]);
    let mut places: HashMap<RequestId, Vec<u64>> = HashMap::new();
    let mut sums = Sums::default();
    let mut live: HashMap<RequestId, Held> = HashMap::new();
    let mut touched: HashMap<RequestId, bool> = HashMap::new();
    for (place, entry) in (0..).zip(&log) {
        if let Body::Raised { account, budget } = &entry.body {
            is_not_lower(budget, state.account(*account).unwrap().budget());
        }
        // The filter is asked again for every prefix: I3, I7, I8.
        outcomes.push(state.apply(entry).unwrap());
        frontier.push(leaf_hash(&entry.encode()));
        roots.push(frontier.root());
        places.entry(entry.id).or_default().push(place);
        match &entry.body {
            Body::Reserved { charge, clock } => {
                let held = Held {
                    account: charge.account.get(),
                    cost: charge.cost.clone(),
                    clock: clock.clone(),
                };
                sums.add(&state, &held, false, &held.cost, true);
                assert_eq!(live.insert(entry.id, held), None, "I1: charged twice");
                sums.are_within_limits(&state, charge.account);
            }
            Body::Started => assert_eq!(touched.insert(entry.id, true), None, "I5"),
            Body::Committed { cost, .. } => {
                let held = live.get(&entry.id).unwrap();
                let pairs = cost.amounts().iter().zip(held.cost.amounts());
                assert!(pairs.into_iter().all(|(a, b)| a <= b), "I8");
                assert!(cost.reserved_delta() <= held.cost.reserved_delta(), "I8");
                assert!(touched.contains_key(&entry.id), "I8: never started");
                // The clock keeps what was reserved.
                sums.add(&state, held, false, &held.cost, false);
                sums.add(&state, held, true, cost, true);
            }
            Body::Voided => {
                assert!(!touched.contains_key(&entry.id), "I8: voided after a start");
                let held = live.get(&entry.id).unwrap();
                sums.add(&state, held, false, &held.cost, false);
            }
            Body::Denied { .. } => assert!(!live.contains_key(&entry.id), "I7"),
            _ => {}
        }
    }
    let expected = Head {
        ledger: state.ledger(),
        accounts: state.accounts(),
        size: log.len() as u64,
        root: frontier.root(),
    };
    assert_eq!(head, expected, "I6");
    for number in 0..head.accounts {
        let account = store.account(AccountNumber::new(number)).unwrap().unwrap();
        assert_eq!(state.account(account.number()), Some(&account));
        assert!(sums.are(number, true, account.spent()), "I2: {number}");
        assert!(sums.are(number, false, account.pending()), "I2: {number}");
        assert_eq!(store.named(account.name()).unwrap(), Some(account.number()));
    }
    for entry in &log {
        let record = store.record(entry.id).unwrap();
        assert_eq!(record.as_ref(), state.record(entry.id), "I5");
        // I4: what is kept as an answer is what was committed under the id.
        if let Some(answer) = store.answer(entry.id).unwrap() {
            let Some(Status::Released { answer: hash, .. }) = record.map(|found| found.status)
            else {
                panic!("I4: an answer without a commit");
            };
            assert_eq!(Digest::of(&[&answer]), hash, "I4");
        }
    }
    Checked {
        log,
        outcomes,
        roots,
        state,
        places,
    }
}

/// The outcome that a client received, as a line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientRecord {
    pub(crate) id: RequestId,
    pub(crate) outcome: String,
    pub(crate) position: Option<u64>,
    pub(crate) size: u64,
    pub(crate) root: String,
}

impl ClientRecord {
    pub(crate) fn new(id: RequestId, receipt: &Receipt) -> Self {
        Self {
            id,
            outcome: format!("{:?}", receipt.outcome),
            position: receipt.position,
            size: receipt.head.size,
            root: receipt.head.root.to_string(),
        }
    }

    pub(crate) fn to_line(&self) -> String {
        let position = self.position.map_or("-".to_owned(), |p| p.to_string());
        let (id, size, root) = (self.id, self.size, &self.root);
        format!("{id} {position} {size} {root} {}", self.outcome)
    }

    /// None if the line was cut off by a kill.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let mut parts = line.splitn(5, ' ');
        let id = u128::from_str_radix(parts.next()?, 16).ok()?;
        let position = match parts.next()? {
            "-" => None,
            position => Some(position.parse().ok()?),
        };
        Some(Self {
            id: RequestId::from_bytes(id.to_be_bytes()),
            position,
            size: parts.next()?.parse().ok()?,
            root: parts.next()?.to_owned(),
            outcome: parts.next()?.to_owned(),
        })
    }
}

impl Checked {
    /// Where the last entry of an id stands among the first `size`.
    fn last_of(&self, id: RequestId, size: u64) -> Option<u64> {
        let places = self.places.get(&id)?;
        places.iter().copied().rfind(|&place| place < size)
    }

    /// Why the log contradicts an outcome that a client received, if it does.
    pub(crate) fn denies(&self, told: &ClientRecord) -> Option<&'static str> {
        let root = usize::try_from(told.size)
            .ok()
            .and_then(|size| self.roots.get(size));
        if root.map(ToString::to_string).as_ref() != Some(&told.root) {
            return Some("the log does not extend the head that was handed out (I1, I6)");
        }
        let place = match told.position {
            Some(place) if place >= told.size => return Some("the head misses the entry"),
            Some(place) if self.log[usize::try_from(place).unwrap()].id != told.id => {
                return Some("another entry stands there (I1)");
            }
            Some(place) => place,
            None => match self.last_of(told.id, told.size) {
                Some(place) => place,
                None => return Some("there is no such entry (I1)"),
            },
        };
        let outcome = self.outcomes[usize::try_from(place).unwrap()];
        if format!("{outcome:?}") != told.outcome {
            return Some("the outcome is another (I5, I7)");
        }
        None
    }

    /// Every outcome that clients received is in the log.
    pub(crate) fn bears_out<'a>(&self, told: impl IntoIterator<Item = &'a ClientRecord>) {
        for told in told {
            let why = self.denies(told);
            assert!(why.is_none(), "{}: {told:?}", why.unwrap_or_default());
        }
    }
}
