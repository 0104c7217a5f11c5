//! Sums of independent noises, by their characteristic function.
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
//! makes small ([`chernoff`]). Frequencies at which `φ` has died out are left
//! out and bounded, so that the number of terms does not grow with the scale
//! ([`spectrum`]).
//!
//! # How tight
//!
//! All errors together are about 10⁻¹⁴ of probability, so `a` is known exactly
//! unless a single integer has less than that. `φ` of a Laplace noise falls
//! only like `1/t²`: with one or two of them, and nothing else of that size,
//! the terms left out amount to as much as 10⁻⁶. Beyond confidence 1 - 10⁻¹²
//! what is returned is Chernoff's bound, some percent too wide.

mod characteristic;
mod chernoff;
mod spectrum;

use mizan_core::Bracket;

use super::confidence::Confidence;
use super::enclosure::{near, rounded_up};
use crate::NoiseError;
use crate::decay::Decay;
use characteristic::Characteristic;
use spectrum::Spectrum;

/// How many integers are tried one by one, after the root was found.
const TRIES: u32 = 8;

/// Bounds of the smallest `a` with `P(|X| ≤ a) ≥ confidence`.
pub(super) fn half_width(
    parts: &[(&Decay, u64)],
    confidence: Confidence,
) -> Result<Bracket<u128>, NoiseError> {
    let characteristic = Characteristic::new(parts);
    // P(|X| ≥ certain) is at most what may be missed.
    let certain = chernoff::reach(&characteristic, confidence.missed().lower())?;
    let spectrum = Spectrum::new(&characteristic, certain)?;
    let wanted = confidence.get();
    if certain == 0 || spectrum.at_least(0) >= wanted {
        return Ok(Bracket { lower: 0, upper: 0 });
    }
    // The last that Chernoff's bound does not need.
    let most = certain - 1;
    let spread = spectrum.spread();
    let upper = smallest_above(&spectrum, wanted, wanted + spread.0, most)?;
    let lower = largest_below(&spectrum, wanted, wanted - spread.1, upper)?;
    Ok(Bracket { lower, upper })
}

/// An `a ≤ most` with `P(|X| ≤ a) ≥ wanted`: `most`, or near the root of the
/// computed probability at `target`.
fn smallest_above(
    spectrum: &Spectrum,
    wanted: f64,
    target: f64,
    most: u128,
) -> Result<u128, NoiseError> {
    let enough = |a: u128| spectrum.at_least(a) >= wanted;
    let mut a = rounded_up(root(spectrum, target, most))?.min(most);
    let mut step = 1;
    for _ in 0..TRIES {
        if a >= most || enough(a) {
            break;
        }
        a = a.saturating_add(step).min(most);
        step *= 2;
    }
    if !enough(a) {
        return Ok(most);
    }
    for _ in 0..TRIES {
        if a == 0 || !enough(a - 1) {
            break;
        }
        a -= 1;
    }
    Ok(a)
}

/// An `a ≤ most` with `P(|X| ≤ a - 1) < wanted`, or zero.
fn largest_below(
    spectrum: &Spectrum,
    wanted: f64,
    target: f64,
    most: u128,
) -> Result<u128, NoiseError> {
    let needed = |a: u128| a == 0 || spectrum.at_most(a - 1) < wanted;
    let mut a = rounded_up(root(spectrum, target, most))?.min(most);
    let mut step = 1;
    for _ in 0..TRIES {
        if needed(a) {
            break;
        }
        a = a.saturating_sub(step);
        step *= 2;
    }
    if !needed(a) {
        return Ok(0);
    }
    for _ in 0..TRIES {
        if a == most || !needed(a + 1) {
            break;
        }
        a += 1;
    }
    Ok(a)
}

/// About where the computed probability reaches `target`, at most `most`.
///
/// The logarithm of the tail is concave (the noises are log-concave, and so is
/// their sum): regula falsi on it, with the weight of an end that stays halved
/// (the Illinois rule).
fn root(spectrum: &Spectrum, target: f64, most: u128) -> f64 {
    let height = |a: f64| {
        let a = rounded_up(a - 0.5).unwrap_or(most);
        // Where the tail is lost in rounding it is beyond the root.
        let tail = (1.0 - spectrum.value(a)).max(1e-300);
        (near(a), tail.ln() - (1.0 - target).max(1e-300).ln())
    };
    let (mut left, mut right) = (height(0.0), height(near(most)));
    if left.1 <= 0.0 {
        return 0.0;
    }
    if right.1 >= 0.0 {
        return near(most);
    }
    let mut kept = 0;
    for _ in 0..60 {
        if right.0 - left.0 <= 1.0 {
            break;
        }
        let weight = left.1 / (left.1 - right.1);
        let guess = (left.0 + weight * (right.0 - left.0))
            .clamp(left.0 + 1.0, (right.0 - 1.0).max(left.0 + 1.0));
        let middle = height(guess);
        if middle.1.abs() < 1e-15 || middle.0 <= left.0 || middle.0 >= right.0 {
            return middle.0;
        }
        if middle.1 > 0.0 {
            left = middle;
            if kept > 0 {
                right.1 *= 0.5;
            }
            kept = 1;
        } else {
            right = middle;
            if kept < 0 {
                left.1 *= 0.5;
            }
            kept = -1;
        }
    }
    right.0
}
