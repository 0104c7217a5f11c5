//! Amplification by subsampling, for events of which only a Rényi curve is known.
//!
//! At whole orders α >= 2, with γ the rate of the sample and ε the curve of what
//! is done with it, ln of the following over α - 1 bounds the curve: on a Poisson
//! sample
//!
//! > (1-γ)^(α-1) (αγ-γ+1) + C(α,2) γ² (1-γ)^(α-2) e^ε(2)
//! > + 3 Σ_(l=3)^α C(α,l) (1-γ)^(α-l) γ^l e^((l-1) ε(l)),
//!
//! on a sample of fixed size
//!
//! > 1 + γ² C(α,2) min{4 (e^ε(2) - 1), 2 e^ε(2)} + Σ_(j=3)^α 2 γ^j C(α,j) e^((j-1) ε(j)).
//!
//! Between whole orders (α-1) ε(α) is convex and vanishes at 1, so chords bound
//! it. A sample never costs more than the whole, which serves beyond `LARGEST`.
//!
//! # Reference
//! Zhu and Wang 2019, Theorem 5; Wang, Balle and Kasiviswanathan 2019, Theorem 9.

use mizan_core::{Interval, Order, PrivacyEvent};

use super::position::Position;
use crate::{Reason, RenyiCurve};

/// The largest whole order for which the sum is taken.
const LARGEST: f64 = 128.0;

/// A bound on the curve of a sampled event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    /// The curve of what is done with the sample.
    whole: RenyiCurve,
    /// (α-1) ε(α) at α = 1, 2, ..., from above.
    cumulants: Vec<f64>,
}

impl Curve {
    pub(crate) fn new(event: &PrivacyEvent) -> Result<Self, Reason> {
        let (rate, inner, poisson) = match event {
            PrivacyEvent::Poisson { q, event } => (Interval::from(q.get()), event.as_ref(), true),
            PrivacyEvent::WithoutReplacement(sampling) => (
                Interval::from(sampling.sample().as_f64()) / sampling.population().as_f64(),
                sampling.event(),
                false,
            ),
            _ => return Err(Reason::NotYet),
        };
        let whole = RenyiCurve::of(inner).map_err(|error| error.reason())?;
        let mut cumulants = vec![0.0];
        let mut moments = vec![Interval::ZERO, Interval::ZERO];
        let mut alpha = 2.0;
        while alpha <= LARGEST {
            let order = Order::new(alpha).map_err(|_| Reason::NotYet)?;
            // ln e^((α-1) ε(α)).
            moments.push(whole.enclosure(order) * (alpha - 1.0));
            let ln_sum = if poisson {
                poisson_sum(rate, alpha, &moments)
            } else {
                fixed_sum(rate, alpha, &moments)
            };
            let plain = (whole.enclosure(order) * (alpha - 1.0)).upper();
            cumulants.push(ln_sum.upper().min(plain).max(0.0));
            alpha += 1.0;
        }
        Ok(Self { whole, cumulants })
    }

    pub(crate) fn at(&self, position: Position) -> Interval {
        let at_whole = |order: Order| self.whole.enclosure(order).upper();
        match position {
            // Divergences rise with the order.
            Position::One => Interval::new(
                0.0,
                self.cumulants
                    .get(1)
                    .copied()
                    .unwrap_or(f64::INFINITY)
                    .min(at_whole(Order::ONE)),
            ),
            Position::Infinite => Interval::new(0.0, at_whole(Order::INFINITE)),
            Position::Between(order) => {
                let plain = Order::new(order.a).map_or(f64::INFINITY, at_whole);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "saturates, and is looked up"
                )]
                let below = order.a.floor() as usize;
                let ends = (
                    self.cumulants.get(below.saturating_sub(1)),
                    self.cumulants.get(below),
                );
                let chord = match ends {
                    (Some(&left), Some(&right)) => {
                        let part = Interval::from(order.a) - order.a.floor();
                        let k = (Interval::ONE - part) * left + part * right;
                        (k / order.b).upper()
                    }
                    (Some(&left), None) if order.a.fract() == 0.0 => {
                        (Interval::from(left) / order.b).upper()
                    }
                    _ => f64::INFINITY,
                };
                Interval::new(0.0, chord.min(plain))
            }
        }
    }
}

/// ln Σ e^x.
fn ln_sum_exp(terms: &[Interval]) -> Interval {
    let largest = terms
        .iter()
        .map(|term| term.upper())
        .fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return Interval::INFINITE;
    }
    let sum = terms
        .iter()
        .fold(Interval::ZERO, |sum, term| sum + (*term - largest).exp());
    sum.ln() + largest
}

/// ln C(α, l) for l = 0, ..., α.
fn ln_binomials(alpha: f64) -> Vec<Interval> {
    let mut binomials = vec![Interval::ZERO];
    let mut ln = Interval::ZERO;
    let mut l = 1.0;
    while l <= alpha {
        ln = ln + (Interval::from(alpha - l + 1.0) / l).ln();
        binomials.push(ln);
        l += 1.0;
    }
    binomials
}

fn poisson_sum(rate: Interval, alpha: f64, moments: &[Interval]) -> Interval {
    let (ln_rate, ln_rest) = (rate.ln(), (-rate).ln_1p());
    // 0 ln 0 is 0: with rate 1 the sample is the whole dataset.
    let power = |ln: Interval, exponent: f64| {
        if exponent == 0.0 {
            Interval::ZERO
        } else {
            ln * exponent
        }
    };
    let first = power(ln_rest, alpha - 1.0) + (rate * (alpha - 1.0)).ln_1p();
    let mut terms = vec![first];
    for (l, (binomial, moment)) in ln_binomials(alpha).into_iter().zip(moments).enumerate() {
        if l >= 2 {
            let l = l as f64;
            let factor = if l > 2.0 {
                Interval::from(3.0).ln()
            } else {
                Interval::ZERO
            };
            terms.push(factor + binomial + power(ln_rest, alpha - l) + power(ln_rate, l) + *moment);
        }
    }
    ln_sum_exp(&terms)
}

fn fixed_sum(rate: Interval, alpha: f64, moments: &[Interval]) -> Interval {
    let ln_rate = rate.ln();
    let mut terms = vec![Interval::ZERO];
    for (j, (binomial, moment)) in ln_binomials(alpha).into_iter().zip(moments).enumerate() {
        if j >= 2 {
            let twice = *moment + Interval::from(2.0).ln();
            let factor = if j == 2 {
                twice.min((moment.exp_m1() * 4.0).ln())
            } else {
                twice
            };
            terms.push(binomial + ln_rate * j as f64 + factor);
        }
    }
    ln_sum_exp(&terms)
}
