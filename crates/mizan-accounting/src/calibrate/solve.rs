//! Solves for one parameter of an event template, given a target (ε, δ).

use mizan_core::{
    Code, Delta, Domain, Epsilon, EventError, EventTemplate, ParameterValue, PrivacyEvent, Round,
    format_decimal,
};

use super::axis::Axis;
use super::search::{Cost, Outcome, Task, search};
use crate::convert::Effort;
use crate::methods::{self, Method, MethodBound, Refusal};

/// A value for the `?` of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The value: the least noise, or the largest value of another parameter, that meets the target,
    /// to about twelve digits.
    pub value: ParameterValue,
    /// The template with this value.
    pub event: PrivacyEvent,
    /// Its cost: at most the ε of the target.
    pub cost: MethodBound<Epsilon>,
    /// Whether the target limits the parameter. If not, every value meets it, and this one is the end
    /// of the range.
    pub constrained: bool,
}

impl Calibration {
    /// A lower bound of the cost of the event as it is printed, at a δ as it was typed: no smaller ε
    /// is a guarantee. It is computed as for an [`Accountant`](crate::Accountant), from the event
    /// one unit in the last place cheaper.
    #[must_use]
    pub fn lower(&self, delta: Delta) -> Option<Epsilon> {
        let above = Delta::saturating(delta.get().next_up());
        let relaxed = self.event.relaxed();
        let lower = match self.cost.lower {
            // A method with a lower bound for the event has one for the cheaper event too.
            Some(_) => {
                methods::epsilon_by(self.cost.method, &relaxed, above)
                    .ok()?
                    .lower
            }
            None => methods::epsilon(&relaxed, above).lower(),
        }?;
        Some(Epsilon::saturating(lower.get().min(self.cost.upper.get())))
    }

    /// The value as a decimal that parses back to exactly this value, for the `?` of the template
    /// that it was found for.
    #[must_use]
    pub fn decimal(&self, template: &EventTemplate) -> String {
        match self.value {
            ParameterValue::Real(value) => format_decimal(value, template.costly()),
            ParameterValue::Whole(count) => count.to_string(),
        }
    }
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The rest of the event alone costs more than the target.
    #[error("no {parameter} is enough: even {parameter} = {} costs epsilon {}, above {}",
        shown(*cheapest), above(*cost), above(*target))]
    Impossible {
        /// The name of the parameter.
        parameter: &'static str,
        /// Its value that costs least.
        cheapest: ParameterValue,
        /// What the event costs with it.
        cost: Epsilon,
        /// The ε of the target.
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
    pub fn code(&self) -> Code {
        match self {
            Self::Impossible { .. } => Code::MZ1401,
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

/// Solves for the `?` of a template: the value on the edge of (ε, δ), on the side that meets the
/// target.
///
/// # Guarantee
///
/// The certified ε at `delta` of the event with the returned value is at most `epsilon`. The same
/// holds for the event with the shortest decimal of the value, typed again.
///
/// # Errors
///
/// No value meets the target, or no method applies.
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
    let mut target = CalibrationTarget {
        template,
        epsilon,
        delta,
        methods: Vec::new(),
        priced: Vec::new(),
        evaluations: 0,
    };
    target.solve()
}

/// The relative precision of a value, and of a draft of it.
const CLOSE: f64 = 1e-12;
const CLOSE_DRAFT: f64 = 1e-7;

/// What is worth another search, or another method, relative.
const WORTH_MORE: f64 = 1e-9;

/// The target, and the methods that decide best whether it is met.
struct CalibrationTarget<'a> {
    template: &'a EventTemplate,
    epsilon: Epsilon,
    delta: Delta,
    /// The methods that were the tightest somewhere. The others take time and
    /// say less; each of these is a proof by itself.
    methods: Vec<Method>,
    /// What was priced with full effort, not to do it again.
    priced: Vec<(Method, PrivacyEvent, Option<MethodBound<Epsilon>>)>,
    /// How often a value was tried, to keep an eye on.
    evaluations: usize,
}

impl CalibrationTarget<'_> {
    fn solve(&mut self) -> Result<Calibration, CalibrationError> {
        let (template, epsilon) = (self.template, self.epsilon);
        let axis = Axis::of(template);
        let (mut start, slope) = self.draft(&axis);
        loop {
            let task = Task {
                start,
                slope,
                target: epsilon.get(),
                close: CLOSE,
            };
            // Of no ε there is nothing to interpolate: the draft is the answer.
            let no_epsilon = epsilon == Epsilon::ZERO && start != axis.ends().1;
            let outcome = if no_epsilon && self.is_kept(start) {
                Outcome::Found(start)
            } else {
                search(&axis, task, &mut |value| self.cost(value, Effort::Full)).0
            };
            let (value, constrained) = match outcome {
                Outcome::Found(value) => (self.settle(&axis, value), true),
                Outcome::Unconstrained(value) => (value, false),
                Outcome::Impossible(value) => (value, true),
            };
            let event = template.fill(value)?;
            let parameter = template.parameter();
            let Some(cost) = self.tightest(&event, Effort::Full) else {
                let refusal = methods::epsilon(&event, self.delta).refusal();
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

    /// About the value, and how steep the cost is there: most of the way is
    /// gone with little effort.
    fn draft(&mut self, axis: &Axis) -> (ParameterValue, f64) {
        let start = start(self.template, axis, self.epsilon);
        // If the target has ε = 0, only δ shows how far away it is.
        let by_delta = self.epsilon == Epsilon::ZERO;
        let task = Task {
            start,
            slope: 1.0,
            target: if by_delta {
                self.delta.get()
            } else {
                self.epsilon.get()
            },
            close: if by_delta { CLOSE } else { CLOSE_DRAFT },
        };
        let cost = &mut |value| {
            if by_delta {
                self.cost_in_delta(value)
            } else {
                self.cost(value, Effort::Quick)
            }
        };
        let (outcome, slope) = search(axis, task, cost);
        let value = match outcome {
            Outcome::Found(value) if by_delta => {
                self.is_kept(value);
                self.settle(axis, value)
            }
            Outcome::Found(value) | Outcome::Unconstrained(value) | Outcome::Impossible(value) => {
                value
            }
        };
        let usual = slope.is_finite() && slope > 0.0;
        (value, if usual { slope } else { 1.0 })
    }

    /// The certified ε with a value; infinite where there is none.
    fn cost(&mut self, value: ParameterValue, effort: Effort) -> Cost {
        self.evaluations += 1;
        let event = self.template.fill(value).ok();
        let known = event.as_ref().and_then(|event| self.price(event, effort));
        // Where the methods that are known end, another may go on.
        let found = known.or_else(|| {
            let best = self.tightest(event.as_ref()?, effort)?;
            self.learn(best.method);
            Some(best)
        });
        found.map_or(Cost::INFINITE, |found| {
            Cost::within(found.upper.get(), found.lower.map(Epsilon::get))
        })
    }

    /// The certified δ at the ε of the target, by the tightest method.
    fn cost_in_delta(&mut self, value: ParameterValue) -> Cost {
        self.evaluations += 1;
        let event = self.template.fill(value).ok();
        let best = event
            .and_then(|event| methods::delta_of_all(&event, self.epsilon, Effort::Quick).best());
        best.map_or(Cost::INFINITE, |best| {
            Cost::within(best.upper.get(), best.lower.map(Delta::get))
        })
    }

    /// The tightest bound of all methods. The most precise are asked first:
    /// nothing is below a bound that is exact.
    fn tightest(&mut self, event: &PrivacyEvent, effort: Effort) -> Option<MethodBound<Epsilon>> {
        let mut tightest: Option<MethodBound<Epsilon>> = None;
        for method in Method::ALL.into_iter().rev() {
            let Some(bound) = self.bound(method, event, effort) else {
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

    /// Whether the next integer meets the target by a method that was not used so far.
    fn next_fits_too(&mut self, axis: &Axis, value: ParameterValue) -> bool {
        let next = self.template.fill(axis.neighbour(value, 1.0)).ok();
        let best = next.and_then(|event| self.tightest(&event, Effort::Full));
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

    /// The bound of an event by the methods that matter.
    fn price(&mut self, event: &PrivacyEvent, effort: Effort) -> Option<MethodBound<Epsilon>> {
        let mut best: Option<MethodBound<Epsilon>> = None;
        for index in 0..self.methods.len() {
            let method = *self.methods.get(index)?;
            if let Some(bound) = self.bound(method, event, effort)
                && best.is_none_or(|best| bound.upper < best.upper)
            {
                best = Some(bound);
            }
        }
        best
    }

    /// The bound of one method; none is computed twice with full effort.
    fn bound(
        &mut self,
        method: Method,
        event: &PrivacyEvent,
        effort: Effort,
    ) -> Option<MethodBound<Epsilon>> {
        let compute = || methods::epsilon_with(method, event, self.delta, effort).ok();
        if effort == Effort::Quick {
            return compute();
        }
        let same = |(by, of, _): &&(Method, PrivacyEvent, _)| *by == method && of == event;
        if let Some((.., bound)) = self.priced.iter().find(same) {
            return *bound;
        }
        let bound = compute();
        self.priced.push((method, event.clone(), bound));
        bound
    }

    /// Whether a value meets the target by some method, which is remembered.
    fn is_kept(&mut self, value: ParameterValue) -> bool {
        let event = self.template.fill(value).ok();
        let best = event.and_then(|event| self.tightest(&event, Effort::Full));
        best.is_some_and(|best| {
            self.learn(best.method);
            best.upper <= self.epsilon
        })
    }

    /// Typed back as a decimal a value may lose a unit, and around the edge
    /// rounding decides: a little more is enough for sure.
    fn settle(&mut self, axis: &Axis, found: ParameterValue) -> ParameterValue {
        let template = self.template;
        let mut keeps = |event: Result<PrivacyEvent, EventError>| {
            let bound = event
                .ok()
                .and_then(|event| self.price(&event, Effort::Full));
            bound.is_some_and(|bound| bound.upper <= self.epsilon)
        };
        let mut value = found;
        let mut back = 1e-13;
        while !(keeps(template.fill(value)) && keeps(template.fill_typed(&shown(value))))
            && back < 1.0
        {
            value = axis.value(axis.place(value) - back);
            back *= 4.0;
        }
        value
    }
}

/// A value to start from: one for noise, and the ε of the target for an ε.
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
    methods::six_digits_above(epsilon.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many times the accountant is asked.
    fn evaluations(text: &str, epsilon: f64) -> usize {
        let template = EventTemplate::parse(text).unwrap();
        let mut target = CalibrationTarget {
            template: &template,
            epsilon: Epsilon::new(epsilon).unwrap(),
            delta: Delta::new(1e-6).unwrap(),
            methods: Vec::new(),
            priced: Vec::new(),
            evaluations: 0,
        };
        target.solve().unwrap();
        target.evaluations
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
