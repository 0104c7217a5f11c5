//! The logarithm of the characteristic function of a sum.

use mizan_core::Interval;
use num_bigint::BigUint;

use crate::decay::Decay;
use crate::error_bound::enclosure::{of_integer, of_rational, pi};
use crate::error_bound::gaussian::Gaussian;

/// A frequency `t = 2π turns`, from 0 to π.
#[derive(Clone, Copy)]
pub(super) struct Frequency {
    /// A dyadic fraction, at most a half.
    turns: f64,
    /// `sin(t/2)`.
    pub(super) half_sine: Interval,
    angle: Interval,
}

impl Frequency {
    pub(super) fn new(turns: f64) -> Self {
        // Correctly rounded, so the neighbours enclose it.
        let sine = core_math::sinpi(turns);
        Self {
            turns,
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
    /// `σ ≥ 1`: `φ = Σ_k e^(-σ²(t-2πk)²/2)` over its value at zero.
    Wide {
        variance: Interval,
        /// `ln(1 + others(0))`.
        at_zero: Interval,
    },
    /// `σ < 1`: `φ = 1 - 4 Σ_{x≥1} p(x) sin²(xt/2)`.
    Narrow {
        variance: Interval,
        /// Of 1, 2, ...
        probabilities: Vec<Interval>,
    },
}

/// Beyond this narrow noise has probability below `e^-112`.
const NARROW_VALUES: u32 = 14;

/// A number below `10^-30`, and not below zero.
const NEGLIGIBLE: (f64, f64) = (0.0, 1e-30);

impl Kind {
    fn new(decay: &Decay) -> Self {
        let rate = of_rational(&decay.rate);
        if !decay.squared {
            let steepness = Interval::ONE / (rate * 0.5).sinh().square();
            return Self::Laplace { rate, steepness };
        }
        let variance = Interval::from(0.5) / rate;
        if variance.lower() >= 1.0 {
            let at_zero = others(variance, Interval::ZERO).ln_1p();
            return Self::Wide { variance, at_zero };
        }
        let gaussian = Gaussian::new(rate);
        Self::Narrow {
            variance,
            probabilities: (1..=NARROW_VALUES)
                .map(|x| gaussian.probability(f64::from(x)))
                .collect(),
        }
    }

    /// `ln φ(t)`.
    fn ln(&self, at: Frequency) -> Interval {
        match self {
            Self::Laplace { steepness, .. } => -(at.half_sine.square() * *steepness).ln_1p(),
            Self::Wide { variance, at_zero } => {
                let others = others(*variance, at.angle).ln_1p();
                others - *at_zero - *variance * at.angle.square() * 0.5
            }
            Self::Narrow { probabilities, .. } => {
                let mut sum = Interval::new(NEGLIGIBLE.0, NEGLIGIBLE.1);
                for (x, &probability) in (1..).zip(probabilities) {
                    let turns = (f64::from(x) * at.turns).fract();
                    sum = sum + probability * Interval::from(turns).sin_pi_squared();
                }
                (-(sum * 4.0)).ln_1p()
            }
        }
    }

    /// At least `ln |E e^((s+it)X)| - ln E e^(sX)`, or than that with `σ²s²/2`
    /// for the second where it is Gaussian: then every term of Poisson's
    /// formula has the size it has at `s = 0`.
    fn tilted_ln(&self, at: Frequency, s: Interval) -> Interval {
        let Self::Laplace { rate, .. } = self else {
            return self.ln(at);
        };
        let side = |w: Interval| (at.half_sine / (w * 0.5).sinh()).square().ln_1p();
        -((side(*rate - s) + side(*rate + s)) * 0.5)
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
            Self::Narrow {
                variance,
                probabilities,
            } => {
                let most = *variance * s.square() * 0.5;
                let mut sum = Interval::ZERO;
                for (x, &probability) in (1..).zip(probabilities) {
                    sum = sum + probability * (s * (0.5 * f64::from(x))).sinh().square();
                }
                let least = (sum * 4.0).ln_1p().lower();
                Interval::new(least.clamp(0.0, most.upper()), most.upper())
            }
        }
    }
}

/// `Σ_{k≠0} e^(-σ²((t-2πk)² - t²)/2)` for `σ ≥ 1`.
fn others(variance: Interval, angle: Interval) -> Interval {
    // The largest has the exponent 2πσ²(π - t).
    let nearest = variance * pi() * 2.0 * (pi() - angle);
    if nearest.lower() > 80.0 {
        return Interval::new(NEGLIGIBLE.0, NEGLIGIBLE.1);
    }
    let scale = variance * pi() * 2.0;
    let mut sum = Interval::new(NEGLIGIBLE.0, NEGLIGIBLE.1);
    // From k = 4 on the exponents are above 8π · 3π.
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
        self.parts
            .iter()
            .map(part)
            .fold(Interval::ZERO, |sum, part| sum + part)
    }

    /// How `|E e^((s+it)X)|` falls with `t`, at most: with the upper end of
    /// [`cumulant`](Self::cumulant) a bound of its logarithm.
    pub(super) fn tilted_ln(&self, at: Frequency, s: Interval) -> f64 {
        let part = |(kind, count): &(Kind, Interval)| kind.tilted_ln(at, s) * *count;
        self.parts
            .iter()
            .map(part)
            .fold(Interval::ZERO, |sum, part| sum + part)
            .upper()
    }

    /// `ln E e^(sX)`.
    pub(super) fn cumulant(&self, s: Interval) -> Interval {
        let part = |(kind, count): &(Kind, Interval)| kind.cumulant(s) * *count;
        self.parts
            .iter()
            .map(part)
            .fold(Interval::ZERO, |sum, part| sum + part)
    }

    /// The rate of the widest Laplace noise and the sum without it, if it is
    /// there once and no other is so close that doubles cannot tell them apart.
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

    /// About the variance; for narrow Gaussians more than that.
    pub(super) fn variance(&self) -> f64 {
        let variance = |(kind, count): &(Kind, Interval)| {
            let one = match kind {
                Kind::Laplace { steepness, .. } => *steepness * 0.5,
                Kind::Wide { variance, .. } | Kind::Narrow { variance, .. } => *variance,
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
