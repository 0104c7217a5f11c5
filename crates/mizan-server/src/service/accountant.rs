//! The accountant: pure computations, on a worker pool of their own.
//!
//! A computation cannot be interrupted. So the server bounds the size of an event
//! (`event_bound.rs`) and answers 503 after a while; the thread is free again when the
//! computation is done. Quotes have a pool of their own.

use mizan_api::account::{self, AccountRequest};
use mizan_api::calibrate::{CalibrateRequest, Calibrated};
use mizan_api::curve::{Curve, CurveRequest};
use mizan_api::divergence::{Divergence, DivergenceRequest};
use mizan_api::group::{Group, GroupRequest};
use mizan_api::names::Names;
use mizan_api::risk::{Risk, RiskRequest};
use mizan_core::Definitions;

use super::Service;
use super::event_bound::{bounded, bounded_template};
use super::worker_pool::WorkerPool;
use crate::identity::Caller;
use crate::problem::Problem;

/// The longest distribution, in characters.
const LONGEST_LIST: usize = 16 << 10;

impl Service {
    /// Computes on a thread of the accountant, within the time limit.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.in_time(&self.0.computing, work).await
    }

    /// The same for quotes, which the accountant does not delay.
    pub(super) async fn price<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.in_time(&self.0.pricing, work).await
    }

    async fn in_time<T: Send + 'static>(
        &self,
        pool: &WorkerPool,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = self.clone();
        let done = pool.run(move || work(&service));
        match tokio::time::timeout(self.0.limits.computing_time, done).await {
            Ok(result) => self.stop_if_fatal(result?),
            Err(_) => Err(Problem::too_long()),
        }
    }

    /// What an event costs.
    ///
    /// # Errors
    ///
    /// The text is not an event, or no method applies. The same holds for all below.
    pub async fn account(
        &self,
        _: &Caller,
        request: AccountRequest,
    ) -> Result<account::AccountResult, Problem> {
        bounded(&request.expression, &Definitions::default())?;
        self.compute(move |_| Ok(request.evaluate(&Definitions::default(), Names::Program)?))
            .await
    }

    /// The Rényi curve of an event.
    ///
    /// # Errors
    ///
    /// The event has no Rényi curve.
    pub async fn curve(&self, _: &Caller, request: CurveRequest) -> Result<Curve, Problem> {
        bounded(&request.expression, &Definitions::default())?;
        self.compute(move |_| Ok(request.evaluate(&Definitions::default(), Names::Program)?))
            .await
    }

    /// What an event means for a person.
    ///
    /// # Errors
    ///
    /// The event has no Rényi curve.
    pub async fn risk(&self, _: &Caller, request: RiskRequest) -> Result<Risk, Problem> {
        bounded(&request.expression, &Definitions::default())?;
        self.compute(move |_| Ok(request.evaluate(&Definitions::default(), Names::Program)?))
            .await
    }

    /// What an event costs a group.
    ///
    /// # Errors
    ///
    /// No method applies to a group.
    pub async fn group(&self, _: &Caller, request: GroupRequest) -> Result<Group, Problem> {
        bounded(&request.expression, &Definitions::default())?;
        self.compute(move |_| Ok(request.evaluate(&Definitions::default(), Names::Program)?))
            .await
    }

    /// Solves for the `?` in an event.
    ///
    /// # Errors
    ///
    /// No value meets the target.
    pub async fn calibrate(
        &self,
        _: &Caller,
        request: CalibrateRequest,
    ) -> Result<Calibrated, Problem> {
        bounded_template(&request.expression, &Definitions::default())?;
        self.compute(move |_| Ok(request.evaluate(&Definitions::default(), Names::Program)?))
            .await
    }

    /// The divergence of two distributions.
    ///
    /// # Errors
    ///
    /// The lists are not distributions over the same outcomes.
    pub async fn divergence(
        &self,
        _: &Caller,
        request: DivergenceRequest,
    ) -> Result<Divergence, Problem> {
        if request.p.len().max(request.q.len()) > LONGEST_LIST {
            return Err(Problem::too_costly(&format!(
                "over HTTP a distribution may have at most {LONGEST_LIST} characters"
            )));
        }
        self.compute(move |_| Ok(request.evaluate(Names::Program)?))
            .await
    }
}
