//! Views of one account with its remaining budget and history, and of all accounts.

use mizan_core::{Definitions, PrivacyEvent};
use mizan_ledger::evidence::{MAX_UNANSWERED, TreeHead, UnansweredCharge};
use mizan_ledger::{Account, AccountNumber, AccountView, Body, Charge, Ledger, LedgerError};
use serde::Serialize;
use utoipa::ToSchema;

use super::burn_down::{BurnDown, BurnDownPoint};
use super::view::{self, AccountJson, ClockJson, GapJson, LogJson, OrderLine, log_json};
use crate::failure::Failure;
use crate::input::Expression;
use crate::times;

/// The burn-down replays the log; above this size it is computed only on request.
const SHORT_LOG: u64 = 20_000;

/// How many entries back the last charge is searched.
const LOOK_BACK: u64 = 4096;

/// The most queries that failed or run that are listed.
const NEWEST: usize = 100;

/// How many more charges of an event fit.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = More)]
pub struct RepeatsLeft {
    /// The event.
    pub event: String,
    /// The number of charges.
    pub count: u64,
    /// Whether more than that may fit.
    pub at_least: bool,
    /// Whether the event was requested; otherwise it is the last one charged.
    #[serde(skip)]
    pub given: bool,
}

impl RepeatsLeft {
    fn of(view: &AccountView, charge: &Charge, given: bool) -> Self {
        let more = view.how_many(charge);
        Self {
            event: charge.event.clone(),
            count: more.count,
            at_least: more.at_least,
            given,
        }
    }
}

/// An account and its history.
#[derive(Debug)]
pub struct AccountDetails {
    /// The account.
    pub view: AccountView,
    /// How many more charges fit.
    pub more: Option<RepeatsLeft>,
    /// The burn-down, unless the log is too long.
    pub burn_down: Option<BurnDown>,
    /// Charges whose queries failed or run now.
    pub unanswered: Vec<UnansweredCharge>,
    /// Size and root of the log.
    pub head: TreeHead,
}

/// An account and its history.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BudgetAnswer {
    /// The account.
    #[serde(flatten)]
    pub account: AccountJson,
    /// About how many more charges of an event fit; by default of the last event charged.
    pub about_more: Option<RepeatsLeft>,
    /// The reserved delta, which mechanisms such as thresholds use.
    pub own_delta: OwnDeltaJson,
    /// The amounts at each order.
    pub orders: Vec<OrderLine>,
    /// The Gaussian clock; null if the account has none.
    pub clock: Option<ClockJson>,
    /// What remained after each entry; null if the log is too long.
    pub burn_down: Option<Vec<BurnDownPoint>>,
    /// Queries that failed after their charge, or run now.
    pub unanswered: UnansweredJson,
    /// The gaps in the log.
    pub gaps: Vec<GapJson>,
    /// Size and root of the log.
    pub log: LogJson,
}

/// Queries that failed or were killed after their charge to an account, also if a repetition was
/// answered, and queries that run now.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UnansweredJson {
    /// The number of these queries.
    pub count: u64,
    /// From this number on queries are refused until the data owner settles the charges. Queries
    /// that run in the server itself for the first time do not count.
    pub limit: u64,
    /// The newest 100 of them, newest first.
    pub newest: Vec<UnansweredChargeJson>,
}

/// The charge of a query that failed or runs now.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UnansweredChargeJson {
    /// Its id.
    pub id: String,
    /// The time when it was started.
    pub time: String,
    /// Whether a repetition of the query was answered, or will never be.
    pub answered: bool,
}

impl UnansweredJson {
    /// The JSON form of charges, oldest first.
    #[must_use]
    pub fn of(charges: &[UnansweredCharge]) -> Self {
        let newest = charges.iter().rev().take(NEWEST);
        let newest = newest.map(|charge| UnansweredChargeJson {
            id: charge.id.to_string(),
            time: times::exact(charge.started_unix_ms),
            answered: charge.answered,
        });
        Self {
            count: charges.len() as u64,
            limit: MAX_UNANSWERED as u64,
            newest: newest.collect(),
        }
    }
}

/// The reserved delta of an account.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OwnDeltaJson {
    /// The amount that is spent.
    pub taken: f64,
    /// The total amount.
    pub limit: f64,
}

/// All accounts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BudgetsAnswer {
    /// The accounts.
    pub accounts: Vec<AccountJson>,
    /// The gaps in the log; null if there are no accounts.
    pub gaps: Option<Vec<GapJson>>,
    /// Size and root of the log.
    pub log: LogJson,
}

impl BudgetsAnswer {
    /// The JSON form of these accounts.
    #[must_use]
    pub fn of(views: &[AccountView], head: TreeHead) -> Self {
        Self {
            accounts: views.iter().map(view::account_json).collect(),
            gaps: views.first().map(|view| view::gaps_json(&view.gaps)),
            log: log_json(head),
        }
    }
}

impl AccountDetails {
    /// Reads an account. `event` is the event for which to count further charges; `past` requests
    /// the burn-down for a log of any size.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read, or the event is not valid.
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
                let charge = ledger.price(view.account.number(), &event)?;
                Some(RepeatsLeft::of(&view, &charge, true))
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

    /// The JSON form.
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

/// The last event that was charged to this account or one below, and how many more charges of it
/// fit.
fn last_charge(ledger: &Ledger, view: &AccountView) -> Result<Option<RepeatsLeft>, Failure> {
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
    // The committed cost may be below the reservation, so the event decides.
    Ok(last.and_then(|charge| {
        let event: PrivacyEvent = charge.event.parse().ok()?;
        let charge = ledger.price(view.account.number(), &event).ok()?;
        Some(RepeatsLeft::of(view, &charge, false))
    }))
}

/// Whether a charge to the first account is also a charge to the second.
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
