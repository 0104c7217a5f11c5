//! The terms of the sum over frequencies, and a bound of its error.

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
const MOST_TERMS: usize = 1 << 14;

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

    /// `(2a+1)/N`.
    fn flat(&self, a: u128) -> f64 {
        near(2 * a + 1) / self.period
    }

    /// Each weight with a sign, and the `x` in [0, 1/2] with whose `sin(πx)` it
    /// is multiplied.
    fn terms(&self, a: u128) -> impl Iterator<Item = (f64, f64)> {
        let (half, whole) = (1u128 << (self.log_period - 1), 1u128 << self.log_period);
        // (2a+1) j modulo 2N, exactly.
        let mut place = 0u128;
        self.weights.iter().map(move |&weight| {
            place = (place + 2 * a + 1) & (2 * whole - 1);
            let (turned, signed) = if place >= whole {
                (place - whole, -weight)
            } else {
                (place, weight)
            };
            let folded = if turned > half {
                whole - turned
            } else {
                turned
            };
            (signed, near(folded) / self.period)
        })
    }

    /// About `P(|X| ≤ a)`, to look for a root; no bound.
    pub(super) fn value(&self, a: u128) -> f64 {
        let terms = self.terms(a);
        self.flat(a) + terms.map(|(weight, x)| weight * sine(x)).sum::<f64>()
    }

    /// `P(|X mod N| ≤ a)` as computed, from below and above.
    fn computed(&self, a: u128) -> (f64, f64) {
        let mut sum = DirectedSum::default();
        sum.add(self.flat(a), self.flat(a));
        for (weight, x) in self.terms(a) {
            let term = weight * core_math::sinpi(x);
            sum.add(term, term);
        }
        (sum.lower(), sum.upper())
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

/// About `sin(πx)` for `x` in [0, 1/2], by its series: faster than the correctly
/// rounded one, and the same on every machine.
fn sine(x: f64) -> f64 {
    /// `(-1)^k / (2k+1)!`.
    const SERIES: [f64; 11] = [
        1.0,
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5_040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
        -1.0 / 121_645_100_408_832_000.0,
        1.0 / 51_090_942_171_709_440_000.0,
    ];
    let angle = std::f64::consts::PI * x;
    let square = angle * angle;
    let horner = |sum: f64, term: &f64| sum * square + term;
    angle * SERIES.iter().rev().fold(0.0, horner)
}
