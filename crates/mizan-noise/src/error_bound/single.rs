//! One noise: the smallest integer, decided in doubles if possible and with more digits otherwise.

use mizan_core::Interval;
use num_bigint::BigUint;

use super::confidence::Confidence;
use super::enclosure::{of_integer, of_rational, rounded_up};
use super::gaussian::Gaussian;
use super::gaussian_digits::Digits;
use super::{laplace, search};
use crate::NoiseError;
use crate::samplers::decay::Decay;

/// The tail in doubles.
pub(super) enum Single {
    Laplace(Interval),
    Gaussian(Gaussian),
}

impl Single {
    pub(super) fn new(decay: &Decay) -> Self {
        let rate = of_rational(&decay.rate);
        if decay.squared {
            Self::Gaussian(Gaussian::new(rate))
        } else {
            Self::Laplace(rate)
        }
    }

    /// `P(|X| > a)`.
    pub(super) fn tail(&self, a: u128) -> Interval {
        match self {
            Self::Laplace(rate) => laplace::tail(*rate, a),
            Self::Gaussian(gaussian) => gaussian.tail(a),
        }
    }

    fn guess(&self, missed: f64) -> (f64, f64) {
        match self {
            Self::Laplace(rate) => laplace::guess(rate.middle(), missed),
            Self::Gaussian(gaussian) => gaussian.guess(missed),
        }
    }
}

/// Where the tail falls by less than this part of itself from one integer to the
/// next, a guess in doubles is many integers off, and one evaluation to more
/// digits saves many others.
const FLAT: f64 = 1e-14;

/// The first precision: enough for nearly all that doubles leave open.
const BITS: u64 = 128;

/// Where the search for a decision ends, to the safe side. For Laplace noise it
/// always comes earlier: `P(|X| ≤ a)` is transcendental (Lindemann,
/// Weierstrass) and differs from every double. For Gaussian noise a tie would
/// need a double to agree with it in all these digits.
const MOST_BITS: u64 = 1 << 13;

/// The smallest `a` with `P(|X| ≤ a) ≥ confidence`.
pub(super) fn half_width(decay: &Decay, confidence: Confidence) -> Result<u128, NoiseError> {
    let mut decision = Decision::new(decay, confidence);
    if decision.covers(0) {
        return Ok(0);
    }
    let missed = decision.missed.middle();
    let (guess, slope) = decision.single.guess(missed);
    let mut start = rounded_up(guess)?;
    if slope < missed * FLAT {
        start = decision.closer(start, slope)?;
    }
    Ok(search::first(start, |a| decision.covers(a)))
}

/// Whether an integer is large enough.
struct Decision<'a> {
    decay: &'a Decay,
    confidence: Confidence,
    missed: Interval,
    single: Single,
    digits: Digits,
}

impl<'a> Decision<'a> {
    fn new(decay: &'a Decay, confidence: Confidence) -> Self {
        Self {
            decay,
            confidence,
            missed: confidence.missed(),
            single: Single::new(decay),
            digits: Digits::default(),
        }
    }

    /// Whether `P(|X| ≤ a) ≥ confidence`.
    fn covers(&mut self, a: u128) -> bool {
        let tail = self.single.tail(a);
        if tail.upper() <= self.missed.lower() {
            true
        } else if tail.lower() > self.missed.upper() {
            false
        } else {
            self.covers_by_digits(a)
        }
    }

    /// `2^bits · P(|X| ≤ a)`, at least and at most.
    fn inside(&mut self, a: u128, bits: u64) -> (BigUint, BigUint) {
        if self.decay.squared {
            self.digits.inside(&self.decay.rate, a, bits)
        } else {
            laplace::inside(&self.decay.rate, a, bits)
        }
    }

    /// The same with as many digits as it takes; not, if that stays open.
    fn covers_by_digits(&mut self, a: u128) -> bool {
        let asked = self.confidence.exactly();
        let mut bits = BITS;
        while bits <= MOST_BITS {
            let (low, high) = self.inside(a, bits);
            if low >= asked.scaled_up(bits) {
                return true;
            }
            if high < asked.scaled_down(bits) {
                return false;
            }
            bits *= 2;
        }
        false
    }

    /// One step of Newton's from `a`, where the tail falls by `slope` per
    /// integer.
    fn closer(&mut self, a: u128, slope: f64) -> Result<u128, NoiseError> {
        let (inside, _) = self.inside(a, BITS);
        let asked = self.confidence.exactly().scaled_down(BITS);
        let integers = |more: BigUint, less: &BigUint| {
            let difference = of_integer(&(more - less)).lower() / 2f64.powi(128);
            rounded_up(difference / slope)
        };
        Ok(if inside < asked {
            a.saturating_add(integers(asked, &inside)?)
        } else {
            a.saturating_sub(integers(inside, &asked)?)
        })
    }
}
