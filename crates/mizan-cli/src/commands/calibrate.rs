//! `mizan calibrate`: the parameter with which an event meets a target.

use mizan_api::calibrate::{CalibrateRequest, Calibrated};
use mizan_api::names::Names;
use mizan_core::{Epsilon, ParameterValue, Round};
use mizan_report::number;

use crate::define::DefineArguments;
use crate::failure::Failure;
use crate::input;
use crate::output::{self, Output};

/// Find the parameter `?` with which an event meets an epsilon and delta
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`?` stands for one number: sigma, scale, p, q, epsilon, delta, rho, mu, tau, a
sensitivity, a norm, or a whole number: count, n, m, size, steps, categories.
The result is the least noise, or the largest other parameter, rounded to the
safe side: the event as printed meets the target. For gaussian(?) the classical
rule sqrt(2 ln(1.25/delta))/epsilon is shown for comparison.

Examples:
  mizan calibrate 'gaussian(?)' --epsilon 0.5 --delta 1e-6
  mizan calibrate '100 * laplace(?)' --epsilon 1 --delta 1e-6
  mizan calibrate '? * gaussian(50)' --epsilon 1 --delta 1e-6
  mizan calibrate '5 * gaussian(?) + laplace(2)' --epsilon 2 --delta 1e-9
  mizan calibrate 'rr(?, 4)' --epsilon 1 --delta 1e-9 --format json")]
pub(crate) struct Arguments {
    /// Event with a `?` as text, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: DefineArguments,

    /// Target epsilon
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: String,

    /// Target delta
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: String,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let request = CalibrateRequest {
        expression: input::typed(&arguments.expression)?,
        epsilon: arguments.epsilon.as_str().into(),
        delta: arguments.delta.as_str().into(),
    };
    let found = request.evaluate(&arguments.defined.read()?, Names::CommandLine)?;
    Ok(output.either(|| found.json(), || text(&found)))
}

fn text(found: &Calibrated) -> String {
    let parameter = found.template.parameter();
    let promise = format!(
        "({}, {})",
        number::nearest(found.epsilon.shown, 6),
        number::delta_up(found.delta.shown)
    );
    let noise = found.template.costly() == Round::Down;
    // To the safe side, as the value itself.
    let value = match found.found.value {
        ParameterValue::Real(value) if noise => number::epsilon_up(value, 6),
        ParameterValue::Real(value) => number::down(value, 6),
        ParameterValue::Whole(count) => count.to_string(),
    };
    let first = match (found.found.constrained, noise) {
        (true, true) => format!("{parameter} = {value} is enough for {promise}"),
        // At epsilon 0 the search knows a safe value, not the largest.
        (true, false) if found.epsilon.value == Epsilon::ZERO => {
            format!("{parameter} = {value} keeps {promise}")
        }
        (true, false) => format!("{parameter} = {value} is the most for {promise}"),
        (false, _) => format!(
            "any {parameter} keeps {promise}: even {value} costs only {}",
            number::epsilon_up(found.found.cost.upper.get(), 6)
        ),
    };
    let filled = found.template.fill_text(&found.typed());
    format!(
        "{first}\n  {}\n{}\n",
        output::shortened(&filled, 1000),
        comparison(found)
    )
}

/// The classical rule where it applies, the method elsewhere.
fn comparison(found: &Calibrated) -> String {
    let Some(gaussian) = found.gaussian else {
        return format!("by {}", found.found.cost.method.name());
    };
    match gaussian.classical {
        Some(sigma) => {
            let times = sigma.get() / found.found.value.as_f64();
            format!(
                "the classical rule asks for {}, {} % more noise",
                number::epsilon_up(sigma.get(), 6),
                number::nearest((times - 1.0) * 100.0, 3)
            )
        }
        None => "the classical rule needs an epsilon above 0 and below 1".to_owned(),
    }
}
