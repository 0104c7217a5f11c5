//! The value of any one parameter that a promise allows.

use mizan_core::{
    Delta, Domain, Epsilon, EventError, EventTemplate, ParameterValue, PrivacyEvent, Round,
};

use super::axis::Axis;
use super::search::{Outcome, search};
use crate::account::{self, Method, MethodBound, Refusal};

/// A value for the `?` of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The value: the least noise, or the most of anything else, that keeps
    /// the promise, to about twelve digits.
    pub value: ParameterValue,
    /// The template with this value.
    pub event: PrivacyEvent,
    /// What it costs: at most the ε of the promise.
    pub cost: MethodBound<Epsilon>,
    /// Whether the promise limits the parameter. If not, every value keeps it
    /// and this one is the end of the range.
    pub constrained: bool,
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The rest of the event alone costs more than the promise allows.
    #[error("no {parameter} is enough: even {parameter} = {} costs epsilon {}, above {}",
        shown(*cheapest), above(*cost), above(*target))]
    Impossible {
        /// The name of the parameter.
        parameter: &'static str,
        /// Its value that costs least.
        cheapest: ParameterValue,
        /// What the event costs with it.
        cost: Epsilon,
        /// What was promised.
        target: Epsilon,
    },
    /// No method gives a bound, whatever the value.
    #[error("no {parameter} gives a bound: {refusal}")]
    Refused {
        /// The name of the parameter.
        parameter: &'static str,
        /// Why the closest method gives none.
        refusal: Refusal,
    },
    /// The template cannot be filled.
    #[error(transparent)]
    Event(#[from] EventError),
}

impl CalibrationError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Impossible { .. } => "MZ1401",
            Self::Refused { refusal, .. } => refusal.code(),
            Self::Event(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Impossible {
                parameter: parameter @ ("count" | "steps" | "size" | "m"),
                cost,
                ..
            } => format!(
                "the smallest {parameter} is too much already: add noise, \
                 or ask for an epsilon of at least {}",
                above(*cost)
            ),
            Self::Impossible { cost, .. } => format!(
                "the rest of the event costs that alone: make it cheaper, \
                 or ask for an epsilon of at least {}",
                above(*cost)
            ),
            Self::Refused { refusal, .. } => refusal.help(),
            Self::Event(error) => error.help(),
        }
    }
}

/// Solves for the `?` of a template: the value on the edge of (ε, δ), on the
/// side where the promise is kept.
///
/// # Guarantee
///
/// The event with the value returned was accounted for: its certified ε at
/// `delta` is at most `epsilon`. So was the event that the shortest decimal of
/// the value gives when it is typed back.
///
/// # Errors
///
/// No value keeps the promise, or no method applies.
///
/// ```
/// use mizan_accounting::calibrate;
/// use mizan_core::{Delta, Epsilon, EventTemplate};
///
/// let template = EventTemplate::parse("? * gaussian(5)")?;
/// let found = calibrate::solve(&template, Epsilon::new(1.0)?, Delta::new(1e-6)?)?;
/// assert_eq!(found.event.to_string(), "1 * gaussian(5)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(
    template: &EventTemplate,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Calibration, CalibrationError> {
    let mut promise = Promise {
        template,
        epsilon,
        delta,
        methods: Vec::new(),
        evaluations: 0,
    };
    promise.solve()
}

/// What is worth another search, or another method, relative.
const WORTH_MORE: f64 = 1e-9;

/// What has to be kept, and who knows best whether it is.
struct Promise<'a> {
    template: &'a EventTemplate,
    epsilon: Epsilon,
    delta: Delta,
    /// The methods that were the tightest somewhere. The others take time and
    /// say less; each of these is a proof by itself.
    methods: Vec<Method>,
    /// How often an event was priced, to keep an eye on.
    evaluations: usize,
}

impl Promise<'_> {
    fn solve(&mut self) -> Result<Calibration, CalibrationError> {
        let (template, epsilon) = (self.template, self.epsilon);
        let axis = Axis::of(template);
        let mut start = start(template, &axis, epsilon);
        loop {
            let cost = &mut |value| self.cost(value);
            let (value, constrained) = match search(&axis, start, epsilon.get(), cost) {
                Outcome::Found(value) => (self.settle(&axis, value), true),
                Outcome::Unconstrained(value) => (value, false),
                Outcome::Impossible(value) => (value, true),
            };
            let event = template.fill(value)?;
            let parameter = template.parameter();
            let Some(cost) = self.tightest(&event) else {
                let refusal = account::epsilon(&event, self.delta).refusal();
                return Err(CalibrationError::Refused { parameter, refusal });
            };
            // Somewhere else another method is tighter: once more, with it.
            let looser = cost.upper.get() < epsilon.get() * (1.0 - WORTH_MORE);
            if constrained && looser && self.learn(cost.method) {
                start = value;
                continue;
            }
            if constrained && axis.is_whole() && self.next_fits_too(&axis, value) {
                start = axis.neighbour(value, 1.0);
                continue;
            }
            return if cost.upper <= epsilon {
                Ok(Calibration {
                    value,
                    event,
                    cost,
                    constrained,
                })
            } else {
                Err(CalibrationError::Impossible {
                    parameter,
                    cheapest: value,
                    cost: cost.upper,
                    target: epsilon,
                })
            };
        }
    }

    /// The certified ε with a value; infinite where there is none.
    fn cost(&mut self, value: ParameterValue) -> f64 {
        self.evaluations += 1;
        let Ok(event) = self.template.fill(value) else {
            return f64::INFINITY;
        };
        if self.methods.is_empty()
            && let Some(best) = self.tightest(&event)
        {
            self.learn(best.method);
            return best.upper.get();
        }
        self.price(&event)
    }

    /// The tightest bound of all methods. The most precise are asked first:
    /// nothing is below a bound that is exact.
    fn tightest(&self, event: &PrivacyEvent) -> Option<MethodBound<Epsilon>> {
        let mut tightest: Option<MethodBound<Epsilon>> = None;
        for method in Method::ALL.into_iter().rev() {
            let Ok(bound) = account::epsilon_by(method, event, self.delta) else {
                continue;
            };
            let exact = bound
                .lower
                .is_some_and(|lower| lower.get() >= bound.upper.get() * (1.0 - WORTH_MORE));
            if exact {
                return Some(bound);
            }
            if tightest.is_none_or(|best| bound.upper < best.upper) {
                tightest = Some(bound);
            }
        }
        tightest
    }

    /// Whether the next whole number keeps the promise by a method that was
    /// not asked so far.
    fn next_fits_too(&mut self, axis: &Axis, value: ParameterValue) -> bool {
        let next = self.template.fill(axis.neighbour(value, 1.0)).ok();
        let best = next.and_then(|event| self.tightest(&event));
        best.is_some_and(|best| best.upper <= self.epsilon && self.learn(best.method))
    }

    /// Remembers a method; false if it was known.
    fn learn(&mut self, method: Method) -> bool {
        let new = !self.methods.contains(&method);
        if new {
            self.methods.push(method);
        }
        new
    }

    /// The ε of an event by the methods that matter.
    fn price(&self, event: &PrivacyEvent) -> f64 {
        let bounds = self.methods.iter().map(|&method| {
            let bound = account::epsilon_by(method, event, self.delta);
            bound.map_or(f64::INFINITY, |bound| bound.upper.get())
        });
        bounds.fold(f64::INFINITY, f64::min)
    }

    /// Typed back as a decimal a value may lose a unit, and around the edge
    /// rounding decides: a little more is enough for sure.
    fn settle(&self, axis: &Axis, found: ParameterValue) -> ParameterValue {
        let keeps = |event: Result<PrivacyEvent, EventError>| {
            event.is_ok_and(|event| self.price(&event) <= self.epsilon.get())
        };
        let mut value = found;
        let mut back = 1e-13;
        // The value that was found is kept; only its decimal is in question.
        let mut exact = true;
        while !(exact && keeps(self.template.fill_typed(&shown(value)))) && back < 1.0 {
            value = axis.value(axis.place(value) - back);
            exact = keeps(self.template.fill(value));
            back *= 4.0;
        }
        value
    }
}

/// A value to start from: no noise is larger than one for long, and an ε is
/// about the ε that is promised.
fn start(template: &EventTemplate, axis: &Axis, epsilon: Epsilon) -> ParameterValue {
    let about = match (template.parameter(), template.domain()) {
        ("n", _) => 1000.0,
        ("q", _) => 0.01,
        ("delta", _) => 1e-9,
        ("epsilon" | "p", Domain::Real { .. }) if epsilon.get() > 0.0 => {
            return axis.value(epsilon.get().ln());
        }
        _ => 1.0,
    };
    let place = match template.costly() {
        Round::Up => f64::ln(about),
        Round::Down => -f64::ln(about),
    };
    axis.value(place)
}

/// A value as the shortest decimal.
fn shown(value: ParameterValue) -> String {
    match value {
        ParameterValue::Real(value) if !(1e-5..1e16).contains(&value) => format!("{value:e}"),
        ParameterValue::Real(value) => value.to_string(),
        ParameterValue::Whole(count) => count.to_string(),
    }
}

/// A certified ε in six digits, not below it.
fn above(epsilon: Epsilon) -> f64 {
    let value = epsilon.get();
    let six = |value: f64| format!("{value:.5e}").parse::<f64>().unwrap_or(value);
    let nearest = six(value);
    if nearest >= value {
        nearest
    } else {
        six(value * (1.0 + 1e-5)).max(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many times the accountant is asked.
    fn evaluations(text: &str, epsilon: f64) -> usize {
        let template = EventTemplate::parse(text).unwrap();
        let mut promise = Promise {
            template: &template,
            epsilon: Epsilon::new(epsilon).unwrap(),
            delta: Delta::new(1e-6).unwrap(),
            methods: Vec::new(),
            evaluations: 0,
        };
        promise.solve().unwrap();
        promise.evaluations
    }

    #[test]
    fn a_dozen_evaluations_are_enough() {
        for text in [
            "gaussian(?)",
            "10 * gaussian(?)",
            "100 * laplace(?)",
            "rr(?)",
            "100 * rr(?, 4)",
            "? * gaussian(50)",
            "100 * pure(?)",
            "gaussian(3, ?)",
            "5 * gaussian(?) + laplace(2000)",
            "zcdp(?)",
            "30 * discrete-gaussian(?)",
        ] {
            for epsilon in [0.1, 1.0, 8.0] {
                let count = evaluations(text, epsilon);

                assert!(count <= 14, "{count} for {text} at {epsilon}");
            }
        }
    }
}
