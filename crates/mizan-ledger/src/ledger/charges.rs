//! What changes a ledger. Nobody is told of anything before it is durable and
//! the mark is beyond it.

use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError};

use mizan_core::PrivacyEvent;

use super::{Guard, Ledger, Priced, now, random_id};
use crate::evidence::{ReceiptText, TreeHead};
use crate::ledger::LedgerError;
use crate::log::{Digest, Outcome, RequestId};
use crate::money::{AccountName, AccountNumber, Budget, Cost, Orders, Refusal};
use crate::state::{Charge, Request, RequestError};
use crate::store::{Receipt, StoreError, Submission};

/// How many accounts are remembered for pricing.
const MAX_PRICED: usize = 10_000;

/// An account to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAccount {
    /// Its name, which no other account has.
    pub name: AccountName,
    /// The account above it, whose orders it shares.
    pub parent: Option<AccountNumber>,
    /// The orders at which its books are kept.
    pub orders: Orders,
    /// What may be taken.
    pub budget: Budget,
}

/// What came of a request, now and for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The id under which it is remembered.
    pub id: RequestId,
    /// What came of it.
    pub outcome: Outcome,
    /// If it was denied just now: why, order by order.
    pub refusal: Option<Box<Refusal>>,
    /// Whether it happened just now, and not at an earlier attempt.
    pub fresh: bool,
    /// Where the last entry of the id stands, with the size and the root of the
    /// log as they were right after it became durable; for an earlier attempt,
    /// as they are now.
    pub receipt: ReceiptText,
}

impl Ledger {
    /// Creates an account. Without an id it gets a random one.
    ///
    /// # Errors
    ///
    /// The name is taken, the budget cannot be kept, or the ledger cannot be
    /// written to. So for all below.
    pub fn create_account(
        &self,
        id: Option<RequestId>,
        account: NewAccount,
    ) -> Result<Done, LedgerError> {
        let NewAccount {
            name,
            parent,
            orders,
            budget,
        } = account;
        let request = Request::Create {
            name,
            parent,
            orders,
            budget,
        };
        self.submit(given(id)?, request)
    }

    /// Raises the budget of an account.
    ///
    /// # Errors
    ///
    /// The budget is of another kind or not higher.
    pub fn raise(
        &self,
        id: Option<RequestId>,
        account: AccountNumber,
        budget: Budget,
    ) -> Result<Done, LedgerError> {
        self.submit(given(id)?, Request::Raise { account, budget })
    }

    /// Charges for a release that is made elsewhere, after this returns. The
    /// outcome is [`Outcome::Released`] or [`Outcome::Denied`].
    ///
    /// Reservation, start and commit are one transaction and one sync. The same
    /// id with the same event again is free and has the same outcome.
    ///
    /// If an earlier attempt, by this or another program, came no further than
    /// its reservation or its start, this one commits it, with the whole
    /// reservation and the hash of no answer. That is sound: the charge was
    /// counted all the time and is counted in full for ever, and whoever else
    /// may still be working under the id can neither commit another answer nor
    /// void it.
    ///
    /// # Errors
    ///
    /// The id was used for something else or given back; the event has no price.
    /// An id under which an answer was released stands for that release alone: a
    /// second one would have no charge.
    pub fn spend(
        &self,
        id: Option<RequestId>,
        account: AccountNumber,
        event: &PrivacyEvent,
    ) -> Result<Done, LedgerError> {
        let id = given(id)?;
        let charge = self.price(account, event)?;
        let elsewhere = Digest::of(&[]);
        let commit = Request::Commit {
            cost: charge.cost.clone(),
            answer: elsewhere,
        };
        let commit = Submission::new(now(), id, commit);
        let submission = |request| Submission::new(now(), id, request);
        let mut results = self.execute(vec![
            submission(Request::Reserve(charge)),
            submission(Request::Start),
            commit.clone(),
        ])?;
        let last = results.pop();
        let first = results.into_iter().next();
        match (first, last) {
            // What the reservation was told decides, if it was not to go on.
            (Some(Ok(told)), _) if told.outcome == Outcome::Voided => {
                Err(RequestError::Voided { id }.into())
            }
            (Some(Ok(told)), _) if matches!(told.outcome, Outcome::Released { answer } if answer != elsewhere) => {
                Err(RequestError::IdReused { id }.into())
            }
            (Some(Ok(told)), _)
                if matches!(told.outcome, Outcome::Released { .. } | Outcome::Denied(_)) =>
            {
                self.done(id, told)
            }
            // Someone started it before and may never come back.
            (Some(Ok(told)), Some(Err(StoreError::Request(_))))
                if told.outcome == Outcome::Started =>
            {
                self.submit_one(commit)
            }
            (_, Some(last)) => self.done(id, last?),
            (_, None) => Err(StoreError::poisoned().into()),
        }
    }

    /// What an event costs on the books of an account.
    fn price(&self, number: AccountNumber, event: &PrivacyEvent) -> Result<Charge, LedgerError> {
        let mut priced = self.priced.lock().unwrap_or_else(PoisonError::into_inner);
        if priced.len() >= MAX_PRICED {
            priced.clear();
        }
        let known = match priced.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let found = self.store.account(number)?;
                let found = found.ok_or(RequestError::UnknownAccount { account: number })?;
                place.insert(Priced {
                    account: Arc::new(found),
                    last: None,
                })
            }
        };
        if let Some((last, charge)) = &known.last
            && last == event
        {
            return Ok(charge.clone());
        }
        let account = Arc::clone(&known.account);
        // Nobody waits while an event is priced.
        drop(priced);
        let charge = Charge::of(event, &account)?;
        let mut priced = self.priced.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = priced.get_mut(&number) {
            known.last = Some((event.clone(), charge.clone()));
        }
        Ok(charge)
    }

    /// Reserves a cost. Data may be touched after a start.
    ///
    /// # Errors
    ///
    /// The charge makes no sense. One that does not fit is no error, it is
    /// [`Outcome::Denied`].
    pub fn reserve(&self, id: Option<RequestId>, charge: Charge) -> Result<Done, LedgerError> {
        self.submit(given(id)?, Request::Reserve(charge))
    }

    /// Says that data is about to be touched under a reservation. Only who is
    /// told [`Outcome::Started`] may do so.
    ///
    /// # Errors
    ///
    /// It was started before, or there is no such reservation.
    pub fn start(&self, id: RequestId) -> Result<Done, LedgerError> {
        self.submit(id, Request::Start)
    }

    /// Settles a reservation and keeps the answer, which may leave after this.
    ///
    /// # Errors
    ///
    /// The cost is above the reservation, the charge was not started or
    /// committed with another answer, or the answer is too long to be kept.
    pub fn commit(&self, id: RequestId, cost: Cost, answer: Vec<u8>) -> Result<Done, LedgerError> {
        self.submit_one(Submission::commit(now(), id, cost, answer)?)
    }

    /// Gives a reservation back, as long as no data was touched.
    ///
    /// # Errors
    ///
    /// It was started.
    pub fn void(&self, id: RequestId) -> Result<Done, LedgerError> {
        self.submit(id, Request::Void)
    }

    fn submit(&self, id: RequestId, request: Request) -> Result<Done, LedgerError> {
        self.submit_one(Submission::new(now(), id, request))
    }

    fn submit_one(&self, submission: Submission) -> Result<Done, LedgerError> {
        let id = submission.id();
        match self.execute(vec![submission])?.pop() {
            Some(result) => self.done(id, result?),
            None => Err(StoreError::poisoned().into()),
        }
    }

    /// Executes requests and moves the mark.
    fn execute(
        &self,
        submissions: Vec<Submission>,
    ) -> Result<Vec<Result<Receipt, StoreError>>, LedgerError> {
        let guard = self.guard()?;
        let results = self.store.execute_all(submissions);
        let told = results.iter().flatten().last();
        if let Some(head) = told.and_then(|receipt| receipt.head.tree_head()) {
            guard.mark.advance(head, self.store.as_ref())?;
        }
        Ok(results)
    }

    pub(super) fn guard(&self) -> Result<&Guard, LedgerError> {
        self.guard.as_ref().ok_or(LedgerError::ReadOnly)
    }

    fn done(&self, id: RequestId, receipt: Receipt) -> Result<Done, LedgerError> {
        let head = receipt.head;
        let head = TreeHead {
            ledger: self.id,
            size: head.size,
            root: head.root,
        };
        let position = match receipt.position {
            Some(position) => position,
            None => {
                let places = self.store.places(id)?;
                let gone = || StoreError::damaged(format!("the entries of the id {id} are gone"));
                places.ok_or_else(gone)?.last
            }
        };
        // An entry that came later than the receipt's log is in that of now.
        let head = if position < head.size {
            head
        } else {
            self.head()?
        };
        Ok(Done {
            id,
            outcome: receipt.outcome,
            refusal: receipt.refusal,
            fresh: receipt.position.is_some(),
            receipt: ReceiptText { position, head },
        })
    }
}

fn given(id: Option<RequestId>) -> Result<RequestId, LedgerError> {
    id.map_or_else(random_id, Ok)
}
