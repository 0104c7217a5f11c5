//! Recomputes the costs of events: a charge must be at least the cost of its event.

use std::collections::HashMap;

use mizan_core::PrivacyEvent;

use super::VerifyError;
use crate::money::{Cost, Neighbours, Orders};
use crate::state::{Charge, LedgerView, State};

/// The number of events whose costs are cached; most logs have few different ones.
const MAX_REMEMBERED: usize = 100_000;

/// A cache of the costs of events.
#[derive(Debug, Default)]
pub(super) struct Prices(HashMap<String, Vec<Price>>);

#[derive(Debug)]
struct Price {
    orders: Orders,
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
        let known = self.0.get(&charge.event);
        let known = known.and_then(|prices| prices.iter().find(|p| p.orders == *orders));
        if let Some(price) = known {
            return price.check(position, charge);
        }
        let price = Price::of(position, charge, orders)?;
        price.check(position, charge)?;
        if self.0.len() >= MAX_REMEMBERED {
            self.0.clear();
        }
        self.0.entry(charge.event.clone()).or_default().push(price);
        Ok(())
    }
}

impl Price {
    fn of(position: u64, charge: &Charge, orders: &Orders) -> Result<Self, VerifyError> {
        let no_price = |reason: String| VerifyError::NoPrice {
            position,
            event: charge.event.clone(),
            reason,
        };
        let event = charge.event.parse::<PrivacyEvent>();
        let event = event.map_err(|error| no_price(error.to_string()))?;
        Ok(Self {
            orders: orders.clone(),
            cost: Cost::of(&event, orders).map_err(|error| no_price(error.to_string()))?,
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
