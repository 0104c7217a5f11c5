//! The exponential mechanism, and any mechanism of bounded range η: its losses
//! lie in some interval of length η.
//!
//! The worst pair has two losses, t and t - η; the supremum over t is
//!
//! > (α-1) ε(α) = α g(αη) - (α-1) g((α-1)η) - g(η),   g(x) = ln( sinh(x/2)/(x/2) ).
//!
//! # Reference
//! Dong, Durfee and Rogers 2020 for the pair; docs/spec/mathematics.md 2.7 for the closed form,
//! of which this is a rearrangement without cancellation.

use mizan_core::{Epsilon, Interval};

use super::hyperbolic::{ln_sinhc_half, ln_sinhc_half_series};
use super::position::{Between, Position};

/// The curve of a mechanism of bounded range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    /// The range η, which is also the pure ε.
    range: f64,
}

impl Curve {
    pub(crate) fn new(epsilon: Epsilon) -> Self {
        Self {
            range: epsilon.get(),
        }
    }

    pub(crate) fn at(&self, position: Position) -> Interval {
        let eta = Interval::from(self.range);
        match position {
            Position::One if self.range <= 1.0 => small_range(
                Between {
                    a: 1.0,
                    b: Interval::ZERO,
                },
                eta,
            ),
            Position::One => {
                // η/2 + η/(e^η - 1) - 1 + g(η)
                eta * 0.5 + eta / eta.exp_m1() - 1.0 + ln_sinhc_half(eta)
            }
            Position::Between(order) if order.a * self.range <= 1.0 => small_range(order, eta),
            Position::Between(order) => large_range(order, eta),
            Position::Infinite => eta,
        }
    }
}

/// Σ γ_n η^(2n) (α^(2n+1) - (α-1)^(2n+1) - 1)/(α-1), for α η <= 1.
///
/// With e_m = (α^m - (α-1)^m - 1)/(α-1) the brackets follow
/// e_(m+1) = α e_m + (α-1)^(m-1) + 1, all terms positive; E_m = η^(m-1) e_m.
fn small_range(Between { a, b }: Between, eta: Interval) -> Interval {
    let (a_eta, b_eta) = (eta * a, b * eta);
    // State at m = 2: E_2 = 2η, (bη)^(m-1) and η^m.
    let start = (eta * 2.0, b_eta, eta.square());
    let brackets = std::iter::successors(Some(start), |&(bracket, b_power, eta_power)| {
        let next = a_eta * bracket + eta * b_power + eta_power;
        Some((next, b_power * b_eta, eta_power * eta))
    });
    // The odd m = 3, 5, ... are wanted.
    ln_sinhc_half_series(brackets.map(|(bracket, ..)| bracket).skip(1).step_by(2))
}

/// [g(αη) - g(η)]/(α-1) + g(αη) - g((α-1)η): two non-negative differences.
fn large_range(Between { a, b }: Between, eta: Interval) -> Interval {
    let whole = ln_sinhc_half(eta * a);
    let to_one = if eta.upper() < 0.5 {
        (whole - ln_sinhc_half(eta)) / b
    } else {
        // g(αη) - g(η) = (α-1)η/2 + ln((1-e^(-αη))/(1-e^-η)) - ln α
        let step = (-eta).exp();
        let gain = step * -(-(b * eta)).exp_m1() / -(-eta).exp_m1();
        eta * 0.5 + gain.ln_1p() / b - b.ln_1p() / b
    };
    let to_previous = if b.lower() < 1.0 {
        whole - ln_sinhc_half(b * eta)
    } else {
        // g(αη) - g((α-1)η), likewise
        let b_eta = b * eta;
        let gain = (-b_eta).exp() * -(-eta).exp_m1() / -(-b_eta).exp_m1();
        eta * 0.5 + gain.ln_1p() - (Interval::ONE / b).ln_1p()
    };
    to_one.non_negative() + to_previous.non_negative()
}
