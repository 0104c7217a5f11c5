//! The neighbouring relation of a guarantee.
//!
//! Poisson sampling has a guarantee for add-or-remove neighbours; samples of fixed size and
//! shuffling have one for replace neighbours. A composition of the two is a guarantee for
//! neither. Most other events hold for the relation that their sensitivity was computed for. So
//! the first charge that depends on a relation fixes it, for its account and all ancestors.

use mizan_accounting::{Reason, RenyiCurve};
use mizan_core::PrivacyEvent;

/// How neighbouring datasets differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Neighbours {
    /// One of them lacks a privacy unit.
    AddOrRemove,
    /// One privacy unit has other rows.
    Replace,
}

impl Neighbours {
    /// The relation that an event depends on; None if it holds for either.
    ///
    /// ```
    /// use mizan_ledger::money::Neighbours;
    /// let of = |text: &str| Neighbours::of(&text.parse().unwrap());
    /// assert_eq!(of("pure(1) + poisson(0.1, gaussian(2))"), Some(Neighbours::AddOrRemove));
    /// assert_eq!(of("without-replacement(9, 3, laplace(2))"), Some(Neighbours::Replace));
    /// assert_eq!(of("gaussian(2)"), None);
    /// ```
    #[must_use]
    pub fn of(event: &PrivacyEvent) -> Option<Self> {
        let mut waiting = vec![event];
        while let Some(event) = waiting.pop() {
            match event {
                PrivacyEvent::Poisson { .. } => return Some(Self::AddOrRemove),
                PrivacyEvent::WithoutReplacement(_) | PrivacyEvent::Shuffle { .. } => {
                    return Some(Self::Replace);
                }
                PrivacyEvent::Finite(_) if !goes_with_replacement(event) => {
                    return Some(Self::AddOrRemove);
                }
                _ => waiting.extend(event.children()),
            }
        }
        None
    }
}

/// Whether an event composes with replace neighbours. The accountant knows: a dominating pair must
/// be symmetric.
fn goes_with_replacement(event: &PrivacyEvent) -> bool {
    let Ok(probe) = "without-replacement(2, 1, pure(0))".parse() else {
        return false;
    };
    let both = PrivacyEvent::Compose(vec![event.clone(), probe]);
    !RenyiCurve::of(&both).is_err_and(|error| error.reason() == Reason::MixedNeighbours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_is_not_the_same_both_ways_is_about_one_person_more() {
        let of = |text: &str| Neighbours::of(&text.parse().unwrap());
        assert_eq!(of("finite(0.25:0.75, 0.75:0.25)"), None);
        let lopsided = "2 * finite(0.1:0.75, 0.9:0.25)";
        assert_eq!(of(lopsided), Some(Neighbours::AddOrRemove));
    }
}
