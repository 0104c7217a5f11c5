//! `mizan risk`: what an event means for a person.

use mizan_accounting::{BadOutcome, RenyiCurve, posterior};
use mizan_core::Probability;
use mizan_report::{Column, Table, number};
use serde_json::{Value, json};

use crate::define::Defined;
use crate::failure::Failure;
use crate::input::{self, Chance, Expression, Typed};
use crate::output::{self, Output, json_number, json_order};

/// What an event means for a person: bad outcomes and beliefs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The baseline is the probability of a bad outcome without the person's data; the
answer is the range it can move to with them. The factor (--beta) bounds how far
an output moves somebody's odds about the person, and how likely it moves more.

Examples:
  mizan risk 'rdp(10, 0.1)' --baseline 0.001
  mizan risk '100 * laplace(20)' --baseline 1e-6 --beta 5
  mizan risk 'gaussian(3)' --baseline 0.01 --prior 0.5 --format json")]
pub(crate) struct Arguments {
    /// The event: as text, as JSON, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: Defined,

    /// The probability of the bad outcome without the person's data
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    baseline: String,

    /// The factor by which odds may move
    #[arg(
        long,
        value_name = "B",
        default_value = "10",
        allow_hyphen_values = true
    )]
    beta: String,

    /// Somebody's belief about the person before the release
    #[arg(
        long,
        value_name = "P",
        default_value = "0.5",
        allow_hyphen_values = true
    )]
    prior: String,
}

struct Risk {
    expression: String,
    baseline: Chance,
    exact: BadOutcome,
    proposition_10: BadOutcome,
    beta: Typed<f64>,
    bayes: mizan_accounting::BayesFactor,
    prior: Chance,
    posterior: Probability,
    expected_log_odds: f64,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let baseline = input::chance(&arguments.baseline, "--baseline")?;
    let beta = input::factor(&arguments.beta)?;
    let prior = input::chance(&arguments.prior, "--prior")?;
    let Expression { text, event } =
        Expression::read(&arguments.expression, &arguments.defined.read()?)?;
    let curve = RenyiCurve::of(&event)?;
    // Both ends grow with the baseline: each is taken at the safe side.
    let range = |at: &dyn Fn(Probability) -> BadOutcome| {
        let (low, high) = (at(baseline.below), at(baseline.above));
        BadOutcome {
            high: high.high,
            high_order: high.high_order,
            ..low
        }
    };
    let risk = Risk {
        expression: text,
        baseline,
        exact: range(&|baseline| curve.bad_outcome(baseline)),
        proposition_10: range(&|baseline| curve.bad_outcome_by_proposition_10(baseline)),
        beta,
        bayes: curve.bayes_factor(beta.value),
        prior,
        posterior: posterior(prior.above, beta.shown.max(beta.value.next_up())),
        expected_log_odds: curve.expected_log_odds().get(),
    };
    Ok(output.either(|| risk.json(), || risk.text()))
}

impl Risk {
    fn json(&self) -> Value {
        let range = |range: &BadOutcome| {
            json!({
                "low": json_number(range.low.get()),
                "high": json_number(range.high.get()),
                "low_order": json_order(range.low_order.get()),
                "high_order": json_order(range.high_order.get()),
            })
        };
        json!({
            "expression": self.expression,
            "baseline": json_number(self.baseline.shown),
            "low": json_number(self.exact.low.get()),
            "high": json_number(self.exact.high.get()),
            "low_order": json_order(self.exact.low_order.get()),
            "high_order": json_order(self.exact.high_order.get()),
            "proposition_10": range(&self.proposition_10),
            "bayes": {
                "beta": json_number(self.beta.shown),
                "probability": json_number(self.bayes.probability.get()),
                "order": json_order(self.bayes.order.get()),
            },
            "posterior": {
                "prior": json_number(self.prior.shown),
                "posterior": json_number(self.posterior.get()),
                "probability": json_number(self.bayes.probability.get()),
            },
            "expected_log_odds": json_number(self.expected_log_odds),
        })
    }

    fn text(&self) -> String {
        let mut table = Table::new([
            Column::text("a bad outcome of probability"),
            Column::number("at least"),
            Column::number("at most"),
            Column::number("orders α"),
        ]);
        let baseline = number::nearest(self.baseline.shown, 6);
        for (name, range) in [
            ("exactly", &self.exact),
            ("by Proposition 10", &self.proposition_10),
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
        let times = number::epsilon_up(self.exact.high.get() / self.baseline.shown, 4);
        let probability = number::delta_up(self.bayes.probability.get());
        format!(
            "{table}\n\n\
             At worst {times} times as likely with the person's data.\n\
             The odds about her move by more than a factor {}\n  \
             with probability at most {probability} (order α = {});\n  \
             up to then a belief of {} stays below {}.\n\
             On average the log odds move by at most {}.\n",
            number::nearest(self.beta.shown, 6),
            output::order_text(self.bayes.order),
            number::nearest(self.prior.shown, 4),
            number::epsilon_up(self.posterior.get(), 4),
            number::epsilon_up(self.expected_log_odds, 5),
        )
    }
}
