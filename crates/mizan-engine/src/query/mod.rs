//! The steps of a query: quote, reserve, run, noise, commit, answer.
//!
//! The order is fixed. No private data is read before the charge is durable, and no answer
//! leaves before it is committed with the charge. A program that is killed in between leaves
//! either nothing, or a charge under an id that the same query finds again: the query continues
//! under that charge at no further cost.
//!
//! Ids and repeated queries are in `ids.rs`.
//!
//! # Why a query may continue under a charge that another process started
//!
//! No answer leaves before its commit, here and in every other use of the ledger. So a process
//! that started a charge and died has shown nothing, and of two processes that work on one
//! charge only one commits. The other shows the committed answer if the stamp at its beginning
//! is that of its own query, and an error otherwise. A charge for a release elsewhere has no
//! stored answer, so it is never taken for the charge of a query, nor the reverse
//! ([`Ledger::spend`]).

mod answered;
mod bounds;
mod error;
mod ids;
mod prepare;
mod price_cache;
mod quote;
mod reserved;
#[cfg(test)]
mod reserved_tests;
#[cfg(test)]
mod tests;

pub use answered::Answered;
pub use bounds::FoundBounds;
pub use error::QueryError;
pub use ids::NoAnswerReason;
pub use price_cache::PriceCache;
pub use quote::Quote;
pub use reserved::ReservedDelta;

use std::sync::Arc;

use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_ledger::evidence::{MAX_UNANSWERED, SETTLED};
use mizan_ledger::ledger::Running;
use mizan_ledger::log::{Denial, Status};
use mizan_ledger::store::StoreError;
use mizan_ledger::{
    Account, AccountView, Budget, Charge, Digest, Done, Ledger, LedgerError, Outcome, Refusal,
    RequestError, RequestId, Target as AccountTarget,
};
use mizan_sql::{BoundedPlan, Catalogue, Dataset, Note};

use self::ids::{sealed, stamp, unsealed};
use self::prepare::QueryIdentity;
use crate::engine::{Engine, EngineError, Version};
use crate::release::{self, NoisePlan, Released, Request};

/// How much a query may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpendTarget {
    /// A tenth of the epsilon of the account's target.
    DefaultShare,
    /// At most this epsilon, at the delta of the account.
    Epsilon(Epsilon),
    /// The epsilon with which the answer is within this distance of the exact bounded answer in
    /// 95 of 100 cases.
    Accuracy(f64),
}

/// The query service: answers queries with a ledger, a catalogue and an engine.
#[derive(Debug)]
pub struct QueryService<'a, E> {
    ledger: &'a Ledger,
    catalogue: &'a Catalogue,
    engine: &'a E,
    /// The cache of prices, and the key of this catalogue in it.
    price_cache: Option<(&'a PriceCache, String)>,
    /// The share of the reserved delta that a query takes; None for the default share.
    threshold_delta: Option<Delta>,
}

/// A query that can be answered, with its noise plan and its charge.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) plan: BoundedPlan,
    pub(crate) view: AccountView,
    pub(crate) noise_plan: NoisePlan,
    pub(crate) charge: Charge,
    /// The spending target.
    request: Request,
    /// What identifies the query in the ledger.
    identity: QueryIdentity,
    /// The key under which its price is cached.
    key: Option<String>,
}

impl Prepared {
    /// The delta of the whole release: the one at which its epsilon is certified, plus the
    /// probability that its threshold fails. Rounded up.
    #[expect(clippy::cast_precision_loss, reason = "rounded up")]
    pub(crate) fn delta(&self) -> Delta {
        let own = self.charge.cost.reserved_delta().atto();
        if own == 0 {
            return self.noise_plan.delta();
        }
        let own = ((own as f64).next_up() / 1e18).next_up();
        Delta::saturating((self.noise_plan.delta().get() + own).next_up())
    }
}

/// The outcome of a query.
#[derive(Debug)]
pub enum QueryOutcome {
    /// The answer.
    Answered(Box<Answered>),
    /// The charge does not fit into the budget; nothing was charged.
    Denied(Box<Denied>),
}

/// A query whose charge does not fit into the budget.
#[derive(Debug)]
pub struct Denied {
    /// Which account it exceeds.
    pub denial: Denial,
    /// The shortfall at each order, if it was denied just now.
    pub refusal: Option<Box<Refusal>>,
    /// The ledger entry of the denial.
    pub done: Done,
    /// The event that would have been charged.
    pub event: PrivacyEvent,
    /// Its certified epsilon, at `delta`.
    pub epsilon: Epsilon,
    /// The delta at which epsilon is certified, with the delta of the threshold.
    pub delta: Delta,
    /// The account.
    pub account: AccountView,
    /// The reserved delta, if the query takes a share of it.
    pub reserved: Option<ReservedDelta>,
}

impl<'a, E: Engine> QueryService<'a, E> {
    /// A query service.
    #[must_use]
    pub const fn new(ledger: &'a Ledger, catalogue: &'a Catalogue, engine: &'a E) -> Self {
        Self {
            ledger,
            catalogue,
            engine,
            price_cache: None,
            threshold_delta: None,
        }
    }

    /// Sets the share of the reserved delta that queries with private groups take. None for a
    /// twentieth of what is left.
    #[must_use]
    pub const fn threshold_delta(mut self, share: Option<Delta>) -> Self {
        self.threshold_delta = share;
        self
    }

    /// Caches prices. `catalogue` is the cache key of this catalogue: catalogues that differ in
    /// anything must have different keys.
    #[must_use]
    pub fn with_price_cache(self, price_cache: &'a PriceCache, catalogue: String) -> Self {
        Self {
            price_cache: Some((price_cache, catalogue)),
            ..self
        }
    }

    /// What a query would cost, and the predicted width of its noise. No private data is read
    /// and nothing is charged. Rows of public tables are counted.
    ///
    /// A quote works although data cannot be reached. A note then says that limits were not
    /// checked.
    ///
    /// # Errors
    ///
    /// The query is refused, or the spending target cannot be met; or the query exceeds a
    /// limit, or its limits cannot be checked within bounds on memory and time.
    pub fn quote(&self, sql: &str, spend_target: SpendTarget) -> Result<Quote, QueryError> {
        let prepared = self.prepare(sql, spend_target)?;
        let checked = self.engine.check_joins(&prepared.plan, self.catalogue);
        let checked =
            checked.and_then(|()| self.engine.check_limits(&prepared.plan, self.catalogue));
        let mut quote = Quote::of(&prepared)?;
        match self.ledger.check_unanswered(&prepared.view, None) {
            Ok(()) => {}
            Err(LedgerError::TooManyUnanswered { count }) => {
                quote.notes.push(Note::UnansweredCharges {
                    count: count as u64,
                    limit: MAX_UNANSWERED as u64,
                });
            }
            Err(error) => return Err(error.into()),
        }
        match checked {
            Ok(()) => Ok(quote),
            Err(error) if error.is_of_data() => {
                quote.notes.push(Note::LimitsNotChecked {
                    code: error.code().to_string(),
                });
                Ok(quote)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Answers a query. A `name` makes it a separate charge with fresh noise; it is the id of
    /// the entry, as [`RequestId::from_text`] reads it.
    ///
    /// # Errors
    ///
    /// As for a quote; the data or the ledger cannot be read. If the charge was durable before
    /// the error, the error says so, and sending the query again continues under the same
    /// charge.
    pub fn query(
        &self,
        sql: &str,
        spend_target: SpendTarget,
        name: Option<&str>,
    ) -> Result<QueryOutcome, QueryError> {
        let prepared = self.prepare(sql, spend_target)?;
        self.ask(&prepared, name)
    }

    pub(crate) fn prepare(
        &self,
        sql: &str,
        spend_target: SpendTarget,
    ) -> Result<Prepared, QueryError> {
        let Some((price_cache, catalogue)) = &self.price_cache else {
            return self.price(&mizan_sql::plan(sql, self.catalogue)?, spend_target);
        };
        let key = format!("{catalogue}\n{sql}");
        let plan = match price_cache.plan(&key) {
            Some(plan) => plan,
            None => {
                let plan = Arc::new(mizan_sql::plan(sql, self.catalogue)?);
                price_cache.keep_plan(key.clone(), &plan);
                plan
            }
        };
        self.prepared(&plan, spend_target, Some(key))
    }

    /// The noise plan and the charge of a plan.
    pub(crate) fn price(
        &self,
        plan: &BoundedPlan,
        spend_target: SpendTarget,
    ) -> Result<Prepared, QueryError> {
        self.prepared(plan, spend_target, None)
    }

    fn ask(&self, prepared: &Prepared, name: Option<&str>) -> Result<QueryOutcome, QueryError> {
        if let Some(reply) = self.stored_outcome(prepared, name)? {
            return Ok(reply);
        }
        self.engine.prepare(&prepared.plan, self.catalogue)?;
        let versions = self.versions(&prepared.plan)?;
        let same = self.keyed(prepared, stamp(prepared, &versions))?;
        // A name that equals the id which the query has anyway is treated as no name.
        let name = match name.map(RequestId::from_text) {
            Some(id) if id == self.last_attempt(prepared, &same)? => None,
            name => name,
        };
        let own = name.is_some();
        // The id of a query without a name says which query is charged. Other data make another query,
        // which an analyst may have chosen.
        let query = match own {
            true => Some(self.keyed_for_name(same)?),
            false => None,
        };
        // A name has one answer, even if the data changed since. So its stamp has no versions.
        let stamp = match own {
            true => stamp(prepared, &[]),
            false => same,
        };
        loop {
            let id = match name {
                Some(id) => id,
                None => self.last_attempt(prepared, &stamp)?,
            };
            // An existing charge keeps its share of the reserved delta.
            let adopted = self.adopted(prepared, &stamp, id)?;
            let prepared = adopted.as_ref().unwrap_or(prepared);
            let mut running = self.ledger.running(id)?;
            self.check_unanswered(prepared, id)?;
            let charge = Charge {
                query,
                ..prepared.charge.clone()
            };
            let done = match self.ledger.reserve(Some(id), charge) {
                // Another process charged it with another share since the lookup.
                Err(LedgerError::Store(StoreError::Request(RequestError::IdReused { .. })))
                    if self.is_made_with_another_share(prepared, &stamp, id, own)? =>
                {
                    continue;
                }
                done => done?,
            };
            match done.outcome {
                // Another process changed the record since the lookup.
                Outcome::Denied(_) | Outcome::Voided if !done.fresh && !own => continue,
                Outcome::Released { .. } if !own && !self.answers(id, &stamp)? => continue,
                Outcome::Denied(denial) => return self.denied(prepared, done, denial),
                Outcome::Voided => return Err(RequestError::Voided { id }.into()),
                Outcome::Released { .. } => return self.recorded(prepared, &stamp, done),
                // Another query than the one that was charged may have been chosen in view of
                // answers since.
                _ if !done.fresh && !self.ledger.still_pays(id, query)? => {
                    return Err(RequestError::IdReused { id }.into());
                }
                Outcome::Reserved => {
                    self.give_back_if_changed(&prepared.plan, &versions, id)?;
                    self.start(id).map_err(|error| error.after_charge(id))?;
                }
                // Another process started this charge and died, or is still running. The one
                // that commits first determines the answer of both.
                _ => {}
            }
            return self.answer(prepared, &versions, &stamp, id, &mut running);
        }
    }

    /// Refuses a new charge if too many queries of the account failed after their charge. A query
    /// that continues under its own charge is not a new one.
    fn check_unanswered(&self, prepared: &Prepared, id: RequestId) -> Result<(), QueryError> {
        let record = self.ledger.record(id)?;
        match record.map(|record| record.status) {
            None | Some(Status::Reserved(_)) => {
                Ok(self.ledger.check_unanswered(&prepared.view, Some(id))?)
            }
            _ => Ok(()),
        }
    }

    /// Nothing was read before the start. If the data changed, the charge is voided.
    fn give_back_if_changed(
        &self,
        plan: &BoundedPlan,
        versions: &[Version],
        id: RequestId,
    ) -> Result<(), QueryError> {
        let error = match self.versions(plan) {
            Err(error) => error,
            Ok(now) => {
                let names = plan.datasets.iter().chain(&plan.public);
                let mut pairs = names.zip(versions.iter().zip(&now));
                match pairs.find(|(_, (before, now))| before != now) {
                    None => return Ok(()),
                    Some((dataset, _)) => EngineError::Changed {
                        dataset: dataset.clone(),
                    }
                    .into(),
                }
            }
        };
        let leaves_clock = self.ledger.void_leaves_clock(id);
        self.ledger.void(id)?;
        Err(match leaves_clock? {
            true => error.voided_with_clock(id),
            false => error,
        })
    }

    /// Records that private data will be read, unless another process has.
    fn start(&self, id: RequestId) -> Result<(), QueryError> {
        match self.ledger.start(id) {
            Ok(_)
            | Err(LedgerError::Store(StoreError::Request(RequestError::AlreadyStarted {
                ..
            }))) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs the plan, adds noise and commits. The charge is durable already.
    ///
    /// # Guarantee
    ///
    /// One charge pays for one look at one draw of the noise. A query can be repeated under its
    /// charge as long as nothing is committed, and then draws again. So nothing that a caller sees
    /// of a try that is not committed may depend on its draw:
    ///
    /// - Until the noise is drawn, a try depends on rows only. Every try under a charge has the same
    ///   salt, so it samples the same rows of a unit with too many. A try that fails here counts for
    ///   the limit of failed queries, also if a repetition is answered.
    /// - What is decided after that is committed: the release, or that there is none, because it is
    ///   too large for the ledger or because the draw failed. A repetition finds it and draws
    ///   nothing. Both commits have the same cost.
    /// - A commit that fails shows that it failed. Whether it fails depends on the draw only through
    ///   the number of bytes, at most [`MAX_ANSWER_BYTES`](mizan_ledger::store::MAX_ANSWER_BYTES).
    ///   A connection that is lost, a lock that is held, and a handle that is closed do not depend on
    ///   that. A full disk, or a database that refuses the statement, may. Then the small marker is
    ///   committed instead, and is final. If that fails too, no answer could have been stored
    ///   either, whatever the draw. What remains is a disk that is full only when a transaction is
    ///   synced ([`StoreError::Unknown`]): the handle is closed and a server stops, so an analyst
    ///   sees one such failure for each time that the operator starts it again.
    /// - A process that is killed in between shows that it was killed. What it allocates after the
    ///   draw is bounded whatever the draw shows: the keys of the groups shown, which the exact result
    ///   has too, and the bytes that are stored.
    /// - After the commit, every error is a function of what is stored.
    fn answer(
        &self,
        prepared: &Prepared,
        versions: &[Version],
        stamp: &Digest,
        id: RequestId,
        running: &mut Running,
    ) -> Result<QueryOutcome, QueryError> {
        let Prepared {
            plan,
            noise_plan,
            charge,
            ..
        } = prepared;
        let charged = |error: QueryError| error.after_charge(id);
        let salt = self
            .ledger
            .salt(id)
            .map_err(|error| charged(error.into()))?;
        let exact = self.engine.run(plan, self.catalogue, versions, salt);
        let exact = exact.map_err(|error| {
            running.fail();
            charged(error.into())
        })?;
        let released = release::release(noise_plan, plan, &exact.counted());
        let released = released.map_err(|_| {
            running.fail();
            NoAnswerReason::Failed
        });
        let sealed = released.and_then(|released| match sealed(stamp, &released) {
            Some(bytes) => Ok((released, bytes)),
            None => Err(NoAnswerReason::TooLarge),
        });
        let (released, bytes) = match sealed {
            Ok((released, bytes)) => (Ok(released), bytes),
            Err(reason) => (Err(reason), reason.sealed(stamp)),
        };
        let kept = Outcome::Released {
            answer: Digest::of(&[&bytes]),
        };
        let done = match self.ledger.commit(id, charge.cost.clone(), bytes) {
            Ok(done) if done.outcome == kept => done,
            // Another process committed first. Its answer is used if it belongs to this query.
            Ok(_) | Err(LedgerError::Store(StoreError::Request(RequestError::IdReused { .. }))) => {
                let done = self.ledger.reserve(Some(id), charge.clone());
                let done = done.map_err(|error| charged(error.into()))?;
                return self.recorded(prepared, stamp, done);
            }
            Err(error) => {
                if matches!(error, LedgerError::Store(StoreError::Unusable { .. })) {
                    let reason = NoAnswerReason::Failed;
                    let marker = reason.sealed(stamp);
                    if self.ledger.commit(id, charge.cost.clone(), marker).is_ok() {
                        return Err(QueryError::NoAnswer { id, reason });
                    }
                }
                return Err(charged(error.into()));
            }
        };
        let released = released.map_err(|reason| QueryError::NoAnswer { id, reason })?;
        // If another process committed the same bytes first, this answer is a repetition.
        let repeated = !done.fresh;
        self.answered(prepared, &released, done, repeated)
    }

    /// The answer that is stored under a charge.
    fn recorded(
        &self,
        prepared: &Prepared,
        stamp: &Digest,
        done: Done,
    ) -> Result<QueryOutcome, QueryError> {
        let bytes = self.ledger.answer(done.id);
        let bytes = bytes.map_err(|error| QueryError::from(error).after_charge(done.id))?;
        // A charge for a release elsewhere stores no answer, and is not a charge of this query.
        let Some(bytes) = bytes else {
            return Err(RequestError::IdReused { id: done.id }.into());
        };
        if bytes == SETTLED {
            return Err(QueryError::Settled { id: done.id });
        }
        let released = unsealed(stamp, &bytes, done.id)?;
        self.answered(prepared, &released, done, true)
    }

    fn answered(
        &self,
        prepared: &Prepared,
        released: &Released,
        done: Done,
        repeated: bool,
    ) -> Result<QueryOutcome, QueryError> {
        let Prepared {
            plan,
            noise_plan,
            view,
            ..
        } = prepared;
        let account = self.ledger.account(view.account.number());
        let account = account.map_err(|error| QueryError::from(error).after_charge(done.id))?;
        Ok(QueryOutcome::Answered(Box::new(Answered {
            answer: release::answer(plan, noise_plan, released)?,
            done,
            repeated,
            event: noise_plan.event(),
            epsilon: noise_plan.epsilon(),
            delta: prepared.delta(),
            account,
            why: noise_plan.why(),
            released: released.clone(),
            plan: plan.clone(),
        })))
    }

    fn denied(
        &self,
        prepared: &Prepared,
        done: Done,
        denial: Denial,
    ) -> Result<QueryOutcome, QueryError> {
        let Prepared {
            noise_plan, view, ..
        } = prepared;
        let account = self.ledger.account(view.account.number())?;
        Ok(QueryOutcome::Denied(Box::new(Denied {
            denial,
            refusal: done.refusal.clone(),
            done,
            event: noise_plan.event(),
            epsilon: noise_plan.epsilon(),
            delta: prepared.delta(),
            reserved: ReservedDelta::of(&account, &prepared.charge),
            account,
        })))
    }

    fn versions(&self, plan: &BoundedPlan) -> Result<Vec<Version>, QueryError> {
        let names = plan.datasets.iter().chain(&plan.public);
        let version = |name: &String| {
            let dataset: &Dataset = self
                .catalogue
                .datasets
                .get(name)
                .ok_or(QueryError::NoDataset)?;
            Ok(self.engine.version(dataset)?)
        };
        names.map(version).collect()
    }
}

/// The delta at which an account is reported: that of its target, or 1e-6 if the target has
/// none.
#[must_use]
pub fn reading_delta(account: &Account) -> Delta {
    delta_of(account.budget())
}

/// The same for a budget.
fn delta_of(budget: &Budget) -> Delta {
    match budget.target() {
        AccountTarget::Approximate { delta, .. } => delta,
        AccountTarget::Pure { .. } => Delta::ZERO,
        AccountTarget::ZeroConcentrated { .. } | AccountTarget::Curve => {
            Delta::new(1e-6).unwrap_or(Delta::ZERO)
        }
    }
}
