//! How often one of two outcomes occurs among k: the binomial distribution.
//!
//! Probabilities are computed relative to the most likely j, outward by their
//! ratios, and divided by their sum: no factorials, no logarithms, all positive.

use mizan_core::Interval;

/// The number of successes among k trials.
#[derive(Clone, Debug)]
pub(in crate::numeric) struct Binomial {
    /// The smallest j kept.
    first: f64,
    /// Probabilities of j = first, first + 1, ...
    probabilities: Vec<Interval>,
    missing: Interval,
}

/// Relative weights below this are cut off; their sum is `missing`.
const NEGLIGIBLE: f64 = 1e-305;

impl Binomial {
    /// More probabilities than this are not kept.
    pub(in crate::numeric) const MOST: usize = 1 << 20;

    /// `odds` of success against failure, and their inverse. None if it would
    /// take more memory than is reasonable.
    pub(in crate::numeric) fn new(
        (odds, inverse): (Interval, Interval),
        count: u64,
    ) -> Option<Self> {
        let k = count as f64;
        let p = 1.0 / (1.0 + inverse.middle());
        let mode = (p * (k + 1.0)).floor().min(k);
        let mut tail = Interval::ZERO;
        // Ratios upward: w(j+1)/w(j) = (k-j)/(j+1) odds, and downward its inverse.
        let mut above = Vec::new();
        let mut weight = Interval::ONE;
        let mut j = mode;
        while j < k {
            let ratio = Interval::from(k - j) / (j + 1.0) * odds;
            weight = weight * ratio;
            if weight.upper() < NEGLIGIBLE {
                tail = tail + geometric(weight, ratio);
                break;
            }
            above.push(weight);
            j += 1.0;
            if above.len() > Self::MOST {
                return None;
            }
        }
        let mut below = Vec::new();
        weight = Interval::ONE;
        j = mode;
        while j > 0.0 {
            let ratio = Interval::from(j) / (k - j + 1.0) * inverse;
            weight = weight * ratio;
            if weight.upper() < NEGLIGIBLE {
                tail = tail + geometric(weight, ratio);
                break;
            }
            below.push(weight);
            j -= 1.0;
            if below.len() > Self::MOST {
                return None;
            }
        }
        let first = mode - below.len() as f64;
        let weights = below.into_iter().rev().chain([Interval::ONE]).chain(above);
        let weights: Vec<Interval> = weights.collect();
        let kept = crate::divergence::sum(weights.iter().copied());
        let total = kept + tail;
        Some(Self {
            first,
            probabilities: weights.into_iter().map(|weight| weight / total).collect(),
            missing: tail / total,
        })
    }

    /// An enclosure of the probability that was cut off, from zero on.
    pub(in crate::numeric) fn missing(&self) -> Interval {
        Interval::new(0.0, self.missing.upper())
    }

    /// The numbers of successes and their probabilities.
    pub(in crate::numeric) fn successes(&self) -> impl Iterator<Item = (f64, Interval)> + '_ {
        let numbers = (0u32..).map(|index| self.first + f64::from(index));
        numbers.zip(self.probabilities.iter().copied())
    }
}

/// Everything from a weight on when ratios only fall: w + w r + w r² + ...
fn geometric(weight: Interval, ratio: Interval) -> Interval {
    let bound = weight / (Interval::ONE - ratio);
    Interval::new(0.0, bound.upper().max(0.0))
}
