//! Exponential tilting: weights w_j ∝ m_j e^(θ j h), which add up to about one.
//!
//! The tilt moves the mean of the composition to the losses that decide δ, so
//! that the errors of the transforms are small against what is wanted, however
//! small that is (Esscher). What the weights were scaled by is kept as the
//! enclosure of a logarithm.

use mizan_core::Interval;
use mizan_core::directed::{add_up, div_down, div_up, mul_down, mul_up};

use super::compose::Factor;

/// How masses are tilted and which way they round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilt {
    pub(super) h: f64,
    pub(super) theta: Interval,
    pub(super) up: bool,
}

/// Factors of a composition and the logarithm of what they were divided by.
#[derive(Clone, Debug)]
pub(super) struct Tilted {
    pub(super) factors: Vec<Factor>,
    pub(super) ln_scale: Interval,
}

impl Tilted {
    pub(super) fn new() -> Self {
        Self {
            factors: Vec::new(),
            ln_scale: Interval::ZERO,
        }
    }

    /// One more part: masses from a first place on. `kappa` is about the
    /// logarithm of the sum of the tilted masses. None if nothing is left.
    pub(super) fn push(
        &mut self,
        tilt: Tilt,
        (first, masses): (i64, &[f64]),
        kappa: f64,
        count: u64,
    ) -> Option<()> {
        let h = Interval::from(tilt.h);
        let multiply = if tilt.up { mul_up } else { mul_down };
        let divide = if tilt.up { div_up } else { div_down };
        let occupied = masses.iter().zip(first..).filter(|(mass, _)| **mass > 0.0);
        let taps = occupied.map(|(&mass, place)| {
            let factor = (h * place as f64 * tilt.theta - kappa).exp();
            let factor = if tilt.up {
                factor.upper()
            } else {
                factor.lower()
            };
            (place, multiply(mass, factor).max(0.0))
        });
        let mut taps: Vec<(i64, f64)> = taps.collect();
        let sum: f64 = taps.iter().map(|tap| tap.1).sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return None;
        }
        for (_, weight) in &mut taps {
            *weight = divide(*weight, sum).max(0.0);
        }
        let scale = Interval::from(kappa) + Interval::from(sum).ln();
        self.ln_scale = self.ln_scale + scale * count as f64;
        self.factors.push(Factor { taps, count });
        Some(())
    }

    /// At least ln E e^(tS) for the sum S of places times h, under the weights.
    pub(super) fn ln_moment(&self, h: f64, t: f64) -> f64 {
        let mut total = 0.0;
        for factor in &self.factors {
            let first = factor.taps.first().map_or(0, |tap| tap.0);
            let last = factor.taps.last().map_or(0, |tap| tap.0);
            let exponent = |&(place, weight): &(i64, f64)| {
                core_math::log(weight) + t * h * (place - first) as f64
            };
            let exponents: Vec<f64> = factor.taps.iter().map(exponent).collect();
            let most = exponents.iter().copied().fold(f64::MIN, f64::max);
            let sum: f64 = exponents.iter().map(|x| core_math::exp(x - most)).sum();
            // The sum is at least one. Its up to 2^23 roundings are below 2e-9,
            // those of an exponent below 8 u of its two terms, of which the
            // logarithm is at least -745.
            let off = 1e-15 * (t * h * (last - first) as f64).abs() + 1e-12;
            let ln_sum = Interval::from(sum * (1.0 + 2e-9)).ln() + most + off;
            let bound = ln_sum + Interval::from(h) * first as f64 * t;
            total = add_up(total, (bound * factor.count as f64).upper());
        }
        total
    }
}
