//! Which inputs a guarantee compares. Poisson samples promise something about a
//! person added or removed, samples of fixed size and shuffles about a person
//! replaced; a sum of the two is a promise about neither. Most events are about
//! whichever neighbours their sensitivity was taken for. So the first charge
//! that is particular settles it, for its account and all above it.

use mizan_accounting::{Reason, RenyiCurve};
use mizan_core::PrivacyEvent;

/// How neighbouring inputs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Neighbours {
    /// One of them has a person more.
    AddOrRemove,
    /// One person has other data.
    Replace,
}

impl Neighbours {
    /// The neighbours that an event insists on; None if it is about any.
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

/// Asks the accountant, which knows whether a pair is the same both ways.
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
