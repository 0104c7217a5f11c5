//! The certified cost of an event at a delta, and the smallest noise for an epsilon.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mizan_accounting::clock;
use mizan_accounting::methods::{self, Method};
use mizan_core::{Delta, PrivacyEvent, Round, parse_decimal};

/// The event with every `approximate` in its composition replaced by its pure part.
///
/// The ledger charges it in the same way: an (ε, δ) mechanism is an ε mechanism, except with
/// probability δ (Kairouz, Oh and Viswanath 2015).
pub(super) fn without_failures(event: &PrivacyEvent) -> PrivacyEvent {
    match event {
        PrivacyEvent::Approximate { epsilon, .. } => PrivacyEvent::Pure { epsilon: *epsilon },
        PrivacyEvent::Compose(events) => {
            PrivacyEvent::Compose(events.iter().map(without_failures).collect())
        }
        PrivacyEvent::Repeat { count, event } => PrivacyEvent::Repeat {
            count: *count,
            event: Box::new(without_failures(event)),
        },
        other => other.clone(),
    }
}

/// The cost of an event at a delta. The deltas of its `approximate` parts are added to that
/// delta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Price {
    /// An upper bound on epsilon: the sum of all losses, the value of the Rényi curve, or that of
    /// the Gaussian mechanism that dominates the event, whichever is less; infinite if there is
    /// none.
    ///
    /// The last one is for accounts with a Gaussian clock, which adds up what it costs. Each takes
    /// less than a millisecond or a few. The privacy loss distribution of the whole composition
    /// would give about a hundredth less, but can take seconds for noise on lattices, and a quote
    /// is priced a dozen times.
    pub(super) epsilon: f64,
    /// The epsilon of the Rényi curve alone.
    pub(super) renyi: Option<f64>,
}

/// Prices an event for an account with or without a Gaussian clock.
pub(super) fn price(event: &PrivacyEvent, delta: f64, on_clock: bool) -> Price {
    let pure = without_failures(event);
    let bound = |method| {
        let bound = methods::epsilon_by(method, &pure, Delta::new(delta).ok()?).ok()?;
        let epsilon = bound.upper.get();
        epsilon.is_finite().then_some(epsilon)
    };
    let renyi = bound(Method::Renyi);
    let dominating = || {
        let epsilon = clock::epsilon(&pure, Delta::new(delta).ok()?).ok()?.get();
        epsilon.is_finite().then_some(epsilon)
    };
    let dominating = on_clock.then(dominating).flatten();
    let bounds = [bound(Method::Pure), renyi, dominating]
        .into_iter()
        .flatten();
    Price {
        epsilon: bounds.fold(f64::INFINITY, f64::min),
        renyi,
    }
}

/// Prices at one delta. Each is computed once, because the search revisits points.
pub(super) struct Prices {
    delta: f64,
    on_clock: bool,
    known: RefCell<BTreeMap<String, Price>>,
}

impl Prices {
    /// An empty cache.
    pub(super) const fn new(delta: f64, on_clock: bool) -> Self {
        Self {
            delta,
            on_clock,
            known: RefCell::new(BTreeMap::new()),
        }
    }

    /// The price of an event.
    pub(super) fn of(&self, event: &PrivacyEvent) -> Price {
        let mut known = self.known.borrow_mut();
        let known = known.entry(event.to_string());
        *known.or_insert_with(|| price(event, self.delta, self.on_clock))
    }
}

/// The relative distance to the target at which the search stops.
const CLOSE: f64 = 2e-4;

/// About the smallest s with `cost(s) <= target`, for a cost that decreases in s. The cost of
/// the returned s was computed. None if there is none between `least` and `most`.
pub(super) fn smallest(
    cost: impl Fn(f64) -> f64,
    target: f64,
    guess: f64,
    (least, most): (f64, f64),
) -> Option<f64> {
    let excess = |s: f64| {
        let cost = cost(s);
        if cost.is_nan() {
            f64::INFINITY
        } else {
            (cost / target).ln()
        }
    };
    let mut high = guess.clamp(least, most);
    let mut high_excess = excess(high);
    // The cost is about proportional to 1/s, so this is slightly past the target.
    let beyond = (high_excess.abs() * 1.2 + CLOSE).exp();
    let mut factor = if beyond < 2.0 { beyond } else { 1.05 };
    let mut low = high;
    let mut low_excess = high_excess;
    while high_excess > 0.0 {
        if high >= most {
            return None;
        }
        (low, low_excess) = (high, high_excess);
        high = (high * factor).min(most);
        high_excess = excess(high);
        factor = factor.powi(3);
    }
    while low_excess <= 0.0 && high_excess <= -CLOSE {
        if low <= least {
            return Some(low);
        }
        (high, high_excess) = (low, low_excess);
        low = (low / factor).max(least);
        low_excess = excess(low);
        factor = factor.powi(3);
    }
    for round in 0..200 {
        if high_excess > -CLOSE || high / low < 1.0 + 1e-9 {
            break;
        }
        // The secant in logarithms, aimed slightly inside. Every third step is a bisection, so
        // that the search ends.
        let (x, y) = (low.ln(), high.ln());
        let share = low_excess / (low_excess - high_excess);
        let line = x + (y - x) * share;
        let middle = if round % 3 == 2 || !line.is_finite() {
            x.midpoint(y)
        } else {
            line + (y - line).min(CLOSE / 4.0)
        };
        let middle = middle.exp();
        if !(middle > low && middle < high) {
            break;
        }
        let found = excess(middle);
        if found > 0.0 {
            (low, low_excess) = (middle, found);
        } else {
            (high, high_excess) = (middle, found);
        }
    }
    Some(high)
}

/// A positive number in six digits, rounded up or down, as the text of an event shows it: noise
/// is rounded down, costs are rounded up.
pub(super) fn six_digits(value: f64, up: bool) -> f64 {
    digits(value, up, if up { Round::Down } else { Round::Up })
}

/// A cost in six digits, rounded up.
pub(super) fn spent(value: f64) -> f64 {
    digits(value, true, Round::Up)
}

fn digits(value: f64, up: bool, round: Round) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return value;
    }
    let safe = |read: f64| if up { read >= value } else { read <= value };
    for nudge in [0.0, 1e-5, 2e-5] {
        let near = value * if up { 1.0 + nudge } else { 1.0 - nudge };
        let read = parse_decimal(&format!("{near:.5e}"), round);
        if let Some(read) = read.ok().filter(|read| safe(*read)) {
            return read;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_of_failures_are_added() {
        let event: PrivacyEvent = "3 * (discrete-gaussian(60, 5) + approximate(0.1, 1e-8))"
            .parse()
            .unwrap();
        let pure = without_failures(&event);
        assert_eq!(
            pure.to_string(),
            "3 * (discrete-gaussian(60, 5) + pure(0.1))"
        );
        for clock in [false, true] {
            let found = price(&event, 1e-6, clock);
            assert_eq!(found, price(&pure, 1e-6, clock));
            assert_eq!(Prices::new(1e-6, clock).of(&event), found);
            assert!(price(&event, 0.0, clock).epsilon.is_infinite());
        }
        // With a clock the dominating Gaussian mechanism counts too.
        let event: PrivacyEvent = "10 * discrete-gaussian(14.3293)".parse().unwrap();
        let [before, now] = [false, true].map(|clock| price(&event, 1e-6, clock));
        assert_eq!(before.renyi, now.renyi);
        assert!(now.epsilon < 0.94 * before.epsilon, "{before:?} {now:?}");
    }

    #[test]
    fn the_smallest_is_found() {
        for target in [1e-9, 1e-3, 1.0, 1e6] {
            for guess in [1e-5, 1.0, 1e9] {
                let found = smallest(|s| 1.0 / (s * s), target, guess, (1e-9, 1e12)).unwrap();
                let exact = 1.0 / target.sqrt();
                assert!(found >= exact && found < exact * 1.0002, "{target} {guess}");
            }
        }
        assert_eq!(smallest(|_| 2.0, 1.0, 1.0, (1e-3, 1e3)), None);
        assert_eq!(smallest(|_| 0.5, 1.0, 1.0, (1e-3, 1e3)), Some(1e-3));
        // A step from infinity to zero.
        let step = smallest(
            |s| if s < 3.0 { f64::INFINITY } else { 0.0 },
            1.0,
            1.0,
            (1e-3, 1e3),
        );
        assert!((step.unwrap() - 3.0).abs() < 1e-6);
    }

    #[test]
    fn six_digits_are_on_the_safe_side() {
        for value in [1.0, 1.0 / 3.0, 123_456.789, 9.999_999_9, 1e-9 / 3.0] {
            let (up, down) = (six_digits(value, true), six_digits(value, false));
            assert!(down <= value && value <= up && up - down < value * 3e-5);
            let spent = spent(value);
            assert!(value <= spent && spent < value * (1.0 + 3e-5));
            // Events are printed in these digits.
            let rho = mizan_core::Rho::new(spent).unwrap();
            let event = PrivacyEvent::ZeroConcentrated { rho }.to_string();
            assert!(event.len() <= "zcdp(0.000000000333334)".len(), "{event}");
            assert_eq!(event.parse(), Ok(PrivacyEvent::ZeroConcentrated { rho }));
        }
    }
}
