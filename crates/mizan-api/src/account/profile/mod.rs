//! `--profile`: δ against ε by every method, and the trade-off of an attacker.
//!
//! This file computes the numbers. `draw.rs` makes figures of them, `words.rs` text and JSON.

mod draw;
mod sample;
mod words;

use std::time::Duration;

use mizan_accounting::methods::{self, Method, MethodBound};
use mizan_accounting::{PrivacyProfile, TradeOff};
use mizan_core::{Bracket, Delta, Epsilon, PrivacyEvent, Probability};

use super::SolvedFor;
use crate::failure::Failure;
use sample::{SamplingLimit, coarse_to_fine};

/// The steps of a curve.
const STEPS: u32 = 128;

/// The steps of the trade-off function, which is tighter with more.
const TRADE_OFF_STEPS: u32 = 512;

const FOR_OTHERS: SamplingLimit = SamplingLimit {
    time: Duration::from_millis(300),
    least: 5,
};

/// The time limit of the trade-off function, which also uses the points of the profile.
const FOR_TRADE_OFF: SamplingLimit = SamplingLimit {
    time: Duration::from_millis(300),
    least: 1,
};

/// The axis ends at the ε of this δ, or of the next one that has an ε.
const SMALLEST_DELTAS: [f64; 9] = [1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.9, 0.999];

/// The axis begins at the ε of this δ.
const LARGEST_DELTA: f64 = 0.5;

/// The profile of an event over the shown range.
#[derive(Debug)]
pub struct Profile {
    /// The ends of the ε axis.
    epsilons: (f64, f64),
    smallest_delta: f64,
    curves: Vec<Curve>,
    /// Lower bounds of the exact δ.
    lower: Vec<(u32, f64)>,
    trade_off: TradeOff,
    /// Whether lower bounds exist, so that attacks with the stated rates exist too.
    exact: bool,
}

/// The δ of one method at some of the steps.
#[derive(Debug)]
struct Curve {
    method: Method,
    deltas: Vec<(u32, f64)>,
}

impl Profile {
    pub(super) fn of(
        event: &PrivacyEvent,
        method: Option<Method>,
        solved_for: Option<SolvedFor>,
    ) -> Result<Self, Failure> {
        let methods = method.map_or_else(|| Method::ALL.to_vec(), |method| vec![method]);
        let (epsilons, smallest_delta) = range(event, &methods, solved_for)?;
        let relaxed = event.relaxed();
        let epsilon = |step| Epsilon::saturating(between(epsilons, step, STEPS));
        let mut curves = Vec::new();
        let mut lower: Vec<(u32, f64)> = Vec::new();
        for method in methods {
            let limit = FOR_OTHERS;
            let all: Vec<Epsilon> = (0..=STEPS).map(epsilon).collect();
            let bounds = match numeric_at(method, event, &relaxed, &all) {
                Some(bounds) => (0..).zip(bounds).collect(),
                None => coarse_to_fine(STEPS, limit, |step| {
                    delta_by(method, event, &relaxed, epsilon(step))
                }),
            };
            if bounds.is_empty() {
                continue;
            }
            let lowers: Vec<_> = bounds
                .iter()
                .filter_map(|(step, bound)| Some((*step, bound.lower?.get())))
                .collect();
            if lowers.len() > lower.len() {
                lower = lowers;
            }
            let upper = |(step, bound): &(u32, MethodBound<Delta>)| (*step, bound.upper.get());
            curves.push(Curve {
                method,
                deltas: bounds.iter().map(upper).collect(),
            });
        }
        let mut profile = Self {
            epsilons,
            smallest_delta,
            curves,
            exact: !lower.is_empty(),
            lower,
            trade_off: TradeOff::new(&[]),
        };
        profile.trade_off = profile.find_trade_off(event, &relaxed);
        Ok(profile)
    }

    /// The trade-off function from the points of the profile and further ones: from the numerical
    /// accountant if it applies, otherwise from all other methods.
    fn find_trade_off(&self, event: &PrivacyEvent, relaxed: &PrivacyEvent) -> TradeOff {
        let mut methods: Vec<_> = self.curves.iter().map(|curve| curve.method).collect();
        if methods.contains(&Method::Numeric) {
            methods = vec![Method::Numeric];
        }
        let known = (0..=STEPS).filter_map(|step| {
            let (_, upper, lower) = self.best(step)?;
            let bracket = Bracket {
                lower: Delta::saturating(lower.unwrap_or(0.0)),
                upper: Delta::saturating(upper),
            };
            Some((Epsilon::saturating(self.epsilon(step)), bracket))
        });
        let largest = Epsilon::saturating(self.epsilons.1);
        let grid = TradeOff::grid(largest, TRADE_OFF_STEPS);
        if let [Method::Numeric] = methods.as_slice()
            && let Some(bounds) = numeric_at(Method::Numeric, event, relaxed, &grid)
        {
            let more = grid.iter().copied().zip(bounds.iter().map(bracket));
            return TradeOff::new(&known.chain(more).collect::<Vec<_>>());
        }
        let more = coarse_to_fine(TRADE_OFF_STEPS, FOR_TRADE_OFF, |step| {
            let epsilon = *grid.get(step as usize)?;
            let bounds = methods
                .iter()
                .filter_map(|method| delta_by(*method, event, relaxed, epsilon))
                .map(|bound| bracket(&bound));
            Some((epsilon, bounds.reduce(tighter)?))
        });
        let more = more.into_iter().map(|(_, point)| point);
        TradeOff::new(&known.chain(more).collect::<Vec<_>>())
    }

    fn epsilon(&self, step: u32) -> f64 {
        between(self.epsilons, step, STEPS)
    }

    /// The smallest δ of any method at a step, and the largest lower bound.
    fn best(&self, step: u32) -> Option<(Method, f64, Option<f64>)> {
        let uppers = self
            .curves
            .iter()
            .filter_map(|curve| Some((curve.method, at(&curve.deltas, step)?)));
        let (method, upper) = uppers.reduce(|a, b| if b.1 < a.1 { b } else { a })?;
        Some((method, upper, at(&self.lower, step)))
    }

    /// The false-negative rate at a decimal that need not be a double.
    fn false_negative(&self, false_positive: f64) -> Bracket<f64> {
        let at = |rate: f64| {
            let rate = Probability::new(rate.clamp(0.0, 1.0)).unwrap_or(Probability::ONE);
            self.trade_off.false_negative(rate)
        };
        Bracket {
            lower: at(false_positive.next_up()).lower.get(),
            upper: at(false_positive.next_down()).upper.get(),
        }
    }
}

fn at(points: &[(u32, f64)], step: u32) -> Option<f64> {
    let found = points.binary_search_by_key(&step, |(step, _)| *step).ok()?;
    points.get(found).map(|(_, value)| *value)
}

fn between((low, high): (f64, f64), step: u32, steps: u32) -> f64 {
    let part = f64::from(step) / f64::from(steps);
    low * (1.0 - part) + high * part
}

/// The δ of a method, with a lower bound that holds for the typed numbers.
fn delta_by(
    method: Method,
    event: &PrivacyEvent,
    relaxed: &PrivacyEvent,
    epsilon: Epsilon,
) -> Option<MethodBound<Delta>> {
    let mut bound = methods::delta_by(method, event, epsilon).ok()?;
    if bound.lower.is_some() && relaxed != event {
        bound.lower = methods::delta_by(method, relaxed, epsilon).ok()?.lower;
    }
    Some(bound)
}

/// The δ of the numerical accountant at many ε in one computation.
fn numeric_at(
    method: Method,
    event: &PrivacyEvent,
    relaxed: &PrivacyEvent,
    epsilons: &[Epsilon],
) -> Option<Vec<MethodBound<Delta>>> {
    if method != Method::Numeric {
        return None;
    }
    let deltas = |event: &PrivacyEvent| {
        let profile = PrivacyProfile::of(event).ok()?;
        Some((profile.deltas(epsilons)?, profile.is_exact()))
    };
    let (above, exact) = deltas(event)?;
    let below = if relaxed == event || !exact {
        above.clone()
    } else {
        deltas(relaxed)?.0
    };
    let bound = |(above, below): (&Bracket<Delta>, &Bracket<Delta>)| MethodBound {
        method,
        upper: above.upper,
        lower: exact.then_some(below.lower),
        order: None,
        engine: None,
    };
    Some(above.iter().zip(&below).map(bound).collect())
}

fn bracket(bound: &MethodBound<Delta>) -> Bracket<Delta> {
    Bracket {
        lower: bound.lower.unwrap_or(Delta::ZERO),
        upper: bound.upper,
    }
}

/// The range of ε to show, and the smallest δ.
fn range(
    event: &PrivacyEvent,
    methods: &[Method],
    solved_for: Option<SolvedFor>,
) -> Result<((f64, f64), f64), Failure> {
    let epsilon = |delta: f64| {
        let by = |&method: &Method| {
            let bound = methods::epsilon_by(method, event, Delta::saturating(delta));
            Some(bound.ok()?.upper.get())
        };
        methods.iter().filter_map(by).reduce(f64::min)
    };
    let asked = match solved_for {
        Some(SolvedFor::EpsilonAt(delta)) => Some((delta.value.get() * 1e-3).min(1e-12)),
        _ => None,
    };
    let deltas = asked.into_iter().chain(SMALLEST_DELTAS);
    let found = deltas.filter(|delta| *delta > 0.0);
    let found = found
        .filter_map(|delta| Some((delta, epsilon(delta)?)))
        .next();
    let Some((smallest, high)) = found else {
        let delta = Delta::saturating(LARGEST_DELTA);
        let refusal = match methods {
            [method] => methods::epsilon_by(*method, event, delta).err(),
            _ => None,
        };
        return Err(refusal
            .unwrap_or_else(|| methods::epsilon(event, delta).refusal())
            .into());
    };
    let low = epsilon(LARGEST_DELTA).unwrap_or(0.0);
    let (mut low, mut high) = if low < 0.3 * high {
        (0.0, high)
    } else {
        (low, high)
    };
    if let Some(SolvedFor::DeltaAt(epsilon)) = solved_for {
        low = low.min(epsilon.value.get());
        high = high.max(epsilon.value.get());
    }
    // A range of width zero is extended, for events that cost nothing or everything at once.
    if high - low <= 1e-9 * high || high == 0.0 {
        (low, high) = (0.0, if high > 0.0 { 2.0 * high } else { 1.0 });
    }
    Ok(((low, high), smallest))
}

/// The intersection of two brackets.
fn tighter(one: Bracket<Delta>, other: Bracket<Delta>) -> Bracket<Delta> {
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
