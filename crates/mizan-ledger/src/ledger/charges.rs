//! The requests that change a ledger. A client receives an outcome only after the entry is durable
//! and the high-water mark covers it.

use std::sync::{Arc, PoisonError};

use mizan_accounting::clock::is_amplified;
use mizan_core::{Delta, Epsilon, PrivacyEvent};

use super::{AccountView, Guard, Ledger, Priced, now, random_id};
use crate::evidence::unanswered::SETTLED;
use crate::evidence::{ReceiptText, TreeHead};
use crate::ledger::LedgerError;
use crate::log::{Body, Digest, Outcome, RequestId, Status};
use crate::money::{
    AccountName, AccountNumber, Budget, BudgetError, ConditionalPrice, Cost, Orders, Refusal,
    Variance,
};
use crate::state::{Charge, Request, RequestError};
use crate::store::{Receipt, StoreError, Submission};

/// The number of accounts whose last cost is cached.
const MAX_PRICED: usize = 10_000;

/// How often a charge is priced for the present state of its accounts before it is decided without
/// such a price. Each time another charge was admitted first.
const MAX_PRICINGS: u32 = 10;

/// An account to create.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAccount {
    /// Its name, unique in the ledger.
    pub name: AccountName,
    /// Its parent account, which has the same orders.
    pub parent: Option<AccountNumber>,
    /// The orders of its limits and totals.
    pub orders: Orders,
    /// Its budget.
    pub budget: Budget,
}

impl NewAccount {
    /// An account without a parent that guarantees (ε, δ)-DP, with the standard orders and the
    /// usual reserved delta and clock: what `mizan budget create` makes.
    ///
    /// # Errors
    ///
    /// No charge could ever be admitted.
    ///
    /// ```
    /// use mizan_core::{Delta, Epsilon};
    /// use mizan_ledger::{AccountName, NewAccount};
    ///
    /// let (epsilon, delta) = (Epsilon::at_most("1")?, Delta::at_most("1e-6")?);
    /// let census = NewAccount::approximate(AccountName::new("census")?, epsilon, delta)?;
    /// assert!(census.budget.clock().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn approximate(
        name: AccountName,
        epsilon: Epsilon,
        delta: Delta,
    ) -> Result<Self, BudgetError> {
        let orders = Orders::standard();
        let (reserved, clock) = (Budget::usual_reserved_delta(delta), Budget::usual_clock());
        Ok(Self {
            name,
            parent: None,
            budget: Budget::approximate(epsilon, delta, reserved, clock, &orders)?,
            orders,
        })
    }

    /// An account without a parent that guarantees pure ε-DP, with the standard orders.
    ///
    /// # Errors
    ///
    /// No charge could ever be admitted.
    pub fn pure(name: AccountName, epsilon: Epsilon) -> Result<Self, BudgetError> {
        let orders = Orders::standard();
        Ok(Self {
            name,
            parent: None,
            budget: Budget::pure(epsilon, &orders)?,
            orders,
        })
    }
}

/// The durable result of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The id of the request.
    pub id: RequestId,
    /// The outcome, the same for every retry.
    pub outcome: Outcome,
    /// The numbers of each order, if the charge was denied by this call.
    pub refusal: Option<Box<Refusal>>,
    /// Whether this call appended the entry; false for a retry. A charge covers one release: after
    /// [`spend`](Ledger::spend), release only if the outcome is [`Outcome::Released`] and the charge
    /// is fresh.
    pub fresh: bool,
    /// The position of the last entry of the id, with the size and the root of the log right
    /// after it became durable; for a retry, with the present log.
    pub receipt: ReceiptText,
}

impl Ledger {
    /// Creates an account. Without an id, a random one is drawn.
    ///
    /// # Errors
    ///
    /// The name is taken, the budget does not guarantee its target, or the ledger cannot be
    /// written. The last holds for every method below.
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

    /// Charges for a release that the caller makes elsewhere, after this returns. The outcome is
    /// [`Outcome::Released`] or [`Outcome::Denied`]. Which release it is must not depend on answers
    /// that come later: a price on the clock may hold only at what is left now.
    ///
    /// Reservation, start and commit are one transaction and one sync. A retry with the same id
    /// and event is free and has the same outcome.
    ///
    /// A charge covers one release. Retry with the same id only if `spend` gave no result. Never add
    /// noise again under a charge that is not [`fresh`](Done::fresh): publish the output that was
    /// stored, or charge again under a new id.
    ///
    /// If an earlier attempt stopped after its reservation or its start, this call commits it,
    /// with the whole reservation and without an answer. That is sound: the charge
    /// counted all the time and counts in full forever, and another program that still works
    /// under the id can neither commit another answer nor void the charge. The release may have been
    /// chosen since that attempt, so its price must hold at what is left now.
    ///
    /// # Errors
    ///
    /// The id belongs to another request or was voided, or its price does not hold any more; the
    /// event has no cost. An id with a stored answer is refused: the charge covers that answer only,
    /// not a second release.
    pub fn spend(
        &self,
        id: Option<RequestId>,
        account: AccountNumber,
        event: &PrivacyEvent,
    ) -> Result<Done, LedgerError> {
        if let Some(id) = id
            && self.is_left_behind(id)?
            && !self.pays_for_a_later_choice(id)?
        {
            return Err(RequestError::IdReused { id }.into());
        }
        let id = given(id)?;
        let charge = self.price(account, event)?;
        let elsewhere = Digest::of(&[]);
        let commit = Request::Commit {
            cost: charge.cost.clone(),
            answer: elsewhere,
        };
        let commit = Submission::new(now(), id, commit);
        let submission = |request| Submission::new(now(), id, request);
        let mut results = self.in_state(charge, event, |charge| {
            let results = self.execute(vec![
                submission(Request::Reserve(charge)),
                submission(Request::Start),
                commit.clone(),
            ])?;
            match results.first() {
                Some(Err(error)) => Err(error.clone().into()),
                _ => Ok(results),
            }
        })?;
        let last = results.pop();
        let first = results.into_iter().next();
        match (first, last) {
            // The outcome of the reservation decides, unless it is to continue.
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
            // Another attempt started it and may never finish.
            (Some(Ok(told)), Some(Err(StoreError::Request(_))))
                if told.outcome == Outcome::Started =>
            {
                self.submit_one(commit)
            }
            (_, Some(last)) => self.done(id, last?),
            (_, None) => Err(StoreError::poisoned().into()),
        }
    }

    /// Whether an attempt under this id was charged, and not committed or voided.
    fn is_left_behind(&self, id: RequestId) -> Result<bool, LedgerError> {
        let status = self.store.record(id)?.map(|record| record.status);
        Ok(matches!(
            status,
            Some(Status::Reserved(_) | Status::Started(_))
        ))
    }

    /// The charge of an event to an account. The last one of each account is cached, because the
    /// price of a plan may take a second.
    ///
    /// # Errors
    ///
    /// There is no such account, or the event has no cost.
    pub fn price(
        &self,
        number: AccountNumber,
        event: &PrivacyEvent,
    ) -> Result<Charge, LedgerError> {
        let lock = || self.priced.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&number).cloned();
        let payer = match &known {
            // A part of the reserved delta pays for the tail of a plan, and a raise changes it.
            Some(known) if !is_amplified(event) => Arc::clone(&known.payer),
            _ => Arc::new(self.view(number, &[])?),
        };
        let reserved_delta = |view: &AccountView| view.account.budget().reserved_delta();
        if let Some(known) = known
            && known.event == *event
            && reserved_delta(&known.payer) == reserved_delta(&payer)
        {
            return Ok(known.charge.clone());
        }
        let charge = Charge::to(event, &payer.account, payer.above.iter())?;
        let priced = Arc::new(Priced {
            payer,
            event: event.clone(),
            charge: charge.clone(),
        });
        let mut cache = lock();
        if cache.len() >= MAX_PRICED {
            cache.clear();
        }
        cache.insert(number, priced);
        Ok(charge)
    }

    /// Reserves a cost. The query may read data after a start.
    ///
    /// # Errors
    ///
    /// The charge is invalid. A charge that does not fit is not an error: its outcome is
    /// [`Outcome::Denied`].
    pub fn reserve(&self, id: Option<RequestId>, charge: Charge) -> Result<Done, LedgerError> {
        let id = given(id)?;
        let submit = |charge| self.submit(id, Request::Reserve(charge));
        // A charge without an event is as dear as its cost says.
        match charge.event.parse() {
            Ok(event) => self.in_state(charge, &event, submit),
            Err(_) => submit(charge),
        }
    }

    /// Submits a charge with the prices that its event has in the present state of the accounts. If
    /// another client changes an account meanwhile, and the decision depends on its price, the event
    /// is priced again: a denial is final, and so is an exhausted clock.
    fn in_state<T>(
        &self,
        charge: Charge,
        event: &PrivacyEvent,
        submit: impl Fn(Charge) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        if !ConditionalPrice::may_exist(event, &charge.cost) {
            return submit(charge);
        }
        for _ in 0..MAX_PRICINGS {
            let view = self.view(charge.account, &[])?;
            match submit(charge.clone().in_state(event, view.chain())) {
                Err(LedgerError::Store(StoreError::Request(RequestError::OutdatedPrice {
                    ..
                }))) => {}
                decided => return decided,
            }
        }
        let conditional = Box::default();
        submit(Charge {
            conditional,
            ..charge
        })
    }

    /// Announces that the query of a reservation is about to read data. Only the caller that
    /// receives [`Outcome::Started`] may run it. A caller that chose the query after it was reserved
    /// asks [`Ledger::pays_for_a_later_choice`] first: a price on the clock may not hold any more.
    ///
    /// # Errors
    ///
    /// It was started before, or there is no such reservation.
    pub fn start(&self, id: RequestId) -> Result<Done, LedgerError> {
        self.submit(id, Request::Start)
    }

    /// Commits a reservation and stores the answer, which may be released after this.
    ///
    /// # Errors
    ///
    /// The cost is above the reservation, the charge was not started or was committed with another
    /// answer, or the answer is too long to be stored.
    pub fn commit(&self, id: RequestId, cost: Cost, answer: Vec<u8>) -> Result<Done, LedgerError> {
        self.submit_one(Submission::commit(now(), id, cost, answer)?)
    }

    /// Settles a charge whose query failed. If the charge was never committed, it is committed at
    /// its whole cost, and what is kept as its answer says that there is none ([`SETTLED`]). It is
    /// not open any more, and no answer can be committed under its id: a query that still runs
    /// under it releases nothing. If a repetition of the query was answered, the answer stays and
    /// nothing is written to the log. In both cases the query no longer counts as failed.
    ///
    /// # Errors
    ///
    /// There is no such charge, it was not started, or its query did not fail.
    pub fn settle(&self, id: RequestId) -> Result<Done, LedgerError> {
        let record = self
            .store
            .record(id)?
            .ok_or(RequestError::UnknownId { id })?;
        let cost = match record.status {
            Status::Started(held) => held.cost,
            Status::Reserved(_) => return Err(RequestError::NotStarted { id }.into()),
            status @ Status::Released { .. } if self.forget_failed(id)? => {
                let receipt = Receipt {
                    outcome: status.outcome(),
                    refusal: None,
                    position: None,
                    head: self.store.head()?,
                };
                return self.done(id, receipt);
            }
            Status::Released { .. } => return Err(RequestError::IdReused { id }.into()),
            _ => return Err(RequestError::NotACharge.into()),
        };
        let done = self.commit(id, cost, SETTLED.to_vec())?;
        self.forget_failed(id)?;
        Ok(done)
    }

    /// Forgets that a query failed. Returns whether it had.
    fn forget_failed(&self, id: RequestId) -> Result<bool, LedgerError> {
        let forgotten = self.running.as_ref().map(|running| running.forget(id));
        Ok(forgotten.transpose()?.unwrap_or(false))
    }

    /// Voids a reservation, as long as its query has not read data.
    ///
    /// # Errors
    ///
    /// It was started.
    pub fn void(&self, id: RequestId) -> Result<Done, LedgerError> {
        self.submit(id, Request::Void)
    }

    /// Whether a void of a reservation now would leave on some clock what the charge took from it.
    /// The prices of other charges, or its own, may count on that (`Account::take`).
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn void_leaves_clock(&self, id: RequestId) -> Result<bool, LedgerError> {
        let Some(Status::Reserved(held)) = self.record(id)?.map(|record| record.status) else {
            return Ok(false);
        };
        let view = self.account(held.account)?;
        let mut levels = (0..).zip(view.chain()).zip(held.clock.iter());
        Ok(levels.any(|((level, account), taken)| {
            let mut after = account.clone();
            let left = after.take(&Body::Voided, Some(&held), level).is_none()
                || after.taken().clock() == account.taken().clock();
            left && taken.variance > Variance::ZERO
        }))
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

    /// Executes requests and moves the high-water mark.
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
        // An entry after the log of the receipt is in the present log.
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
