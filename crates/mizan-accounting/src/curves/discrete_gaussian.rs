//! Discrete Gaussian noise: integers x with probability proportional to
//! e^(-x²/2σ²), on an integer-valued function of bounded L2 sensitivity.
//!
//! A shift by n costs exactly α n²/2σ² + ln( θ((α-1)n)/θ(0) )/(α-1), where
//! θ(f) = Σ_x e^(-(x-f)²/2σ²) depends on the distance of f to the nearest
//! integer and is largest at 0: never more than Gaussian noise, and less where
//! (α-1)n is not whole. The price of an event is the supremum over all integer
//! vectors whose squared norm is at most the squared sensitivity. For one
//! coordinate it is the full shift (shifts of a log-concave distribution have
//! monotone likelihood ratios, so the divergence grows with the shift).
//!
//! # Reference
//! Canonne, Kamath and Steinke 2020, Proposition 5 for the bound α Δ²/2σ²;
//! docs/spec/mathematics.md 2.4 for the exact value.

use mizan_core::{DiscreteGaussian, Interval};

use super::position::{Between, Position};

/// Above this standard deviation the correction is below 1e-17 of the price.
const WIDE_SIGMA: f64 = 1.5;

/// The largest squared sensitivity for which the worst vector is searched.
const SEARCHED_SQUARE: f64 = 4096.0;

/// The curve of the discrete Gaussian mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    sigma: f64,
    /// The largest whole number not above the squared sensitivity, exactly.
    square: f64,
}

impl Curve {
    pub(crate) fn new(mechanism: &DiscreteGaussian) -> Self {
        let sensitivity = mechanism.sensitivity().get();
        let square = sensitivity * sensitivity;
        let lost = sensitivity.mul_add(sensitivity, -square);
        let whole = square.floor();
        let square = if whole == square && lost < 0.0 {
            whole - 1.0
        } else {
            whole
        };
        Self {
            sigma: mechanism.sigma().get(),
            square,
        }
    }

    pub(crate) fn at(&self, position: Position) -> Interval {
        match position {
            Position::One => self.without_correction(1.0, self.square),
            Position::Between(order) if self.square == 1.0 => self.shift(order, 1.0),
            Position::Between(order) => {
                if self.sigma >= WIDE_SIGMA {
                    // From below: one step in each of `square` coordinates.
                    let ones = self.shift(order, 1.0) * self.square;
                    let bound = self.without_correction(order.a, self.square);
                    Interval::new(ones.lower(), bound.upper())
                } else if self.square > SEARCHED_SQUARE {
                    self.best_rate(order)
                } else {
                    self.worst_vector(order)
                }
            }
            Position::Infinite => Interval::INFINITE,
        }
    }

    /// α n²/2σ² for a given n².
    fn without_correction(&self, a: f64, square: f64) -> Interval {
        Interval::from(square) / self.sigma * a / self.sigma * 0.5
    }

    /// The exact price of a shift by n in one coordinate.
    fn shift(&self, order: Between, n: f64) -> Interval {
        let correction = self.ln_theta_ratio(distance_to_whole(order.a, n));
        self.without_correction(order.a, n * n) + correction / order.b
    }

    /// The price when the squared norm is large: at most what the dearest shift
    /// costs per squared norm, at least that shift repeated and ones.
    fn best_rate(&self, order: Between) -> Interval {
        const SHIFTS: u32 = 4096;
        let largest = self.square.sqrt();
        let shifts = (1..=SHIFTS).map(f64::from).take_while(|&n| n <= largest);
        let rated = shifts.map(|n| (n, self.shift(order, n) / (n * n)));
        let (n, rate) = rated.fold((1.0, Interval::ZERO), |best, next| {
            if next.1.upper() > best.1.upper() {
                next
            } else {
                best
            }
        });
        let bound = self.without_correction(order.a, self.square);
        // Shifts beyond those tried cost at most the bound per squared norm.
        let upper = if largest < f64::from(SHIFTS) {
            (rate * self.square).min(bound)
        } else {
            bound
        };
        let times = (self.square / (n * n)).floor();
        let rest = self.square - times * n * n;
        let lower = self.shift(order, n) * times + self.shift(order, 1.0) * rest;
        Interval::new(lower.lower().min(upper.upper()), upper.upper())
    }

    /// The most expensive way to spend the squared norm on coordinates.
    fn worst_vector(&self, order: Between) -> Interval {
        let shifts: Vec<(usize, Interval)> = (1..)
            .map(|n: usize| (n * n, n as f64))
            .take_while(|&(_, n)| n * n <= self.square)
            .map(|(square, n)| (square, self.shift(order, n)))
            .collect();
        // best[m] is the worst vector of squared norm at most m.
        let mut best = vec![Interval::ZERO];
        while (best.len() as f64) <= self.square {
            let m = best.len();
            let candidates = shifts.iter().filter_map(|&(square, price)| {
                let rest = best.get(m.checked_sub(square)?)?;
                Some(*rest + price)
            });
            best.push(candidates.fold(Interval::ZERO, Interval::max));
        }
        best.last().copied().unwrap_or(Interval::ZERO)
    }

    /// ln( θ(f)/θ(0) ) for 0 <= f <= 1/2.
    fn ln_theta_ratio(&self, f: Interval) -> Interval {
        if f == Interval::ZERO {
            Interval::ZERO
        } else if self.sigma < 0.45 {
            self.ln_theta_ratio_by_terms(f)
        } else {
            self.ln_theta_ratio_by_waves(f)
        }
    }

    /// The sum over integers, which for small σ is dominated by the nearest:
    /// -f²/2σ² + ln(1 + Σ_x e^(-x(x-2f)/2σ²) (1 - e^(-xf/σ²))² / θ(0)).
    fn ln_theta_ratio_by_terms(&self, f: Interval) -> Interval {
        let half_precision = Interval::from(0.5) / self.sigma / self.sigma;
        // What is beyond the eighth term is below 2 e^(-72/2σ²) < e^-170.
        let tail = Interval::new(0.0, 1e-70);
        let (mut gain, mut theta) = (tail, tail + 1.0);
        for x in 1..=8 {
            let x = f64::from(x);
            let cross = f * (2.0 * x);
            let near = (-((Interval::from(x * x) - cross) * half_precision)).exp();
            let contrast = (-(cross * half_precision)).exp_m1();
            gain = gain + near * contrast.square();
            theta = theta + (half_precision * -(x * x)).exp() * 2.0;
        }
        (gain / theta).ln_1p() - f.square() * half_precision
    }

    /// The Poisson-summed form, which for larger σ converges at once:
    /// ln(1 - 4 Σ_k w_k sin²(πkf) / (1 + 2 Σ_k w_k)), w_k = e^(-2π²σ²k²).
    fn ln_theta_ratio_by_waves(&self, f: Interval) -> Interval {
        let pi = Interval::new(std::f64::consts::PI, std::f64::consts::PI.next_up());
        let exponent = (pi * self.sigma).square() * -2.0;
        // What is beyond the sixth wave is below 2 e^(-98π²σ²) < e^-190.
        let tail = Interval::new(0.0, 1e-80);
        let (mut loss, mut total) = (tail, tail + 1.0);
        for k in 1..=6 {
            let k = f64::from(k);
            let wave = (exponent * (k * k)).exp();
            let turns = f * k;
            loss = loss + wave * (turns - turns.middle().round()).sin_pi_squared();
            total = total + wave * 2.0;
        }
        (loss * -4.0 / total).ln_1p()
    }
}

/// The distance from (α-1) n to the nearest whole number, in [0, 1/2].
fn distance_to_whole(a: f64, n: f64) -> Interval {
    // α - 1 modulo 1 is exact (see Between); the product with n is taken with
    // its rounding error, and both parts are reduced exactly.
    let fraction = a - a.floor();
    let product = fraction * n;
    let lost = fraction.mul_add(n, -product);
    let f = Interval::from(product - product.round()) + lost;
    let f = if f.middle().abs() > 0.5 {
        f - f.middle().signum()
    } else {
        f
    };
    f.abs()
}
