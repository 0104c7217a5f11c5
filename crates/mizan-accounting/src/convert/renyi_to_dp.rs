//! From a Rényi guarantee at one order to (ε, δ).
//!
//! Let Y be the likelihood ratio of neighbouring outputs, so that E[Y] = 1 and
//! E[Y^α] <= M = e^((α-1)ρ) under the second of them; δ(ε) = E[(Y - g)_+] with
//! g = e^ε. Any convex h(y) = λ y^α + μ y + ν that stays above (y - g)_+ gives
//! δ <= λ M + μ + ν. The h that touches zero at y₁ and y - g at y₂ does, and
//! with b = α - 1 it says
//!
//! > δ = (M - α y₁^b + b y₁^α) / (α (y₂^b - y₁^b)),
//! > g = (b/α) (y₂^α - y₁^α) / (y₂^b - y₁^b).
//!
//! Every choice 0 <= y₁ < y₂ is a proof, so rounding in the choice never
//! matters, only in the two formulas, which are evaluated with intervals:
//!
//! - y₁ = 0 is the conversion of Canonne, Kamath and Steinke,
//! - y₁ = 1 the supporting line of docs/spec/mathematics.md 3.3,
//! - the best y₁ the optimal conversion from a single order.
//!
//! Where δ is large the worst pair puts mass on y = 0 and h(y) = λ y^α + μ y
//! with μ > 0 is better; its best choice says ε = ρ + ln(1 - δ), for δ >= 1/α.
//!
//! # Reference
//! Mironov 2017, Proposition 3; Canonne, Kamath and Steinke 2020, Proposition
//! 12; Asoodeh, Liao, Calmon, Kosut and Sankar 2021 for the optimum.

use mizan_core::directed::mul_down;
use mizan_core::{Delta, Epsilon, Interval, Order};

use crate::curves::{Between, ln_sinhc_half};
use crate::minimize::{Minimum, valley};

/// A way to turn ε(α) into (ε, δ).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RenyiConversion {
    /// ρ + ln(1/δ)/(α-1): Mironov 2017, Proposition 3.
    Mironov,
    /// Canonne, Kamath and Steinke 2020, Proposition 12.
    CanonneKamathSteinke,
    /// The supporting line of docs/spec/mathematics.md 3.3.
    SupportingLine,
    /// The best that a single order allows (Asoodeh et al. 2021).
    Optimal,
}

impl RenyiConversion {
    /// All conversions, the paper's own first, the tightest last.
    pub const ALL: [Self; 4] = [
        Self::Mironov,
        Self::CanonneKamathSteinke,
        Self::SupportingLine,
        Self::Optimal,
    ];

    /// The name of the conversion.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mironov => "Mironov, Proposition 3",
            Self::CanonneKamathSteinke => "Canonne-Kamath-Steinke",
            Self::SupportingLine => "supporting line",
            Self::Optimal => "optimal for one order",
        }
    }

    /// The ε for which a mechanism with this Rényi ε at this order is (ε, δ)-DP.
    ///
    /// # Guarantee
    ///
    /// At least the exact value of the conversion, within 1e-12 of it relative
    /// where it is above 1e-3. Infinite at order one, where nothing follows.
    ///
    /// ```
    /// use mizan_accounting::RenyiConversion;
    /// use mizan_core::{Delta, Epsilon, Order};
    ///
    /// let (order, renyi, delta) = (Order::new(2.0)?, Epsilon::new(0.1)?, Delta::new(1e-5)?);
    /// let epsilon = |way: RenyiConversion| way.epsilon(order, renyi, delta).get();
    /// assert!((epsilon(RenyiConversion::Mironov) - 11.612925).abs() < 1e-6);
    /// assert!((epsilon(RenyiConversion::CanonneKamathSteinke) - 10.226631).abs() < 1e-6);
    /// assert!((epsilon(RenyiConversion::Optimal) - 7.874843).abs() < 1e-6);
    /// # Ok::<(), mizan_core::UnitError>(())
    /// ```
    pub fn epsilon(self, order: Order, renyi: Epsilon, delta: Delta) -> Epsilon {
        Epsilon::saturating(self.epsilon_upper(
            order,
            renyi.get(),
            LnDelta::of(delta),
            Effort::Full,
        ))
    }

    /// The δ for which a mechanism with this Rényi ε at this order is (ε, δ)-DP.
    ///
    /// # Guarantee
    ///
    /// At least the exact value of the conversion, for a mechanism, whose
    /// guarantee holds with neighbours exchanged too. One at order one.
    pub fn delta(self, order: Order, renyi: Epsilon, epsilon: Epsilon) -> Delta {
        let ln_delta = self.ln_delta_upper(order, renyi.get(), epsilon.get(), Effort::Full);
        Delta::saturating(Interval::from(ln_delta).exp().upper())
    }

    /// As [`epsilon`](Self::epsilon), below zero where even less would do.
    pub(crate) fn epsilon_upper(
        self,
        order: Order,
        renyi: f64,
        delta: LnDelta,
        effort: Effort,
    ) -> f64 {
        if renyi == f64::INFINITY {
            return f64::INFINITY;
        }
        let rho = Interval::from(renyi);
        let a = order.get();
        if a == f64::INFINITY {
            return renyi;
        }
        if a <= 1.0 || delta.delta == 0.0 {
            return f64::INFINITY;
        }
        let order = Between::new(a);
        match self {
            Self::Mironov => (rho - delta.ln / order.b).upper(),
            Self::CanonneKamathSteinke => canonne_kamath_steinke(order, rho, delta.ln),
            Self::SupportingLine => Moment::new(order, rho).epsilon(0.0, delta.ln),
            Self::Optimal => {
                let moment = Moment::new(order, rho);
                let touching =
                    best_touching(delta.ln.middle(), effort, |s| moment.epsilon(s, delta.ln));
                let with_mass_at_zero = if mul_down(delta.delta, a) >= 1.0 {
                    (rho + (-Interval::from(delta.delta)).ln_1p()).upper()
                } else {
                    canonne_kamath_steinke(order, rho, delta.ln)
                };
                touching
                    .min(moment.epsilon(0.0, delta.ln))
                    .min(with_mass_at_zero)
            }
        }
    }

    /// ln δ, an upper bound, which may be above 0; infinite where nothing is
    /// known.
    pub(crate) fn ln_delta_upper(
        self,
        order: Order,
        renyi: f64,
        epsilon: f64,
        effort: Effort,
    ) -> f64 {
        let rho = Interval::from(renyi);
        let a = order.get();
        if renyi == f64::INFINITY || a <= 1.0 {
            return f64::INFINITY;
        }
        if a == f64::INFINITY {
            return if renyi <= epsilon {
                f64::NEG_INFINITY
            } else {
                ln_delta_of_pure(rho, epsilon)
            };
        }
        let order = Between::new(a);
        // δ = e^(b(ρ-ε)) (b/α)^b / α
        let per_order = rho - epsilon - (Interval::ONE / order.b).ln_1p();
        let without_touching = (order.b * per_order - Interval::from(a).ln()).upper();
        match self {
            Self::Mironov => (order.b * (rho - epsilon)).upper(),
            Self::CanonneKamathSteinke => without_touching,
            Self::SupportingLine => Moment::new(order, rho).ln_delta(0.0, epsilon),
            Self::Optimal => {
                let moment = Moment::new(order, rho);
                let line = moment.ln_delta(0.0, epsilon);
                let touching = best_touching(line, effort, |s| moment.ln_delta(s, epsilon));
                let with_mass_at_zero = if per_order.lower() >= 0.0 {
                    (-(Interval::from(epsilon) - rho).exp_m1()).ln().upper()
                } else {
                    without_touching
                };
                touching.min(line).min(with_mass_at_zero)
            }
        }
    }
}

/// δ and its logarithm, enclosed once for many evaluations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LnDelta {
    delta: f64,
    ln: Interval,
}

impl LnDelta {
    pub(crate) fn of(delta: Delta) -> Self {
        let delta = delta.get();
        Self {
            delta,
            ln: Interval::from(delta).ln(),
        }
    }
}

/// How well something is looked for. Whatever is found is a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// A few digits, for comparing.
    Quick,
    /// To the last digits.
    Full,
}

/// Searches the best touching point y₁ = e^-s. For small δ it lies where s is
/// a few times δ; there may be a second valley, so steps come first.
fn best_touching(ln_delta: f64, effort: Effort, bound: impl Fn(f64) -> f64) -> f64 {
    const STEPS: [f64; 8] = [-1.5, 0.0, 1.0, 2.0, 3.0, 4.5, 6.0, 9.0];
    let at = |u: f64| Minimum {
        place: u,
        value: bound(u.exp()),
    };
    let center = ln_delta.clamp(-800.0, 0.0);
    let steps = STEPS.into_iter().map(|step| at(center + step));
    let best = steps.fold(at(0.0), Minimum::or);
    if effort == Effort::Quick {
        return best.value;
    }
    let range = (best.place - 1.5, best.place + 1.5);
    valley(range, 2e-7, |u| at(u).value).or(best).value
}

/// A pure ε₀ at a smaller ε: δ = (e^ε₀ - e^ε)/(1 + e^ε₀), that of randomized
/// response, which every ε₀-DP mechanism is a post-processing of.
fn ln_delta_of_pure(rho: Interval, epsilon: f64) -> f64 {
    let gap = -(Interval::from(epsilon) - rho).exp_m1();
    (gap.ln() - (-rho).exp().ln_1p()).upper()
}

/// ρ + ln(b/α) - (ln δ + ln α)/b.
fn canonne_kamath_steinke(Between { a, b }: Between, rho: Interval, ln_delta: Interval) -> f64 {
    let tail = (ln_delta + Interval::from(a).ln()) / b;
    (rho - (Interval::ONE / b).ln_1p() - tail).upper()
}

/// What is known of the likelihood ratio: M - 1 = e^(bρ) - 1.
struct Moment {
    a: f64,
    b: Interval,
    b_rho: Interval,
}

impl Moment {
    fn new(Between { a, b }: Between, rho: Interval) -> Self {
        Self {
            a,
            b,
            b_rho: b * rho,
        }
    }

    /// ln(M - α y₁^b + b y₁^α) for y₁ = e^-s.
    fn ln_numerator(&self, s: f64) -> Interval {
        // b y₁^α - α y₁^b + 1, beyond the tangents that cancel; zero at s = 0.
        let (a_s, b_s) = (Interval::from(self.a) * s, self.b * s);
        let touch = (self.b * (-a_s).exp_beyond_tangent() - (-b_s).exp_beyond_tangent() * self.a)
            .non_negative();
        if self.b_rho.upper() < 600.0 {
            (self.b_rho.exp_m1() + touch).ln()
        } else {
            self.b_rho + ((touch - 1.0) * (-self.b_rho).exp()).ln_1p()
        }
    }

    /// ln g where x = ln(y₂/y₁) and y₁ = e^-s.
    fn ln_g(&self, s: f64, x: Interval) -> Interval {
        let (a_x, b_x) = (x * self.a, self.b * x);
        if a_x.upper() <= 1.0 {
            // With (1 - e^-z)/z = e^(-z/2) sinhc(z/2) the large logarithms cancel.
            x * 0.5 - s + (ln_sinhc_half(a_x) - ln_sinhc_half(b_x))
        } else {
            // (1 - e^(-αx))/(1 - e^(-bx)) exceeds one by the ratio below.
            let excess = (-b_x).exp() * -(-x).exp_m1() / -(-b_x).exp_m1();
            x - s - (Interval::ONE / self.b).ln_1p() + excess.ln_1p()
        }
    }

    /// The smallest ε at this δ with the touching point e^-s.
    fn epsilon(&self, s: f64, ln_delta: Interval) -> f64 {
        // y₂^b = y₁^b + D, so b x = ln(1 + D e^(bs)).
        let ln_d = self.ln_numerator(s) - Interval::from(self.a).ln() - ln_delta;
        let lifted = ln_d + self.b * s;
        let b_x = if lifted.lower() > 30.0 {
            lifted + (-lifted).exp().ln_1p()
        } else {
            lifted.exp().ln_1p()
        };
        self.ln_g(s, b_x / self.b).upper()
    }

    /// The smallest ln δ at this ε with the touching point e^-s.
    fn ln_delta(&self, s: f64, epsilon: f64) -> f64 {
        let Some(x) = self.second_touching(s, epsilon) else {
            return f64::INFINITY;
        };
        let b_x = self.b * x;
        let ln_gap = b_x + (-(-b_x).exp_m1()).ln() - self.b * s;
        (self.ln_numerator(s) - Interval::from(self.a).ln() - ln_gap).upper()
    }

    /// An x close below the root of ln g(x) = ε, with a certified ln g(x) <= ε.
    fn second_touching(&self, s: f64, epsilon: f64) -> Option<f64> {
        // ln g grows with x from -s with a slope between 1/2 and 1; a secant
        // that is kept to such slopes and aims a hair below finds the root.
        let close = 4e-15 * (epsilon + s);
        let mut x = epsilon + s + (1.0 / self.b.lower()).ln_1p();
        let mut slope = 1.0;
        let mut before: Option<(f64, f64)> = None;
        for _ in 0..60 {
            let excess = self.ln_g(s, Interval::from(x)).upper() - epsilon;
            if excess <= 0.0 && excess >= -close {
                break;
            }
            if let Some((x_before, excess_before)) = before {
                slope = ((excess - excess_before) / (x - x_before)).clamp(0.5, 1.0);
            }
            before = Some((x, excess));
            let next = x - (excess + 0.5 * close) / slope;
            if !next.is_finite() || next == x {
                break;
            }
            x = next;
        }
        // Where rounding decides, step down until it is certain.
        let mut margin = close.max(f64::EPSILON * x.abs());
        for _ in 0..40 {
            if x > 0.0 && self.ln_g(s, Interval::from(x)).upper() <= epsilon {
                return Some(x);
            }
            x -= margin;
            margin *= 2.0;
        }
        None
    }
}
