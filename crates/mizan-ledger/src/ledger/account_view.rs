//! An account with its ancestors: how much is left, and whether a charge fits and how often.

use mizan_core::Delta;

use crate::evidence::Odometer;
use crate::ledger::Gap;
use crate::log::Body;
use crate::money::{Account, Taken, Variance, admit_in_state, how_many};
use crate::state::Charge;

/// An account, its ancestors and the gaps of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountView {
    /// The account.
    pub account: Account,
    /// Its ancestors, up to the root.
    pub above: Vec<Account>,
    /// The gaps in the log, oldest first.
    pub gaps: Vec<Gap>,
}

impl AccountView {
    /// How many more such charges to this account fit. The first one is decided as the ledger
    /// decides it. Those after it count at prices that hold in every state.
    #[must_use]
    pub fn how_many(&self, charge: &Charge) -> FittingCount {
        let Some(after) = self.after(charge) else {
            return FittingCount::default();
        };
        let next = after.in_state(charge);
        FittingCount {
            count: how_many(after.chain(), &charge.cost).saturating_add(1),
            at_least: next.conditional.iter().any(Option::is_some),
        }
    }

    /// The account and its ancestors after a charge to it, which is decided as the ledger decides
    /// it. None if the charge does not fit.
    #[must_use]
    pub fn after(&self, charge: &Charge) -> Option<Self> {
        let mut charge = self.in_state(charge);
        let admitted = admit_in_state(self.chain(), &charge.cost, &charge.conditional).ok()?;
        charge.conditional = admitted.conditional;
        let body = Body::Reserved {
            charge,
            clock: admitted.clock,
        };
        let mut after = self.clone();
        let chain = std::iter::once(&mut after.account).chain(&mut after.above);
        for (level, account) in chain.enumerate() {
            account.take(&body, None, level)?;
        }
        Some(after)
    }

    /// The charge with the prices that its event has in the present state of the accounts.
    fn in_state(&self, charge: &Charge) -> Charge {
        let charge = charge.clone();
        // A charge without an event is as dear as its cost says.
        match charge.event.parse() {
            Ok(event) => charge.in_state(&event, self.chain()),
            Err(_) => charge,
        }
    }

    /// The account and its ancestors, up to the root.
    pub fn chain(&self) -> impl Iterator<Item = &Account> + Clone {
        std::iter::once(&self.account).chain(&self.above)
    }

    /// The odometer. `delta` is used if the target of the account has none.
    #[must_use]
    pub fn odometer(&self, delta: Option<Delta>) -> Odometer {
        Odometer::of(&self.account, delta)
    }

    /// The last gap. If there is one, every statement about the account must say that it holds
    /// since then: the lost charges were spent too.
    #[must_use]
    pub fn since_gap(&self) -> Option<&Gap> {
        self.gaps.last()
    }
}

impl Charge {
    /// What a reservation of this charge took from the clock of each account of its chain, given the
    /// variances of its entry.
    #[must_use]
    pub fn taken_from_clocks(&self, clock: &[Variance]) -> Vec<Taken> {
        let at = |level| self.taken(clock, level).flatten().unwrap_or_default();
        (0..clock.len()).map(at).collect()
    }
}

/// How many more charges fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FittingCount {
    /// The number.
    pub count: u64,
    /// Whether more may fit: the next ones may have a price that holds in one state of the account
    /// only, which the number leaves out.
    pub at_least: bool,
}
