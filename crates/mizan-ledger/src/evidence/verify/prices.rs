//! Recomputes the costs of events: a charge must be at least the cost of its event.

use std::collections::HashMap;

use mizan_core::PrivacyEvent;

use super::VerifyError;
use crate::money::{ClockPrice, Cost, DeltaAmount, Neighbours, Orders, without_failures};
use crate::state::{Charge, LedgerView, State, chain};

/// The number of events whose costs are cached; most logs have few different ones.
const MAX_REMEMBERED: usize = 100_000;

/// A cache of the costs of events.
#[derive(Debug, Default)]
pub(super) struct Prices(HashMap<String, Vec<Price>>);

#[derive(Debug)]
struct Price {
    orders: Orders,
    tail: DeltaAmount,
    cost: Cost,
    neighbours: Option<Neighbours>,
}

impl Prices {
    /// Compares a charge with its event.
    pub(super) fn check(
        &mut self,
        state: &State,
        position: u64,
        charge: &Charge,
    ) -> Result<(), VerifyError> {
        // The replay refuses charges to accounts that do not exist.
        let Some(account) = state.account(charge.account) else {
            return Ok(());
        };
        let orders = account.orders();
        let stored = charge.cost.price();
        let tail = stored.map_or(DeltaAmount::ZERO, ClockPrice::tail);
        let known = self.0.get(&charge.event);
        let same = |price: &&Price| price.orders == *orders && price.tail == tail;
        let known = known.and_then(|prices| prices.iter().find(same));
        if let Some(price) = known {
            price.check(position, charge)?;
            return conditional(state, position, charge);
        }
        let price = Price::of(position, charge, orders, tail)?;
        price.check(position, charge)?;
        conditional(state, position, charge)?;
        if self.0.len() >= MAX_REMEMBERED {
            self.0.clear();
        }
        self.0.entry(charge.event.clone()).or_default().push(price);
        Ok(())
    }
}

/// Computes the conditional prices of a charge again.
fn conditional(state: &State, position: u64, charge: &Charge) -> Result<(), VerifyError> {
    if charge.conditional.is_empty() {
        return Ok(());
    }
    let underpriced = || VerifyError::Underpriced {
        position,
        event: charge.event.clone(),
        order: None,
    };
    let event = charge.event.parse().map_err(|_| underpriced())?;
    let (event, _) = without_failures(&event).map_err(|_| underpriced())?;
    let chain = chain(state, charge.account).map_err(|_| underpriced())?;
    let mut pairs = charge.conditional.iter().zip(chain);
    let covered =
        pairs.all(|(price, account)| price.is_none_or(|price| price.covers(&event, account)));
    covered.then_some(()).ok_or_else(underpriced)
}

impl Price {
    fn of(
        position: u64,
        charge: &Charge,
        orders: &Orders,
        tail: DeltaAmount,
    ) -> Result<Self, VerifyError> {
        let no_price = |reason: String| VerifyError::NoPrice {
            position,
            event: charge.event.clone(),
            reason,
        };
        let event = charge.event.parse::<PrivacyEvent>();
        let event = event.map_err(|error| no_price(error.to_string()))?;
        Ok(Self {
            orders: orders.clone(),
            tail,
            cost: Cost::priced(&event, orders, Some(tail))
                .map_err(|error| no_price(error.to_string()))?,
            neighbours: Neighbours::of(&event),
        })
    }

    fn check(&self, position: u64, charge: &Charge) -> Result<(), VerifyError> {
        let event = || charge.event.clone();
        if self.neighbours != charge.neighbours {
            return Err(VerifyError::NoPrice {
                position,
                event: event(),
                reason: "it is about other neighbours".to_owned(),
            });
        }
        let on_clock = match (charge.cost.price(), self.cost.price()) {
            // No price exhausts a clock, which is never too little.
            (None, _) => true,
            (Some(stored), Some(certified)) => stored.covers(certified),
            (Some(_), None) => false,
        };
        if on_clock && self.cost.is_within(&charge.cost) {
            return Ok(());
        }
        let pairs = self.cost.amounts().iter().zip(charge.cost.amounts());
        let mut above = pairs.zip(self.orders.iter()).filter(|((p, c), _)| p > c);
        Err(VerifyError::Underpriced {
            position,
            event: event(),
            order: above.next().map(|(_, order)| order),
        })
    }
}
