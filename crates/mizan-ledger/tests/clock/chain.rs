//! A ledger in memory, for the tests of the clock.

use mizan_ledger::log::LedgerId;
use mizan_ledger::money::{Amount, ClockPrice, Weight};
use mizan_ledger::state::{Executed, LedgerView, Request, State};
use mizan_ledger::*;

use crate::common::{self, delta, epsilon, orders};

/// Some order at which a budget of (1, 1e-6) has a limit, and ∞.
pub(super) fn grid() -> Orders {
    orders(&[33.0, f64::INFINITY])
}

pub(super) fn budget(e: f64, clock: Weight) -> Budget {
    Budget::approximate(epsilon(e), delta(1e-6), DeltaAmount::ZERO, clock, &grid()).unwrap()
}

/// What only the clock can admit.
pub(super) fn cost(price: ClockPrice) -> Cost {
    Cost::new([Amount::EXHAUSTED; 2], DeltaAmount::ZERO).with_price(Some(price))
}

/// What only an order can admit.
pub(super) fn unpriced(pico: u64) -> Cost {
    Cost::new(
        [Amount::from_pico(pico), Amount::EXHAUSTED],
        DeltaAmount::ZERO,
    )
}

/// A ledger in memory with accounts, each below the one before.
pub(super) struct Chain {
    pub(super) state: State,
    pub(super) log: Vec<Entry>,
    pub(super) orders: Orders,
    /// The next id of a charge of an event.
    pub(super) number: u64,
}

impl Chain {
    pub(super) fn new(budgets: &[Budget]) -> Self {
        Self::of(&grid(), budgets)
    }

    pub(super) fn of(orders: &Orders, budgets: &[Budget]) -> Self {
        let mut chain = Self {
            state: State::new(),
            log: Vec::new(),
            orders: orders.clone(),
            number: 0,
        };
        let ledger = LedgerId::from_bytes([1; 16]);
        chain.run(900, &Request::Open { ledger });
        for (number, budget) in (0..).zip(budgets) {
            let create = Request::Create {
                name: AccountName::new(&format!("account {number}")).unwrap(),
                parent: u32::checked_sub(number, 1).map(AccountNumber::new),
                orders: orders.clone(),
                budget: budget.clone(),
            };
            chain.run(901 + u64::from(number), &create);
        }
        chain
    }

    pub(super) fn run(&mut self, number: u64, request: &Request) -> Outcome {
        let executed = self.state.execute(7, common::id(number), request).unwrap();
        let outcome = executed.outcome();
        if let Executed::Appended { entry, .. } = executed {
            self.log.push(entry);
        }
        // The bytes of the log lead to the same state.
        let mut replayed = State::new();
        for entry in &self.log {
            let entry = Entry::decode(&entry.encode()).unwrap();
            replayed.apply(&entry).unwrap();
        }
        assert_eq!(replayed, self.state);
        outcome
    }

    pub(super) fn reserve(&mut self, number: u64, account: u32, cost: &Cost) -> Outcome {
        self.run(
            number,
            &Request::Reserve(common::charge(account, cost.clone())),
        )
    }

    pub(super) fn account(&self, number: u32) -> &Account {
        self.state.account(AccountNumber::new(number)).unwrap()
    }

    /// What was taken from the clock of an account.
    pub(super) fn taken(&self, number: u32) -> u64 {
        self.account(number).taken().clock().femto()
    }

    /// What the last reservation took from each clock.
    pub(super) fn last(&self) -> Vec<u64> {
        match &self.log.last().unwrap().body {
            Body::Reserved { clock, .. } => clock.iter().map(|taken| taken.femto()).collect(),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn raise(&mut self, number: u64, account: u32, e: f64) {
        let target = Target::Approximate {
            epsilon: epsilon(e),
            delta: delta(1e-6),
        };
        let before = self.account(account).budget().clone();
        let raised = before.raised(target, before.reserved_delta(), &self.orders);
        let request = Request::Raise {
            account: AccountNumber::new(account),
            budget: raised.unwrap(),
        };
        self.run(number, &request);
    }
}

pub(super) const DENIED: fn(&Outcome) -> bool = |outcome| matches!(outcome, Outcome::Denied(_));
