//! The way of a question: quote, reserve, run, noise, commit, answer.
//!
//! In this order, always: nothing is read from data before the charge is durable,
//! and no answer leaves before it is committed with the charge. A program that is
//! killed on the way leaves either nothing, or a charge under an id that the same
//! question finds again: it goes on where the other stopped, for the same price.
//!
//! Ids and repeated questions are in `ids.rs`.
//!
//! # Why a charge that somebody else started may be gone on with
//!
//! No answer leaves before its commit, here and wherever the ledger is used: so
//! whoever started and died had shown nothing, and of two who work at once only one
//! commits. The other shows what that one wrote if it is the answer to its own
//! question, by the stamp that the answer begins with, and nothing otherwise. A
//! charge for a release elsewhere has no answer, so it never passes for a question's;
//! nor does a question's for such a charge ([`Ledger::spend`]).

mod bounds;
mod error;
mod ids;
mod prepare;
mod prices;
mod quote;
mod reserved;
#[cfg(test)]
mod reserved_tests;
#[cfg(test)]
mod tests;

pub use bounds::FoundBounds;
pub use error::QuestionError;
pub use prices::Prices;
pub use quote::Quote;
pub use reserved::ReservedDelta;

use std::sync::Arc;

use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_ledger::evidence::{MAX_UNANSWERED, SETTLED};
use mizan_ledger::log::{Denial, Status};
use mizan_ledger::store::StoreError;
use mizan_ledger::{
    Account, AccountView, Charge, Digest, Done, Ledger, LedgerError, Outcome, Refusal,
    RequestError, RequestId, Target as Promise,
};
use mizan_sql::{BoundedPlan, Catalogue, Dataset, Note};

use self::ids::{sealed, stamp, unsealed};
use self::prepare::Same;
use crate::engine::{Engine, EngineError, Version};
use crate::release::{self, Answer, ChoiceReason, Recipe, Released, Request};

/// How much a question may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// A tenth of the epsilon that the account promises.
    Usual,
    /// At most this epsilon, at the delta of the account.
    Epsilon(Epsilon),
    /// As much as it takes to be within so much of the exact bounded answer, in 95
    /// of 100 cases.
    Accuracy(f64),
}

/// What answers questions: a ledger, a catalogue and an engine.
#[derive(Debug)]
pub struct Desk<'a, E> {
    ledger: &'a Ledger,
    catalogue: &'a Catalogue,
    engine: &'a E,
    /// Prices of questions about this catalogue, and what it is called there.
    prices: Option<(&'a Prices, String)>,
    /// The share of the reserved delta that a query takes; None for the usual one.
    threshold_delta: Option<Delta>,
}

/// A question that can be answered, and its price.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) plan: BoundedPlan,
    pub(crate) view: AccountView,
    pub(crate) recipe: Recipe,
    pub(crate) charge: Charge,
    /// What may be spent.
    request: Request,
    /// What the query is recognised by.
    same: Same,
    /// Under what its prices are kept.
    key: Option<String>,
}

impl Prepared {
    /// The delta of the whole release: the one at which its epsilon is meant, and
    /// on top of it the chance that the release itself fails. Rounded up.
    #[expect(clippy::cast_precision_loss, reason = "rounded up")]
    pub(crate) fn delta(&self) -> Delta {
        let own = self.charge.cost.reserved_delta().atto();
        if own == 0 {
            return self.recipe.delta();
        }
        let own = ((own as f64).next_up() / 1e18).next_up();
        Delta::saturating((self.recipe.delta().get() + own).next_up())
    }
}

/// What a question is told.
#[derive(Debug)]
pub enum Reply {
    /// The answer.
    Answered(Box<Answered>),
    /// It does not fit into the budget; nothing was charged.
    Denied(Box<Denied>),
}

/// An answer with its receipt.
#[derive(Debug)]
pub struct Answered {
    /// Rows and error bars.
    pub answer: Answer,
    /// The entry in the ledger.
    pub done: Done,
    /// Whether it was answered before, and cost nothing now.
    pub repeated: bool,
    /// What was released.
    pub event: PrivacyEvent,
    /// Its certified epsilon, at `delta`.
    pub epsilon: Epsilon,
    /// The delta at which epsilon is meant, its own failures included.
    pub delta: Delta,
    /// The account after it.
    pub account: AccountView,
    /// How the noise was chosen.
    pub why: Vec<ChoiceReason>,
    /// What the answer was made of.
    pub(crate) released: Released,
}

impl Answered {
    /// The threshold of partition selection, if groups were discovered in the data: groups
    /// with at most this many units after noise are hidden.
    #[must_use]
    pub fn threshold(&self) -> Option<u64> {
        let threshold = self.released.noise.threshold;
        threshold.map(|threshold| threshold.above)
    }
}

/// A question that does not fit.
#[derive(Debug)]
pub struct Denied {
    /// Where it does not fit.
    pub denial: Denial,
    /// Order by order, if it was denied just now.
    pub refusal: Option<Box<Refusal>>,
    /// The entry in the ledger.
    pub done: Done,
    /// What was asked for.
    pub event: PrivacyEvent,
    /// Its certified epsilon, at `delta`.
    pub epsilon: Epsilon,
    /// The delta at which epsilon is meant, its own failures included.
    pub delta: Delta,
    /// The account.
    pub account: AccountView,
    /// The reserved delta, if it asked for some.
    pub reserved: Option<ReservedDelta>,
}

impl<'a, E: Engine> Desk<'a, E> {
    /// A desk.
    #[must_use]
    pub const fn new(ledger: &'a Ledger, catalogue: &'a Catalogue, engine: &'a E) -> Self {
        Self {
            ledger,
            catalogue,
            engine,
            prices: None,
            threshold_delta: None,
        }
    }

    /// A desk whose queries take this share of the reserved delta, if they have groups
    /// that are found in the data; None for a twentieth of what is left.
    #[must_use]
    pub const fn threshold_delta(mut self, share: Option<Delta>) -> Self {
        self.threshold_delta = share;
        self
    }

    /// A desk that remembers prices. `catalogue` says which catalogue this is: one
    /// that differs in anything must have another name.
    #[must_use]
    pub fn remembering(self, prices: &'a Prices, catalogue: String) -> Self {
        Self {
            prices: Some((prices, catalogue)),
            ..self
        }
    }

    /// What a question would cost and how good its answer would be. Nothing is
    /// read from private data, nothing is charged. Public tables are counted.
    ///
    /// A quote does not need data that can be reached. If they cannot, a note of the quote
    /// says that its limits were not checked.
    ///
    /// # Errors
    ///
    /// The question cannot be answered privately, or not with this wish; or its limits do
    /// not allow it, or cannot be checked within limits on memory and time.
    pub fn quote(&self, sql: &str, wish: Wish) -> Result<Quote, QuestionError> {
        let prepared = self.prepare(sql, wish)?;
        let checked = self.engine.check_joins(&prepared.plan, self.catalogue);
        let checked =
            checked.and_then(|()| self.engine.check_limits(&prepared.plan, self.catalogue));
        let mut quote = Quote::of(&prepared);
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

    /// Asks a question. A `name` makes it a charge of its own, with fresh noise: the
    /// id of the entry, as [`RequestId::from_text`] reads it.
    ///
    /// # Errors
    ///
    /// As for a quote; the data or the ledger cannot be read. If the charge was
    /// durable before, the error says so, and asking again goes on for free.
    pub fn query(&self, sql: &str, wish: Wish, name: Option<&str>) -> Result<Reply, QuestionError> {
        let prepared = self.prepare(sql, wish)?;
        self.ask(&prepared, name)
    }

    pub(crate) fn prepare(&self, sql: &str, wish: Wish) -> Result<Prepared, QuestionError> {
        let Some((prices, catalogue)) = &self.prices else {
            return self.price(&mizan_sql::plan(sql, self.catalogue)?, wish);
        };
        let key = format!("{catalogue}\n{sql}");
        let plan = match prices.plan(&key) {
            Some(plan) => plan,
            None => {
                let plan = Arc::new(mizan_sql::plan(sql, self.catalogue)?);
                prices.keep_plan(key.clone(), &plan);
                plan
            }
        };
        self.prepared(&plan, wish, Some(key))
    }

    /// What a plan costs.
    pub(crate) fn price(&self, plan: &BoundedPlan, wish: Wish) -> Result<Prepared, QuestionError> {
        self.prepared(plan, wish, None)
    }

    fn ask(&self, prepared: &Prepared, name: Option<&str>) -> Result<Reply, QuestionError> {
        if let Some(reply) = self.kept(prepared, name)? {
            return Ok(reply);
        }
        self.engine.prepare(&prepared.plan, self.catalogue)?;
        let versions = self.versions(&prepared.plan)?;
        let same = self.keyed(prepared, stamp(prepared, &versions))?;
        // Who names a question by the id that it has anyway asks it without a name.
        let name = match name.map(RequestId::from_text) {
            Some(id) if id == self.last_attempt(prepared, &same)? => None,
            name => name,
        };
        // A name stands for one answer, whatever has become of the data since.
        let stamp = match name {
            Some(_) => stamp(prepared, &[]),
            None => same,
        };
        let own = name.is_some();
        loop {
            let id = match name {
                Some(id) => id,
                None => self.last_attempt(prepared, &stamp)?,
            };
            // A charge that is there already keeps its share of the reserved delta.
            let adopted = self.adopted(prepared, &stamp, id)?;
            let prepared = adopted.as_ref().unwrap_or(prepared);
            self.check_unanswered(prepared, id)?;
            let _running = self.ledger.running(id);
            let done = match self.ledger.reserve(Some(id), prepared.charge.clone()) {
                // Made with another share, since it was looked for.
                Err(LedgerError::Store(StoreError::Request(RequestError::IdReused { .. })))
                    if self.is_made_with_another_share(prepared, &stamp, id, own)? =>
                {
                    continue;
                }
                done => done?,
            };
            match done.outcome {
                // By somebody else, since it was looked for.
                Outcome::Denied(_) | Outcome::Voided if !done.fresh && !own => continue,
                Outcome::Released { .. } if !own && !self.answers(id, &stamp)? => continue,
                Outcome::Denied(denial) => return self.denied(prepared, done, denial),
                Outcome::Voided => return Err(RequestError::Voided { id }.into()),
                Outcome::Released { .. } => return self.recorded(prepared, &stamp, done),
                // An id of its own does not say which query was charged: this one may have been
                // chosen in view of answers since.
                _ if own && !done.fresh && !self.ledger.still_pays(id)? => {
                    return Err(RequestError::AlreadyStarted { id }.into());
                }
                Outcome::Reserved => {
                    self.give_back_if_changed(&prepared.plan, &versions, id)?;
                    self.start(id).map_err(|error| error.after_charge(id))?;
                }
                // Someone began and did not come back, or is at it: whoever
                // commits first has answered for both.
                _ => {}
            }
            return self.answer(prepared, &versions, &stamp, id);
        }
    }

    /// Refuses a query that would be one more without an answer, if there are many. One that
    /// goes on under its own charge is not one more.
    fn check_unanswered(&self, prepared: &Prepared, id: RequestId) -> Result<(), QuestionError> {
        let record = self.ledger.record(id)?;
        match record.map(|record| record.status) {
            None | Some(Status::Reserved(_)) => {
                Ok(self.ledger.check_unanswered(&prepared.view, Some(id))?)
            }
            _ => Ok(()),
        }
    }

    /// Before the start nothing was read: if there are other data now, nothing is
    /// charged for those that are gone.
    fn give_back_if_changed(
        &self,
        plan: &BoundedPlan,
        versions: &[Version],
        id: RequestId,
    ) -> Result<(), QuestionError> {
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
        self.ledger.void(id)?;
        Err(error)
    }

    /// Says that data is about to be touched, unless somebody else has.
    fn start(&self, id: RequestId) -> Result<(), QuestionError> {
        match self.ledger.start(id) {
            Ok(_)
            | Err(LedgerError::Store(StoreError::Request(RequestError::AlreadyStarted {
                ..
            }))) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs, adds noise, commits. The charge is durable.
    fn answer(
        &self,
        prepared: &Prepared,
        versions: &[Version],
        stamp: &Digest,
        id: RequestId,
    ) -> Result<Reply, QuestionError> {
        let Prepared {
            plan,
            recipe,
            charge,
            ..
        } = prepared;
        let charged = |error: QuestionError| error.after_charge(id);
        let salt = salt().map_err(charged)?;
        let exact = self.engine.run(plan, self.catalogue, versions, salt);
        let exact = exact.map_err(|error| charged(error.into()))?.counted();
        let released = release::release(recipe, plan, &exact);
        let released = released.map_err(|error| charged(error.into()))?;
        let bytes = sealed(stamp, &released);
        let kept = Outcome::Released {
            answer: Digest::of(&[&bytes]),
        };
        let done = match self.ledger.commit(id, charge.cost.clone(), bytes) {
            Ok(done) if done.outcome == kept => done,
            // Somebody was quicker: theirs is the answer, if it is one.
            Ok(_) | Err(LedgerError::Store(StoreError::Request(RequestError::IdReused { .. }))) => {
                let done = self.ledger.reserve(Some(id), charge.clone());
                let done = done.map_err(|error| charged(error.into()))?;
                return self.recorded(prepared, stamp, done);
            }
            Err(error) => return Err(charged(error.into())),
        };
        // Somebody quicker may have drawn the same: then it was theirs that was new.
        let repeated = !done.fresh;
        self.answered(prepared, &released, done, repeated)
    }

    /// What was answered before.
    fn recorded(
        &self,
        prepared: &Prepared,
        stamp: &Digest,
        done: Done,
    ) -> Result<Reply, QuestionError> {
        let bytes = self.ledger.answer(done.id);
        let bytes = bytes.map_err(|error| QuestionError::from(error).after_charge(done.id))?;
        let bytes = bytes.unwrap_or_default();
        if bytes == SETTLED {
            return Err(QuestionError::Settled { id: done.id });
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
    ) -> Result<Reply, QuestionError> {
        let Prepared {
            plan, recipe, view, ..
        } = prepared;
        let account = self.ledger.account(view.account.number());
        let account = account.map_err(|error| QuestionError::from(error).after_charge(done.id))?;
        Ok(Reply::Answered(Box::new(Answered {
            answer: release::answer(plan, recipe, released)?,
            done,
            repeated,
            event: recipe.event(),
            epsilon: recipe.epsilon(),
            delta: prepared.delta(),
            account,
            why: recipe.why(),
            released: released.clone(),
        })))
    }

    fn denied(
        &self,
        prepared: &Prepared,
        done: Done,
        denial: Denial,
    ) -> Result<Reply, QuestionError> {
        let Prepared { recipe, view, .. } = prepared;
        let account = self.ledger.account(view.account.number())?;
        Ok(Reply::Denied(Box::new(Denied {
            denial,
            refusal: done.refusal.clone(),
            done,
            event: recipe.event(),
            epsilon: recipe.epsilon(),
            delta: prepared.delta(),
            reserved: ReservedDelta::of(&account, &prepared.charge),
            account,
        })))
    }

    fn versions(&self, plan: &BoundedPlan) -> Result<Vec<Version>, QuestionError> {
        let names = plan.datasets.iter().chain(&plan.public);
        let version = |name: &String| {
            let dataset: &Dataset = self
                .catalogue
                .datasets
                .get(name)
                .ok_or(QuestionError::NoDataset)?;
            Ok(self.engine.version(dataset)?)
        };
        names.map(version).collect()
    }
}

fn salt() -> Result<[u8; 16], QuestionError> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|_| QuestionError::NoEntropy)?;
    Ok(salt)
}

/// The delta at which an account is read; accounts that promise none are read at
/// 1e-6.
#[must_use]
pub fn reading_delta(account: &Account) -> Delta {
    match account.budget().target() {
        Promise::Approximate { delta, .. } => delta,
        Promise::Pure { .. } => Delta::ZERO,
        Promise::ZeroConcentrated { .. } | Promise::Curve => {
            Delta::new(1e-6).unwrap_or(Delta::ZERO)
        }
    }
}
