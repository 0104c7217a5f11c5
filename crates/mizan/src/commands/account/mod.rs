//! `mizan account`: what is my epsilon?
//!
//! Here: what can be asked, and the answer as data. `text.rs` and `json.rs`
//! write it, `why.rs` explains it, `profile/` is about all δ at once.

mod json;
mod profile;
mod text;
mod why;

use std::path::PathBuf;

use mizan_accounting::account::{self, Account, Method, MethodBound, Refusal};
use mizan_accounting::{AtOrder, OrderGrid, RenyiConversion, RenyiCurve};
use mizan_core::{Delta, Epsilon, PrivacyEvent};

use crate::define::Defined;
use crate::failure::Failure;
use crate::input::{self, Expression, Typed};
use crate::output::Output;
use profile::Profile;

/// What an event costs: epsilon at a delta, or delta at an epsilon
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Methods: pure, basic, advanced (Dwork-Rothblum-Vadhan), concentrated-advanced
(Dwork-Rothblum), optimal (Kairouz-Oh-Viswanath, Murtagh-Vadhan), cdp, zcdp,
renyi, gaussian-exact, numeric (the loss of the whole composition, bracketed).
All that apply are computed, the tightest is reported.

Examples:
  mizan account 'gaussian(1.1)' --delta 1e-5
  mizan account '10000 * poisson(0.01, gaussian(1.1))' --delta 1e-5
  mizan account '30 * rr(0.6)' --delta 1e-5 --profile --svg profile.svg
  mizan account '100 * (rr(0.52) + laplace(20) + gaussian(10))' --delta 1e-6 --why
  mizan account '1000 * pure(0.01)' --epsilon 1 --method renyi
  mizan account 'group(3, gaussian(5))' --delta 1e-9 --population 1000000
  mizan account '10 * laplace(5)' --report
  mizan account @releases.txt --delta 1e-9 --format json")]
pub(crate) struct Arguments {
    /// The event: as text, as JSON, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: Defined,

    #[command(flatten)]
    target: Target,

    /// Only this method (all that apply otherwise)
    #[arg(long, value_name = "NAME")]
    method: Option<String>,

    /// Show how the number comes about
    #[arg(long)]
    why: bool,

    /// The accumulated loss at the paper's 13 orders, as an event to add to others
    #[arg(long)]
    report: bool,

    /// Draw delta against epsilon by every method, and say what an attacker can do
    #[arg(long)]
    profile: bool,

    /// Draw the profile and the trade-off curve into this file
    #[arg(long, value_name = "FILE", requires = "profile")]
    svg: Option<PathBuf>,

    /// Write the points of both into this file: panel,series,x,y
    #[arg(long, value_name = "FILE", requires = "profile")]
    csv: Option<PathBuf>,

    /// The number of people in the data; warns if delta is not far below 1/N
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    population: Option<String>,
}

#[derive(Debug, clap::Args)]
#[group(required = false, multiple = false)]
struct Target {
    /// The probability with which the promise may fail; asks for epsilon
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,

    /// The bound on the loss; asks for delta
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let method = arguments.method.as_deref().map(method).transpose()?;
    let population = arguments
        .population
        .as_deref()
        .map(input::population)
        .transpose()?;
    let Target { delta, epsilon } = &arguments.target;
    let (delta, epsilon) = (
        delta.as_deref().map(input::delta).transpose()?,
        epsilon.as_deref().map(input::epsilon).transpose()?,
    );
    if delta.is_none() && epsilon.is_none() && !arguments.report && !arguments.profile {
        return Err(Failure::new(
            "MZ0001",
            "there is nothing to solve for",
            "give --delta to ask for epsilon, --epsilon to ask for delta, --profile for both, or --report",
        ));
    }
    let expression = Expression::read(&arguments.expression, &arguments.defined.read()?)?;
    let mut answer = Answer::new(expression);
    if arguments.report {
        answer.report = Some(vector(&answer.event)?);
    }
    if let Some(delta) = delta {
        answer.solve_for_epsilon(delta, method, arguments.why)?;
    } else if let Some(epsilon) = epsilon {
        answer.solve_for_delta(epsilon, method, arguments.why)?;
    }
    if arguments.profile {
        let question = answer.solved.as_ref().map(|solved| solved.question);
        let profile = Profile::of(&answer.event, method, question)?;
        let (svg, csv) = (arguments.svg.as_deref(), arguments.csv.as_deref());
        profile.save(&answer.expression, svg, csv)?;
        answer.profile = Some(profile);
        answer.saved = [svg, csv]
            .into_iter()
            .flatten()
            .map(PathBuf::from)
            .collect();
    }
    answer.warn(population);
    Ok(output.either(
        || json::write(&answer),
        || text::write(&answer, &output.terminal),
    ))
}

fn method(name: &str) -> Result<Method, Failure> {
    Method::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Method::ALL.into_iter().map(Method::name).collect();
        Failure::new(
            "MZ1206",
            format!("there is no method {name:?}"),
            format!("the methods are {}", known.join(", ")),
        )
    })
}

/// The curve at the paper's orders.
fn vector(event: &PrivacyEvent) -> Result<Vec<AtOrder<Epsilon>>, Failure> {
    let curve = RenyiCurve::of(event)?;
    let at = |&order| AtOrder {
        bound: curve.at(order).upper,
        order,
    };
    Ok(OrderGrid::paper().orders().iter().map(at).collect())
}

/// Everything that is printed.
struct Answer {
    expression: String,
    event: PrivacyEvent,
    solved: Option<Solved>,
    report: Option<Vec<AtOrder<Epsilon>>>,
    profile: Option<Profile>,
    /// Files that were written.
    saved: Vec<PathBuf>,
    warnings: Vec<String>,
}

/// The answer to a question about ε or δ.
struct Solved {
    question: Question,
    best: MethodBound<f64>,
    account: Account<f64>,
    /// With `--why`: each conversion at its own best order.
    conversions: Vec<(&'static str, AtOrder<f64>)>,
    /// What restricting the orders to a grid would say.
    grids: Vec<(&'static str, AtOrder<f64>)>,
    /// With `--why`: the derivation.
    why: Option<why::Derivation>,
}

/// Which way round.
#[derive(Clone, Copy)]
enum Question {
    EpsilonAt(Typed<Delta>),
    DeltaAt(Typed<Epsilon>),
}

impl Answer {
    fn new(expression: Expression) -> Self {
        let Expression { text, event } = expression;
        Self {
            expression: text,
            event,
            solved: None,
            report: None,
            profile: None,
            saved: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn solve_for_epsilon(
        &mut self,
        delta: Typed<Delta>,
        method: Option<Method>,
        why: bool,
    ) -> Result<(), Failure> {
        let event = &self.event;
        let by = |delta: Delta| match method {
            Some(method) => account::single(method, account::epsilon_by(method, event, delta)),
            None => account::epsilon(event, delta),
        };
        let mut account = by(delta.value);
        let mut delta = delta;
        if let Some(total) = rounded_total(&account) {
            account = by(total);
            delta = Typed {
                shown: total.get(),
                value: total,
            };
            self.warnings.push(format!(
                "the deltas of the parts add up to the target but for rounding; this is for delta = {:e}",
                total.get()
            ));
        }
        let relaxed = event.relaxed();
        let above = Delta::saturating(delta.value.get().next_up());
        let is_zero = |lower| lower == Epsilon::ZERO;
        relax(&mut account, is_zero, |method| {
            account::epsilon_by(method, &relaxed, above).ok()?.lower
        });
        let account = numbers(account, Epsilon::get);
        let curve = renyi_curve(event, &account);
        let at_order = |at: AtOrder<Epsilon>| AtOrder {
            bound: at.bound.get(),
            order: at.order,
        };
        let conversions = curve.iter().filter(|_| why).flat_map(|curve| {
            RenyiConversion::ALL.map(|way| (way.name(), at_order(curve.epsilon(delta.value, way))))
        });
        let grids = curve.iter().flat_map(|curve| {
            [
                ("paper", OrderGrid::paper()),
                ("default", OrderGrid::standard()),
            ]
            .map(|(name, grid)| {
                (
                    name,
                    at_order(curve.epsilon_on(&grid, delta.value, RenyiConversion::Optimal)),
                )
            })
        });
        self.solved = Some(Solved {
            question: Question::EpsilonAt(delta),
            best: best(&account)?,
            conversions: conversions.collect(),
            grids: grids.collect(),
            why: why.then(|| why::Derivation::of(event, &account, Some(delta.value))),
            account,
        });
        Ok(())
    }

    fn solve_for_delta(
        &mut self,
        epsilon: Typed<Epsilon>,
        method: Option<Method>,
        why: bool,
    ) -> Result<(), Failure> {
        let event = &self.event;
        let mut account = match method {
            Some(method) => {
                account::single(method, account::delta_by(method, event, epsilon.value))
            }
            None => account::delta(event, epsilon.value),
        };
        let relaxed = event.relaxed();
        let above = Epsilon::saturating(epsilon.value.get().next_up());
        let is_zero = |lower| lower == Delta::ZERO;
        relax(&mut account, is_zero, |method| {
            account::delta_by(method, &relaxed, above).ok()?.lower
        });
        let account = numbers(account, Delta::get);
        let curve = renyi_curve(event, &account);
        let conversions = curve.iter().filter(|_| why).flat_map(|curve| {
            RenyiConversion::ALL.map(|way| {
                let at = curve.delta(epsilon.value, way);
                (
                    way.name(),
                    AtOrder {
                        bound: at.bound.get(),
                        order: at.order,
                    },
                )
            })
        });
        self.solved = Some(Solved {
            question: Question::DeltaAt(epsilon),
            best: best(&account)?,
            conversions: conversions.collect(),
            grids: Vec::new(),
            why: why.then(|| why::Derivation::of(event, &account, None)),
            account,
        });
        Ok(())
    }

    /// A δ near 1/N lets a mechanism publish somebody's record outright.
    fn warn(&mut self, population: Option<f64>) {
        let (Some(population), Some(solved)) = (population, &self.solved) else {
            return;
        };
        let delta = match solved.question {
            Question::EpsilonAt(delta) => delta.shown,
            Question::DeltaAt(_) => solved.best.upper,
        };
        if delta * population > 0.01 {
            let number = mizan_report::number::nearest;
            self.warnings.push(format!(
                "delta {} is not far below 1/{}: at this delta a mechanism may give away {} people \
                 outright; take it below {}",
                number(delta, 3),
                number(population, 6),
                number(delta * population, 2),
                number(0.01 / population, 2),
            ));
        }
    }
}

fn numbers<T: Copy>(account: Account<T>, get: impl Fn(T) -> f64) -> Account<f64> {
    let bounds = account.bounds.into_iter().map(|bound| MethodBound {
        method: bound.method,
        upper: get(bound.upper),
        lower: bound.lower.map(&get),
        order: bound.order,
        engine: bound.engine,
    });
    Account {
        bounds: bounds.collect(),
        refusals: account.refusals,
    }
}

/// The curve, if the Rényi method is among the answers.
fn renyi_curve(event: &PrivacyEvent, account: &Account<f64>) -> Option<RenyiCurve> {
    account
        .bounds
        .iter()
        .find(|bound| bound.method == Method::Renyi)?;
    RenyiCurve::of(event).ok()
}

/// The tightest bound, or why there is none.
fn best(account: &Account<f64>) -> Result<MethodBound<f64>, Failure> {
    account
        .best()
        .ok_or_else(|| Failure::from(account.refusal()))
}

/// Lower bounds hold for what was typed, not only for the doubles it was
/// rounded to: they are taken from the event one unit cheaper.
fn relax<T: Copy>(
    account: &mut Account<T>,
    is_zero: impl Fn(T) -> bool,
    lower: impl Fn(Method) -> Option<T>,
) {
    for bound in &mut account.bounds {
        // Zero is below everything as it is.
        if bound.lower.is_some_and(|lower| !is_zero(lower)) {
            bound.lower = lower(bound.method);
        }
    }
}

/// The sum of the parts' deltas, if it is the target but for rounding: what was
/// typed then adds up to the target or is beyond what doubles can tell.
fn rounded_total(account: &Account<Epsilon>) -> Option<Delta> {
    if account.best().is_some() {
        return None;
    }
    match account.refusal() {
        Refusal::DeltaSpent { total, target } if total <= target * (1.0 + 1e-12) => {
            Delta::new(total).ok()
        }
        _ => None,
    }
}
