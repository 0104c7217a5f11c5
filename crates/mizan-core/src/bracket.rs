//! A certified result: a lower and an upper bound of one exact value.

use crate::{Epsilon, Interval};

/// A proven lower and upper bound of one exact value.
///
/// The upper bound is the guarantee; the lower bound shows how tight it is.
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
