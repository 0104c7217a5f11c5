//! The terms of the sum over frequencies, and what can be wrong with it.

use mizan_core::directed::{DirectedSum, add_down, add_up};

use super::characteristic::{Characteristic, Frequency};
use super::chernoff;
use crate::NoiseError;
use crate::error_bound::enclosure::near;

/// The bound of what is folded in from beyond the period: 2^-62.
const FOLDED: f64 = 2.168_404_344_971_009e-19;

/// Frequencies are left out when `ln φ` is below.
const DEAD: f64 = -46.0;

/// Evaluations of the characteristic function of one noise, at most; and terms,
/// at least.
const WORK: usize = 1 << 15;
const FEWEST_TERMS: usize = 1 << 8;
const MOST_TERMS: usize = 1 << 13;

/// A term `w sin(πx)`: `x` is rounded once (`π/2 · 2^-53`), the sine and the
/// product once each.
const TERM_ERROR: f64 = 4.5e-16;

/// All that is needed for `P(|X| ≤ a)`, for each `a` below `reach`.
pub(super) struct Spectrum {
    /// The period is `2^log_period`.
    log_period: u32,
    period: f64,
    /// `2 φ / (N sin(πj/N))`, for j = 1, 2, ...
    weights: Vec<f64>,
    /// Of the computed sum, either way: rounding, and the terms left out.
    error: f64,
}

impl Spectrum {
    pub(super) fn new(of: &Characteristic, reach: u128) -> Result<Self, NoiseError> {
        // All of -reach ..= reach are different modulo the period, and what is
        // folded onto them comes from beyond `far`.
        let far = chernoff::reach(of, FOLDED)?.max(reach);
        let log_period = 128 - (far + reach + 2).leading_zeros();
        let mut spectrum = Self {
            log_period,
            period: 2f64.powi(i32::try_from(log_period).unwrap_or(i32::MAX)),
            weights: Vec::new(),
            error: 0.0,
        };
        spectrum.fill(of);
        Ok(spectrum)
    }

    fn fill(&mut self, of: &Characteristic) {
        let terms = (WORK / of.kinds().max(1)).clamp(FEWEST_TERMS, MOST_TERMS);
        let mut errors = DirectedSum::default();
        let mut j = 0.0;
        for _ in 0..terms {
            j += 1.0;
            let at = Frequency::new(j / self.period);
            let ln = of.ln(at);
            let last = 2.0 * j >= self.period;
            // Alone at its frequency, the last term counts once.
            let times = if last { 1.0 } else { 2.0 };
            let weight = ln.exp() * times / (at.half_sine * self.period);
            let middle = weight.middle();
            let off = (weight - middle).abs().upper();
            self.weights.push(middle);
            errors.add(0.0, add_up(off, middle * TERM_ERROR));
            if last {
                j = f64::INFINITY;
                break;
            }
            if ln.upper() < DEAD {
                break;
            }
        }
        let left_out = self.left_out(of, j);
        errors.add(0.0, left_out);
        // And (2a+1)/N is rounded, to at most one.
        self.error = add_up(errors.upper(), f64::EPSILON);
    }

    /// A bound of all terms beyond the `last`.
    ///
    /// `sin(πx) ≥ 2x`, so a term is at most `φ/j`; `φ` falls, and `Σ 1/j` from
    /// `M + 1` to `2M` is at most `ln 2`.
    fn left_out(&self, of: &Characteristic, last: f64) -> f64 {
        let mut bound = 0.0;
        let mut from = last;
        while 2.0 * from < self.period {
            let height = of.ln(Frequency::new(from / self.period)).exp().upper();
            bound = add_up(bound, height * 0.694);
            if height < 1e-40 {
                // No more than a hundred others, none larger.
                bound = add_up(bound, 1e-38);
                break;
            }
            from *= 2.0;
        }
        bound
    }

    /// `P(|X mod N| ≤ a)` as computed, from below and above.
    fn computed(&self, a: u128) -> (f64, f64) {
        let mut sum = DirectedSum::default();
        let places = 2 * a + 1;
        let flat = near(places) / self.period;
        sum.add(flat, flat);
        let (half, whole) = (1u128 << (self.log_period - 1), 1u128 << self.log_period);
        // (2a+1) j modulo 2N: the sine of π times that over N.
        let mut place = 0u128;
        for &weight in &self.weights {
            place = (place + places) & (2 * whole - 1);
            let (turned, sign) = if place >= whole {
                (place - whole, -1.0)
            } else {
                (place, 1.0)
            };
            let folded = if turned > half {
                whole - turned
            } else {
                turned
            };
            let term = sign * weight * core_math::sinpi(near(folded) / self.period);
            sum.add(term, term);
        }
        (sum.lower(), sum.upper())
    }

    /// About `P(|X| ≤ a)`.
    pub(super) fn value(&self, a: u128) -> f64 {
        self.computed(a).0
    }

    /// At most `P(|X| ≤ a)`.
    pub(super) fn at_least(&self, a: u128) -> f64 {
        add_down(self.computed(a).0, -add_up(self.error, FOLDED))
    }

    /// At least `P(|X| ≤ a)`.
    pub(super) fn at_most(&self, a: u128) -> f64 {
        add_up(self.computed(a).1, self.error)
    }

    /// About how far these are from the computed value.
    pub(super) fn spread(&self) -> f64 {
        self.error + FOLDED
    }
}
