//! The logarithm of the characteristic function of a sum.

use mizan_core::Interval;
use num_bigint::BigUint;

use crate::error_bound::enclosure::{of_integer, of_rational, pi};
use crate::samplers::decay::Decay;

/// A frequency `t = 2π turns`, from 0 to π.
#[derive(Clone, Copy)]
pub(super) struct Frequency {
    /// `sin(t/2)`.
    pub(super) half_sine: Interval,
    angle: Interval,
}

impl Frequency {
    pub(super) fn new(turns: f64) -> Self {
        // Correctly rounded, so the neighbours enclose it.
        let sine = core_math::sinpi(turns);
        Self {
            half_sine: Interval::new(sine.next_down(), sine.next_up().min(1.0)),
            angle: pi() * (2.0 * turns),
        }
    }
}

/// One kind of noise.
#[derive(Clone)]
enum Kind {
    /// `1/φ = 1 + sin²(t/2) / sinh²(u/2)`.
    Laplace {
        rate: Interval,
        /// `1/sinh²(u/2)`.
        steepness: Interval,
    },
    /// `σ² ≥ 1/2`: `φ = Σ_k e^(-σ²(t-2πk)²/2)` over its value at zero.
    Wide {
        variance: Interval,
        /// `ln(1 + others(0))`.
        at_zero: Interval,
    },
    /// `σ² < 1/2`: Jacobi's product, `E e^(zX) = Π (1 + ρ e^z)(1 + ρ e^-z)/(1 + ρ)²`
    /// over `ρ = e^(-1/2σ²), e^(-3/2σ²), ...`.
    Narrow {
        variance: Interval,
        ratios: Vec<Interval>,
    },
}

/// Ratios from `e^-75` on add up to less than [`NEGLIGIBLE`], four times over.
const LAST_RATIO: f64 = 75.0;

/// A number below `10^-30`, and not below zero.
const NEGLIGIBLE: (f64, f64) = (0.0, 1e-30);

fn negligible() -> Interval {
    Interval::new(NEGLIGIBLE.0, NEGLIGIBLE.1)
}

/// `|1 + ρ e^(it)|² = (1 + ρ)² (1 - steepness sin²(t/2))`.
fn steepness(ratio: Interval) -> Interval {
    ratio * 4.0 / (Interval::ONE + ratio).square()
}

impl Kind {
    fn new(decay: &Decay) -> Self {
        let rate = of_rational(&decay.rate);
        if !decay.squared {
            let steepness = Interval::ONE / (rate * 0.5).sinh().square();
            return Self::Laplace { rate, steepness };
        }
        let variance = Interval::from(0.5) / rate;
        if variance.lower() >= 0.5 {
            let at_zero = others(variance, Interval::ZERO).ln_1p();
            return Self::Wide { variance, at_zero };
        }
        let ratios = (0..)
            .map(|n| -(rate * f64::from(2 * n + 1)))
            .take_while(|exponent| exponent.upper() > -LAST_RATIO)
            .map(Interval::exp)
            .collect();
        Self::Narrow { variance, ratios }
    }

    /// `ln φ(t)`.
    fn ln(&self, at: Frequency) -> Interval {
        match self {
            Self::Laplace { steepness, .. } => -(at.half_sine.square() * *steepness).ln_1p(),
            Self::Wide { variance, at_zero } => {
                let others = others(*variance, at.angle).ln_1p();
                others - *at_zero - *variance * at.angle.square() * 0.5
            }
            Self::Narrow { ratios, .. } => {
                let square = at.half_sine.square();
                let factor = |&ratio: &Interval| (-(steepness(ratio) * square)).ln_1p();
                sum(ratios.iter().map(factor)) - negligible()
            }
        }
    }

    /// At least `ln |E e^((s+it)X)|` less the upper end of
    /// [`cumulant`](Self::cumulant).
    fn tilted_ln(&self, at: Frequency, s: Interval) -> Interval {
        match self {
            Self::Laplace { rate, .. } => {
                let side = |w: Interval| (at.half_sine / (w * 0.5).sinh()).square().ln_1p();
                -((side(*rate - s) + side(*rate + s)) * 0.5)
            }
            // Every term of Poisson's formula has the size it has at s = 0.
            Self::Wide { .. } => self.ln(at),
            // Factors that are left out are at most one.
            Self::Narrow { ratios, .. } => {
                let (square, grown) = (at.half_sine.square(), s.exp());
                let side = |ratio: Interval| (-(steepness(ratio) * square)).ln_1p();
                let factor = |&ratio: &Interval| side(ratio * grown) + side(ratio / grown);
                sum(ratios.iter().map(factor)) * 0.5
            }
        }
    }

    /// `ln E e^(sX)`.
    ///
    /// For Gaussians at most `σ²s²/2` (Canonne, Kamath, Steinke, arXiv
    /// 2004.00010, section 2): Poisson's formula gives
    /// `e^(σ²s²/2) Σ e_k cos(2πkσ²s) / Σ e_k` with `e_k = e^(-2π²σ²k²)`. It also
    /// bounds what is missing.
    fn cumulant(&self, s: Interval) -> Interval {
        match self {
            Self::Laplace { steepness, .. } => -(-((s * 0.5).sinh().square() * *steepness)).ln_1p(),
            Self::Wide { variance, .. } => {
                let exponent = *variance * pi().square() * 2.0;
                let angle = *variance * s * pi() * 2.0;
                // 1 - cos x ≤ min(2, x²/2); e_2 and all after it are below 1.01 e_2.
                let turned = (angle.square() * 0.5).min(Interval::from(2.0));
                let missing = (-exponent).exp() * 2.0 * turned + (-(exponent * 4.0)).exp() * 4.04;
                *variance * s.square() * 0.5 + Interval::new(-missing.upper(), 0.0).ln_1p()
            }
            Self::Narrow { variance, ratios } => {
                // (1 + ρ e^s)(1 + ρ e^-s) = (1 + ρ)² (1 + steepness sinh²(s/2)).
                let square = (s * 0.5).sinh().square();
                let factor = |&ratio: &Interval| (steepness(ratio) * square).ln_1p();
                let product = sum(ratios.iter().map(factor)) + negligible() * square;
                product.min(*variance * s.square() * 0.5)
            }
        }
    }
}

fn sum(terms: impl Iterator<Item = Interval>) -> Interval {
    terms.fold(Interval::ZERO, |sum, term| sum + term)
}

/// `Σ_{k≠0} e^(-σ²((t-2πk)² - t²)/2)` for `σ² ≥ 1/2`.
fn others(variance: Interval, angle: Interval) -> Interval {
    // The largest has the exponent 2πσ²(π - t).
    let nearest = variance * pi() * 2.0 * (pi() - angle);
    if nearest.lower() > 80.0 {
        return negligible();
    }
    let scale = variance * pi() * 2.0;
    let mut sum = negligible();
    // From k = 4 on the exponents are above 4π · 3π.
    for k in [1.0, 2.0, 3.0] {
        for side in [pi() * k - angle, pi() * k + angle] {
            sum = sum + (-(scale * k * side)).exp();
        }
    }
    sum
}

/// The characteristic function of a sum.
pub(super) struct Characteristic {
    parts: Vec<(Kind, Interval)>,
}

impl Characteristic {
    pub(super) fn new(parts: &[(&Decay, u64)]) -> Self {
        let mut distinct: Vec<(&Decay, BigUint)> = Vec::new();
        for &(decay, count) in parts {
            match distinct.iter_mut().find(|(other, _)| same(other, decay)) {
                _ if count == 0 => {}
                Some((_, total)) => *total += count,
                None => distinct.push((decay, count.into())),
            }
        }
        Self {
            parts: distinct
                .iter()
                .map(|(decay, count)| (Kind::new(decay), of_integer(count)))
                .collect(),
        }
    }

    /// How many kinds of noise there are.
    pub(super) fn kinds(&self) -> usize {
        self.parts.len()
    }

    /// `ln φ(t)`.
    pub(super) fn ln(&self, at: Frequency) -> Interval {
        let part = |(kind, count): &(Kind, Interval)| kind.ln(at) * *count;
        sum(self.parts.iter().map(part))
    }

    /// At least `ln |E e^((s+it)X)|` less the upper end of
    /// [`cumulant`](Self::cumulant).
    pub(super) fn tilted_ln(&self, at: Frequency, s: Interval) -> f64 {
        let part = |(kind, count): &(Kind, Interval)| kind.tilted_ln(at, s) * *count;
        sum(self.parts.iter().map(part)).upper()
    }

    /// `ln E e^(sX)`.
    pub(super) fn cumulant(&self, s: Interval) -> Interval {
        let part = |(kind, count): &(Kind, Interval)| kind.cumulant(s) * *count;
        sum(self.parts.iter().map(part))
    }

    /// The rate of the widest Laplace noise and the sum without it, if its count is one and no other
    /// is so close that doubles cannot distinguish them.
    pub(super) fn without_widest(&self) -> Option<(Interval, Self)> {
        let smallest = self.smallest_rate();
        let rate = |kind: &Kind| match kind {
            Kind::Laplace { rate, .. } if rate.lower() <= smallest => Some(*rate),
            _ => None,
        };
        let mut widest = self
            .parts
            .iter()
            .filter_map(|(kind, count)| Some((rate(kind)?, *count)));
        let (Some((only, count)), None) = (widest.next(), widest.next()) else {
            return None;
        };
        if count != Interval::ONE {
            return None;
        }
        let rest = self.parts.iter().filter(|(kind, _)| rate(kind).is_none());
        Some((
            only,
            Self {
                parts: rest.cloned().collect(),
            },
        ))
    }

    /// The smallest rate of a Laplace noise, infinite where there is none: up
    /// to there cumulants are finite.
    pub(super) fn smallest_rate(&self) -> f64 {
        let rate = |(kind, _): &(Kind, Interval)| match kind {
            Kind::Laplace { rate, .. } => rate.lower(),
            Kind::Wide { .. } | Kind::Narrow { .. } => f64::INFINITY,
        };
        self.parts.iter().map(rate).fold(f64::INFINITY, f64::min)
    }

    /// About the variance.
    pub(super) fn variance(&self) -> f64 {
        let variance = |(kind, count): &(Kind, Interval)| {
            let one = match kind {
                Kind::Laplace { steepness, .. } => *steepness * 0.5,
                Kind::Wide { variance, .. } => *variance,
                Kind::Narrow { ratios, .. } => {
                    sum(ratios.iter().map(|&ratio| steepness(ratio))) * 0.5
                }
            };
            (one * *count).upper()
        };
        self.parts.iter().map(variance).sum()
    }
}

fn same(a: &Decay, b: &Decay) -> bool {
    let cross = |x: &Decay, y: &Decay| &x.rate.numerator * &y.rate.denominator;
    a.squared == b.squared && cross(a, b) == cross(b, a)
}
