//! The checker of the invariants I1 to I8 of docs/spec/ledger.md, from the log of a ledger alone and
//! against the outcomes that clients received.

use std::collections::HashMap;

use mizan_ledger::log::{Frontier, Status, leaf_hash};
use mizan_ledger::money::{ConditionalPrice, Rule, Totals, Variance};
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

/// The numbers after the amounts: reserved deltas; variance, surplus, losses and tails of the clock.
const AFTER: usize = 5;

impl Sums {
    fn add(&mut self, state: &State, held: &Held, spent: bool, cost: &Cost, more: bool) {
        let amounts = cost.amounts().iter().map(|amount| amount.pico());
        let amounts: Vec<u64> = amounts.collect();
        let mut next = Some(AccountNumber::new(held.account));
        let mut level = 0;
        while let Some(number) = next {
            let [variance, surplus, tail] = held.taken_from_clock(level);
            let own = cost.reserved_delta().atto();
            let parts = [&amounts[..], &[own, variance, surplus, 0, tail]].concat();
            self.count(number, spent, &parts, more);
            next = state.account(number).unwrap().parent();
            level += 1;
        }
        assert!(
            held.clock.is_empty() || held.clock.len() == level,
            "I2: clocks of accounts that are not there"
        );
    }

    fn count(&mut self, number: AccountNumber, spent: bool, parts: &[u64], more: bool) {
        let sums = self.0.entry((number.get(), spent)).or_default();
        sums.resize(parts.len(), 0);
        for (sum, &part) in sums.iter_mut().zip(parts) {
            let part = u128::from(part);
            *sum = if more { *sum + part } else { *sum - part };
        }
    }

    /// The losses of a charge stay with every account that has a clock.
    fn add_losses(&mut self, state: &State, held: &Held) {
        let mut next = Some(AccountNumber::new(held.account));
        while let Some(number) = next {
            let account = state.account(number).unwrap();
            if account.budget().clock().is_some() {
                let last = held.cost.amounts().last().unwrap();
                let infinite = account.orders().iter().last().unwrap().get() == f64::INFINITY;
                let loss = if infinite { last.pico() } else { u64::MAX };
                let mut parts = vec![0; held.cost.amounts().len() + AFTER];
                let place = parts.len() - 2;
                parts[place] = loss;
                self.count(number, true, &parts, true);
            }
            next = account.parent();
        }
    }

    /// A void gives back what a charge took from a clock only if its price still holds.
    fn void(&mut self, state: &State, held: &Held) {
        let mut kept = Vec::new();
        let mut next = Some(AccountNumber::new(held.account));
        let mut level = 0;
        while let Some(number) = next {
            let account = state.account(number).unwrap();
            if let Some(clock) = account.budget().clock() {
                let sums = |spent, place: usize| {
                    let sums: Option<&Vec<u128>> = self.0.get(&(number.get(), spent));
                    sums.map_or(0, |sums| sums[sums.len() - AFTER + place])
                };
                let taken = sums(true, 1) + sums(false, 1);
                let surplus = sums(true, 2) + sums(false, 2);
                let [variance, own_surplus, tail] = held.taken_from_clock(level);
                let price = held.cost.price();
                let down_to = price.map(|price| price.remainder(Variance::from_femto(variance)));
                let left = u128::from(clock.limit.femto()).checked_sub(taken);
                let holds = left
                    .zip(down_to)
                    .is_some_and(|(left, down_to)| u128::from(down_to.femto()) <= left);
                if surplus > 0 || !(holds || variance == u64::MAX) {
                    kept.push((number, variance, own_surplus, tail));
                }
            }
            next = account.parent();
            level += 1;
        }
        self.add(state, held, false, &held.cost, false);
        for (number, variance, surplus, tail) in kept {
            let amounts = vec![0; held.cost.amounts().len()];
            let parts = [&amounts[..], &[0, variance, surplus, 0, tail]].concat();
            self.count(number, true, &parts, true);
        }
    }

    /// A larger clock pays what conditional prices saved, if it can and none of them is pending.
    /// Otherwise it takes the growth.
    fn raise(&mut self, account: &Account, budget: &Budget) {
        let limit = |budget: &Budget| budget.clock().map_or(0, |clock| clock.limit.femto());
        let growth = u128::from(limit(budget) - limit(account.budget()));
        let number = account.number().get();
        let surplus = |sums: &Self, spent| {
            let sums = sums.0.get(&(number, spent));
            sums.map_or(0, |sums| sums[sums.len() - AFTER + 2])
        };
        let (spent, pending) = (surplus(self, true), surplus(self, false));
        if spent + pending == 0 {
            return;
        }
        let sums = self.0.entry((number, true)).or_default();
        sums.resize(account.orders().len() + AFTER, 0);
        let place = sums.len() - AFTER;
        if pending > 0 || spent > growth {
            sums[place + 1] += growth;
        } else {
            sums[place + 1] += spent;
            sums[place + 2] = 0;
        }
    }

    /// The filter in so many words, for an account and all above it: some (or
    /// every) order with a limit is within it or the clock is, and so are the reserved deltas.
    fn are_within_limits(&self, state: &State, number: AccountNumber) {
        let mut next = Some(number);
        while let Some(number) = next {
            let account = state.account(number).unwrap();
            let budget = account.budget();
            let nothing = vec![0; budget.limits().len() + AFTER];
            let sums = |spent| self.0.get(&(number.get(), spent)).unwrap_or(&nothing);
            let both = sums(true).iter().zip(sums(false));
            let taken: Vec<u128> = both.map(|(spent, pending)| spent + pending).collect();
            let limits = budget.limits().iter().zip(&taken);
            let mut within = limits
                .filter_map(|(limit, &taken)| limit.map(|limit| taken <= u128::from(limit.pico())));
            let clock = taken[taken.len() - AFTER + 1];
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
                taken[taken.len() - AFTER] + taken[taken.len() - 1] <= own,
                "I3: reserved deltas of {number}"
            );
            next = account.parent();
        }
    }

    fn are(&self, number: u32, spent: bool, totals: &Totals) -> bool {
        let (amounts, own, clock) = totals.raw();
        let mut found = amounts.iter().copied().chain([own]).chain(clock);
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
    conditional: Box<[Option<ConditionalPrice>]>,
}

impl Held {
    /// The variance, the surplus and the tail that it took from the clock at a level.
    fn taken_from_clock(&self, level: usize) -> [u64; 3] {
        let variance = self.clock.get(level).map_or(0, |taken| taken.femto());
        let price = self.cost.price();
        if self.conditional.get(level).is_some_and(Option::is_some) {
            let anywhere = price.map_or(u64::MAX, |price| price.anywhere().femto());
            let saved = match anywhere {
                u64::MAX => u64::MAX,
                anywhere => anywhere.saturating_sub(variance),
            };
            return [variance, saved, 0];
        }
        let tail = match variance {
            0 | u64::MAX => 0,
            _ => price.map_or(0, |price| price.tail().atto()),
        };
        [variance, 0, tail]
    }
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
            let account = state.account(*account).unwrap();
            is_not_lower(budget, account.budget());
            sums.raise(account, budget);
        }
        // The filter decides again for every prefix: I3, I7, I8.
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
                    conditional: charge.conditional.clone(),
                };
                sums.add(&state, &held, false, &held.cost, true);
                sums.add_losses(&state, &held);
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
                sums.void(&state, held);
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
