//! The (ε, δ) of an event by a Gaussian mechanism that dominates it.
//!
//! # Guarantee
//!
//! For every w >= 0, M is a post-processing of M ⊗ G_w. With the product F of a factor of each
//! discrete Gaussian part, and v = w + Σ μ² + Σ u, in both directions
//!
//! > δ_M(ε) <= F δ_v(ε)   for all ε.
//!
//! - Randomized response, which dominates pure parts, and Laplace noise are fixed pairs, so their
//!   draws may be made before all other parts run: each adds its price u (`symmetric.rs`) at what all
//!   parts after it leave.
//! - Gaussian parts add their μ². So does a part whose loss has the range η, which is μ-GDP for
//!   μ² = u, the price of the loss η/2 with nothing left.
//! - A discrete Gaussian part with x left adds its μ² and gives a factor F(x), which falls with x.
//!   Answers may decide in which order such parts run, so one of them counts on w only. If it is
//!   repeated, the j-th from the end is followed by j - 1 of its kind, so at least w + (j-1) μ² is
//!   left.
//!
//! docs/spec/mathematics.md 4.9 has the proof. It holds for every w; w = 0 is allowed, and best, if no
//! part is discrete Gaussian. Otherwise the w with about the least bound is searched without directed
//! rounding, and the bound is certified there. The label needs the inequality at one ε only. So F
//! multiplies δ, where a price on the clock must cover it by a larger variance.

use mizan_core::{Delta, DiscreteGaussian, Epsilon, Interval, PrivacyEvent};

use super::event::Parts;
use super::lattice_noise::{excess_factor, whole_square};
use super::symmetric::Symmetric;
use super::{Unpriced, femto};
use crate::minimize::valley;
use crate::{GaussianProfile, Reason, Unsupported, walk};

/// The ε of an event at a δ, from above; infinite if the event is dominated by no Gaussian mechanism
/// that matters here.
///
/// The δ of `approximate` parts is not in it.
///
/// ```
/// use mizan_accounting::clock;
/// use mizan_core::{Delta, PrivacyEvent};
///
/// let event: PrivacyEvent = "100 * discrete-gaussian(40)".parse()?;
/// let epsilon = clock::epsilon(&event, Delta::new(1e-6)?)?.get();
/// // Hardly more than that of continuous noise.
/// assert!((1.0606..1.0608).contains(&epsilon), "{epsilon}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A part is not dominated by a Gaussian mechanism, not even with Gaussian noise beside it.
pub fn epsilon(event: &PrivacyEvent, delta: Delta) -> Result<Epsilon, Unpriced> {
    let ln_delta = Interval::from(delta.get()).ln();
    let best = Dominated::of(event)?.best(ln_delta);
    let epsilon = best.and_then(|best| best.epsilon(ln_delta, PRECISION));
    Ok(epsilon.map_or(Epsilon::INFINITE, Epsilon::saturating))
}

/// The δ of an event at an ε, from above. The δ of `approximate` parts is not in it.
///
/// # Errors
///
/// As for [`epsilon`].
pub fn delta(event: &PrivacyEvent, epsilon: Epsilon) -> Result<Delta, Unpriced> {
    let dominated = Dominated::of(event)?;
    let plain = dominated.bound(0.0, 0.0);
    let best = plain.and_then(|plain| dominated.best_at(&plain, epsilon.get()));
    let delta = best.map_or(1.0, |best| best.ln_delta(epsilon.get()).exp().upper());
    Ok(Delta::saturating(delta))
}

/// How far an ε may be above the least one of its bound, relative.
const PRECISION: f64 = 1e-10;

/// The same where the ε only serves to search w, and for w. The bound is flat there, so its own error
/// is about the square of this.
const ROUGH: f64 = 1e-5;

/// Whether the method is of use for an event: some part is discrete Gaussian noise, which no exact
/// formula takes, and no part may fail or runs on a sample. Other methods are tighter without
/// discrete Gaussian noise.
///
/// # Errors
///
/// The part that is in the way, or the event.
pub(crate) fn is_dominated(event: &PrivacyEvent) -> Result<(), Unsupported> {
    let mut has_lattice = false;
    walk::each_mechanism(event, |_, part, path| {
        has_lattice |= matches!(part, PrivacyEvent::DiscreteGaussian(_));
        match part {
            PrivacyEvent::Approximate { .. } => Err(Unsupported::new(part, path, Reason::MayFail)),
            PrivacyEvent::Poisson { .. } | PrivacyEvent::WithoutReplacement(_) => {
                Err(Unsupported::new(part, path, Reason::NotDominated))
            }
            _ => Ok(()),
        }
    })?;
    let missing = || Unsupported::new(event, &|| "event".to_owned(), Reason::NotDiscreteGaussian);
    has_lattice.then_some(()).ok_or_else(missing)
}

/// What an event consists of.
struct Dominated {
    /// The variance of all Gaussian parts.
    gaussian: Interval,
    lattice: Vec<Lattice>,
    /// The parts of fixed pairs with their losses, and how many parts have each.
    fixed: Vec<(Symmetric, f64, u64)>,
    /// Half of the range of each part of bounded range, with how many parts have it.
    half_ranges: Vec<(f64, u64)>,
}

/// F δ_v.
struct Bound {
    /// v, in units of 1e-15.
    variance: u64,
    /// ln F, from above.
    ln_factor: f64,
}

impl Dominated {
    fn of(event: &PrivacyEvent) -> Result<Self, Unpriced> {
        let parts = Parts::of(event)?;
        let fixed = |kind| move |(&bits, &count): (&u64, &u64)| (kind, f64::from_bits(bits), count);
        let pure = parts.pure.iter().map(fixed(Symmetric::Response));
        let laplace = parts.laplace.iter().map(fixed(Symmetric::Laplace));
        let half = |(&bits, &count): (&u64, &u64)| (0.5 * f64::from_bits(bits), count);
        Ok(Self {
            gaussian: parts.gaussian,
            lattice: parts.lattice.iter().map(Lattice::new).collect(),
            fixed: pure.chain(laplace).collect(),
            half_ranges: parts.ranges.iter().map(half).collect(),
        })
    }

    /// The bound with about the best w at the ε of this δ. That ε moves with w, so w is chosen
    /// once more at the ε that was found: [`delta`] chooses the same one there.
    fn best(&self, ln_delta: Interval) -> Option<Bound> {
        let plain = self.bound(0.0, 0.0)?;
        if self.lattice.is_empty() {
            return Some(plain);
        }
        let epsilon = plain.epsilon(ln_delta, ROUGH)?;
        let first = self.best_at(&plain, epsilon)?;
        let Some(epsilon) = first.epsilon(ln_delta, ROUGH) else {
            return Some(first);
        };
        self.best_at(&plain, epsilon)
    }

    /// The bound with about the best w at an ε, given the one with w = 0 and without factors.
    fn best_at(&self, plain: &Bound, epsilon: f64) -> Option<Bound> {
        if self.lattice.is_empty() {
            return self.bound(0.0, 0.0);
        }
        // Fixed parts cost a little less beside more variance. The search ignores that.
        let variance = femto::variance(plain.variance).middle();
        let (low, high) = self.lattice.iter().fold((f64::INFINITY, 0.0), range_of_w);
        let cost = |ln_w: f64| {
            let w = ln_w.exp();
            let profile = GaussianProfile::from_square(Interval::from(variance + w));
            self.ln_factor(w) + profile.ln_delta(epsilon).middle()
        };
        let w = valley((low.ln(), high.ln()), ROUGH, cost).place.exp();
        self.bound(w, self.ln_factor(w))
    }

    /// ln F of all parts with so much left, from above.
    fn ln_factor(&self, w: f64) -> f64 {
        let mut sum = Interval::ZERO;
        for part in &self.lattice {
            sum = sum + part.ln_factor(w);
        }
        sum.upper()
    }

    /// The bound with this w and at least this ln F; None if v is beyond what the clock counts.
    fn bound(&self, w: f64, ln_factor: f64) -> Option<Bound> {
        let mut squares = self.gaussian + w;
        for part in &self.lattice {
            squares = squares + part.needed * as_interval(countable(part.count)?);
        }
        // A larger variance dominates a smaller one, so each sum may be rounded up.
        let mut variance = femto::units_up(squares)?;
        for &(half, count) in &self.half_ranges {
            let each = Symmetric::Response.price(half, 0)?;
            variance = variance.checked_add(each.checked_mul(countable(count)?)?)?;
        }
        for &(kind, loss, count) in &self.fixed {
            let mut blocks = Blocks::new(countable(count)?);
            while let Some(alike) = blocks.next() {
                let each = kind.price(loss, variance)?;
                variance = variance.checked_add(each.checked_mul(alike)?)?;
            }
        }
        Some(Bound {
            variance,
            ln_factor,
        })
    }
}

/// A count, unless it is one that saturated.
fn countable(count: u64) -> Option<u64> {
    (count < u64::MAX).then_some(count)
}

/// Equal parts, in blocks that are priced alike: each block is at most a quarter of those before, or
/// one part.
struct Blocks {
    done: u64,
    rest: u64,
}

impl Blocks {
    const fn new(count: u64) -> Self {
        Self {
            done: 0,
            rest: count,
        }
    }

    fn next(&mut self) -> Option<u64> {
        if self.rest == 0 {
            return None;
        }
        let alike = (self.done / 4).max(1).min(self.rest);
        self.done += alike;
        self.rest -= alike;
        Some(alike)
    }
}

/// A discrete Gaussian part that is repeated.
struct Lattice {
    variance: Interval,
    /// The squared norm.
    square: f64,
    /// μ².
    needed: Interval,
    count: u64,
}

impl Lattice {
    fn new((noise, count): &(DiscreteGaussian, u64)) -> Self {
        let variance = Interval::from(noise.sigma().get()).square();
        let square = whole_square(noise);
        Self {
            variance,
            square,
            needed: Interval::from(square) / variance,
            count: *count,
        }
    }

    /// At least ln F of all of them, where the last one has w left.
    fn ln_factor(&self, w: f64) -> Interval {
        /// What is below this is not worth another block.
        const NOTHING: f64 = 1e-12;
        let (mut left, mut sum) = (Interval::from(w), Interval::ZERO);
        let mut blocks = Blocks::new(self.count);
        loop {
            let rest = as_interval(blocks.rest);
            let excess = excess_factor(self.variance, self.needed / left, self.square);
            let one = Interval::new(0.0, excess.ln_1p().upper());
            if (one * rest).upper() <= NOTHING {
                return sum + one * rest;
            }
            let Some(alike) = blocks.next() else {
                return sum;
            };
            sum = sum + one * as_interval(alike);
            left = left + self.needed * as_interval(alike);
        }
    }
}

/// Widens the range in which w is searched: from where F is large to where it is nothing.
fn range_of_w((low, high): (f64, f64), part: &Lattice) -> (f64, f64) {
    let (needed, variance) = (part.needed.middle(), part.variance.middle());
    (
        low.min(needed / (100.0 * variance.max(1.0))),
        high.max(4.0 * needed),
    )
}

/// A count, enclosed.
fn as_interval(count: u64) -> Interval {
    #[expect(clippy::cast_precision_loss, reason = "enclosed")]
    let near = count as f64;
    if count >> 53 == 0 {
        Interval::from(near)
    } else {
        Interval::new(near.next_down(), near.next_up())
    }
}

impl Bound {
    fn ln_delta(&self, epsilon: f64) -> Interval {
        if self.variance == 0 {
            return Interval::from(f64::NEG_INFINITY);
        }
        let profile = GaussianProfile::from_square(femto::variance(self.variance));
        (profile.ln_delta(epsilon) + self.ln_factor).min(Interval::ZERO)
    }

    /// An ε whose δ is certainly small enough, and the least one to this relative precision.
    fn epsilon(&self, ln_delta: Interval, precision: f64) -> Option<f64> {
        const STEPS: u32 = 100;
        let excess = |epsilon: f64| self.ln_delta(epsilon).upper() - ln_delta.lower();
        let (mut low, mut low_excess) = (0.0, excess(0.0));
        if self.variance == 0 || low_excess <= 0.0 {
            return Some(0.0);
        }
        // From zero-concentrated privacy: m²/2 + m √(2 ln 1/δ) is always enough.
        let square = femto::variance(self.variance);
        let ln = Interval::from(self.ln_factor) - ln_delta;
        let mut high = (square * 0.5 + (square * ln * 2.0).sqrt()).upper();
        if !high.is_finite() {
            return None;
        }
        let mut high_excess = excess(high);
        if high_excess > 0.0 {
            return None;
        }
        // Regula falsi; an end that stays twice counts for half (Dowell and Jarratt 1971).
        let mut was_high = None;
        for _ in 0..STEPS {
            if high - low <= precision * high {
                break;
            }
            let line = low + (high - low) * low_excess / (low_excess - high_excess);
            let inside = line.is_finite() && line > low && line < high;
            // A little above the line, so that the upper end moves too.
            let middle = if inside {
                line + (high - line).min(0.25 * precision * high)
            } else {
                0.5 * (low + high)
            };
            let found = excess(middle);
            if found <= 0.0 {
                (high, high_excess) = (middle, found);
                if was_high == Some(true) {
                    low_excess *= 0.5;
                }
            } else {
                (low, low_excess) = (middle, found);
                if was_high == Some(false) {
                    high_excess *= 0.5;
                }
            }
            was_high = Some(found <= 0.0);
        }
        Some(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::{self, Method};
    use crate::numeric::golden;
    use proptest::prelude::*;

    fn epsilon_of(text: &str, at: f64) -> f64 {
        let event: PrivacyEvent = text.parse().unwrap();
        epsilon(&event, Delta::new(at).unwrap()).unwrap().get()
    }

    /// Never below the exact value, and at most a few percent above.
    #[test]
    fn exact_values() {
        for record in golden("clock_epsilon.json", "epsilons") {
            let text = record["event"].as_str().unwrap();
            let at = record["delta"].as_f64().unwrap();
            let exact: f64 = record["epsilon"].as_str().unwrap().parse().unwrap();
            let most = record["most"].as_f64().unwrap();
            let ours = epsilon_of(text, at);
            assert!(ours >= exact, "{ours} below: {record}");
            assert!(ours <= exact * most, "{ours} far above: {record}");
        }
    }

    /// Gaussian noise is its own dominating mechanism.
    #[test]
    fn gaussian_noise_is_exact() {
        for (text, at) in [("gaussian(1)", 1e-5), ("40 * gaussian(40) + gdp(1)", 1e-9)] {
            let event: PrivacyEvent = text.parse().unwrap();
            let at = Delta::new(at).unwrap();
            let exact = methods::epsilon_by(Method::GaussianExact, &event, at).unwrap();
            let ratio = epsilon(&event, at).unwrap().get() / exact.upper.get();
            assert!((ratio - 1.0).abs() < 1e-9, "{text} {ratio}");
        }
    }

    #[test]
    fn extremes() {
        assert_eq!(epsilon_of("gaussian(1)", 0.0), f64::INFINITY);
        assert_eq!(epsilon_of("discrete-gaussian(1)", 0.0), f64::INFINITY);
        assert_eq!(epsilon_of("pure(0)", 0.0), 0.0);
        assert_eq!(epsilon_of("gaussian(1)", 1.0), 0.0);
        assert_eq!(epsilon_of("gaussian(1e-9)", 1e-6), f64::INFINITY);
        assert_eq!(epsilon_of("pure(1e9)", 1e-6), f64::INFINITY);
        assert!(epsilon_of("discrete-gaussian(0.1)", 1e-6) > 50.0);
        assert!(epsilon_of("1000000000 * discrete-gaussian(1e6)", 1e-6) < 0.3);
        assert!(epsilon(&"zcdp(1)".parse().unwrap(), Delta::new(0.1).unwrap()).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Never below the lower end of the numerical accountant.
        #[test]
        fn never_below_the_exact_value(
            sigma in 0.7..12.0f64,
            loss in 0.05..1.0f64,
            noisy in 0..3u64,
            bounded in 0..4u64,
            on_lattice: bool,
            at in -25.0..-2.0f64,
        ) {
            prop_assume!(noisy + bounded > 0);
            let mut parts = Vec::new();
            if noisy > 0 {
                let kind = if on_lattice { "discrete-" } else { "" };
                parts.push(format!("{noisy} * {kind}gaussian({sigma:.3})"));
            }
            if bounded > 0 {
                let one = if on_lattice {
                    format!("pure({loss:.3})")
                } else {
                    format!("laplace({:.3})", 1.0 / loss)
                };
                parts.push(format!("{bounded} * {one}"));
            }
            let event: PrivacyEvent = parts.join(" + ").parse().unwrap();
            let at = Delta::new(at.exp()).unwrap();
            let ours = epsilon(&event, at).unwrap().get();
            let exact = methods::epsilon_by(Method::Numeric, &event, at).unwrap();
            let lower = exact.lower.map_or(0.0, Epsilon::get);
            prop_assert!(ours >= lower * (1.0 - 1e-12), "{} {} {}", event, ours, lower);
        }
    }
}
