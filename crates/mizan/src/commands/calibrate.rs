//! `mizan calibrate`: how much noise a promise needs, or how much else it
//! allows.

use mizan_accounting::calibrate::{self, Calibration};
use mizan_accounting::{account, calibrate::GaussianCalibration};
use mizan_core::{
    Delta, Epsilon, EventTemplate, ParameterValue, PrivacyEvent, Round, format_decimal,
};
use mizan_report::number;
use serde_json::{Value, json};

use crate::define::Defined;
use crate::failure::Failure;
use crate::input::{self, Typed};
use crate::output::{self, Output, json_number};

/// Solve for the `?` in an event: the least noise, or the most of anything else
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`?` stands for one number: sigma, scale, p, q, epsilon, delta, rho, mu, tau, a
sensitivity, a norm, or a whole number: count, n, m, size, steps, categories.
The answer is on the safe side: what is printed was accounted for, and keeps the
promise. For gaussian(?) the classical rule sqrt(2 ln(1.25/delta))/epsilon
stands beside it.

Examples:
  mizan calibrate 'gaussian(?)' --epsilon 0.5 --delta 1e-6
  mizan calibrate '100 * laplace(?)' --epsilon 1 --delta 1e-6
  mizan calibrate '? * gaussian(50)' --epsilon 1 --delta 1e-6
  mizan calibrate '5 * gaussian(?) + laplace(2)' --epsilon 2 --delta 1e-9
  mizan calibrate 'rr(?, 4)' --epsilon 1 --delta 1e-9 --format json")]
pub(crate) struct Arguments {
    /// The event with a `?`: as text, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: Defined,

    /// The bound on the loss
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: String,

    /// The probability with which the promise may fail
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: String,
}

struct Answer {
    template: EventTemplate,
    epsilon: Typed<Epsilon>,
    delta: Typed<Delta>,
    found: Calibration,
    lower: Option<Epsilon>,
    /// Where Gaussian noise is all there is.
    gaussian: Option<GaussianCalibration>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let epsilon = input::epsilon(&arguments.epsilon)?;
    let delta = input::delta(&arguments.delta)?;
    let template = input::template(&arguments.expression, &arguments.defined.read()?)?;
    let found = calibrate::solve(&template, epsilon.value, delta.value)?;
    let gaussian = match (&found.event, template.parameter()) {
        (PrivacyEvent::Gaussian { sensitivity, .. }, "sigma") => {
            calibrate::gaussian(epsilon.value, delta.value, *sensitivity)
        }
        _ => None,
    };
    let answer = Answer {
        lower: lower(&found, delta.value),
        template,
        epsilon,
        delta,
        found,
        gaussian,
    };
    Ok(output.either(|| answer.json(), || answer.text()))
}

/// A lower bound of what the event costs as it was typed: from the event one
/// unit cheaper, at the δ one unit larger.
fn lower(found: &Calibration, delta: Delta) -> Option<Epsilon> {
    let above = Delta::saturating(delta.get().next_up());
    let relaxed = found.event.relaxed();
    let lower = match found.cost.lower {
        // Who knows one for the event knows one for this.
        Some(_) => {
            account::epsilon_by(found.cost.method, &relaxed, above)
                .ok()?
                .lower
        }
        None => account::epsilon(&relaxed, above).lower(),
    }?;
    Some(Epsilon::saturating(lower.get().min(found.cost.upper.get())))
}

impl Answer {
    /// The value as a decimal that reads back as this very value.
    fn typed(&self) -> String {
        match self.found.value {
            ParameterValue::Real(value) => format_decimal(value, self.template.costly()),
            ParameterValue::Whole(count) => count.to_string(),
        }
    }

    fn json(&self) -> Value {
        let classical = self.gaussian.and_then(|gaussian| gaussian.classical);
        json!({
            "expression": self.template.text(),
            "parameter": self.template.parameter(),
            "value": match self.found.value {
                ParameterValue::Real(value) => json_number(value),
                ParameterValue::Whole(count) => count.get().into(),
            },
            "epsilon": {
                "upper": json_number(self.found.cost.upper.get()),
                "lower": self.lower.map(|lower| json_number(lower.get())),
                "method": self.found.cost.method.name(),
            },
            "delta": json_number(self.delta.shown),
            "event": self.template.fill_text(&self.typed()),
            "constrained": self.found.constrained,
            "classical": classical.map(|sigma| json_number(sigma.get())),
        })
    }

    fn text(&self) -> String {
        let parameter = self.template.parameter();
        let promise = format!(
            "({}, {})",
            number::nearest(self.epsilon.shown, 6),
            number::delta_up(self.delta.shown)
        );
        let noise = self.template.costly() == Round::Down;
        // To the safe side, as the value itself.
        let value = match self.found.value {
            ParameterValue::Real(value) if noise => number::epsilon_up(value, 6),
            ParameterValue::Real(value) => number::down(value, 6),
            ParameterValue::Whole(count) => count.to_string(),
        };
        let first = match (self.found.constrained, noise) {
            (true, true) => format!("{parameter} = {value} is enough for {promise}"),
            // Of no loss at all the search knows a safe value, not the edge.
            (true, false) if self.epsilon.value == Epsilon::ZERO => {
                format!("{parameter} = {value} keeps {promise}")
            }
            (true, false) => format!("{parameter} = {value} is the most for {promise}"),
            (false, _) => format!(
                "any {parameter} keeps {promise}: even {value} costs only {}",
                number::epsilon_up(self.found.cost.upper.get(), 6)
            ),
        };
        let filled = self.template.fill_text(&self.typed());
        format!(
            "{first}\n  {}\n{}\n",
            output::shortened(&filled, 1000),
            self.comparison()
        )
    }

    /// The classical rule where it competes, the method elsewhere.
    fn comparison(&self) -> String {
        let Some(gaussian) = self.gaussian else {
            return format!("by {}", self.found.cost.method.name());
        };
        match gaussian.classical {
            Some(sigma) => {
                let times = sigma.get() / self.found.value.as_f64();
                format!(
                    "the classical rule asks for {}, {} % more noise",
                    number::epsilon_up(sigma.get(), 6),
                    number::nearest((times - 1.0) * 100.0, 3)
                )
            }
            None => "the classical rule needs an epsilon above 0 and below 1".to_owned(),
        }
    }
}
