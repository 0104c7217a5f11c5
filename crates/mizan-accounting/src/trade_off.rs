//! The trade-off function of f-DP: the two error rates of an attacker.
//!
//! An attacker sees the output and decides which of two neighbouring inputs it
//! came from. With a false-positive rate α the smallest possible
//! false-negative rate is f(α). The privacy profile δ(ε) is equivalent: f is the largest trade-off
//! function that the profile allows.
//!
//! # The bracket
//!
//! With δ(ε) the worse of both directions, let
//!
//! > v(e^ε) = 1 - δ(ε),   v(e^-ε) = e^-ε (1 - δ(ε))   for ε >= 0.
//!
//! Then f(α) = sup over x >= 0 of v(x) - xα. For one direction, 1 - v(x) is
//! the hockey-stick divergence E_Q max(0, P/Q - x), which at 1/x follows from
//! that of the reversed pair, and the worse direction is the smaller v. So v is
//! concave (a minimum of concave functions), rises, starts at v(0) = 0, and is
//! at most 1 and at most x; its slope is at most 1 and at most 1/x.
//!
//! - *From below*: any x gives a lower bound of a supremum, so a list of them
//!   does, each with a lower bound of v(x), that is, an upper bound of δ.
//! - *From above*: between neighbours a < b of the list v lies below two
//!   lines: through (a, v(a)) with the slope between a and the place before
//!   it, and through (b, v(b)) with the slope between b and the place after
//!   it. The supremum of the smaller of two lines is at most that of any mean
//!   of them, which is at an end of [a, b]; the mean is chosen to be level.
//!   Between 0 and the first place v(x) <= x, beyond the last v(x) <= 1. So
//!   nothing is assumed between the places, and the width of the bracket falls
//!   with the square of their distance.
//!
//! A place x = e^ε is not a double. It is moved down to one, by which v falls by
//! at most the distance times the largest slope.
//!
//! # Reference
//! Dong, Roth and Su 2022, Propositions 2.4 and 2.12 (profile and trade-off);
//! Zhu, Dong and Wang 2022, Lemma 20 (the reversed pair).

use mizan_core::directed::{add_down, add_up, div_down, div_up, mul_down, mul_up};
use mizan_core::{Bracket, Delta, Epsilon, Interval, Probability};

use crate::PrivacyProfile;

/// Beyond this ε only false-positive rates below e^-25 are affected.
const LARGEST_EPSILON: f64 = 25.0;

/// Beyond the ε of this δ places raise f by less than this.
pub(crate) const SMALLEST_DELTA: f64 = 1e-12;

const UNKNOWN: Bracket<Delta> = Bracket {
    lower: Delta::ZERO,
    upper: Delta::ONE,
};

/// The trade-off function: a bracket of the smallest false-negative rate at each false-positive rate.
///
/// ```
/// use mizan_accounting::{PrivacyProfile, TradeOff};
/// use mizan_core::{PrivacyEvent, Probability};
///
/// let event: PrivacyEvent = "10000 * poisson(0.01, gaussian(8))".parse()?;
/// let trade_off = TradeOff::of(&PrivacyProfile::of(&event)?, 100).expect("a profile");
/// // With a false-positive rate of 1 % an attacker misses nearly every member.
/// let missed = trade_off.false_negative(Probability::new(0.01)?);
/// assert!(missed.lower.get() > 0.98 && missed.upper.get() < 0.99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TradeOff {
    /// By rising x, the first at zero.
    places: Vec<BoundedPoint>,
    advantage: Bracket<Delta>,
}

/// What is known of v at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BoundedPoint {
    x: f64,
    lower: f64,
    upper: f64,
    /// v rises no faster to the right of this place.
    steepest: f64,
    /// v rises no slower to the left of it.
    flattest: f64,
}

impl TradeOff {
    /// The trade-off function of a privacy profile, from this number of [`grid`](Self::grid) points.
    /// None if no engine takes the event.
    pub fn of(profile: &PrivacyProfile, points: u32) -> Option<Self> {
        let largest = profile
            .epsilon(Delta::saturating(SMALLEST_DELTA))
            .map_or(Epsilon::INFINITE, |epsilon| epsilon.upper);
        let points = Self::grid(largest, points)
            .into_iter()
            .map(|epsilon| Some((epsilon, profile.delta(epsilon)?)));
        Some(Self::new(&points.collect::<Option<Vec<_>>>()?))
    }

    /// The ε, one more than `steps`, at which a profile is to be known for a
    /// tight bracket, given the ε beyond which δ hardly matters.
    pub fn grid(largest: Epsilon, steps: u32) -> Vec<Epsilon> {
        let largest = largest.get().clamp(1e-9, LARGEST_EPSILON);
        let place = |step| largest * f64::from(step) / f64::from(steps.max(1));
        (0..=steps)
            .map(|step| Epsilon::saturating(place(step)))
            .collect()
    }

    /// From points of a profile, the worse of both directions: the brackets may
    /// come from any method. The more points, the tighter.
    pub fn new(profile: &[(Epsilon, Bracket<Delta>)]) -> Self {
        let mut places = vec![BoundedPoint::known(0.0, 0.0, 0.0)];
        let points = monotone(profile);
        for &(epsilon, delta) in &points {
            places.extend(BoundedPoint::above_one(epsilon, delta));
            places.extend(BoundedPoint::below_one(epsilon, delta));
        }
        places.sort_by(|a, b| a.x.total_cmp(&b.x));
        places.dedup_by(|a, b| a.x <= b.x);
        let mut before: Option<BoundedPoint> = None;
        for place in &mut places {
            if let Some(before) = before {
                let rise = add_up(place.upper, -before.lower);
                let slope = div_up(rise, add_down(place.x, -before.x));
                place.steepest = place.steepest.min(slope);
            }
            before = Some(*place);
        }
        let mut after: Option<BoundedPoint> = None;
        for place in places.iter_mut().rev() {
            if let Some(after) = after {
                let rise = add_down(after.lower, -place.upper).max(0.0);
                place.flattest = div_down(rise, add_up(after.x, -place.x)).max(0.0);
            }
            after = Some(*place);
        }
        let advantage = points.first().map_or(UNKNOWN, |(_, delta)| *delta);
        Self { places, advantage }
    }

    /// The smallest false-negative rate of any test with this false-positive
    /// rate.
    ///
    /// # Guarantee
    ///
    /// No test, whatever the attacker knows besides, is below the lower end.
    pub fn false_negative(&self, false_positive: Probability) -> Bracket<Probability> {
        let alpha = false_positive.get();
        let lower = self.places.iter().fold(0.0_f64, |best, place| {
            best.max(add_down(place.lower, -mul_up(place.x, alpha)))
        });
        let pairs = self.places.windows(2).map(|pair| match pair {
            [a, b] => highest_between(a, b, alpha),
            _ => 0.0,
        });
        let beyond = self.places.last().map_or(1.0, |last| {
            let highest = if alpha >= last.steepest {
                last.upper
            } else {
                1.0
            };
            last.height(highest, alpha)
        });
        // Random guessing has the false-negative rate 1 - α.
        let upper = pairs.fold(beyond, f64::max).min(add_up(1.0, -alpha));
        Bracket {
            lower: Probability::new(lower).unwrap_or(Probability::ZERO),
            upper: Probability::new(upper.max(lower)).unwrap_or(Probability::ONE),
        }
    }

    /// The smallest false-negative rate at every decimal that was rounded to this double.
    pub fn false_negative_as_typed(&self, false_positive: Probability) -> Bracket<Probability> {
        let rate = false_positive.get();
        let at = |rate: f64| {
            let rate = Probability::new(rate.clamp(0.0, 1.0)).unwrap_or(Probability::ONE);
            self.false_negative(rate)
        };
        Bracket {
            lower: at(rate.next_up()).lower,
            upper: at(rate.next_down()).upper,
        }
    }

    /// The advantage of the best test: the largest difference between its
    /// true-positive and its false-positive rate, δ(0).
    pub fn advantage(&self) -> Bracket<Delta> {
        self.advantage
    }
}

impl BoundedPoint {
    fn known(x: f64, lower: f64, upper: f64) -> Self {
        Self {
            x,
            lower: lower.max(0.0),
            upper: upper.min(x).min(1.0),
            steepest: if x > 1.0 { div_up(1.0, x) } else { 1.0 },
            flattest: 0.0,
        }
    }

    /// At e^ε.
    fn above_one(epsilon: Epsilon, delta: Bracket<Delta>) -> Option<Self> {
        Self::moved(Interval::from(epsilon.get()).exp(), kept(delta))
    }

    /// At e^-ε.
    fn below_one(epsilon: Epsilon, delta: Bracket<Delta>) -> Option<Self> {
        let x = Interval::from(-epsilon.get()).exp();
        Self::moved(x, x * kept(delta))
    }

    /// Moves a place down to a double.
    fn moved(x: Interval, v: Interval) -> Option<Self> {
        if !x.upper().is_finite() || x.lower() <= 0.0 {
            return None;
        }
        let distance = add_up(x.upper(), -x.lower());
        let slope = if x.lower() > 1.0 {
            div_up(1.0, x.lower())
        } else {
            1.0
        };
        let fall = mul_up(distance, slope);
        Some(Self::known(
            x.lower(),
            add_down(v.lower(), -fall),
            v.upper(),
        ))
    }

    /// At least `v` - xα.
    fn height(&self, v: f64, alpha: f64) -> f64 {
        add_up(v, -mul_down(self.x, alpha))
    }
}

/// Points by rising ε, from 0 on. δ falls, so a lower bound holds to the left of
/// its point and an upper one to the right, also for points so far out that e^ε
/// is not a double.
fn monotone(profile: &[(Epsilon, Bracket<Delta>)]) -> Vec<(Epsilon, Bracket<Delta>)> {
    let ends = [Epsilon::ZERO, Epsilon::saturating(LARGEST_EPSILON)];
    let mut points = profile.to_vec();
    points.extend(ends.map(|epsilon| (epsilon, UNKNOWN)));
    points.sort_by(|a, b| a.0.get().total_cmp(&b.0.get()));
    let mut least = 1.0_f64;
    for (_, delta) in &mut points {
        least = least.min(delta.upper.get());
        delta.upper = Delta::saturating(least);
    }
    let mut most = 0.0_f64;
    for (_, delta) in points.iter_mut().rev() {
        most = most.max(delta.lower.get());
        delta.lower = Delta::saturating(most);
    }
    points
}

/// 1 - δ.
fn kept(delta: Bracket<Delta>) -> Interval {
    Interval::new(
        add_down(1.0, -delta.upper.get()),
        add_up(1.0, -delta.lower.get()),
    )
}

/// At least the supremum of v(x) - xα between two places.
fn highest_between(a: &BoundedPoint, b: &BoundedPoint, alpha: f64) -> f64 {
    let (steepest, flattest) = (a.steepest, b.flattest);
    if alpha >= steepest {
        return a.height(a.upper, alpha);
    }
    if alpha <= flattest {
        return b.height(b.upper, alpha);
    }
    // Any share gives a bound; this one makes the mean of the lines level, or
    // rather falling by what rounding may hide, for [a, b] may be long.
    let level = (alpha - flattest) / (steepest - flattest);
    let share = (level * (1.0 - 8.0 * f64::EPSILON)).clamp(0.0, 1.0);
    let mean = |one: f64, other: f64| {
        let rest = mul_up(add_up(1.0, -share), other);
        add_up(mul_up(share, one), rest)
    };
    let (near, far) = (add_down(b.x, -a.x), add_up(b.x, -a.x));
    let at_a = mean(a.upper, add_up(b.upper, -mul_down(flattest, near)));
    let slope = add_up(mean(steepest, flattest), -alpha);
    let rise = mul_up(slope.max(0.0), far);
    a.height(add_up(at_a, rise), alpha)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizan_core::PrivacyEvent;

    fn trade_off(event: &str) -> TradeOff {
        let event: PrivacyEvent = event.parse().unwrap();
        TradeOff::of(&PrivacyProfile::of(&event).unwrap(), 400).unwrap()
    }

    #[track_caller]
    fn check(trade_off: &TradeOff, alpha: f64, expected: f64, width: f64) {
        let found = trade_off.false_negative(Probability::new(alpha).unwrap());
        let (lower, upper) = (found.lower.get(), found.upper.get());
        assert!(
            lower <= expected + 1e-14 && expected - 1e-14 <= upper && upper - lower <= width,
            "α = {alpha}: {lower}..{upper}, expected {expected}"
        );
    }

    fn normal_tail(x: f64) -> f64 {
        0.5 * Interval::from(x / std::f64::consts::SQRT_2).erfc().middle()
    }

    #[test]
    fn gaussian_noise() {
        for sigma in [0.5_f64, 1.0, 3.0, 20.0] {
            let trade_off = trade_off(&format!("gaussian({sigma})"));
            for step in -30..=30 {
                let t = f64::from(step) / 10.0;
                let (alpha, beta) = (normal_tail(t), normal_tail(1.0 / sigma - t));
                check(&trade_off, alpha, beta, 2e-4);
            }
            let advantage = trade_off.advantage();
            let expected = 1.0 - 2.0 * normal_tail(0.5 / sigma);
            assert!((advantage.lower.get() - expected).abs() < 1e-14);
            assert!((advantage.upper.get() - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn randomized_response_is_two_lines() {
        let (p, trade_off) = (0.75, trade_off("rr(0.75)"));
        let odds = p / (1.0 - p);
        for step in 0..=100 {
            let alpha = f64::from(step) / 100.0;
            let expected = (1.0 - odds * alpha).max((1.0 - alpha) / odds).max(0.0);
            check(&trade_off, alpha, expected, 1e-9);
        }
    }

    /// Dong, Roth and Su 2022, Proposition A.6.
    #[test]
    fn laplace_noise() {
        let trade_off = trade_off("laplace(1)");
        let e = std::f64::consts::E;
        for step in 0..=100 {
            let alpha = f64::from(step) / 100.0;
            let expected = if alpha < 0.5 / e {
                1.0 - e * alpha
            } else if alpha < 0.5 {
                0.25 / (e * alpha)
            } else {
                (1.0 - alpha) / e
            };
            check(&trade_off, alpha, expected, 1e-5);
        }
    }

    #[test]
    fn the_ends_and_the_extremes() {
        for event in [
            "pure(0)",
            "gaussian(1e6)",
            "gaussian(0.02)",
            "approximate(1, 0.1)",
            "1000 * rr(0.9)",
            "10000 * poisson(0.01, gaussian(1.1))",
        ] {
            let trade_off = trade_off(event);
            let mut last = 1.0;
            for alpha in [0.0, 1e-300, 1e-9, 0.01, 0.3, 0.5, 0.99, 1.0] {
                let found = trade_off.false_negative(Probability::new(alpha).unwrap());
                assert!(found.lower <= found.upper, "{event} {alpha} {found:?}");
                assert!(
                    found.upper.get() <= 1.0 - alpha + 1e-15,
                    "{event} {found:?}"
                );
                assert!(found.lower.get() <= last, "{event} {found:?}");
                last = found.lower.get();
            }
        }
        check(&trade_off("pure(0)"), 0.25, 0.75, 1e-8);
        // Beyond what e^ε can be as a double.
        let far = TradeOff::new(&[(
            Epsilon::new(1000.0).unwrap(),
            Bracket {
                lower: Delta::new(0.7).unwrap(),
                upper: Delta::new(0.8).unwrap(),
            },
        )]);
        assert_eq!(far.advantage().lower.get(), 0.7);
        check(&far, 0.1, 0.2, 0.2 + 1e-9);
        // With probability 0.1 the output reveals the input.
        check(
            &trade_off("approximate(1, 0.1)"),
            0.1,
            0.9 - 0.1 * std::f64::consts::E,
            1e-6,
        );
    }

    /// f is its own inverse, because the two inputs may be exchanged. A threshold test
    /// is not below the guarantee.
    #[test]
    fn sampling_is_symmetric_and_no_test_beats_it() {
        let trade_off = trade_off("poisson(0.3, gaussian(0.7))");
        for step in 1..20 {
            let alpha = f64::from(step) / 20.0;
            let once = trade_off.false_negative(Probability::new(alpha).unwrap());
            let twice = trade_off.false_negative(once.lower);
            assert!(
                (twice.lower.get() - alpha).abs() < 1e-3,
                "{alpha} {twice:?}"
            );
            // Reject what is above t: from N(0, s²) or the mixture, s = 0.7.
            for t in [-1.0, 0.0, 0.5, 1.0, 2.0] {
                let (null, moved) = (normal_tail(t / 0.7), normal_tail((t - 1.0) / 0.7));
                let caught = 0.7 * null + 0.3 * moved;
                for (alpha, missed) in [(null, 1.0 - caught), (1.0 - caught, null)] {
                    let f = trade_off.false_negative(Probability::new(alpha).unwrap());
                    assert!(f.lower.get() <= missed + 1e-14);
                }
            }
        }
    }
}
