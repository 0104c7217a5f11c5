//! One account, what is left of it and how it got there; and all of them.

use mizan_core::{Definitions, PrivacyEvent};
use mizan_ledger::evidence::{MAX_UNANSWERED, TreeHead, UnansweredCharge};
use mizan_ledger::{Account, AccountNumber, AccountView, Body, Cost, Ledger, LedgerError};
use serde::Serialize;
use utoipa::ToSchema;

use super::burn_down::{BurnDown, BurnDownPoint};
use super::view::{self, AccountJson, ClockJson, GapJson, LogJson, OrderLine, log_json};
use crate::failure::Failure;
use crate::input::Expression;
use crate::times;

/// The chart replays the log; a longer one is replayed only on demand.
const SHORT_LOG: u64 = 20_000;

/// So far back the last charge is looked for.
const LOOK_BACK: u64 = 4096;

/// So many charges without an answer are listed.
const NEWEST: usize = 100;

/// How many more of an event fit.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct More {
    /// The event.
    pub event: String,
    /// How many more.
    pub count: u64,
    /// Whether it was asked for, and not the last one charged.
    #[serde(skip)]
    pub given: bool,
}

/// An account and its past.
#[derive(Debug)]
pub struct Shown {
    /// The account.
    pub view: AccountView,
    /// How many more fit of what.
    pub more: Option<More>,
    /// How it burned down, unless the log is too long.
    pub burn_down: Option<BurnDown>,
    /// Charges that were started and never committed.
    pub unanswered: Vec<UnansweredCharge>,
    /// The log.
    pub head: TreeHead,
}

/// An account and its past, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BudgetAnswer {
    /// The account.
    #[serde(flatten)]
    pub account: AccountJson,
    /// About how many more fit of an event, the last one charged.
    pub about_more: Option<More>,
    /// Deltas of releases that may themselves fail.
    pub own_delta: OwnDeltaJson,
    /// Order by order.
    pub orders: Vec<OrderLine>,
    /// The Gaussian clock; null if the account has none.
    pub clock: Option<ClockJson>,
    /// What was left, entry by entry; null if the log is too long.
    pub burn_down: Option<Vec<BurnDownPoint>>,
    /// Charges without an answer.
    pub unanswered: UnansweredJson,
    /// Gaps in the log.
    pub gaps: Vec<GapJson>,
    /// The log.
    pub log: LogJson,
}

/// Charges of an account that were started and never committed: queries that run now,
/// and those that failed or were killed after their charge.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UnansweredJson {
    /// How many.
    pub count: u64,
    /// From how many on queries are refused, beside those that run in the server itself,
    /// until the data owner settles them.
    pub limit: u64,
    /// The newest of them, at most 100, the newest first.
    pub newest: Vec<UnansweredChargeJson>,
}

/// A charge without an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UnansweredChargeJson {
    /// Its id.
    pub id: String,
    /// When it was started.
    pub time: String,
}

impl UnansweredJson {
    /// Of these, the oldest first.
    #[must_use]
    pub fn of(charges: &[UnansweredCharge]) -> Self {
        let newest = charges.iter().rev().take(NEWEST);
        let newest = newest.map(|charge| UnansweredChargeJson {
            id: charge.id.to_string(),
            time: times::exact(charge.started_unix_ms),
        });
        Self {
            count: charges.len() as u64,
            limit: MAX_UNANSWERED as u64,
            newest: newest.collect(),
        }
    }
}

/// Deltas of releases that may themselves fail.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OwnDeltaJson {
    /// What was taken.
    pub taken: f64,
    /// What may be taken.
    pub limit: f64,
}

/// All accounts, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BudgetsAnswer {
    /// The accounts.
    pub accounts: Vec<AccountJson>,
    /// Gaps in the log; null if there is no account.
    pub gaps: Option<Vec<GapJson>>,
    /// The log.
    pub log: LogJson,
}

impl BudgetsAnswer {
    /// Of these accounts.
    #[must_use]
    pub fn of(views: &[AccountView], head: TreeHead) -> Self {
        Self {
            accounts: views.iter().map(view::account_json).collect(),
            gaps: views.first().map(|view| view::gaps_json(&view.gaps)),
            log: log_json(head),
        }
    }
}

impl Shown {
    /// Looks an account over. `event` says of what more should fit; `past` that the
    /// past is wanted however long it is.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read; the event is none.
    pub fn of(
        ledger: &Ledger,
        view: AccountView,
        event: Option<&str>,
        past: bool,
        progress: impl Fn(u64),
    ) -> Result<Self, Failure> {
        let head = ledger.head()?;
        let more = match event {
            Some(text) => {
                let event = Expression::parse(text, &Definitions::default())?.event;
                Some(More {
                    count: view.how_many(&Cost::of(&event, view.account.orders())?),
                    event: event.to_string(),
                    given: true,
                })
            }
            None => last_charge(ledger, &view)?,
        };
        let burn_down = if head.size <= SHORT_LOG || past {
            Some(BurnDown::of(ledger, view.account.number(), progress)?)
        } else {
            None
        };
        Ok(Self {
            unanswered: ledger.unanswered(&view.account)?,
            view,
            more,
            burn_down,
            head,
        })
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> BudgetAnswer {
        let account = &self.view.account;
        BudgetAnswer {
            account: view::account_json(&self.view),
            about_more: self.more.clone(),
            own_delta: OwnDeltaJson {
                taken: view::own_delta(account.taken().reserved_delta()),
                limit: view::own_delta(account.budget().reserved_delta()),
            },
            orders: view::orders_json(account, &view::read(account)),
            clock: view::clock_json(account),
            burn_down: self.burn_down.as_ref().map(BurnDown::json),
            unanswered: UnansweredJson::of(&self.unanswered),
            gaps: view::gaps_json(&self.view.gaps),
            log: log_json(self.head),
        }
    }
}

/// The last event that was charged here or below, and how many more fit.
fn last_charge(ledger: &Ledger, view: &AccountView) -> Result<Option<More>, Failure> {
    let size = ledger.head()?.size;
    let mut begin = size.saturating_sub(LOOK_BACK);
    let mut last = None;
    while begin < size {
        let page = ledger.entries(begin)?;
        if page.is_empty() {
            break;
        }
        begin += page.len() as u64;
        for entry in page {
            if let Body::Reserved { charge, .. } = entry.body
                && !charge.event.is_empty()
                && is_below(ledger, charge.account, view.account.number())?
            {
                last = Some(charge);
            }
        }
    }
    // What was reserved may have been more than was committed; the event says.
    Ok(last.and_then(|charge| {
        let event: PrivacyEvent = charge.event.parse().ok()?;
        let cost = Cost::of(&event, view.account.orders()).ok()?;
        Some(More {
            event: charge.event,
            given: false,
            count: view.how_many(&cost),
        })
    }))
}

/// Whether a charge to one account is one to the other.
///
/// # Errors
///
/// The ledger cannot be read.
pub fn is_below(
    ledger: &Ledger,
    account: AccountNumber,
    above: AccountNumber,
) -> Result<bool, Failure> {
    let mut next = Some(account);
    while let Some(number) = next {
        if number == above {
            return Ok(true);
        }
        let found = ledger.store().account(number);
        let found = found.map_err(LedgerError::from)?;
        next = found.as_ref().and_then(Account::parent);
    }
    Ok(false)
}
