//! The Gaussian clock: variance that is left of a budget, and what an event takes from it.
//!
//! A Gaussian mechanism of sensitivity Δ takes Δ²/σ². Other mechanisms take what they need on
//! top of the variance that is left after them, so a price depends on that remainder: it falls
//! as the remainder grows. Prices are stored at fixed remainders (half of the one before, and
//! 0), as steps. `budget.rs` has the proof.

use std::fmt;

use mizan_accounting::clock::{Price, REMAINDERS, is_amplified, plan_price};
use mizan_core::PrivacyEvent;

use crate::money::{DeltaAmount, Scale, Weight};

/// Units of 1e-15 in one.
const FEMTO: u64 = 1_000_000_000_000_000;

/// An amount of variance on the clock, in units of 1e-15.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variance(u64);

impl Variance {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// More than any limit: a total that contains it stays above every limit.
    pub const EXHAUSTED: Self = Self(u64::MAX);

    /// `femto` units of 1e-15.
    #[must_use]
    pub const fn from_femto(femto: u64) -> Self {
        Self(femto)
    }

    /// The number of units of 1e-15.
    #[must_use]
    pub const fn femto(self) -> u64 {
        self.0
    }

    /// The sum. Exhausted plus anything is exhausted.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, at least nothing.
    pub(crate) const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Variance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::EXHAUSTED {
            return f.write_str("inf");
        }
        let digits = format!("{}.{:015}", self.0 / FEMTO, self.0 % FEMTO);
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// The clock of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Its part of δ.
    pub weight: Weight,
    /// The largest variance whose Gaussian mechanism has at most that δ, rounded down.
    pub limit: Variance,
}

/// What an event takes from the clock, by the variance that is left after it.
///
/// ```
/// use mizan_ledger::money::{ClockPrice, Variance};
/// // 5 if at least 2^-18 is left after it, 9 at any remainder.
/// let at = |place| Some(if place < 23 { 5 } else { 9 });
/// let price = ClockPrice::new((0..24).map(at)).unwrap();
/// let taken = |left| price.taken(Variance::from_femto(left)).map(Variance::femto);
/// assert_eq!(taken(1_000_000_000_000), Some(5));
/// assert_eq!((taken(1_000), taken(9), taken(8)), (Some(9), Some(9), None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockPrice {
    steps: Box<[Step]>,
    tail: DeltaAmount,
}

/// A price and the last of [`REMAINDERS`] at which it is enough. Both grow from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) last: u8,
    pub(crate) price: u64,
}

impl Step {
    /// The least variance that must be left after a charge at this price.
    fn remainder(self) -> u64 {
        let remainder = REMAINDERS.get(usize::from(self.last));
        remainder.copied().unwrap_or(u64::MAX)
    }
}

impl ClockPrice {
    /// The prices at the stored remainders, from the largest remainder; None if there is none.
    ///
    /// A price at a remainder is also one at every larger remainder.
    pub fn new(prices: impl IntoIterator<Item = Option<u64>>) -> Option<Self> {
        let prices = (0_u8..).zip(prices).take(REMAINDERS.len());
        let priced = prices.filter_map(|(last, price)| {
            Some(Step {
                last,
                price: price?,
            })
        });
        Self::of_steps(priced.collect())
    }

    /// The same price with a part of δ that it needs besides.
    #[must_use]
    pub fn with_tail(self, tail: DeltaAmount) -> Self {
        Self { tail, ..self }
    }

    /// The price of an event; None if it has none.
    ///
    /// A mechanism with unbounded loss on a sample has a useful price only if a part of δ pays for
    /// its tail: at most `tail`, which is counted as reserved delta.
    pub(crate) fn of(event: &PrivacyEvent, tail: DeltaAmount) -> Option<Self> {
        let whole = Price::of(event).ok();
        let plan = Self::plan(event, tail);
        let at = |price: &Option<Price>, place: usize| price.as_ref()?.at().get(place).copied()?;
        let least = |place| {
            let both = [at(&plan, place), at(&whole, place)];
            both.into_iter().flatten().min()
        };
        let price = Self::new((0..REMAINDERS.len()).map(least))?;
        Some(price.with_tail(plan.map_or(DeltaAmount::ZERO, |_| tail)))
    }

    /// The price of a plan with mechanisms on samples. It has none where little is left.
    fn plan(event: &PrivacyEvent, tail: DeltaAmount) -> Option<Price> {
        if tail == DeltaAmount::ZERO || !is_amplified(event) {
            return None;
        }
        Some(plan_price(event, tail.delta_down()?).ok()?.price)
    }

    /// The part of δ that the price needs besides the variance.
    #[must_use]
    pub const fn tail(&self) -> DeltaAmount {
        self.tail
    }

    /// Leaves out every step that a later one makes superfluous.
    fn of_steps(steps: Vec<Step>) -> Option<Self> {
        let mut kept: Vec<Step> = Vec::with_capacity(steps.len());
        let mut least = u64::MAX;
        for step in steps.into_iter().rev().filter(|step| step.price < u64::MAX) {
            if step.price < least {
                least = step.price;
                kept.push(step);
            }
        }
        kept.reverse();
        (!kept.is_empty()).then(|| Self {
            steps: kept.into(),
            tail: DeltaAmount::ZERO,
        })
    }

    /// The stored form.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The prices from the largest remainder on, each with the least variance that must be left
    /// after the charge.
    pub fn by_remainder(&self) -> impl Iterator<Item = (Variance, Variance)> + '_ {
        let pair = |step: &Step| (Variance(step.remainder()), Variance(step.price));
        self.steps.iter().map(pair)
    }

    /// A price from its stored form; None if it is not canonical.
    pub(crate) fn stored(steps: Vec<Step>, tail: DeltaAmount) -> Option<Self> {
        let ordered = steps.is_sorted_by(|one, next| one.last < next.last);
        let last = steps.last()?.last;
        let price = Self::of_steps(steps.clone())?;
        let canonical = ordered && usize::from(last) < REMAINDERS.len() && *price.steps == *steps;
        canonical.then(|| price.with_tail(tail))
    }

    /// What a charge takes if so much is left before it; None if it does not fit.
    #[must_use]
    pub fn taken(&self, left: Variance) -> Option<Variance> {
        let fits = |step: &&Step| step.price.saturating_add(step.remainder()) <= left.0;
        self.steps
            .iter()
            .find(fits)
            .map(|step| Variance(step.price))
    }

    /// The remainder down to which `taken` pays for a charge; exhausted if it does nowhere.
    #[must_use]
    pub fn remainder(&self, taken: Variance) -> Variance {
        let step = self.steps.iter().find(|step| step.price == taken.0);
        step.map_or(Variance::EXHAUSTED, |step| Variance(step.remainder()))
    }

    /// The price at the largest remainder: no charge takes less.
    #[must_use]
    pub fn least(&self) -> Variance {
        self.steps
            .first()
            .map_or(Variance::EXHAUSTED, |step| Variance(step.price))
    }

    /// The least that must be left before a charge for it to fit.
    #[must_use]
    pub fn least_left(&self) -> Variance {
        let needed = |step: &Step| step.price.saturating_add(step.remainder());
        let least = self.steps.iter().map(needed).min();
        Variance(least.unwrap_or(u64::MAX))
    }

    /// The price, if it is the same at every remainder.
    #[must_use]
    pub fn constant(&self) -> Option<Variance> {
        match &*self.steps {
            [only] if only.remainder() == 0 => Some(Variance(only.price)),
            _ => None,
        }
    }

    /// How many charges fit, one after the other.
    pub(crate) fn how_many(&self, left: Variance) -> u64 {
        let (mut left, mut count) = (left.0, 0_u64);
        for step in &self.steps {
            let Some(room) = left.checked_sub(step.remainder()) else {
                continue;
            };
            let Some(times) = room.checked_div(step.price) else {
                return u64::MAX;
            };
            left -= times * step.price;
            count = count.saturating_add(times);
        }
        count
    }

    /// The largest fraction of the price that fits.
    pub(crate) fn largest(&self, left: Variance) -> Scale {
        let fraction = |step: &Step| {
            let room = left.0.checked_sub(step.remainder())?;
            Some(Scale::fitting(step.price, room))
        };
        self.steps
            .iter()
            .filter_map(fraction)
            .max()
            .unwrap_or(Scale::ZERO)
    }

    /// What a charge takes at any remainder; exhausted if it has no price with nothing left.
    #[must_use]
    pub fn anywhere(&self) -> Variance {
        match self.steps.last() {
            Some(step) if step.remainder() == 0 => Variance(step.price),
            _ => Variance::EXHAUSTED,
        }
    }

    /// This fraction of the price, rounded up.
    pub(crate) fn scaled(&self, scale: Scale) -> Option<Self> {
        let scaled = |step: &Step| Step {
            price: scale.of(step.price),
            ..*step
        };
        let price = Self::of_steps(self.steps.iter().map(scaled).collect())?;
        Some(price.with_tail(DeltaAmount::from_atto(scale.of(self.tail.atto()))))
    }

    /// Whether this price is at least the other at every remainder.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let enough = |step: &Step| {
            let there = other.steps.iter().find(|other| other.last >= step.last);
            there.is_some_and(|other| other.price <= step.price)
        };
        self.tail >= other.tail && self.steps.iter().all(enough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn price() -> impl Strategy<Value = ClockPrice> {
        let prices = proptest::collection::vec(proptest::option::of(0..1_u64 << 50), 1..24);
        prices.prop_filter_map("no price", ClockPrice::new)
    }

    #[test]
    fn remainders_are_halved_and_end_at_zero() {
        assert_eq!((REMAINDERS[0], REMAINDERS[4]), (16 * FEMTO, FEMTO));
        assert!(REMAINDERS.is_sorted_by(|a, b| a > b));
        assert_eq!((REMAINDERS[22], REMAINDERS[23]), (FEMTO >> 18, 0));
        assert_eq!(Variance(54_293_000_000_000).to_string(), "0.054293");
    }

    #[test]
    fn a_constant_price_is_one_step() {
        let price = ClockPrice::new([Some(7); 24]).unwrap();
        assert_eq!(price.constant(), Some(Variance(7)));
        assert_eq!(price.steps().len(), 1);
        assert_eq!(price.how_many(Variance(22)), 3);
        assert_eq!(ClockPrice::new([None; 24]), None);
        assert_eq!(ClockPrice::new([Some(u64::MAX); 24]), None);
    }

    proptest! {
        #[test]
        fn a_price_falls_with_the_remainder(price in price(), a: u64, b: u64) {
            let (less, more) = (Variance(a.min(b)), Variance(a.max(b)));
            if let Some(taken) = price.taken(less) {
                prop_assert!(price.taken(more).is_some_and(|cheaper| cheaper <= taken));
                prop_assert!(taken >= price.least() && taken <= less);
            }
            let least = price.least_left();
            for left in [less, more] {
                prop_assert_eq!(price.taken(left).is_some(), left >= least);
            }
            let stored = ClockPrice::stored(price.steps().to_vec(), DeltaAmount::ZERO);
            prop_assert_eq!(stored, Some(price.clone()));
            prop_assert!(price.covers(&price));
        }

        /// As charges one by one.
        #[test]
        fn so_many_fit(price in price(), left in 0..1_u64 << 52) {
            let (mut rest, mut count) = (left, 0);
            while count < 200 && let Some(taken) = price.taken(Variance(rest)) {
                rest -= taken.0;
                count += 1;
            }
            prop_assert_eq!(price.how_many(Variance(left)).min(200), count);
        }

        #[test]
        fn the_largest_that_fits(price in price(), left in 0..1_u64 << 52) {
            let (left, scale) = (Variance(left), price.largest(Variance(left)));
            let fits = |nano| {
                let scaled = price.scaled(Scale::from_nano(nano));
                scaled.is_some_and(|scaled| scaled.taken(left).is_some())
            };
            prop_assert!(scale == Scale::ZERO || fits(scale.nano()));
            prop_assert!(scale == Scale::ONE || !fits(scale.nano() + 1));
            prop_assert_eq!(scale == Scale::ONE, price.taken(left).is_some());
        }

        /// A smaller price is not covered by a larger one's steps, and the other way round.
        #[test]
        fn covering_is_at_every_remainder(a in price(), b in price()) {
            let at = |price: &ClockPrice, place: u8| {
                let step = price.steps.iter().find(|step| step.last >= place);
                step.map_or(u64::MAX, |step| step.price)
            };
            let all = (0..24).all(|place| at(&a, place) >= at(&b, place));
            prop_assert_eq!(a.covers(&b), all);
        }
    }
}
