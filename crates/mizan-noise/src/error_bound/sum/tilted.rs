//! Chernoff's bound with its missing factor, for tails that are lost in the
//! rounding of the sum over frequencies.
//!
//! For every `s > 0`
//!
//! ```text
//! e^(sx) p(x) ≤ B = 1/π ∫₀^π |E e^((s+it)X)| dt
//! P(X > a) = Σ_{x>a} e^(-sx) e^(sx) p(x) ≤ B e^(-s(a+1)) / (1 - e^-s)
//! ```
//!
//! which at the saddle point is too large by a factor near one, where Chernoff's
//! bound is by a factor near `s √(2π variance)`.

use mizan_core::Interval;

use super::characteristic::{Characteristic, Frequency};
use super::chernoff;
use crate::NoiseError;
use crate::error_bound::enclosure::rounded_up;

/// Points of the integral per octave of `t`, and octaves around the standard
/// deviation's. Beyond, a point per octave.
const POINTS: i32 = 32;
const OCTAVES: (i32, i32) = (-8, 6);

/// An `M` with `P(|X| ≥ M) ≤ missed`.
pub(super) fn reach(of: &Characteristic, missed: f64) -> Result<u128, NoiseError> {
    let s = Interval::from(chernoff::tilt(of, missed));
    // a + 1 ≥ (ln(2/missed) + ln B - ln(1 - e^-s)) / s.
    let height = of.cumulant(s) + Interval::from(fallen(of, s)).ln();
    let places = -(-(-s).exp_m1()).ln();
    let logarithm = (Interval::from(2.0) / missed).ln();
    rounded_up(((logarithm + height + places) / s).upper())
}

/// At least `1/π ∫₀^π` of the fall from `t = 0` on, which is monotone: each piece
/// is at most its length times the value at its beginning.
fn fallen(of: &Characteristic, s: Interval) -> f64 {
    let deviation = of.variance().sqrt();
    let turns = |log: f64| (log.exp2() / (deviation * std::f64::consts::TAU)).min(0.5);
    let fine = (OCTAVES.0 * POINTS..OCTAVES.1 * POINTS).map(|at| f64::from(at) / f64::from(POINTS));
    let coarse = (OCTAVES.1..).map(f64::from);
    let mut from = 0.0;
    let mut height = 1.0;
    let mut sum = Interval::ZERO;
    for log in fine.chain(coarse) {
        let to = turns(log);
        // 1/π · 2π (to - from).
        sum = sum + (Interval::from(to) - from) * 2.0 * height;
        if to >= 0.5 {
            break;
        }
        let ln = of.tilted_ln(Frequency::new(to), s);
        height = Interval::from(ln).exp().upper().min(1.0);
        from = to;
        if ln < -100.0 {
            sum = sum + height;
            break;
        }
    }
    sum.upper()
}
