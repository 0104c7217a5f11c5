//! One Laplace noise `L` that is wider than all others, whose sum is `Y`.
//!
//! `P(L > z) = r^(z+1)/(1+r)` for `z ≥ -1`, and less than that formula below. So
//!
//! ```text
//! P(|L + Y| > a) = 2 r^(a+1)/(1+r) (E e^(uY) - missing),   u = 1/scale, r = e^-u
//! 0 ≤ missing ≤ E[e^(uY); Y ≥ a+2] ≤ e^(-(s-u)(a+2)) E e^(sY)   for s > u
//! ```
//!
//! and nothing is missing that matters once `a` is beyond the reach of `Y`.

use mizan_core::{Bracket, Interval};

use super::characteristic::Characteristic;
use super::chernoff::{LARGEST_TILT, lowest};
use crate::NoiseError;
use crate::error_bound::confidence::Confidence;
use crate::error_bound::enclosure::{near, rounded_up};
use crate::error_bound::{laplace, search};

/// Bounds of the smallest `a` with `P(|X| ≤ a) ≥ confidence`; anything, where
/// there is no such noise.
pub(super) fn half_width(
    of: &Characteristic,
    confidence: Confidence,
) -> Result<Bracket<u128>, NoiseError> {
    let anything = Bracket {
        lower: 0,
        upper: u128::MAX,
    };
    let Some((rate, rest)) = of.without_widest() else {
        return Ok(anything);
    };
    let cumulant = rest.cumulant(rate);
    if cumulant.upper() > 600.0 {
        return Ok(anything);
    }
    let factor = cumulant.exp();
    let missed = confidence.missed();
    let (guess, _) = laplace::guess(rate.middle(), missed.middle());
    let guess = rounded_up(guess + cumulant.middle() / rate.middle())?;
    let tilt = best_tilt(&rest, rate, guess);
    let missing = |a: u128| {
        let beyond = (tilt - rate) * (Interval::from(near(a).next_down()) + 2.0);
        (rest.cumulant(tilt) - beyond).exp().upper()
    };
    let enough = |a: u128| (laplace::tail(rate, a) * factor).upper() <= missed.lower();
    // Once certain it is certain for all smaller: a tail only falls.
    let too_little = |a: u128| {
        let least = (factor - Interval::new(0.0, missing(a))).non_negative();
        (laplace::tail(rate, a) * least).lower() > missed.upper()
    };
    let upper = if enough(0) {
        0
    } else {
        search::first(guess, enough)
    };
    let steps = (0..109).map(|log| 1u128 << log);
    let lower = steps
        .map_while(|step| upper.checked_sub(step))
        .find(|&a| too_little(a))
        .map_or(0, |a| a + 1);
    Ok(Bracket { lower, upper })
}

/// About the `s` above the rate that leaves the least missing at `a`.
fn best_tilt(rest: &Characteristic, rate: Interval, a: u128) -> Interval {
    // For Gaussians alone the best is a/variance; all others have it lower.
    let most = rest
        .smallest_rate()
        .min(LARGEST_TILT)
        .min(rate.upper() + 2.0 * near(a) / rest.variance())
        * (1.0 - 1e-9);
    if most <= rate.upper() {
        return rate;
    }
    let at = |s: f64| (rest.cumulant(Interval::from(s)) - Interval::from(s) * near(a)).upper();
    Interval::from(lowest(rate.upper(), most, at))
}
