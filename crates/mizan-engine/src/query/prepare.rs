//! The noise plan and the charge of a query, and the digest that identifies it.

use std::sync::Arc;

use mizan_core::{Delta, Epsilon};
use mizan_ledger::{Account, AccountName, AccountView, Charge, Target as AccountTarget};
use mizan_sql::{BoundedPlan, Groups};

use super::ids::MAX_RELEASE_BYTES;
use super::price_cache::Priced;
use super::{Prepared, QueryError, QueryService, SpendTarget, delta_of, reserved};
use crate::engine::Engine;
use crate::release::{self, AccountClock, NoiseTarget, ReleaseError, Request};

/// The default cost is the account's epsilon divided by this.
const USUAL_SHARE: f64 = 10.0;

/// What identifies a query beside its data: what was requested, not what was left of the
/// account. For a query with the default share of the reserved delta this is the plan and the
/// noise plan with the first share. Stored answers of earlier versions, which always took the
/// first share, are identified by the same digest.
#[derive(Clone, Debug)]
pub(super) struct QueryIdentity {
    pub(super) plan: [u8; 32],
    pub(super) noise: Vec<u8>,
    /// Whether the analyst chose the share of the reserved delta.
    pub(super) chosen: bool,
}

impl Prepared {
    /// Whether the share of the reserved delta depends on what is left.
    pub(super) fn takes_usual_share(&self) -> bool {
        matches!(self.plan.groups, Groups::Private) && !self.identity.chosen
    }
}

impl<E: Engine> QueryService<'_, E> {
    pub(super) fn prepared(
        &self,
        plan: &BoundedPlan,
        spend_target: SpendTarget,
        key: Option<String>,
    ) -> Result<Prepared, QueryError> {
        let name = self.account_of(plan)?;
        let account = AccountName::new(&name)?;
        let view = self.ledger.account_named(&account)?;
        let view = view.ok_or(QueryError::NoAccount { account: name })?;
        let first = reserved::first(&view.account);
        let private = matches!(plan.groups, Groups::Private);
        // Public groups take no share, and an account may have no reserved delta.
        let chosen = self
            .threshold_delta
            .filter(|_| private && first.get() > 0.0);
        let chosen = chosen.map(|delta| reserved::chosen(delta, plan.groups_per_unit));
        let mut request = Request {
            target: target(spend_target, &view.account)?,
            delta: delta_of(view.account.first_budget()),
            threshold_delta: chosen.unwrap_or(first),
            clock: clock_of(&view.account),
            on_clock: chain(&view).any(|account| account.budget().clock().is_some()),
        };
        let mut priced = self.priced(plan, &request, &view, key.as_deref())?;
        let identity = QueryIdentity {
            plan: priced.plan.digest(),
            noise: priced.noise_plan.bytes(),
            chosen: chosen.is_some(),
        };
        let usual = reserved::usual(&view);
        if private && chosen.is_none() && usual != first {
            request.threshold_delta = usual;
            priced = self.priced(plan, &request, &view, key.as_deref())?;
        }
        Ok(Prepared {
            plan: priced.plan.clone(),
            noise_plan: priced.noise_plan.clone(),
            charge: priced.charge.clone(),
            view,
            request,
            identity,
            key,
        })
    }

    /// The same query with another share of the reserved delta.
    pub(super) fn with_share(
        &self,
        prepared: &Prepared,
        share: Delta,
    ) -> Result<Prepared, QueryError> {
        let request = Request {
            threshold_delta: share,
            ..prepared.request
        };
        let key = prepared.key.as_deref();
        let priced = self.priced(&prepared.plan, &request, &prepared.view, key)?;
        Ok(Prepared {
            noise_plan: priced.noise_plan.clone(),
            charge: priced.charge.clone(),
            request,
            ..prepared.clone()
        })
    }

    /// The noise plan and the charge of a plan, from the cache if there is one.
    fn priced(
        &self,
        plan: &BoundedPlan,
        request: &Request,
        view: &AccountView,
        key: Option<&str>,
    ) -> Result<Arc<Priced>, QueryError> {
        let (Some((price_cache, _)), Some(key)) = (&self.price_cache, key) else {
            return Ok(Arc::new(priced(plan.clone(), request, view)?));
        };
        // Everything but the plan that the price depends on.
        let key = format!("{} {request:?}\n{key}", view.account.number());
        if let Some(priced) = price_cache.priced(&key) {
            return Ok(priced);
        }
        let priced = Arc::new(priced(plan.clone(), request, view)?);
        price_cache.keep_priced(key, &priced);
        Ok(priced)
    }

    fn account_of(&self, plan: &BoundedPlan) -> Result<String, QueryError> {
        let mut datasets = plan.datasets.iter();
        let dataset = datasets
            .next()
            .and_then(|name| self.catalogue.datasets.get(name));
        let privacy = dataset.and_then(|dataset| dataset.privacy.as_ref());
        let privacy = privacy.ok_or(QueryError::NoDataset)?;
        Ok(privacy.account.clone())
    }
}

/// The accounts that are charged.
fn chain(view: &AccountView) -> impl Iterator<Item = &Account> {
    std::iter::once(&view.account).chain(&view.above)
}

/// The Gaussian clock of an account; None if it has none. It is the one that the account was created
/// with: the noise depends on it, and after a raise the same query must have the same noise, or it
/// would be charged a second time.
fn clock_of(account: &Account) -> Option<AccountClock> {
    let budget = account.first_budget();
    let AccountTarget::Approximate { epsilon, .. } = budget.target() else {
        return None;
    };
    let variance = budget.clock()?.limit;
    Some(AccountClock { epsilon, variance })
}

/// The noise plan and its charge. Of the account only the orders matter, which never change.
fn priced(plan: BoundedPlan, request: &Request, view: &AccountView) -> Result<Priced, QueryError> {
    let noise_plan = release::choose(&plan, request)?;
    // What the ledger could not store is refused before its charge where the plan tells.
    if noise_plan.bytes_bound(&plan.groups) > MAX_RELEASE_BYTES {
        return Err(ReleaseError::TooLarge.into());
    }
    let charge = Charge::to(&noise_plan.event(), &view.account, view.above.iter())?;
    Ok(Priced {
        plan: noise_plan.apply_to(plan),
        noise_plan,
        charge,
    })
}

fn target(spend_target: SpendTarget, account: &Account) -> Result<NoiseTarget, QueryError> {
    let promised = match account.budget().target() {
        AccountTarget::Approximate { epsilon, .. } | AccountTarget::Pure { epsilon } => {
            Some(epsilon)
        }
        AccountTarget::ZeroConcentrated { .. } | AccountTarget::Curve => None,
    };
    match spend_target {
        SpendTarget::Epsilon(epsilon) => Ok(NoiseTarget::Epsilon(epsilon)),
        SpendTarget::Accuracy(width) => Ok(NoiseTarget::Accuracy(width)),
        SpendTarget::DefaultShare => {
            let promised = promised.ok_or(QueryError::NoUsual)?;
            let part = Epsilon::new(promised.get() / USUAL_SHARE);
            part.map(NoiseTarget::Epsilon)
                .map_err(|_| QueryError::NoUsual)
        }
    }
}
