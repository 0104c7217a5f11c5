//! What an entry changes in the books. Used by the state in memory and by every
//! store, so that all of them keep the same books.

use crate::log::{Body, Digest, LedgerId, Outcome, Record, RequestId};
use crate::money::{Account, AccountNumber};
use crate::state::{LedgerView, RequestError, chain};

/// LedgerView that can be written in.
pub(crate) trait LedgerViewMut: LedgerView {
    /// The ledger begins.
    fn begin(&mut self, ledger: LedgerId);
    /// An account that will change.
    fn account_mut(&mut self, number: AccountNumber) -> Option<&mut Account>;
    /// A new account.
    fn create(&mut self, account: Account);
    /// What is remembered under an id from now on.
    fn remember(&mut self, id: RequestId, record: Record);
}

/// Changes the books as an entry says that was just decided. `request` is the
/// hash of the request that became it.
///
/// # Errors
///
/// The entry cannot follow, which `decide` never lets happen in books that were
/// kept from the log; those that were loaded may be wrong, and must not be used
/// any more.
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
        Body::Reserved(charge) => Some(charge.account),
        Body::Committed { .. } | Body::Voided => held.map(|held| held.account),
        _ => None,
    };
    if let Some(account) = charged {
        let numbers: Vec<_> = chain(view, account)?.iter().map(|a| a.number()).collect();
        for number in numbers {
            if let Some(account) = view.account_mut(number) {
                let taken = account.take(body, held);
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
