//! The accountant: pure computations, on as many threads as there are processors.
//!
//! None can be interrupted. So events are short and have few parts that take long,
//! who waits is told after a while that it takes too long, and the thread is free
//! again when it is done. Prices of questions have threads of their own.

use mizan_api::account::{self, AccountRequest};
use mizan_api::calibrate::{CalibrateRequest, Calibrated};
use mizan_api::curve::{Curve, CurveRequest};
use mizan_api::divergence::{Divergence, DivergenceRequest};
use mizan_api::group::{Group, GroupRequest};
use mizan_api::names::Names;
use mizan_api::risk::{Risk, RiskRequest};
use mizan_core::Definitions;

use super::Service;
use super::work::Lane;
use crate::identity::Caller;
use crate::problem::Problem;

/// The longest event that is charged or accounted for over HTTP.
const LONGEST_EVENT: usize = 64 << 10;

/// Events on samples, each of which may take a fifth of a second and two megabytes,
/// and how many of them one event may have over HTTP.
const SAMPLED: [&str; 3] = ["poisson", "without-replacement", "shuffle"];
const MOST_SAMPLED: usize = 32;

/// The longest distribution, in characters.
const LONGEST_LIST: usize = 16 << 10;

impl Service {
    /// Computes on a thread for that.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.in_time(&self.0.computing, work).await
    }

    /// The same for prices of questions, which nobody who accounts holds up.
    pub(super) async fn price<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.in_time(&self.0.pricing, work).await
    }

    async fn in_time<T: Send + 'static>(
        &self,
        lane: &Lane,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = self.clone();
        let done = lane.run(move || work(&service));
        match tokio::time::timeout(self.0.limits.computing_time, done).await {
            Ok(result) => self.watched(result?),
            Err(_) => Err(Problem::too_long()),
        }
    }

    /// What an event costs.
    ///
    /// # Errors
    ///
    /// It is no event, or no method can answer. So for all below.
    pub async fn account(
        &self,
        _: &Caller,
        request: AccountRequest,
    ) -> Result<account::Answer, Problem> {
        short(&request.expression)?;
        self.compute(move |_| Ok(request.ask(&Definitions::default(), Names::Program)?))
            .await
    }

    /// The Rényi curve of an event.
    ///
    /// # Errors
    ///
    /// It has none.
    pub async fn curve(&self, _: &Caller, request: CurveRequest) -> Result<Curve, Problem> {
        short(&request.expression)?;
        self.compute(move |_| Ok(request.ask(&Definitions::default(), Names::Program)?))
            .await
    }

    /// What an event means for a person.
    ///
    /// # Errors
    ///
    /// It has no curve.
    pub async fn risk(&self, _: &Caller, request: RiskRequest) -> Result<Risk, Problem> {
        short(&request.expression)?;
        self.compute(move |_| Ok(request.ask(&Definitions::default(), Names::Program)?))
            .await
    }

    /// What an event costs a group.
    ///
    /// # Errors
    ///
    /// It has no price for one.
    pub async fn group(&self, _: &Caller, request: GroupRequest) -> Result<Group, Problem> {
        short(&request.expression)?;
        self.compute(move |_| Ok(request.ask(&Definitions::default(), Names::Program)?))
            .await
    }

    /// How much noise a promise needs.
    ///
    /// # Errors
    ///
    /// Nothing keeps it.
    pub async fn calibrate(
        &self,
        _: &Caller,
        request: CalibrateRequest,
    ) -> Result<Calibrated, Problem> {
        short(&request.expression)?;
        self.compute(move |_| Ok(request.ask(&Definitions::default(), Names::Program)?))
            .await
    }

    /// The divergence of two distributions.
    ///
    /// # Errors
    ///
    /// They are none over the same outcomes.
    pub async fn divergence(
        &self,
        _: &Caller,
        request: DivergenceRequest,
    ) -> Result<Divergence, Problem> {
        if request.p.len().max(request.q.len()) > LONGEST_LIST {
            return Err(Problem::malformed("the distributions are too long"));
        }
        self.compute(move |_| Ok(request.ask(Names::Program)?))
            .await
    }
}

/// Whether an event is one that a server has time for.
pub(super) fn short(expression: &str) -> Result<(), Problem> {
    if expression.len() > LONGEST_EVENT {
        return Err(Problem::malformed("the event is too long"));
    }
    // In JSON it would hide names; no event needs one.
    if expression.contains('\\') {
        return Err(Problem::malformed("an event has no backslash"));
    }
    let lower = expression.to_ascii_lowercase();
    let sampled = SAMPLED.iter().map(|name| lower.matches(name).count());
    if sampled.sum::<usize>() > MOST_SAMPLED {
        return Err(Problem::malformed(
            "over HTTP an event has at most 32 parts on samples: `mizan account` takes any",
        ));
    }
    Ok(())
}
