//! A bound on ε that holds whenever an analyst looks: an odometer for sums of Rényi divergences.
//!
//! The analyst chooses every mechanism, and when to stop, from all earlier answers. Let r be the
//! likelihood ratio of the answers so far, and T(α) the sum of what bounds the divergence of each
//! mechanism at the order α, both ways round. For every α > 1,
//!
//! > r^α e^(-(α-1) T(α))
//!
//! is a supermartingale that starts at 1. So is every mean of them with weights w(α) that are fixed
//! in advance:
//!
//! > S(r, T) = Σ w(α) r^α e^(-(α-1) T(α)),   Σ w(α) = 1.
//!
//! The reading E(T) is the least x with r - e^x <= δ S(r, T) for all r > e^x, or T(∞) if that is
//! smaller, because r <= e^T(∞). At any stopping time the mean of max(0, r - e^E) is then at most δ,
//! although E depends on the answers. The reading grows with each T(α), because S falls.
//!
//! The weights are those of α - 1 = |N(0, κ²)| on orders whose α - 1 grow by about the same factor:
//! small orders serve large totals, and large orders small totals.
//!
//! With r = e^(x+t) and c = α - 1 the condition is
//!
//! > g(t) = ln(1 - e^(-t)) - ln Σ w(α) e^(c (x + t - T(α))) <= ln δ   for all t > 0.
//!
//! g is concave, because the logarithm of a sum of exponentials is convex. So where g'(t1) >= 0 >=
//! g'(t2), g is nowhere above g(t1) + g'(t1) (t2 - t1). That is the certificate of a reading.
//!
//! # Reference
//! The method of mixtures: Robbins 1970; Whitehouse, Ramdas, Rogers and Wu 2023 for zCDP, with a
//! continuous prior on the order. An order below 1 is not a supermartingale for mechanisms that are
//! only dominated, so none has a weight. docs/spec/mathematics.md 4.10 has the proof.

use mizan_core::{Epsilon, Interval, Order};

/// κ in units of the order that serves a Gaussian mechanism of the size of the budget, which is
/// about 2 ln(1/δ)/ε: tight from a hundredth of that variance on.
const WIDE: f64 = 3.0;

/// Half the relative distance of the two places of the certificate.
const BESIDE: f64 = 1.0 / 4_194_304.0;

/// How much larger than the least a reading may be, relative.
const PRECISION: f64 = 1e-12;

/// The odometer: its δ, and the weights of orders.
#[derive(Clone, Debug, PartialEq)]
pub struct RenyiOdometer {
    /// ln δ less the logarithm of the sum of the weights, from below.
    ln_delta: f64,
    orders: Box<[(Order, f64)]>,
}

/// An order with a weight and a finite total.
struct Term {
    /// c.
    above_one: Interval,
    /// ln w - c T.
    constant: Interval,
}

/// The function g at some totals.
struct Excess(Vec<Term>);

impl RenyiOdometer {
    /// An odometer for one ln δ at some orders, tight at readings of the size of `epsilon` and below.
    /// None unless δ is between zero and one and ε is positive and finite.
    ///
    /// None of these may depend on answers.
    #[must_use]
    pub fn new(
        ln_delta: f64,
        epsilon: Epsilon,
        orders: impl IntoIterator<Item = Order>,
    ) -> Option<Self> {
        let kappa = WIDE * 2.0 * -ln_delta / epsilon.get();
        if !(ln_delta < 0.0 && kappa.is_normal()) {
            return None;
        }
        let weight = |order: Order| {
            let above_one = order.get() - 1.0;
            let far = above_one / kappa;
            // An infinite order has none.
            if order.is_finite() {
                above_one * core_math::exp(-0.5 * far * far)
            } else {
                0.0
            }
        };
        let orders: Box<[_]> = (orders.into_iter())
            .map(|order| (order, weight(order)))
            .collect();
        let sum = orders
            .iter()
            .fold(Interval::ZERO, |sum, (_, weight)| sum + *weight);
        Some(Self {
            ln_delta: (Interval::from(ln_delta) - sum.ln()).lower(),
            orders,
        })
    }

    /// The reading after charges whose divergences add up to `totals`, one for each order; an
    /// infinite total has no bound. None if no finite reading is certain.
    ///
    /// # Guarantee
    ///
    /// If P and Q are the laws of all answers up to a stopping time on neighbouring data, E is the
    /// reading at that time, and δ is that of the odometer, then E_Q max(0, dP/dQ - e^E) <= δ, both
    /// ways round. Charges may be chosen, and stopped, in any way from earlier answers.
    ///
    /// ```
    /// use mizan_accounting::{GaussianProfile, RenyiCurve, RenyiOdometer};
    /// use mizan_core::{Delta, Epsilon, Order, PrivacyEvent, Sensitivity, Sigma};
    /// let orders: Vec<Order> = (0..24)
    ///     .map(|step| Order::new(1.0 + f64::from(step).exp2().sqrt()))
    ///     .collect::<Result<_, _>>()?;
    /// let odometer = RenyiOdometer::new(1e-6_f64.ln(), Epsilon::new(1.0)?, orders.clone()).unwrap();
    /// let event: PrivacyEvent = "gaussian(10)".parse()?;
    /// let curve = RenyiCurve::of(&event)?;
    /// let totals = orders.iter().map(|&order| curve.at(order).upper);
    /// let whenever = odometer.reading(totals).unwrap();
    /// // The same noise as one release that was fixed in advance.
    /// let fixed = GaussianProfile::new(Sigma::new(10.0)?, Sensitivity::new(1.0)?);
    /// let fixed = fixed.epsilon(Delta::new(1e-6)?);
    /// assert!(fixed.upper < whenever && whenever.get() < 1.2 * fixed.upper.get());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reading(&self, totals: impl IntoIterator<Item = Epsilon>) -> Option<Epsilon> {
        let mut largest_loss = f64::INFINITY;
        let mut terms = Vec::with_capacity(self.orders.len());
        for (&(order, weight), total) in self.orders.iter().zip(totals) {
            if !order.is_finite() {
                largest_loss = total.get();
            } else if weight > 0.0 && total.get().is_finite() {
                let above_one = Interval::from(order.get()) - 1.0;
                terms.push(Term {
                    above_one,
                    constant: Interval::from(weight).ln() - above_one * total.get(),
                });
            }
        }
        let reading = Excess(terms).reading(self.ln_delta).min(largest_loss);
        Epsilon::new(reading).ok().filter(|_| reading.is_finite())
    }
}

impl Excess {
    /// The least x with g <= ln δ, from above.
    fn reading(&self, ln_delta: f64) -> f64 {
        // One order alone is enough from here on: max(0, r - e^x) <= r^α e^(-(α-1) x).
        let alone = |term: &Term| (-(term.constant + ln_delta) / term.above_one).upper();
        let mut high = (self.0.iter().map(alone)).fold(f64::INFINITY, f64::min);
        if high.is_nan() || high == f64::INFINITY {
            return f64::INFINITY;
        }
        high = high.max(0.0);
        let mut low = 0.0;
        while high - low > PRECISION * high {
            let middle = 0.5 * (low + high);
            if self.is_certainly_below(middle, ln_delta) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
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

    /// About where g is largest; no bound. There 1/(e^t - 1), which falls, is the mean of c, which
    /// rises.
    fn largest_at(&self, x: f64) -> f64 {
        const STEPS: u32 = 44;
        let place = |term: &Term| term.above_one.middle().recip().ln_1p();
        let places = self.0.iter().map(place);
        let (mut low, mut high) = places.fold((f64::INFINITY, 0.0_f64), |(low, high), place| {
            (low.min(place), high.max(place))
        });
        for _ in 0..STEPS {
            let middle = 0.5 * (low + high);
            if middle.exp_m1() * self.rough_mean(x + middle) < 1.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// About the mean of c in S at ln r.
    fn rough_mean(&self, ln_ratio: f64) -> f64 {
        let power = |term: &Term| term.constant.middle() + term.above_one.middle() * ln_ratio;
        let most = self.0.iter().map(power).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut moment) = (0.0, 0.0);
        for term in &self.0 {
            let part = core_math::exp(power(term) - most);
            sum += part;
            moment += part * term.above_one.middle();
        }
        moment / sum
    }

    /// g(t).
    fn value(&self, x: f64, t: f64) -> Interval {
        let gap = (-(-Interval::from(t)).exp_m1()).ln();
        let (most, sum, _) = self.sums(x, t);
        gap - sum.ln() - most
    }

    /// g'(t) = 1/(e^t - 1) - mean of c.
    fn slope(&self, x: f64, t: f64) -> Interval {
        let (_, sum, moment) = self.sums(x, t);
        Interval::ONE / Interval::from(t).exp_m1() - moment / sum
    }

    /// A number m, and e^(-m) times Σ w(α) e^(c (x + t - T(α))) and Σ c w(α) e^(c (x + t - T(α))).
    fn sums(&self, x: f64, t: f64) -> (f64, Interval, Interval) {
        let ln_ratio = Interval::from(x) + t;
        let power = |term: &Term| term.constant + term.above_one * ln_ratio;
        let powers = || self.0.iter().map(power);
        let most = powers().fold(f64::NEG_INFINITY, |most, power| most.max(power.middle()));
        let (mut sum, mut moment) = (Interval::ZERO, Interval::ZERO);
        for (term, power) in self.0.iter().zip(powers()) {
            let part = (power - most).exp();
            sum = sum + part;
            moment = moment + part * term.above_one;
        }
        (most, sum, moment)
    }
}
