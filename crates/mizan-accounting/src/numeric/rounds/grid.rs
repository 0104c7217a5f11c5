//! The lattice of losses: multiples of a step, between two ends.

use mizan_core::Interval;

/// The losses bottom h, ..., top h.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    h: f64,
    bottom: i64,
    top: i64,
}

impl Grid {
    /// Steps of `h` that cover [-low, high].
    pub(crate) fn covering(low: f64, high: f64, h: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates, and few cells are asked for"
        )]
        let cell = |x: f64| (x / h).ceil() as i64 + 1;
        Self {
            h,
            bottom: -cell(low),
            top: cell(high),
        }
    }

    pub(crate) fn h(&self) -> Interval {
        Interval::from(self.h)
    }

    /// How many losses there are.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.top - self.bottom + 1).unwrap_or(0)
    }

    /// The place of the loss zero.
    pub(crate) fn origin(&self) -> i64 {
        -self.bottom
    }

    /// All multiples, the smallest first.
    pub(crate) fn indices(&self) -> std::ops::RangeInclusive<i64> {
        self.bottom..=self.top
    }

    /// The loss of a multiple.
    pub(crate) fn loss(&self, index: i64) -> Interval {
        self.h() * index as f64
    }

    /// The largest multiple that is certainly not above x.
    pub(crate) fn floor(&self, x: f64) -> i64 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates, and losses are on the grid"
        )]
        let index = (x / self.h).floor() as i64;
        // Rounding of the quotient may have crossed a cell.
        if self.loss(index).upper() > x {
            index - 1
        } else {
            index
        }
    }
}
