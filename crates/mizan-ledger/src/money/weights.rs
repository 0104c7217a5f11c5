//! Weights: how an account divides its δ between the clock and its orders.
//!
//! Which order is within its limit at the end depends on earlier answers. So every order α has
//! its own weight w(α), and the weights add up to at most one. A weight w costs ln(1/w)/(α-1) of
//! ε at its order. The order that admits the most Gaussian noise, near which most workloads end,
//! gets the largest weight. Above it α - 1 grows, so a small weight costs little: weights fall
//! by a factor of five from order to order. Below it they fall by a factor of two, and only two
//! or three orders have a limit above zero. The middle order gets about half of δ, which costs
//! 2.5 % of ε at δ = 1e-6; equal weights on 16 orders would cost 10 %. `tests/budgets.rs`
//! measures the result: on average 92 % of the charges that the whole δ at the single best order
//! would admit. Denser orders or flatter weights admit fewer.

use std::fmt;

/// A part of δ in units of 1e-18. Integers add up exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u64);

/// Units in one.
const ONE: u64 = 1_000_000_000_000_000_000;

impl Weight {
    /// No part: the order has no limit.
    pub const ZERO: Self = Self(0);
    /// All of δ.
    pub const ONE: Self = Self(ONE);

    /// A weight of `atto` units of 1e-18.
    #[must_use]
    pub const fn from_atto(atto: u64) -> Self {
        Self(atto)
    }

    /// The number of units of 1e-18.
    #[must_use]
    pub const fn atto(self) -> u64 {
        self.0
    }

    /// What is left of δ; None if this is more than all of it.
    pub(crate) const fn complement(self) -> Option<Self> {
        match ONE.checked_sub(self.0) {
            Some(rest) => Some(Self(rest)),
            None => None,
        }
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{}.{:018}", self.0 / ONE, self.0 % ONE);
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Whether the weights add up to at most one.
pub(crate) fn fit_into_one(weights: impl IntoIterator<Item = Weight>) -> bool {
    let sum: u128 = weights.into_iter().map(|weight| u128::from(weight.0)).sum();
    sum <= u128::from(ONE)
}

/// Divides a part of δ between the candidates: most to `center`, a fifth of the one before for each
/// candidate above, half for each below. What rounding loses is not used.
pub(crate) fn share(all: Weight, candidates: &[bool], center: usize) -> Vec<Weight> {
    let raw = |index: usize| {
        let between = index.min(center)..index.max(center);
        let steps = candidates.get(between).unwrap_or(&[]);
        let steps = steps.iter().filter(|&&candidate| candidate).count();
        let fall: u128 = if index > center { 5 } else { 2 };
        let fall = u32::try_from(steps).ok().and_then(|s| fall.checked_pow(s));
        fall.and_then(|fall| u128::from(ONE).checked_div(fall))
            .unwrap_or(0)
    };
    let raw: Vec<u128> = candidates
        .iter()
        .enumerate()
        .map(|(index, &candidate)| if candidate { raw(index) } else { 0 })
        .collect();
    let sum: u128 = raw.iter().sum();
    let part = |raw: u128| (raw * u128::from(all.0)).checked_div(sum).unwrap_or(0);
    raw.into_iter()
        .map(|raw| Weight(u64::try_from(part(raw)).unwrap_or(0)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_middle_gets_most() {
        let weights = share(Weight::ONE, &[false, true, true, true, false, true], 2);
        // 1/2, 1, 1/5 and 1/25 of their sum 87/50.
        let expected = [0.0, 25.0 / 87.0, 50.0 / 87.0, 10.0 / 87.0, 0.0, 2.0 / 87.0];
        for (weight, expected) in weights.iter().zip(expected) {
            assert!((weight.atto() as f64 * 1e-18 - expected).abs() < 1e-15);
        }
        assert_eq!(Weight::from_atto(ONE / 4).to_string(), "0.25");
    }

    proptest! {
        #[test]
        fn never_more_than_one(
            candidates in proptest::collection::vec(any::<bool>(), 0..64),
            center in 0_usize..64,
            clock in 0..=ONE,
        ) {
            let rest = Weight(clock).complement().unwrap();
            let weights = share(rest, &candidates, center);
            prop_assert!(fit_into_one(weights.iter().copied().chain([Weight(clock)])));
            prop_assert_eq!(weights.len(), candidates.len());
        }
    }
}
