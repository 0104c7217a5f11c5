//! How an account shares its δ between the orders it may end at.
//!
//! The order that still fits at the end depends on earlier answers, so every
//! order has its own part w(α) of δ, and the parts add up to at most one. A
//! part w costs ln(1/w)/(α-1) of ε at its order. So the order at which Gaussian
//! noise goes furthest, which most workloads end near, gets the largest part.
//! Above it α - 1 grows, so a small part costs little and the parts fall by
//! five from order to order; below they fall by two, and only the two or three
//! orders count whose limit is above zero at all. The middle order then has
//! about half of δ, which costs 2.5 % of ε at δ = 1e-6, where equal parts on 16
//! orders would cost 10 %. `tests/budgets.rs` measures what is left of targets
//! all in all: on average 92 % of the charges that the whole δ at the single
//! best order would admit. Denser orders or flatter parts leave less.

use std::fmt;

/// A part of δ in units of 1e-18. Whole numbers add up exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u64);

/// Units in one.
const ONE: u64 = 1_000_000_000_000_000_000;

impl Weight {
    /// None of it: the order cannot be ended at.
    pub const ZERO: Self = Self(0);
    /// All of it.
    pub const ONE: Self = Self(ONE);

    /// So many units of 1e-18.
    #[must_use]
    pub const fn from_atto(atto: u64) -> Self {
        Self(atto)
    }

    /// The number of units of 1e-18.
    #[must_use]
    pub const fn atto(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{}.{:018}", self.0 / ONE, self.0 % ONE);
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Whether the parts add up to at most the whole.
pub(crate) fn fit_into_one(weights: &[Weight]) -> bool {
    let sum: u128 = weights.iter().map(|weight| u128::from(weight.0)).sum();
    sum <= u128::from(ONE)
}

/// Shares between the candidates: most to `center`, by five less for each
/// candidate above, by two for each below. What rounding loses goes nowhere.
pub(crate) fn share(candidates: &[bool], center: usize) -> Vec<Weight> {
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
    let part = |raw: u128| (raw * u128::from(ONE)).checked_div(sum).unwrap_or(0);
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
        let weights = share(&[false, true, true, true, false, true], 2);
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
        ) {
            let weights = share(&candidates, center);
            prop_assert!(fit_into_one(&weights));
            prop_assert_eq!(weights.len(), candidates.len());
        }
    }
}
