//! Gauss-Legendre quadrature with 16 places, and its error bound.
//!
//! For a function analytic and bounded by M inside the ellipse with foci ±1
//! whose semi-axes add up to ρ, n places are off by at most
//! 64 M / (15 (1 - ρ^-2) ρ^(2n)) (Trefethen, Approximation Theory and
//! Approximation Practice, Theorem 19.3).

use std::sync::LazyLock;

/// Places in (-1, 1) and their weights.
pub(super) const PLACES: usize = 16;

/// The rule, to a few units of rounding.
pub(super) static RULE: LazyLock<[(f64, f64); PLACES]> = LazyLock::new(rule);

/// ln of the factor of M in the error bound.
pub(super) fn ln_error(rho: f64) -> f64 {
    (64.0 / 15.0 / (1.0 - 1.0 / (rho * rho))).ln() - 2.0 * PLACES as f64 * rho.ln()
}

/// The zeros of the Legendre polynomial by Newton's method.
fn rule() -> [(f64, f64); PLACES] {
    let n = PLACES as f64;
    let mut rule = [(0.0, 0.0); PLACES];
    for (index, place) in rule.iter_mut().enumerate() {
        let mut x = (std::f64::consts::PI * (index as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            let (value, before) = legendre(x);
            slope = n * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        *place = (x, 2.0 / ((1.0 - x * x) * slope * slope));
    }
    rule
}

/// The polynomials of degree 16 and 15 by their recurrence.
fn legendre(x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for degree in 2..=PLACES {
        let k = degree as f64;
        (before, value) = (
            value,
            ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k,
        );
    }
    (value, before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrates_polynomials_of_degree_31() {
        for degree in 0..32i32 {
            let sum: f64 = RULE.iter().map(|(x, w)| w * x.powi(degree)).sum();
            let exact = if degree % 2 == 0 {
                2.0 / f64::from(degree + 1)
            } else {
                0.0
            };
            assert!((sum - exact).abs() < 2e-15, "{degree}: {sum}");
        }
    }
}
