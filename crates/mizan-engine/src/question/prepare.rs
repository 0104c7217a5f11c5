//! The noise plan and the charge of a query, and the digest that identifies it.

use std::sync::Arc;

use mizan_core::{Delta, Epsilon};
use mizan_ledger::{Account, AccountName, AccountView, Charge, Target as Promise};
use mizan_sql::{BoundedPlan, Groups};

use super::prices::Priced;
use super::{Desk, Prepared, QuestionError, Wish, reading_delta, reserved};
use crate::engine::Engine;
use crate::release::{self, Request, Target};

/// The default cost is the account's epsilon divided by this.
const USUAL_SHARE: f64 = 10.0;

/// What identifies a query beside its data: what was requested, not what was left of the
/// account. For a query with the default share of the reserved delta this is the plan and the
/// noise plan with the first share. Stored answers of earlier versions, which always took the
/// first share, are identified by the same digest.
#[derive(Clone, Debug)]
pub(super) struct Same {
    pub(super) plan: [u8; 32],
    pub(super) noise: Vec<u8>,
    /// Whether the analyst chose the share of the reserved delta.
    pub(super) chosen: bool,
}

impl Prepared {
    /// Whether the share of the reserved delta depends on what is left.
    pub(super) fn takes_usual_share(&self) -> bool {
        matches!(self.plan.groups, Groups::Private) && !self.same.chosen
    }
}

impl<E: Engine> Desk<'_, E> {
    pub(super) fn prepared(
        &self,
        plan: &BoundedPlan,
        wish: Wish,
        key: Option<String>,
    ) -> Result<Prepared, QuestionError> {
        let name = self.account_of(plan)?;
        let account = AccountName::new(&name)?;
        let view = self.ledger.account_named(&account)?;
        let view = view.ok_or(QuestionError::NoAccount { account: name })?;
        let first = reserved::first(&view.account);
        let private = matches!(plan.groups, Groups::Private);
        // Public groups take no share, and an account may have no reserved delta.
        let chosen = self
            .threshold_delta
            .filter(|_| private && first.get() > 0.0);
        let chosen = chosen.map(|delta| reserved::chosen(delta, plan.groups_per_unit));
        let mut request = Request {
            target: target(wish, &view.account)?,
            delta: reading_delta(&view.account),
            threshold_delta: chosen.unwrap_or(first),
        };
        let mut priced = self.priced(plan, &request, &view, key.as_deref())?;
        let same = Same {
            plan: priced.plan.digest(),
            noise: priced.recipe.bytes(),
            chosen: chosen.is_some(),
        };
        let usual = reserved::usual(&view);
        if private && chosen.is_none() && usual != first {
            request.threshold_delta = usual;
            priced = self.priced(plan, &request, &view, key.as_deref())?;
        }
        Ok(Prepared {
            plan: priced.plan.clone(),
            recipe: priced.recipe.clone(),
            charge: priced.charge.clone(),
            view,
            request,
            same,
            key,
        })
    }

    /// The same query with another share of the reserved delta.
    pub(super) fn with_share(
        &self,
        prepared: &Prepared,
        share: Delta,
    ) -> Result<Prepared, QuestionError> {
        let request = Request {
            threshold_delta: share,
            ..prepared.request
        };
        let key = prepared.key.as_deref();
        let priced = self.priced(&prepared.plan, &request, &prepared.view, key)?;
        Ok(Prepared {
            recipe: priced.recipe.clone(),
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
    ) -> Result<Arc<Priced>, QuestionError> {
        let (Some((prices, _)), Some(key)) = (&self.prices, key) else {
            return Ok(Arc::new(priced(plan.clone(), request, view)?));
        };
        // Everything but the plan that the price depends on.
        let key = format!("{} {request:?}\n{key}", view.account.number());
        if let Some(priced) = prices.priced(&key) {
            return Ok(priced);
        }
        let priced = Arc::new(priced(plan.clone(), request, view)?);
        prices.keep_priced(key, &priced);
        Ok(priced)
    }

    fn account_of(&self, plan: &BoundedPlan) -> Result<String, QuestionError> {
        let mut datasets = plan.datasets.iter();
        let dataset = datasets
            .next()
            .and_then(|name| self.catalogue.datasets.get(name));
        let privacy = dataset.and_then(|dataset| dataset.privacy.as_ref());
        let privacy = privacy.ok_or(QuestionError::NoDataset)?;
        Ok(privacy.account.clone())
    }
}

/// The noise plan and its charge. Of the account only the orders matter, which never change.
fn priced(
    plan: BoundedPlan,
    request: &Request,
    view: &AccountView,
) -> Result<Priced, QuestionError> {
    let recipe = release::choose(&plan, request)?;
    let charge = Charge::of(&recipe.event(), &view.account)?;
    Ok(Priced {
        plan: recipe.settle(plan),
        recipe,
        charge,
    })
}

fn target(wish: Wish, account: &Account) -> Result<Target, QuestionError> {
    let promised = match account.budget().target() {
        Promise::Approximate { epsilon, .. } | Promise::Pure { epsilon } => Some(epsilon),
        Promise::ZeroConcentrated { .. } | Promise::Curve => None,
    };
    match wish {
        Wish::Epsilon(epsilon) => Ok(Target::Epsilon(epsilon)),
        Wish::Accuracy(width) => Ok(Target::Accuracy(width)),
        Wish::Usual => {
            let promised = promised.ok_or(QuestionError::NoUsual)?;
            let part = Epsilon::new(promised.get() / USUAL_SHARE);
            part.map(Target::Epsilon)
                .map_err(|_| QuestionError::NoUsual)
        }
    }
}
