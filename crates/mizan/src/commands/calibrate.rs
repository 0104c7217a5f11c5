//! `mizan calibrate`: how much noise a promise needs.

use mizan_accounting::{GaussianProfile, calibrate};
use mizan_core::{PrivacyEvent, Round, Sensitivity, Sigma, format_decimal};
use mizan_report::number;
use serde_json::json;

use crate::failure::Failure;
use crate::input;
use crate::output::{Output, json_number};

/// Find the noise for a promise: the smallest sigma in gaussian(?)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The exact calibration stands beside the classical rule sqrt(2 ln(1.25/delta))/epsilon,
which is proven for epsilon below 1 only. This version solves for the sigma of
Gaussian noise.

Examples:
  mizan calibrate 'gaussian(?)' --epsilon 0.5 --delta 1e-6
  mizan calibrate 'gaussian(?, 3)' --epsilon 2 --delta 1e-9 --format json")]
pub(crate) struct Arguments {
    /// gaussian(?), or gaussian(?, SENSITIVITY)
    #[arg(value_name = "EXPR")]
    expression: String,

    /// The bound on the loss
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: String,

    /// The probability with which the promise may fail
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: String,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let epsilon = input::epsilon(&arguments.epsilon)?;
    let delta = input::delta(&arguments.delta)?;
    let expression = arguments.expression.trim();
    let sensitivity = sensitivity(expression)?;
    let found = calibrate::gaussian(epsilon.value, delta.value, sensitivity).ok_or_else(|| {
        Failure::new(
            "MZ1401",
            "no sigma is enough for this promise",
            "ask for a larger epsilon or delta",
        )
    })?;
    // Typed back, the decimal must not fall below what is needed.
    let value = format_decimal(found.exact.get(), Round::Down);
    let reached = GaussianProfile::new(found.exact, sensitivity).epsilon(delta.value);
    Ok(output.either(
        || {
            json!({
                "expression": expression,
                "parameter": "sigma",
                "value": json_number(found.exact.get()),
                "epsilon": {
                    // The target itself is certified too.
                    "upper": json_number(reached.upper.get().min(epsilon.value.get())),
                    "lower": json_number(reached.lower.get().min(epsilon.value.get())),
                    "method": "gaussian-exact",
                },
                "delta": json_number(delta.shown),
                "classical": found.classical.map(|sigma| json_number(sigma.get())),
            })
        },
        || {
            let classical = match found.classical {
                Some(sigma) => {
                    let more = number::nearest((sigma.get() / found.exact.get() - 1.0) * 100.0, 3);
                    format!(
                        "the classical rule asks for {}, {more} % more noise",
                        number::epsilon_up(sigma.get(), 6)
                    )
                }
                None => "the classical rule needs an epsilon above 0 and below 1".to_owned(),
            };
            format!(
                "sigma = {} is enough for ({}, {})\n  {}\n{classical}\n",
                number::epsilon_up(found.exact.get(), 6),
                number::nearest(epsilon.shown, 6),
                number::delta_up(delta.shown),
                expression.replacen('?', &value, 1),
            )
        },
    ))
}

/// The sensitivity in gaussian(?, sensitivity).
fn sensitivity(expression: &str) -> Result<Sensitivity, Failure> {
    let refuse = || {
        Failure::new(
            "MZ1402",
            "this version solves for the sigma of Gaussian noise",
            "write gaussian(?) or gaussian(?, SENSITIVITY)",
        )
    };
    // The question mark must be an argument by itself.
    let alone = expression.split_once('?').is_some_and(|(before, after)| {
        let (before, after) = (before.trim_end(), after.trim_start());
        !after.contains('?') && before.ends_with(['(', ',', '=']) && after.starts_with([',', ')'])
    });
    if !alone {
        return Err(refuse());
    }
    let event: PrivacyEvent = expression.replacen('?', "1", 1).parse()?;
    match event {
        PrivacyEvent::Gaussian { sigma, sensitivity } if Ok(sigma) == Sigma::new(1.0) => {
            // The question mark must stand for sigma, not for the sensitivity.
            let other: PrivacyEvent = expression.replacen('?', "2", 1).parse()?;
            match other {
                PrivacyEvent::Gaussian {
                    sensitivity: same, ..
                } if same == sensitivity => Ok(sensitivity),
                _ => Err(refuse()),
            }
        }
        _ => Err(refuse()),
    }
}
