//! The price of discrete Gaussian noise on an integer vector.
//!
//! By Poisson's sum, for a shift of one coordinate by an integer x, μ = x/σ, and w > 0,
//!
//! > δ_(M ⊗ G_w)(e) <= F δ_(w+μ²)(e),   F = (1 + 2 Σ_k e^(-c k²))/(1 + 2 Σ_k e^(-c0 k²)),
//! > c0 = 2π²σ²,   c = c0/(1 + μ²/w),
//!
//! for all e. Coordinates are charged one after the other, each with at least w left, so the factors
//! multiply. A vector of squared norm n² moves at most n² coordinates, none by more than n: the
//! factor of all is at most F^(n²) with μ = n/σ. And u with T(w+u) >= F T(w+μ²) is a price, because
//! ln δ_v(e) rises with v the slowest at e = 0 (docs/spec/mathematics.md 4.9).
//!
//! The price also holds for coordinates with more noise than σ, if Σ (x_j/σ_j)² <= n²/σ²: for c >= 3,
//! below which there is no price, σ² ln F falls with σ.
//!
//! Without any Gaussian noise the discrete Gaussian is not below the continuous one: there is no
//! price at w = 0.

use mizan_core::directed::mul_up;
use mizan_core::{DiscreteGaussian, Interval};

use super::coverage::Coverage;
use super::femto;
use crate::convert::mills;

/// The least c of a price.
const LEAST_EXPONENT: f64 = 3.0;

/// The price with `left` units of 1e-15 left after it.
pub(super) fn price(noise: &DiscreteGaussian, left: u64) -> Option<u64> {
    if left == 0 {
        return None;
    }
    let square = whole_square(noise);
    let variance = Interval::from(noise.sigma().get()).square();
    let needed = Interval::from(square) / variance;
    let left = femto::variance(left);
    let base = left + needed;
    let two_pi = Interval::new(std::f64::consts::TAU, std::f64::consts::TAU.next_up());
    // T(v) = erf √(v/8), which is below √(v/2π).
    let variation = (Interval::ONE - (base * 0.125).sqrt().erfc())
        .non_negative()
        .min((base / two_pi).sqrt());
    let excess = excess_factor(variance, needed / left, square);
    let gain = two_pi.sqrt() * (base * 0.125).exp() * excess * variation;
    let coverage = Coverage {
        base,
        gain,
        ln_rest: (mills(base.sqrt() * 0.5) * 2.0 - gain).ln(),
    };
    femto::units_up(needed)?.checked_add(coverage.price()?)
}

/// At least the largest whole number that is at most the squared sensitivity.
///
/// A sensitivity that is the nearest double to √n, such as √3, may be below √n. It means n.
pub(super) fn whole_square(noise: &DiscreteGaussian) -> f64 {
    let sensitivity = noise.sensitivity().get().next_up();
    mul_up(sensitivity, sensitivity).floor()
}

/// At least F^(n²) - 1 for σ², μ²/w and n²; infinite where c is below 3.
pub(super) fn excess_factor(variance: Interval, ratio: Interval, square: f64) -> Interval {
    let pi = Interval::new(std::f64::consts::PI, std::f64::consts::PI.next_up());
    let alone = pi.square() * variance * 2.0;
    let spread = ratio + 1.0;
    let behind = alone / spread;
    if behind.lower() < LEAST_EXPONENT {
        return Interval::INFINITE;
    }
    let difference = alone * ratio / spread;
    // e^(-c) - e^(-c0), and for k >= 2 k² - 4 >= 5 (k - 2).
    // The product would overflow where the difference does not matter.
    let first = if difference.upper() < 300.0 {
        (-alone).exp() * difference.exp_m1()
    } else {
        (-behind).exp()
    };
    let others = (behind * -4.0).exp() / -(behind * -5.0).exp_m1();
    let one = (first + others) * 2.0 / ((-alone).exp() * 2.0 + 1.0);
    (one.ln_1p() * square).exp_m1().non_negative()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizan_core::{Sensitivity, Sigma};

    #[test]
    fn the_nearest_double_to_a_root_means_the_root() {
        for n in (1..2000).map(f64::from) {
            let sensitivity = Sensitivity::new(n.sqrt()).unwrap();
            let noise = DiscreteGaussian::new(Sigma::new(20.0).unwrap(), sensitivity).unwrap();
            assert_eq!(whole_square(&noise), n);
        }
    }
}
