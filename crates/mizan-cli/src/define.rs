//! User-defined mechanisms, read from files: `--define NAME=FILE`.
//!
//! A `.json` file holds `{"p": [...], "q": [...]}`, `{"losses": [...],
//! "probabilities": [...], "infinite": x}` or any event; a `.csv` file has the
//! header `p,q` or `loss,probability` and one outcome per line.

use std::path::Path;

use mizan_core::{
    Code, Definitions, EventError, EventProblem, FinitePair, MAX_JSON_BYTES, PrivacyEvent,
    parse_json,
};
use serde_json::Value;

use crate::failure::Failure;
use crate::input;
use crate::output::shortened;

/// The option `--define`.
#[derive(Debug, clap::Args)]
pub(crate) struct DefineArguments {
    /// Define NAME as the mechanism in FILE, .json or .csv (repeatable)
    #[arg(long, value_name = "NAME=FILE")]
    define: Vec<String>,
}

impl DefineArguments {
    pub(crate) fn read(&self) -> Result<Definitions, Failure> {
        let mut definitions = Definitions::default();
        for definition in &self.define {
            let (name, path) = definition.split_once('=').ok_or_else(|| {
                Failure::new(
                    Code::MZ0010,
                    format!("--define wants NAME=FILE, got {definition:?}"),
                    "write, for example, --define mine=mine.csv",
                )
            })?;
            let event = read(path.trim()).map_err(|failure| failure.of_option("--define"))?;
            let defined = definitions.define(name.trim(), event);
            defined.map_err(|error| Failure::from(error).of_option("--define"))?;
        }
        Ok(definitions)
    }
}

fn read(path: &str) -> Result<PrivacyEvent, Failure> {
    let extension = Path::new(path).extension().and_then(|e| e.to_str());
    let parse = match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("json") => json,
        Some("csv") => csv,
        _ => {
            return Err(Failure::new(
                Code::MZ0004,
                format!("{path:?} is neither .json nor .csv"),
                "name the file with its format as the extension",
            ));
        }
    };
    let text = input::file(path)?;
    if text.len() > MAX_JSON_BYTES {
        let (bytes, most) = (text.len(), MAX_JSON_BYTES);
        let error = EventError::from(EventProblem::TooLong { bytes, most });
        return Err(Failure::new(
            error.code(),
            format!("{path}: {error}"),
            "merge outcomes with the same p/q: add their p and their q; the guarantee is \
             the same",
        ));
    }
    let text = input::trimmed(&text);
    if text.is_empty() {
        return Err(Failure::new(
            Code::MZ0005,
            format!("{path} is empty"),
            "give one outcome per line after the header p,q or loss,probability",
        ));
    }
    parse(text).map_err(|failure| failure.of_option(path))
}

/// An event, or the columns of a finite mechanism without its name.
fn json(text: &str) -> Result<PrivacyEvent, Failure> {
    let mut value = parse_json(text)?;
    if let Value::Object(object) = &mut value
        && !object.contains_key("event")
        && (object.contains_key("p") || object.contains_key("losses"))
    {
        object.insert("event".to_owned(), "finite".into());
    }
    Ok(PrivacyEvent::from_json(&value)?)
}

/// A header and one outcome per line.
fn csv(text: &str) -> Result<PrivacyEvent, Failure> {
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, header)| header);
    let names: Vec<String> = header.split(',').map(|n| n.trim().to_lowercase()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let losses = match names.as_slice() {
        ["p", "q"] => false,
        ["loss", "probability"] => true,
        _ => {
            return Err(bad_line(
                0,
                format!(
                    "expected the header p,q or loss,probability, got {}",
                    quoted(header)
                ),
            ));
        }
    };
    let mut pairs = Vec::new();
    let mut infinite = None;
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let &[left, right] = fields.as_slice() else {
            let message = format!(
                "expected two numbers with a comma between, got {}",
                quoted(line)
            );
            return Err(bad_line(index, message));
        };
        let field = |name, text| {
            number(text).ok_or_else(|| {
                bad_line(
                    index,
                    format!("{name} must be a number, got {}", quoted(text)),
                )
            })
        };
        let probability = |name, text| {
            let value = field(name, text)?;
            if (0.0..=1.0).contains(&value) {
                Ok(value)
            } else {
                let message = format!("{name} must be between 0 and 1, got {}", quoted(text));
                Err(bad_line(index, message))
            }
        };
        if !losses {
            pairs.push((probability("p", left)?, probability("q", right)?));
            continue;
        }
        let (loss, p) = (field("loss", left)?, probability("probability", right)?);
        if loss == f64::INFINITY {
            if infinite.replace(p).is_some() {
                return Err(bad_line(index, "the loss inf appears twice".to_owned()));
            }
        } else if loss.is_finite() {
            pairs.push((loss, p));
        } else {
            let message = "a loss of -inf never happens with the person: leave it out";
            return Err(bad_line(index, message.to_owned()));
        }
    }
    let pair = if losses {
        FinitePair::from_losses(&pairs, infinite.unwrap_or(0.0))
    } else {
        FinitePair::new(&pairs)
    };
    Ok(PrivacyEvent::Finite(pair?))
}

/// The nearest double, or an infinity that is written as one; never NaN.
fn number(text: &str) -> Option<f64> {
    let value = text.parse::<f64>().ok()?;
    // A decimal that is too large for a double is not infinity.
    let digits = text.contains(|c: char| c.is_ascii_digit());
    let refused = value.is_nan() || (value.is_infinite() && digits);
    (!refused).then_some(value)
}

/// The error of a line, counted from 0.
fn bad_line(index: usize, message: String) -> Failure {
    Failure::new(
        Code::MZ0006,
        format!("line {}: {message}", index + 1),
        "the file has the header p,q or loss,probability, then one outcome per line",
    )
}

fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text, 40))
}
