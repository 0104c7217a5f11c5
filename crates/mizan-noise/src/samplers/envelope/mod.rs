//! The fast sampler of discrete Laplace and Gaussian noise: rejection from an envelope of integer
//! weights, with an exact acceptance test.
//!
//! # How it draws
//!
//! The positive integers are cut into bins of `2^k`: bin `h` begins at
//! `1 + h·2^k`. Zero, the bins, and everything beyond the last bin (the tail)
//! are outcomes of an alias table whose weights are whole numbers that
//! sum to 2⁶³. One random word gives the outcome and a sign, the next a uniform place `x` in the bin
//! and a uniform `U` in [0, 1). The draw is accepted if
//!
//! ```text
//! U < μ e^-g(x) / W_h            W_h ≥ μ e^-g(start of bin h)
//! ```
//!
//! and repeated otherwise, so `x` and `-x` have probability proportional
//! to `W_h / 2^k · μ e^-g(x) / W_h ∝ e^-g(x)`: exactly the distribution, though
//! the weights were rounded. Zero has no sign: its weight is half.
//!
//! # How `U` is compared
//!
//! `U` is drawn as far as needed. With 64-bit integers the right side is known to about 2⁻²⁴
//! (`exact/fixed.rs`). If that does not decide, `U` gets more bits and the right side more
//! precision, until it does (`exact/lazy.rs`). No floating-point number is involved.
//!
//! # Time
//!
//! Every attempt does the same work, whatever it draws: no loop and no branch depends on the value,
//! and the number of attempts is independent of the accepted value. The only memory access that
//! depends on random bits is the column of the alias table: it is uniform, though not independent of
//! the outcome, so the table is loaded into the cache before. Comparisons that 64 bits do not decide take
//! longer: about 2⁻²³ of them, nearly alike for all values. So do the tail, bins
//! of a weight below 2⁻³⁷, which all together have probability below 2⁻²⁹, and
//! zero where its own probability is below 2⁻⁴⁵.

mod alias;
mod tail;
#[cfg(test)]
mod tests;

use std::hint::select_unpredictable;

use num_bigint::BigUint;

use crate::exact::fixed::{self, Factor};
use crate::exact::lazy::{self, LazyUniform};
use crate::exact::rational::{Rational, ceiling};
use crate::samplers::batch;
use crate::samplers::decay::Decay;
use crate::{Entropy, NoiseError};
use alias::{Alias, TOTAL};
use tail::Tail;

/// Bins are narrow enough that nearly every attempt counts, and few enough that
/// the table stays in the fastest cache: at most 2^5 to 2^6 bins a scale for
/// Laplace, 2^7 to 2^8 for Gaussian noise.
const LOG_BINS_PER_SCALE: (i64, i64) = (5, 7);

/// Beyond the bins a scale's worth of probability is below this, in units of
/// 2⁻¹²⁷.
const CUT: u128 = 1 << 63;

/// Up to this width zero has its exact weight.
const EXACT_ZERO_BITS: u32 = 40;

/// Above this width a place in a bin and `U` take a word each.
const SHARED_BITS: u32 = 24;

/// A weight `W` is at most two more than what it stands for. For weights of at
/// least this, that is below the slack: `e^-y (1 - 2/W) ≥ e^-y - 2/W`.
const HEAVY: u64 = 1 << 26;

/// By how much `U` must stay below `e^-y`, in units of 2⁻⁶⁴: `2 / HEAVY`, what
/// the exponent may be larger, and what `e^-y` may be off.
const SLACK_BELOW: u64 = (1 << 39) + fixed::FACTOR_SLACK + fixed::EXP_SLACK;

#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    decay: Decay,
    /// Bins are `2^log_width` wide.
    log_width: u32,
    /// `μ`: the weight that a bin would have if nothing fell.
    height: u64,
    /// Of zero, of each bin, of the tail, and of no draw at all.
    weights: Vec<u64>,
    /// The first outcome whose weight 64 bits know well enough: zero, if its
    /// weight is exact.
    first_heavy: u64,
    /// How many outcomes after it are the same.
    heavy: u64,
    alias: Alias,
    rate: Factor,
    tail: Tail,
}

/// What an attempt came to.
enum Attempt {
    Rejected,
    /// A magnitude.
    Drawn(u128),
}

impl Envelope {
    /// For a decay whose scale is at most 2⁶⁴.
    pub(crate) fn new(decay: Decay) -> Self {
        let bins_per_scale = if decay.squared {
            LOG_BINS_PER_SCALE.1
        } else {
            LOG_BINS_PER_SCALE.0
        };
        let log_width = u32::try_from(decay.log2_scale() - bins_per_scale).unwrap_or(0);
        Self::with(decay, log_width, CUT)
    }

    fn with(decay: Decay, log_width: u32, cut: u128) -> Self {
        let heights = heights(&decay, log_width, cut);
        let bins = u64::try_from(heights.len()).unwrap_or(u64::MAX);
        let tail = Tail::new(
            &decay,
            BigUint::from(1u8) + (BigUint::from(bins) << log_width),
        );
        // μ times what all outcomes would weigh at μ = 1, and a unit for each
        // rounding, must not exceed the total.
        let unit = BigUint::from(1u8) << 127u32;
        let tail_at_one = tail.mass(log_width);
        let zero_at_one = &unit >> (log_width + 1);
        let sum: BigUint = heights.iter().map(|&height| BigUint::from(height)).sum();
        let sum = sum + zero_at_one + 1u8 + tail_at_one.scaled_up(127);
        let spare = TOTAL - 4 * (bins + 4);
        let height = (BigUint::from(spare) << 127u32) / sum;
        // A multiple of twice the width, so that zero has its exact weight. Bins
        // so wide that this would cost attempts have a zero of less than 2^-45.
        let step = log_width.min(EXACT_ZERO_BITS) + 1;
        let height = (height >> step) << step;

        let mut weights = Vec::with_capacity(heights.len() + 3);
        let mut push = |weight: BigUint| weights.push(u64::try_from(&weight).unwrap_or(TOTAL));
        push(ceiling(&height, &(BigUint::from(1u8) << (log_width + 1))));
        for &fraction in &heights {
            push(ceiling(&(BigUint::from(fraction) * &height), &unit));
        }
        push(tail_at_one.times_integer(height.clone()).scaled_up(0));
        let used: u64 = weights.iter().sum();
        weights.push(TOTAL - used);
        // Zero, then bins that grow lighter.
        let heavy = weights
            .iter()
            .skip(1)
            .take_while(|&&weight| weight >= HEAVY);
        let heavy = u64::try_from(heavy.count()).unwrap_or(0).min(bins);
        let width = BigUint::from(1u8) << log_width;
        let largest_steps = if decay.squared {
            &width * (&width + (tail.start() * 2u8))
        } else {
            width
        };
        Self {
            rate: Factor::new(&decay.rate, &largest_steps),
            first_heavy: u64::from(log_width > EXACT_ZERO_BITS),
            heavy: heavy.saturating_sub(u64::from(log_width > EXACT_ZERO_BITS)),
            alias: Alias::new(&weights),
            height: u64::try_from(&height).unwrap_or(TOTAL),
            decay,
            log_width,
            weights,
            tail,
        }
    }

    /// As many draws as there are places.
    pub(crate) fn fill(&self, entropy: &mut Entropy, places: &mut [i64]) -> Result<(), NoiseError> {
        self.warm();
        batch::fill_with(entropy, places, |entropy| {
            batch::narrow(self.draw(entropy)?)
        })
    }

    /// The same in 128 bits.
    pub(crate) fn fill_wide(
        &self,
        entropy: &mut Entropy,
        places: &mut [i128],
    ) -> Result<(), NoiseError> {
        self.warm();
        batch::fill_with(entropy, places, |entropy| self.draw(entropy))
    }

    /// Must be called before draws whose time an attacker may measure.
    pub(crate) fn warm(&self) {
        self.alias.warm();
    }

    /// A draw.
    #[inline]
    pub(crate) fn draw(&self, entropy: &mut Entropy) -> Result<i128, NoiseError> {
        if self.is_wide() {
            self.draw_by::<true>(entropy)
        } else {
            self.draw_by::<false>(entropy)
        }
    }

    /// Whether a place and `U` take a word each, and numbers more than 64 bits.
    #[inline]
    const fn is_wide(&self) -> bool {
        self.log_width > SHARED_BITS
    }

    #[inline]
    fn draw_by<const WIDE: bool>(&self, entropy: &mut Entropy) -> Result<i128, NoiseError> {
        loop {
            let (word, place) = entropy.pair()?;
            let attempt = self.attempt::<WIDE>(word >> 1, place, entropy)?;
            if let Attempt::Drawn(magnitude) = attempt {
                #[expect(clippy::cast_possible_wrap, reason = "checked where it can be large")]
                let magnitude = magnitude as i128;
                // Without a branch: a coin cannot be predicted.
                let sign = -i128::from(word & 1);
                return Ok((magnitude ^ sign) - sign);
            }
        }
    }

    #[inline]
    fn attempt<const WIDE: bool>(
        &self,
        bits: u64,
        word: u64,
        entropy: &mut Entropy,
    ) -> Result<Attempt, NoiseError> {
        let outcome = self.alias.outcome(bits);
        // The place in the bin, and the first and the last U that are possible.
        let below_width = (1 << self.log_width) - 1;
        let (first, last) = if WIDE {
            let uniform = entropy.word()?;
            (uniform, uniform)
        } else {
            (word & !below_width, word | below_width)
        };
        // Zero has no places. Without a branch, as everything here.
        let is_zero = outcome == 0;
        let nonzero = select_unpredictable(is_zero, 0, 1);
        let place = select_unpredictable(is_zero, 0, word & below_width);
        let bin = outcome - nonzero;
        let (magnitude, steps) = if WIDE {
            let place = u128::from(place);
            let start = (u128::from(bin) << self.log_width) + u128::from(nonzero);
            (start + place, self.decay.steps(start, place))
        } else {
            // At most 2^24 places and 2^14 bins: products are below 2^64.
            let start = (bin << self.log_width) + nonzero;
            let steps = if self.decay.squared {
                place * (place + 2 * start)
            } else {
                place
            };
            (u128::from(start + place), u128::from(steps))
        };
        let height = fixed::exp_neg(self.rate.times(steps));
        // No table is indexed by outcome: its cached parts would distinguish rare outcomes from
        // common ones.
        if outcome.wrapping_sub(self.first_heavy) <= self.heavy {
            if last < height - SLACK_BELOW {
                return Ok(Attempt::Drawn(magnitude));
            }
            if first > height && first - height > fixed::EXP_SLACK {
                return Ok(Attempt::Rejected);
            }
        }
        let unknown = if WIDE { 0 } else { self.log_width };
        let known = LazyUniform::new(first >> unknown, 64 - unknown);
        self.rare(outcome, magnitude, known, entropy)
    }

    /// How many bins there are.
    #[inline]
    fn bins(&self) -> u64 {
        // Apart from zero, the tail and no draw.
        u64::try_from(self.weights.len()).unwrap_or(3) - 3
    }

    /// Zero, the tail, no draw, and comparisons that 64 bits do not decide.
    #[cold]
    #[inline(never)]
    fn rare(
        &self,
        outcome: u64,
        magnitude: u128,
        uniform: LazyUniform,
        entropy: &mut Entropy,
    ) -> Result<Attempt, NoiseError> {
        let bins = self.bins();
        let weight = usize::try_from(outcome)
            .ok()
            .and_then(|at| self.weights.get(at))
            .copied()
            .unwrap_or(TOTAL);
        let accepted = |accepted: bool, magnitude| {
            if accepted {
                Attempt::Drawn(magnitude)
            } else {
                Attempt::Rejected
            }
        };
        if outcome == 0 {
            let p = Rational::new(self.height, BigUint::from(weight) << (self.log_width + 1));
            let kept =
                uniform.falls_below(entropy, |bits| (p.scaled_down(bits), p.scaled_up(bits)))?;
            return Ok(accepted(kept, 0));
        }
        if outcome <= bins {
            let exponent = self.decay.exponent(&BigUint::from(magnitude));
            let factor = Rational::new(self.height, weight);
            let kept =
                uniform.falls_below(entropy, |bits| lazy::product(&factor, &exponent, bits))?;
            return Ok(accepted(kept, magnitude));
        }
        if outcome == bins + 1 {
            let per_place = Rational::new(self.height, BigUint::from(weight) << self.log_width);
            return Ok(
                match self
                    .tail
                    .attempt(&self.decay, &per_place, uniform, entropy)?
                {
                    Some(magnitude) => accepted(true, magnitude),
                    None => Attempt::Rejected,
                },
            );
        }
        Ok(Attempt::Rejected)
    }
}

/// `e^-g` at the start of each bin, rounded up in units of 2⁻¹²⁷, as long as it
/// is at least `cut`.
fn heights(decay: &Decay, log_width: u32, cut: u128) -> Vec<u128> {
    let up = |exponent: &Rational| {
        let high = crate::exact::exponential::exp_neg(exponent, 127).1;
        u128::try_from(&high).unwrap_or(1 << 127).min(1 << 127)
    };
    let (one, width) = (BigUint::from(1u8), BigUint::from(1u8) << log_width);
    let mut height = up(&decay.exponent(&one));
    let mut ratio = up(&decay.between(&one, &width));
    // The ratio of neighbours is constant, or falls by a constant factor.
    let fall = if decay.squared {
        up(&decay.rate.times_integer(&width * &width * 2u8))
    } else {
        1 << 127
    };
    let mut heights = Vec::new();
    while height >= cut {
        heights.push(height);
        height = fixed::times_up(height, ratio);
        if decay.squared {
            ratio = fixed::times_up(ratio, fall);
        }
    }
    heights
}
