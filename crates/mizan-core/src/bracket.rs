//! A certified result: two values with the exact one between them.

use crate::{Epsilon, Interval};

/// A lower and an upper bound of the same exact quantity, both proven.
///
/// What is published is the upper bound; the lower one tells how tight it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket<T> {
    /// At most the exact value.
    pub lower: T,
    /// At least the exact value.
    pub upper: T,
}

impl From<Interval> for Bracket<Epsilon> {
    fn from(interval: Interval) -> Self {
        Self {
            lower: if interval.lower().is_nan() {
                Epsilon::ZERO
            } else {
                Epsilon::saturating(interval.lower())
            },
            upper: Epsilon::saturating(interval.upper()),
        }
    }
}
