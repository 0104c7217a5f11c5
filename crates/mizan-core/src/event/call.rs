//! The form of an event that text and JSON share: a name and its arguments.
//!
//! Parsers collect a [`Call`] and build the event; writers split an event into a [`Form`]. Only this
//! file knows which arguments each event has.

use super::names::{EventKind, Kind, Parameter};
use super::{
    DiscreteGaussian, DiscreteLaplace, EventError, EventProblem, FinitePair, PrivacyEvent,
    RandomizedResponse, RenyiPoints, WithoutReplacement,
};
use crate::units::{
    Count, Delta, Epsilon, Mu, Order, Probability, Rho, Scale, Sensitivity, Sigma, Tau, UnitError,
};

/// The value of an argument, owned by a reader or borrowed by a writer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument<E> {
    Number(f64),
    Count(Count),
    Event(E),
}

/// The kind of an event with the arguments read so far.
pub(super) struct Call {
    kind: EventKind,
    arguments: Vec<Option<Argument<PrivacyEvent>>>,
}

impl Call {
    pub(super) fn new(kind: EventKind) -> Self {
        Self {
            kind,
            arguments: vec![None; kind.syntax().parameters.len()],
        }
    }

    /// Sets the argument at `position`; false when it was set before.
    pub(super) fn set(&mut self, position: usize, value: Argument<PrivacyEvent>) -> bool {
        match self.arguments.get_mut(position) {
            Some(slot @ None) => {
                *slot = Some(value);
                true
            }
            _ => false,
        }
    }

    /// Fills in the defaults, and makes the event.
    pub(super) fn build(self) -> Result<PrivacyEvent, EventError> {
        let syntax = self.kind.syntax();
        let mut values = Vec::with_capacity(self.arguments.len());
        for (argument, parameter) in self.arguments.into_iter().zip(syntax.parameters) {
            let missing = EventProblem::MissingParameter {
                event: syntax.name,
                parameter: parameter.name,
            };
            values.push(argument.or_else(|| default(parameter)).ok_or(missing)?);
        }
        make(self.kind, Values(values.into_iter())).map_err(|problem| match problem {
            Failure::Unit(unit) => EventProblem::Value {
                event: syntax.name,
                unit,
            }
            .into(),
            Failure::Event(error) => error,
        })
    }
}

fn default(parameter: &Parameter) -> Option<Argument<PrivacyEvent>> {
    match parameter.kind {
        Kind::Number { default, .. } => default.map(Argument::Number),
        Kind::Count { default, .. } => default
            .and_then(|n| Count::new(n).ok())
            .map(Argument::Count),
        Kind::Event => None,
    }
}

enum Failure {
    Unit(UnitError),
    Event(EventError),
}

impl From<UnitError> for Failure {
    fn from(error: UnitError) -> Self {
        Self::Unit(error)
    }
}

impl From<EventError> for Failure {
    fn from(error: EventError) -> Self {
        Self::Event(error)
    }
}

impl From<EventProblem> for Failure {
    fn from(problem: EventProblem) -> Self {
        Self::Event(problem.into())
    }
}

/// Arguments in the order of the parameter table.
struct Values(std::vec::IntoIter<Argument<PrivacyEvent>>);

impl Values {
    /// The next number. The parameter table says that it is one; if it were not, the quantity would
    /// refuse the NaN.
    fn number(&mut self) -> f64 {
        match self.0.next() {
            Some(Argument::Number(value)) => value,
            _ => f64::NAN,
        }
    }

    fn count(&mut self) -> Result<Count, UnitError> {
        match self.0.next() {
            Some(Argument::Count(count)) => Ok(count),
            _ => Count::new(0),
        }
    }

    fn event(&mut self) -> Result<PrivacyEvent, EventProblem> {
        match self.0.next() {
            Some(Argument::Event(event)) => Ok(event),
            _ => Err(EventProblem::Empty),
        }
    }
}

/// Makes the event of a kind; the arguments come in the order of the table.
fn make(kind: EventKind, mut v: Values) -> Result<PrivacyEvent, Failure> {
    Ok(match kind {
        EventKind::Gaussian => PrivacyEvent::Gaussian {
            sigma: Sigma::new(v.number())?,
            sensitivity: Sensitivity::new(v.number())?,
        },
        EventKind::Laplace => PrivacyEvent::Laplace {
            scale: Scale::new(v.number())?,
            sensitivity: Sensitivity::new(v.number())?,
        },
        EventKind::DiscreteGaussian => PrivacyEvent::DiscreteGaussian(DiscreteGaussian::new(
            Sigma::new(v.number())?,
            Sensitivity::new(v.number())?,
        )?),
        EventKind::DiscreteLaplace => PrivacyEvent::DiscreteLaplace(DiscreteLaplace::new(
            Scale::new(v.number())?,
            Sensitivity::new(v.number())?,
        )?),
        EventKind::RandomizedResponse => PrivacyEvent::RandomizedResponse(RandomizedResponse::new(
            Probability::new(v.number())?,
            v.count()?,
        )?),
        EventKind::Exponential => PrivacyEvent::Exponential {
            epsilon: Epsilon::new(v.number())?,
        },
        EventKind::Pure => PrivacyEvent::Pure {
            epsilon: Epsilon::new(v.number())?,
        },
        EventKind::Approximate => {
            let (epsilon, delta) = (Epsilon::new(v.number())?, Delta::new(v.number())?);
            if delta.get() >= 1.0 {
                return Err(EventProblem::DeltaOne.into());
            }
            PrivacyEvent::Approximate { epsilon, delta }
        }
        EventKind::Renyi => PrivacyEvent::Renyi(RenyiPoints::new(vec![(
            Order::new(v.number())?,
            Epsilon::new(v.number())?,
        )])?),
        EventKind::ZeroConcentrated => PrivacyEvent::ZeroConcentrated {
            rho: Rho::new(v.number())?,
        },
        EventKind::Concentrated => PrivacyEvent::Concentrated {
            mu: Mu::new(v.number())?,
            tau: Tau::new(v.number())?,
        },
        EventKind::GaussianDp => PrivacyEvent::GaussianDp {
            mu: Mu::new(v.number())?,
        },
        // Written as pairs.
        EventKind::Finite => return Err(EventProblem::NoOutcomes.into()),
        EventKind::Tree => PrivacyEvent::Tree {
            sigma: Sigma::new(v.number())?,
            steps: v.count()?,
            sensitivity: Sensitivity::new(v.number())?,
        },
        EventKind::Matrix => PrivacyEvent::Matrix {
            sigma: Sigma::new(v.number())?,
            norm: Sensitivity::new(v.number())?,
        },
        EventKind::Shuffle => PrivacyEvent::Shuffle {
            people: v.count()?,
            event: Box::new(v.event()?),
        },
        EventKind::Poisson => {
            let q = Probability::new(v.number())?;
            if q.get() <= 0.0 {
                return Err(EventProblem::NeverSampled.into());
            }
            PrivacyEvent::Poisson {
                q,
                event: Box::new(v.event()?),
            }
        }
        EventKind::WithoutReplacement => PrivacyEvent::WithoutReplacement(WithoutReplacement::new(
            v.count()?,
            v.count()?,
            v.event()?,
        )?),
        EventKind::Group => PrivacyEvent::Group {
            size: v.count()?,
            event: Box::new(v.event()?),
        },
        EventKind::Repeat => PrivacyEvent::Repeat {
            count: v.count()?,
            event: Box::new(v.event()?),
        },
        EventKind::Compose => PrivacyEvent::Compose(Vec::new()),
    })
}

/// The parts of an event.
pub(super) enum Form<'a> {
    /// A kind with all its arguments, in the order of the table.
    Call(EventKind, Vec<Argument<&'a PrivacyEvent>>),
    /// Bounds at some orders.
    Points(&'a RenyiPoints),
    /// Outcomes and their probabilities.
    Finite(&'a FinitePair),
    /// A composition.
    Sum(&'a [PrivacyEvent]),
}

impl<'a> From<&'a PrivacyEvent> for Form<'a> {
    fn from(event: &'a PrivacyEvent) -> Self {
        use Argument::{Count, Event, Number};
        let (kind, arguments) = match event {
            PrivacyEvent::Gaussian { sigma, sensitivity } => (
                EventKind::Gaussian,
                vec![Number(sigma.get()), Number(sensitivity.get())],
            ),
            PrivacyEvent::Laplace { scale, sensitivity } => (
                EventKind::Laplace,
                vec![Number(scale.get()), Number(sensitivity.get())],
            ),
            PrivacyEvent::DiscreteGaussian(noise) => (
                EventKind::DiscreteGaussian,
                vec![
                    Number(noise.sigma().get()),
                    Number(noise.sensitivity().get()),
                ],
            ),
            PrivacyEvent::DiscreteLaplace(noise) => (
                EventKind::DiscreteLaplace,
                vec![
                    Number(noise.scale().get()),
                    Number(noise.sensitivity().get()),
                ],
            ),
            PrivacyEvent::RandomizedResponse(rr) => (
                EventKind::RandomizedResponse,
                vec![Number(rr.p().get()), Count(rr.categories())],
            ),
            PrivacyEvent::Exponential { epsilon } => {
                (EventKind::Exponential, vec![Number(epsilon.get())])
            }
            PrivacyEvent::Pure { epsilon } => (EventKind::Pure, vec![Number(epsilon.get())]),
            PrivacyEvent::Approximate { epsilon, delta } => (
                EventKind::Approximate,
                vec![Number(epsilon.get()), Number(delta.get())],
            ),
            PrivacyEvent::Renyi(points) => return Form::Points(points),
            PrivacyEvent::ZeroConcentrated { rho } => {
                (EventKind::ZeroConcentrated, vec![Number(rho.get())])
            }
            PrivacyEvent::Concentrated { mu, tau } => (
                EventKind::Concentrated,
                vec![Number(mu.get()), Number(tau.get())],
            ),
            PrivacyEvent::GaussianDp { mu } => (EventKind::GaussianDp, vec![Number(mu.get())]),
            PrivacyEvent::Finite(pair) => return Form::Finite(pair),
            PrivacyEvent::Tree {
                sigma,
                steps,
                sensitivity,
            } => (
                EventKind::Tree,
                vec![
                    Number(sigma.get()),
                    Count(*steps),
                    Number(sensitivity.get()),
                ],
            ),
            PrivacyEvent::Matrix { sigma, norm } => (
                EventKind::Matrix,
                vec![Number(sigma.get()), Number(norm.get())],
            ),
            PrivacyEvent::Shuffle { people, event } => (
                EventKind::Shuffle,
                vec![Count(*people), Event(event.as_ref())],
            ),
            PrivacyEvent::Poisson { q, event } => (
                EventKind::Poisson,
                vec![Number(q.get()), Event(event.as_ref())],
            ),
            PrivacyEvent::WithoutReplacement(sampling) => (
                EventKind::WithoutReplacement,
                vec![
                    Count(sampling.population()),
                    Count(sampling.sample()),
                    Event(sampling.event()),
                ],
            ),
            PrivacyEvent::Group { size, event } => {
                (EventKind::Group, vec![Count(*size), Event(event.as_ref())])
            }
            PrivacyEvent::Compose(events) => return Form::Sum(events),
            PrivacyEvent::Repeat { count, event } => (
                EventKind::Repeat,
                vec![Count(*count), Event(event.as_ref())],
            ),
        };
        Form::Call(kind, arguments)
    }
}
