//! A bound on ε that holds whenever an analyst looks: an odometer for zero-concentrated charges.
//!
//! The analyst chooses every mechanism, and when to stop, from all earlier answers. Let r be the
//! likelihood ratio of the answers so far, ρ_i a zCDP bound of charge i, and z = Σ 2 ρ_i. For each
//! order a = 1 + c >= 1,
//!
//! > r^a e^(-a(a-1)z/2) = r e^(c (ln r - z/2) - c² z/2)
//!
//! is a supermartingale that starts at 1, because the Rényi divergence of charge i at order a is
//! at most a ρ_i. So is the mean over c = |N(0, κ²)|, with κ fixed in advance:
//!
//! > S(r, z) = r 2 q^(-1/2) e^(H²/2) Φ(H),   q = 1 + κ² z,   H = κ (ln r - z/2)/√q.
//!
//! The reading E(z) is the least x with r - e^x <= δ S(r, z) for all r > e^x. At any stopping time
//! the mean of max(0, r - e^E) is then at most δ, although E depends on the answers. The reading
//! is a function of z: it does not depend on the path, and it grows with z because S falls.
//!
//! With r = e^(x+t) the condition is
//!
//! > g(t) = ln(1 - e^(-t)) - H²/2 - ln(2 Φ(H)) + ln(q)/2 <= ln δ   for all t > 0.
//!
//! g is concave: H²/2 + ln Φ(H) is the logarithm of a Laplace transform in ln r. So where g'(t1) >= 0
//! >= g'(t2), g is nowhere above g(t1) + g'(t1) (t2 - t1). That is the certificate of a reading.
//!
//! # Reference
//! The method of mixtures: Robbins 1970; Whitehouse, Ramdas, Rogers and Wu 2023 for zCDP. The prior
//! on orders above 1 is restricted to them, since a power below 1 is no supermartingale for
//! mechanisms that are only dominated. docs/spec/mathematics.md 4.10 has the proof.

use mizan_core::{Epsilon, Interval, Rho};

/// The reading is tight at a total of about this part of the reference, or more.
const TIGHT_FROM: f64 = 1.0 / 16.0;

/// Half the relative distance of the two places of the certificate.
const BESIDE: f64 = 1.0 / 4_194_304.0;

/// The odometer: its δ, and the prior on orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZeroConcentratedOdometer {
    ln_delta: f64,
    kappa: f64,
}

/// The function g at a total.
struct Excess {
    /// z/2, κ/√q and ln(q)/2 - ln 2.
    half: Interval,
    ratio: Interval,
    offset: Interval,
}

impl ZeroConcentratedOdometer {
    /// An odometer for one ln δ, tight at totals of the size of `reference` and somewhat below.
    /// None unless δ is between zero and one and the reference is positive and finite.
    ///
    /// Neither may depend on answers.
    #[must_use]
    pub fn new(ln_delta: f64, reference: Rho) -> Option<Self> {
        // The best order for Gaussian noise of the total z is 1 + √(2 ln(1/δ)/z).
        let kappa = (-ln_delta / (TIGHT_FROM * reference.get())).sqrt();
        let usable = ln_delta < 0.0 && kappa.is_normal();
        usable.then_some(Self { ln_delta, kappa })
    }

    /// The reading after charges whose zCDP bounds add up to `total`. None if no finite reading is
    /// certain.
    ///
    /// # Guarantee
    ///
    /// If P and Q are the laws of all answers up to a stopping time on neighbouring data, E is the
    /// reading at that time, and δ is that of the odometer, then E_Q max(0, dP/dQ - e^E) <= δ, both
    /// ways round. Charges may be chosen, and stopped, in any way from earlier answers.
    ///
    /// ```
    /// use mizan_accounting::{GaussianProfile, ZeroConcentratedOdometer};
    /// use mizan_core::{Delta, Rho, Sensitivity, Sigma};
    /// let (total, reference) = (Rho::new(0.0056)?, Rho::new(0.028)?);
    /// let odometer = ZeroConcentratedOdometer::new(1e-6_f64.ln(), reference).unwrap();
    /// let whenever = odometer.reading(total).unwrap();
    /// // The same noise as one release that was fixed in advance.
    /// let sigma = Sigma::new((2.0 * total.get()).sqrt().recip())?;
    /// let fixed = GaussianProfile::new(sigma, Sensitivity::new(1.0)?).epsilon(Delta::new(1e-6)?);
    /// assert!(fixed.upper < whenever && whenever.get() < 1.2 * fixed.upper.get());
    /// # Ok::<(), mizan_core::UnitError>(())
    /// ```
    #[must_use]
    pub fn reading(&self, total: Rho) -> Option<Epsilon> {
        if total.get() == 0.0 {
            // Then r is 1.
            return Some(Epsilon::ZERO);
        }
        let excess = Excess::new(self.kappa, total);
        let holds = |x: f64| excess.is_certainly_below(x, self.ln_delta);
        // Below z/2, H might be negative. Readings are larger, or hardly smaller.
        let low = excess.half.upper();
        let deviation = (2.0 * total.get()).sqrt() * (-self.ln_delta).sqrt();
        let mut step = deviation.max(self.kappa.recip());
        let high = loop {
            let high = low + step;
            if !high.is_finite() {
                return None;
            }
            if holds(high) {
                break high;
            }
            step *= 2.0;
        };
        let reading = crate::minimize::first_that_holds(low, high, holds)?;
        Epsilon::new(reading).ok()
    }
}

impl Excess {
    fn new(kappa: f64, total: Rho) -> Self {
        let half = Interval::from(total.get());
        let q = Interval::from(kappa).square() * half * 2.0 + 1.0;
        Self {
            half,
            ratio: Interval::from(kappa) / q.sqrt(),
            offset: q.ln() * 0.5 - Interval::from(2.0).ln(),
        }
    }

    /// Whether g <= ln δ is certain for all t > 0.
    fn is_certainly_below(&self, x: f64, ln_delta: f64) -> bool {
        let t = self.largest_at(x);
        let (near, far) = (t * (1.0 - BESIDE), t * (1.0 + BESIDE));
        let slope = self.slope(x, near);
        if !(slope.lower() >= 0.0 && self.slope(x, far).upper() <= 0.0) {
            return false;
        }
        let width = Interval::from(far) - near;
        (self.value(x, near) + slope * width).upper() <= ln_delta
    }

    /// About where g is largest; no bound. A fixed point of t = ln(1 + 1/mean), which contracts:
    /// the deviation of c is below its mean.
    fn largest_at(&self, x: f64) -> f64 {
        let next = |t: f64| self.mean(self.normal(x, t)).middle().recip().ln_1p();
        let mut t = next(0.0);
        for _ in 0..100 {
            let before = t;
            t = next(t);
            if (t - before).abs() <= 1e-9 * t {
                break;
            }
        }
        t
    }

    /// H at ln r = x + t.
    fn normal(&self, x: f64, t: f64) -> Interval {
        (Interval::from(x) + t - self.half) * self.ratio
    }

    /// g(t).
    fn value(&self, x: f64, t: f64) -> Interval {
        let h = self.normal(x, t);
        let gap = (-(-Interval::from(t)).exp_m1()).ln();
        gap - h.square() * 0.5 - distribution(h).ln() + self.offset
    }

    /// g'(t) = 1/(e^t - 1) - mean.
    fn slope(&self, x: f64, t: f64) -> Interval {
        Interval::ONE / Interval::from(t).exp_m1() - self.mean(self.normal(x, t))
    }

    /// The mean of c in S: κ/√q times H + φ(H)/Φ(H).
    fn mean(&self, h: Interval) -> Interval {
        let two_pi = Interval::new(std::f64::consts::TAU, std::f64::consts::TAU.next_up());
        let density = (h.square() * -0.5).exp() / two_pi.sqrt();
        self.ratio * (h + density / distribution(h))
    }
}

/// Φ.
fn distribution(h: Interval) -> Interval {
    Interval::ONE - (h * Interval::from(0.5).sqrt()).erfc() * 0.5
}
