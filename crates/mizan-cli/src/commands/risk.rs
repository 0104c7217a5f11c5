//! `mizan risk`: bounds on bad outcomes and on beliefs about a person.

use mizan_api::names::Names;
use mizan_api::risk::{Risk, RiskRequest};
use mizan_report::{Column, Table, number};

use crate::define::DefineArguments;
use crate::failure::Failure;
use crate::input;
use crate::output::{self, Output};

/// Bound bad outcomes for a person, and what an observer learns
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The baseline is the probability of a bad outcome without the person's data; the
result is the range of its probability with them. The Bayes factor (--beta)
bounds how far an output moves an observer's odds about the person; the result
is the probability that the output moves them further.

Examples:
  mizan risk 'rdp(10, 0.1)' --baseline 0.001
  mizan risk '100 * laplace(20)' --baseline 1e-6 --beta 5
  mizan risk 'gaussian(3)' --baseline 0.01 --prior 0.5 --format json")]
pub(crate) struct Arguments {
    /// Event as text or JSON, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: DefineArguments,

    /// Probability of the bad outcome without the person's data
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    baseline: String,

    /// Bayes factor: how far the odds may move
    #[arg(
        long,
        value_name = "B",
        default_value = "10",
        allow_hyphen_values = true
    )]
    beta: String,

    /// Observer's belief about the person before the release
    #[arg(
        long,
        value_name = "P",
        default_value = "0.5",
        allow_hyphen_values = true
    )]
    prior: String,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let request = RiskRequest {
        expression: input::typed(&arguments.expression)?,
        baseline: arguments.baseline.as_str().into(),
        beta: arguments.beta.as_str().into(),
        prior: arguments.prior.as_str().into(),
    };
    let risk = request.evaluate(&arguments.defined.read()?, Names::CommandLine)?;
    Ok(output.either(|| risk.json(), || text(&risk)))
}

fn text(risk: &Risk) -> String {
    let mut table = Table::new([
        Column::text("a bad outcome of probability"),
        Column::number("at least"),
        Column::number("at most"),
        Column::number("orders α"),
    ]);
    let baseline = number::nearest(risk.baseline.shown, 6);
    for (name, range) in [
        ("exactly", &risk.exact),
        ("by Proposition 10", &risk.proposition_10),
    ] {
        table.row([
            format!("{baseline} becomes, {name}"),
            number::down(range.low.get(), 5),
            number::epsilon_up(range.high.get(), 5),
            format!(
                "{}, {}",
                output::order_text(range.low_order),
                output::order_text(range.high_order)
            ),
        ]);
    }
    let times = number::epsilon_up(risk.exact.high.get() / risk.baseline.shown, 4);
    let probability = number::delta_up(risk.bayes.probability.get());
    format!(
        "{table}\n\n\
         At worst {times} times as likely with the person's data.\n\
         An observer's odds about the person move by more than a factor {}\n  \
         with probability at most {probability} (order α = {});\n  \
         otherwise a belief of {} stays below {}.\n\
         The expected change of the log odds is at most {}.\n",
        number::nearest(risk.beta.shown, 6),
        output::order_text(risk.bayes.order),
        number::nearest(risk.prior.shown, 4),
        number::epsilon_up(risk.posterior.get(), 4),
        number::epsilon_up(risk.expected_log_odds, 5),
    )
}
