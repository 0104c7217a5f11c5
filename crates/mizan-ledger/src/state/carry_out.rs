//! Applies an entry to accounts and records. The in-memory state and every store use the same
//! function, so that their totals agree.

use crate::log::{Body, Digest, LedgerId, Outcome, Record, RequestId};
use crate::money::{Account, AccountNumber};
use crate::state::{LedgerView, RequestError, chain};

/// A [`LedgerView`] that entries can be applied to.
pub(crate) trait LedgerViewMut: LedgerView {
    /// Sets the id of the ledger.
    fn begin(&mut self, ledger: LedgerId);
    /// An account to change.
    fn account_mut(&mut self, number: AccountNumber) -> Option<&mut Account>;
    /// Adds an account.
    fn create(&mut self, account: Account);
    /// Replaces the record of an id.
    fn remember(&mut self, id: RequestId, record: Record);
}

/// Applies an entry that `decide` returned. `request` is the hash of its request.
///
/// # Errors
///
/// The entry cannot follow. That never happens if the totals follow from the log. Totals that
/// were loaded from a database may be wrong, and must not be used any more.
pub(crate) fn carry_out<V: LedgerViewMut>(
    view: &mut V,
    id: RequestId,
    body: &Body,
    request: impl Fn() -> Digest,
) -> Result<Outcome, RequestError> {
    let before = view.record(id).cloned();
    let after = Record::after_request(before.as_ref(), body, request);
    let after = after.ok_or(RequestError::NotACharge)?;
    let held = before
        .as_ref()
        .and_then(|record| record.status.reservation());
    let charged = match body {
        Body::Reserved { charge, .. } => Some(charge.account),
        Body::Committed { .. } | Body::Voided => held.map(|held| held.account),
        _ => None,
    };
    if let Some(account) = charged {
        let numbers: Vec<_> = chain(view, account)?.iter().map(|a| a.number()).collect();
        for (level, number) in numbers.into_iter().enumerate() {
            if let Some(account) = view.account_mut(number) {
                let taken = account.take(body, held, level);
                taken.ok_or(RequestError::NotHeld { account: number })?;
            }
        }
    }
    match body {
        Body::Opened { ledger } => view.begin(*ledger),
        Body::Created {
            account,
            name,
            parent,
            orders,
            budget,
        } => {
            let (name, orders, budget) = (name.clone(), orders.clone(), budget.clone());
            view.create(Account::new(*account, name, *parent, orders, budget));
        }
        Body::Raised { account, budget } => {
            if let Some(account) = view.account_mut(*account) {
                account.raise(budget.clone());
            }
        }
        _ => {}
    }
    let outcome = after.status.outcome();
    view.remember(id, after);
    Ok(outcome)
}
