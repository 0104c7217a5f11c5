//! Error bounds of sums of independent noises, from their characteristic function.
//!
//! `X` is a sum of symmetric noises on the integers, so `φ(t) = E cos(tX)` is
//! the product of theirs ([`characteristic`]): real, positive, and falling from
//! `t = 0` to `π`. For a period `N = 2^m`
//!
//! ```text
//! P(|X mod N| ≤ a) = 1/N Σ_j φ(2πj/N) sin((2a+1)πj/N) / sin(πj/N)
//! ```
//!
//! with `j` over a period: a finite sum, without any error of quadrature. It
//! exceeds `P(|X| ≤ a)` by at most `P(|X| ≥ N - a)`, which Chernoff's bound
//! makes small ([`chernoff`]). Frequencies at which `φ` is negligible are left out and bounded, so
//! that the number of terms does not grow with the scale ([`spectrum`]).
//!
//! # How tight
//!
//! All errors together are about 10⁻¹⁴ of probability, so `a` is known exactly
//! unless a single integer has less than that. From confidence 1 - 10⁻¹³ on that
//! is more than may be missed, and another bound is returned ([`tilted`]).
//!
//! `φ` of a Laplace noise falls only like `1/t²`. If one is wider than all others, the tail of the
//! sum is its own tail times a factor, which is known precisely ([`dominant`]); with two of the same
//! scale, `1/t⁴` is fast enough.

mod characteristic;
mod chernoff;
mod dominant;
mod spectrum;
mod tilted;

use mizan_core::Bracket;

use super::confidence::Confidence;
use super::enclosure::{near, rounded_up};
use crate::NoiseError;
use crate::samplers::decay::Decay;
use characteristic::Characteristic;
use spectrum::Spectrum;

/// How often a bound that is not one yet is moved on, eight times as far each
/// time; and how many integers are tried one by one afterwards, where one of
/// them is more than the errors.
const MOVES: u32 = 24;
const TRIES: u32 = 4;
const TRY_BELOW: u128 = 1 << 44;

/// Below this the sum over frequencies may not be good enough.
const RARE: f64 = 1e-8;

/// Bounds of the smallest `a` with `P(|X| ≤ a) ≥ confidence`.
pub(super) fn half_width(
    parts: &[(&Decay, u64)],
    confidence: Confidence,
) -> Result<Bracket<u128>, NoiseError> {
    let characteristic = Characteristic::new(parts);
    let tail = dominant::half_width(&characteristic, confidence)?;
    if tail.lower == tail.upper {
        return Ok(tail);
    }
    let whole = by_frequencies(&characteristic, confidence)?;
    Ok(Bracket {
        lower: whole.lower.max(tail.lower),
        upper: whole.upper.min(tail.upper),
    })
}

fn by_frequencies(
    of: &Characteristic,
    confidence: Confidence,
) -> Result<Bracket<u128>, NoiseError> {
    // P(|X| ≥ certain) is at most what may be missed.
    let missed = confidence.missed().lower();
    let mut certain = chernoff::reach(of, missed)?;
    if missed < RARE {
        certain = certain.min(tilted::reach(of, missed)?);
    }
    let spectrum = Spectrum::new(of, certain)?;
    let wanted = confidence.get();
    if certain == 0 || spectrum.at_least(0) >= wanted {
        return Ok(Bracket { lower: 0, upper: 0 });
    }
    let upper = large_enough(&spectrum, wanted, certain - 1)?;
    let lower = not_too_large(&spectrum, wanted, upper)?;
    Ok(Bracket { lower, upper })
}

/// An `a ≤ most` with `P(|X| ≤ a) ≥ wanted`, which `most` satisfies.
fn large_enough(spectrum: &Spectrum, wanted: f64, most: u128) -> Result<u128, NoiseError> {
    let target = wanted + 1.25 * spectrum.spread();
    let start = rounded_up(root(spectrum, target, 0.0, most))?.min(most);
    let found = settled(
        start,
        |a| a >= most || spectrum.at_least(a) >= wanted,
        |a, step| a.saturating_add(step).min(most),
        |a| a.saturating_sub(1),
    );
    Ok(found.unwrap_or(most))
}

/// An `a ≤ most` with `P(|X| ≤ a - 1) < wanted`, or zero.
fn not_too_large(spectrum: &Spectrum, wanted: f64, most: u128) -> Result<u128, NoiseError> {
    let target = wanted - 1.25 * spectrum.spread();
    // It is close below, unless the bracket is wide.
    let close = near(most) * 0.999;
    let start = rounded_up(root(spectrum, target, close, most))?.min(most);
    let found = settled(
        start,
        |a| a == 0 || spectrum.at_most(a - 1) < wanted,
        |a, step| a.saturating_sub(step),
        |a| (a + 1).min(most),
    );
    Ok(found.unwrap_or(0))
}

/// From `start`, outward until it `holds` and inward as long as it does.
fn settled(
    start: u128,
    holds: impl Fn(u128) -> bool,
    outward: impl Fn(u128, u128) -> u128,
    inward: impl Fn(u128) -> u128,
) -> Option<u128> {
    let mut steps = (0..MOVES).map(|times| 8u128.saturating_pow(times));
    let mut a = start;
    while !holds(a) {
        a = outward(a, steps.next()?);
    }
    for _ in 0..TRIES {
        let next = inward(a);
        if a > TRY_BELOW || next == a || !holds(next) {
            break;
        }
        a = next;
    }
    Some(a)
}

/// About where the computed probability reaches `target`, at most `most` and
/// probably above `from`.
///
/// The logarithm of the tail is concave (the noises are log-concave, and so is
/// their sum): regula falsi on it, with the height of an end that stays halved
/// (the Illinois rule), until what is left is small beside the errors.
fn root(spectrum: &Spectrum, target: f64, from: f64, most: u128) -> f64 {
    let missed = (1.0 - target).max(1e-300);
    let close = spectrum.spread() / (8.0 * missed);
    let height = |a: f64| {
        let a = rounded_up(a - 0.5).unwrap_or(most);
        // Where the tail is lost in rounding it is beyond the root.
        let tail = (1.0 - spectrum.value(a)).max(1e-300);
        (near(a), (tail / missed).ln())
    };
    let (mut left, mut right) = (height(from), height(near(most)));
    if left.1 <= 0.0 {
        (left, right) = (height(0.0), left);
    }
    if left.1 <= 0.0 {
        return left.0;
    }
    let mut kept_right = None;
    for _ in 0..60 {
        if right.1 >= 0.0 || right.0 - left.0 <= 1.0 {
            break;
        }
        let share = left.1 / (left.1 - right.1);
        let inner = (right.0 - 1.0).max(left.0 + 1.0);
        let middle = height((left.0 + share * (right.0 - left.0)).clamp(left.0 + 1.0, inner));
        if middle.1.abs() < close || middle.0 <= left.0 || middle.0 >= right.0 {
            return middle.0;
        }
        let above = middle.1 > 0.0;
        if above {
            left = middle;
            if kept_right == Some(true) {
                right.1 *= 0.5;
            }
        } else {
            right = middle;
            if kept_right == Some(false) {
                left.1 *= 0.5;
            }
        }
        kept_right = Some(above);
    }
    right.0
}
