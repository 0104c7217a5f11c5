//! The accountant of one event: bounds that hold for the event and the target as they were typed.
//!
//! Most decimals are not doubles. The parser of events rounds each parameter to the side where the
//! event costs more, and a target is rounded to the stronger guarantee
//! ([`Delta::at_most`], [`Epsilon::at_most`]). So upper bounds hold for the typed numbers. A lower
//! bound needs the other side: it is computed for the event with its parameters one unit in the
//! last place cheaper ([`PrivacyEvent::relaxed`]), at the next larger target.
//!
//! `methods.rs` has the bounds of the event and the target as doubles.

use mizan_core::{Bracket, Delta, Epsilon, PrivacyEvent};

use crate::methods::{self, Comparison, Method, MethodBound, Refusal};
use crate::trade_off::{SMALLEST_DELTA, TradeOff};
use crate::{PrivacyProfile, RenyiCurve, Unsupported};

/// The accountant of one event.
///
/// # Guarantee
///
/// Every upper bound holds for the event as its text has it, and for a target that was rounded by
/// [`Delta::at_most`] or [`Epsilon::at_most`]. Every lower bound holds for both too: no smaller
/// value is a guarantee of the typed event.
///
/// ```
/// use mizan_accounting::Accountant;
/// use mizan_core::{Delta, PrivacyEvent};
///
/// let event: PrivacyEvent = "10000 * poisson(0.01, gaussian(1.1))".parse()?;
/// let bound = Accountant::of(&event).epsilon(Delta::at_most("1e-5")?)?;
/// assert!(5.192583445882 <= bound.lower.unwrap().get());
/// assert!(bound.upper.get() <= 5.192583445884);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Accountant {
    event: PrivacyEvent,
    /// The event one unit in the last place cheaper.
    relaxed: PrivacyEvent,
}

impl Accountant {
    /// The accountant of an event.
    #[must_use]
    pub fn of(event: &PrivacyEvent) -> Self {
        Self {
            event: event.clone(),
            relaxed: event.relaxed(),
        }
    }

    /// The event.
    #[must_use]
    pub const fn event(&self) -> &PrivacyEvent {
        &self.event
    }

    /// The ε at a given δ: the smallest upper bound of all methods, with the largest lower bound.
    ///
    /// # Errors
    ///
    /// No method applies; the error is the one of the method that came closest.
    pub fn epsilon(&self, delta: Delta) -> Result<MethodBound<Epsilon>, Refusal> {
        self.epsilon_by_all(delta).tightest()
    }

    /// The δ at a given ε: the smallest upper bound of all methods, with the largest lower bound.
    ///
    /// # Errors
    ///
    /// No method applies; the error is the one of the method that came closest.
    pub fn delta(&self, epsilon: Epsilon) -> Result<MethodBound<Delta>, Refusal> {
        self.delta_by_all(epsilon).tightest()
    }

    /// The ε at a given δ, by one method.
    ///
    /// # Errors
    ///
    /// The method does not apply to this event.
    pub fn epsilon_by(
        &self,
        method: Method,
        delta: Delta,
    ) -> Result<MethodBound<Epsilon>, Refusal> {
        let bound = methods::epsilon_by(method, &self.event, delta)?;
        Ok(self.epsilon_as_typed(bound, delta))
    }

    /// The δ at a given ε, by one method.
    ///
    /// # Errors
    ///
    /// The method does not apply to this event.
    pub fn delta_by(
        &self,
        method: Method,
        epsilon: Epsilon,
    ) -> Result<MethodBound<Delta>, Refusal> {
        let bound = methods::delta_by(method, &self.event, epsilon)?;
        Ok(self.delta_as_typed(bound, epsilon))
    }

    /// The ε at a given δ, by every method that applies.
    ///
    /// ```
    /// use mizan_accounting::Accountant;
    /// use mizan_core::Delta;
    ///
    /// let all = Accountant::of(&"30 * rr(0.6)".parse()?).epsilon_by_all(Delta::at_most("1e-6")?);
    /// let names: Vec<_> = all.bounds.iter().map(|bound| bound.method.name()).collect();
    /// assert!(names.contains(&"advanced") && names.contains(&"numeric"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn epsilon_by_all(&self, delta: Delta) -> Comparison<Epsilon> {
        let Comparison { bounds, refusals } = methods::epsilon(&self.event, delta);
        let bounds = bounds.into_iter();
        Comparison {
            bounds: bounds
                .map(|bound| self.epsilon_as_typed(bound, delta))
                .collect(),
            refusals,
        }
    }

    /// The δ at a given ε, by every method that applies.
    #[must_use]
    pub fn delta_by_all(&self, epsilon: Epsilon) -> Comparison<Delta> {
        let Comparison { bounds, refusals } = methods::delta(&self.event, epsilon);
        let bounds = bounds.into_iter();
        Comparison {
            bounds: bounds
                .map(|bound| self.delta_as_typed(bound, epsilon))
                .collect(),
            refusals,
        }
    }

    /// The Rényi curve of the event.
    ///
    /// # Errors
    ///
    /// A part of the event has no Rényi curve; the error names the part.
    pub fn renyi_curve(&self) -> Result<RenyiCurve, Unsupported> {
        RenyiCurve::of(&self.event)
    }

    /// The privacy profile: δ at each of these ε, which are taken as the doubles that they are.
    ///
    /// One computation of the numerical accountant where it applies, which is much faster than
    /// [`delta`](Self::delta) for each; all methods elsewhere.
    ///
    /// # Errors
    ///
    /// No method applies.
    ///
    /// ```
    /// use mizan_accounting::Accountant;
    /// use mizan_core::Epsilon;
    ///
    /// let accountant = Accountant::of(&"10000 * poisson(0.01, gaussian(1.1))".parse()?);
    /// let profile = accountant.profile(&[Epsilon::new(1.0)?, Epsilon::new(4.0)?])?;
    /// assert!(profile[0].lower.get() > 0.1 && profile[1].upper.get() < 0.001);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn profile(&self, epsilons: &[Epsilon]) -> Result<Vec<Bracket<Delta>>, Refusal> {
        if let Some(bounds) = self.numeric_profile(epsilons) {
            return Ok(bounds.iter().map(MethodBound::<Delta>::bracket).collect());
        }
        let at = |&epsilon: &Epsilon| {
            let found = self.profile_at(&Method::ALL, epsilon);
            found.ok_or_else(|| methods::delta(&self.event, epsilon).refusal())
        };
        epsilons.iter().map(at).collect()
    }

    /// A point of the profile by some methods: the intersection of their brackets. None if none of
    /// them applies.
    #[must_use]
    pub fn profile_at(&self, methods: &[Method], epsilon: Epsilon) -> Option<Bracket<Delta>> {
        let bounds = methods.iter().filter_map(|&method| {
            let bound = self.profile_by(method, epsilon).ok()?;
            Some(bound.bracket())
        });
        bounds.reduce(intersection)
    }

    /// A point of the profile by one method: δ at this double, with a lower bound that holds for the
    /// typed event.
    ///
    /// # Errors
    ///
    /// The method does not apply to this event.
    pub fn profile_by(
        &self,
        method: Method,
        epsilon: Epsilon,
    ) -> Result<MethodBound<Delta>, Refusal> {
        let mut bound = methods::delta_by(method, &self.event, epsilon)?;
        if bound.lower.is_some() && self.relaxed != self.event {
            bound.lower = methods::delta_by(method, &self.relaxed, epsilon)?.lower;
        }
        Ok(bound)
    }

    /// Points of the profile by the numerical accountant, in one computation. None if it does not
    /// apply.
    #[must_use]
    pub fn numeric_profile(&self, epsilons: &[Epsilon]) -> Option<Vec<MethodBound<Delta>>> {
        let deltas = |event: &PrivacyEvent| {
            let profile = PrivacyProfile::of(event).ok()?;
            Some((profile.deltas(epsilons)?, profile.is_exact()))
        };
        let (above, exact) = deltas(&self.event)?;
        let below = if self.relaxed == self.event || !exact {
            above.clone()
        } else {
            deltas(&self.relaxed)?.0
        };
        let bound = |(above, below): (&Bracket<Delta>, &Bracket<Delta>)| MethodBound {
            method: Method::Numeric,
            upper: above.upper,
            lower: exact.then_some(below.lower),
            order: None,
            engine: None,
        };
        Some(above.iter().zip(&below).map(bound).collect())
    }

    /// The trade-off function of an attacker, from this number of points of the profile.
    ///
    /// # Errors
    ///
    /// No method applies.
    ///
    /// ```
    /// use mizan_accounting::Accountant;
    /// use mizan_core::Probability;
    ///
    /// let accountant = Accountant::of(&"10000 * poisson(0.01, gaussian(8))".parse()?);
    /// // With a false-positive rate of 1 % an attacker misses nearly every member.
    /// let missed = accountant.trade_off(100)?.false_negative(Probability::new(0.01)?);
    /// assert!(missed.lower.get() > 0.98 && missed.upper.get() < 0.99);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trade_off(&self, points: u32) -> Result<TradeOff, Refusal> {
        let smallest = Delta::saturating(SMALLEST_DELTA);
        let largest = methods::epsilon(&self.event, smallest).best();
        let largest = largest.map_or(Epsilon::INFINITE, |bound| bound.upper);
        let grid = TradeOff::grid(largest, points);
        let profile = self.profile(&grid)?;
        let points: Vec<_> = grid.into_iter().zip(profile).collect();
        Ok(TradeOff::new(&points))
    }

    fn epsilon_as_typed(&self, bound: MethodBound<Epsilon>, delta: Delta) -> MethodBound<Epsilon> {
        let above = Delta::saturating(delta.get().next_up());
        as_typed(bound, Epsilon::ZERO, |method| {
            methods::epsilon_by(method, &self.relaxed, above)
                .ok()?
                .lower
        })
    }

    fn delta_as_typed(&self, bound: MethodBound<Delta>, epsilon: Epsilon) -> MethodBound<Delta> {
        let above = Epsilon::saturating(epsilon.get().next_up());
        as_typed(bound, Delta::ZERO, |method| {
            methods::delta_by(method, &self.relaxed, above).ok()?.lower
        })
    }
}

/// The bound with a lower bound for the typed numbers. A lower bound of zero always holds.
fn as_typed<T: Copy + PartialEq>(
    bound: MethodBound<T>,
    zero: T,
    lower: impl Fn(Method) -> Option<T>,
) -> MethodBound<T> {
    match bound.lower {
        Some(found) if found != zero => MethodBound {
            lower: lower(bound.method),
            ..bound
        },
        _ => bound,
    }
}

/// The intersection of two brackets.
fn intersection(one: Bracket<Delta>, other: Bracket<Delta>) -> Bracket<Delta> {
    Bracket {
        lower: if other.lower > one.lower {
            other.lower
        } else {
            one.lower
        },
        upper: if other.upper < one.upper {
            other.upper
        } else {
            one.upper
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accountant(text: &str) -> Accountant {
        Accountant::of(&text.parse().unwrap())
    }

    #[test]
    fn lower_bounds_hold_for_the_decimal_and_not_only_for_the_double() {
        // pure(0.1) is read as the double above 0.1: its epsilon is not a lower bound for 0.1.
        let accountant = accountant("pure(0.1)");
        let delta = Delta::at_most("1e-300").unwrap();
        let double = methods::epsilon(accountant.event(), delta).lower().unwrap();
        let typed = accountant.epsilon(delta).unwrap();
        assert!(typed.lower.unwrap() < double);
        assert!(typed.lower.unwrap().get() <= 0.1_f64.next_down());
        assert!(typed.upper.get() >= 0.1);
    }

    #[test]
    fn one_method_and_all_methods_agree() {
        let delta = Delta::at_most("1e-6").unwrap();
        let epsilon = Epsilon::at_most("0.7").unwrap();
        for text in ["30 * rr(0.6)", "gaussian(1.1)", "group(2, laplace(3))"] {
            let accountant = accountant(text);
            for bound in accountant.epsilon_by_all(delta).bounds {
                let alone = accountant.epsilon_by(bound.method, delta).unwrap();
                assert_eq!(alone.upper, bound.upper, "{text}");
            }
            for bound in accountant.delta_by_all(epsilon).bounds {
                let alone = accountant.delta_by(bound.method, epsilon).unwrap();
                assert_eq!(alone.upper, bound.upper, "{text}");
            }
        }
    }

    #[test]
    fn the_tightest_bound_has_the_largest_lower_bound() {
        let accountant = accountant("30 * rr(0.6)");
        let delta = Delta::at_most("1e-6").unwrap();
        let all = accountant.epsilon_by_all(delta);
        let bound = accountant.epsilon(delta).unwrap();
        assert_eq!(bound.lower, all.lower());
        assert_eq!(bound.upper, all.best().unwrap().upper);
        assert!(bound.bracket().lower <= bound.bracket().upper);
    }

    /// Where the numerical accountant does not apply, the profile comes from the other methods.
    #[test]
    fn events_without_a_loss_distribution_have_a_profile() {
        let epsilons = [0.5, 1.0].map(|epsilon| Epsilon::new(epsilon).unwrap());
        let accountant = accountant("zcdp(0.01)");
        assert_eq!(accountant.numeric_profile(&epsilons), None);
        let profile = accountant.profile(&epsilons).unwrap();
        assert!(profile[1].upper < profile[0].upper);
        let missed = accountant.trade_off(8).unwrap();
        let rate = mizan_core::Probability::new(0.5).unwrap();
        assert!(missed.false_negative(rate).lower.get() > 0.4);
    }

    #[test]
    fn refusals_name_the_part() {
        let accountant = accountant("shuffle(10, gaussian(1))");
        let delta = Delta::at_most("1e-6").unwrap();
        let refusal = accountant.epsilon(delta).unwrap_err();
        assert!(refusal.part().is_some(), "{refusal}");
        assert!(accountant.profile(&[Epsilon::ZERO]).is_err());
    }
}
