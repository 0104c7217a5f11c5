//! `mizan noise`: samples of the noise that releases use.

mod histogram;
mod sink;

use std::path::PathBuf;

use mizan_core::{Code, Count, PrivacyEvent, Round, format_decimal};
use mizan_noise::{Confidence, Entropy, Noise, NoiseError, RandomizedResponse};
use mizan_report::number;
use serde_json::json;

use crate::cli::Format;
use crate::failure::Failure;
use crate::input::{self, Expression};
use crate::output::{self, Output};
use histogram::Histogram;
use sink::Sink;

/// Samples drawn at a time.
const CHUNK: usize = 1 << 16;

/// The most samples of one command.
const MOST: u64 = 1_000_000_000_000;

/// The most samples of one JSON document, which a reader holds in memory.
const LARGEST_DOCUMENT: u64 = 1_000_000;

/// Draw exact noise: integers, one per line
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Releases use this noise. It is sampled exactly from the stated distribution,
with the operating system's randomness. For rr it is the response of a person
whose true answer is 0.

Examples:
  mizan noise 'discrete-laplace(2)' --count 10
  mizan noise 'discrete-gaussian(1e6)' --count 1e6 --out noise.csv
  mizan noise 'rr(0.75, 4)' --count 100 --format json")]
pub(crate) struct Arguments {
    /// discrete-laplace, discrete-gaussian or rr
    #[arg(value_name = "EVENT")]
    expression: String,

    /// Number of samples
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    count: String,

    /// Write the samples to this file and show a histogram
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let expression = input::expression(&arguments.expression, &mizan_core::Definitions::default())?;
    let count = Count::new(input::whole(&arguments.count, "--count", 1..=MOST)?)?;
    let source = Source::of(&expression)?;
    let as_json = output.format == Format::Json;
    match &arguments.out {
        Some(path) => {
            let mut histogram = source.histogram();
            let mut sink = Sink::file(path)?;
            draw(&source, count, |draws| {
                histogram.add(draws);
                sink.write(draws)
            })?;
            sink.finish()?;
            let widths = source.half_widths()?;
            Ok(output.either(
                || {
                    let widths = widths.iter().map(|&(confidence, half_width)| {
                        json!({"confidence": confidence, "half_width": half_width})
                    });
                    json!({
                        "expression": expression.text,
                        "count": count.get(),
                        "file": path.display().to_string(),
                        "histogram": histogram.json(),
                        "half_widths": widths.collect::<Vec<_>>(),
                    })
                },
                || {
                    let widths = widths.iter().map(|&(confidence, half_width)| {
                        format!("±{half_width} ({} %)", 100.0 * confidence)
                    });
                    let widths = widths.collect::<Vec<_>>().join(", ");
                    let within = if widths.is_empty() {
                        String::new()
                    } else {
                        format!("stated: within {widths}\n")
                    };
                    format!(
                        "{} draws of {}\n\n{}{within}\nSaved {}\n",
                        number::nearest(count.as_f64(), 15),
                        output::shortened(&expression.text, 60),
                        histogram.text(output.terminal),
                        path.display()
                    )
                },
            ))
        }
        None if as_json => {
            if count.get() > LARGEST_DOCUMENT {
                return Err(Failure::new(
                    Code::MZ1622,
                    format!("{count} samples are too many for one JSON document, at most 1000000"),
                    "use --out FILE, or leave --format json out",
                ));
            }
            let mut values = Vec::new();
            draw(&source, count, |draws| {
                values.extend_from_slice(draws);
                Ok(true)
            })?;
            let document = json!({
                "expression": expression.text,
                "count": count.get(),
                "values": values,
            });
            Ok(format!("{document}\n"))
        }
        None => {
            let mut sink = Sink::standard_output();
            draw(&source, count, |draws| sink.write(draws))?;
            sink.finish()?;
            Ok(String::new())
        }
    }
}

/// Draws in chunks until all samples are drawn or the reader is gone.
fn draw(
    source: &Source,
    count: Count,
    mut take: impl FnMut(&[i64]) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let mut entropy = Entropy::system()?;
    let mut chunk = vec![0; CHUNK];
    let progress = output::Progress::of(count.get());
    let mut left = count.get();
    while left > 0 {
        let size = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        let draws = chunk.get_mut(..size).unwrap_or_default();
        source.fill(&mut entropy, draws)?;
        if !take(draws)? {
            break;
        }
        let drawn = u64::try_from(size).unwrap_or(left);
        left -= drawn;
        progress.advance(drawn);
    }
    Ok(())
}

/// The mechanism that is sampled.
enum Source {
    Noise(Noise),
    Response(RandomizedResponse),
}

impl Source {
    fn of(expression: &Expression) -> Result<Self, Failure> {
        if let Some(noise) = Noise::of(&expression.event)? {
            return Ok(Self::Noise(noise));
        }
        match &expression.event {
            PrivacyEvent::RandomizedResponse(event) => {
                Ok(Self::Response(RandomizedResponse::new(*event)))
            }
            other => Err(Failure::new(
                Code::MZ1621,
                format!(
                    "{} cannot be drawn",
                    output::shortened(&expression.text, 60)
                ),
                match other {
                    PrivacyEvent::Gaussian { sigma, .. } => {
                        let sigma = format_decimal(sigma.get(), Round::Down);
                        format!("on integers it is discrete-gaussian({sigma})")
                    }
                    PrivacyEvent::Laplace { scale, .. } => {
                        let scale = format_decimal(scale.get(), Round::Down);
                        format!("on integers it is discrete-laplace({scale})")
                    }
                    _ => "use one discrete-laplace, discrete-gaussian or rr".to_owned(),
                },
            )),
        }
    }

    fn fill(&self, entropy: &mut Entropy, draws: &mut [i64]) -> Result<(), NoiseError> {
        match self {
            Self::Noise(noise) => noise.fill(entropy, draws),
            Self::Response(response) => {
                let mut answers = vec![0; draws.len()];
                response.respond(entropy, &mut answers)?;
                for (draw, answer) in draws.iter_mut().zip(answers) {
                    // Counts of categories are below 2^53.
                    *draw = i64::try_from(answer).map_err(|_| NoiseError::Overflow { bits: 64 })?;
                }
                Ok(())
            }
        }
    }

    /// The half widths of the noise at these confidences.
    fn half_widths(&self) -> Result<Vec<(f64, u128)>, NoiseError> {
        let Self::Noise(noise) = self else {
            return Ok(Vec::new());
        };
        let at = |confidence| Ok((confidence, noise.half_width(Confidence::new(confidence)?)?));
        [0.5, 0.95, 0.999].into_iter().map(at).collect()
    }

    fn histogram(&self) -> Histogram {
        match self {
            Self::Noise(noise) => Histogram::around_zero(noise.scale().approximate()),
            Self::Response(response) => Histogram::of_categories(response.categories()),
        }
    }
}
