//! `mizan audit EVENT`: tests a claimed epsilon by attacking the mechanism.

use std::path::PathBuf;

use mizan_accounting::methods::{self, Method, Refusal};
use mizan_audit::{Audit, Confidence, Feature, Plan, Region, Released, World};
use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_report::{Axis, Figure, Panel, Series, number};
use serde_json::{Value, json};

use crate::define::DefineArguments;
use crate::failure::Failure;
use crate::input::{self, Expression, Typed};
use crate::output::{self, CommandOutput, Output, Progress};
use mizan_api::number::finite;

/// The default confidence: a false alarm has probability 1e-6.
const USUAL_CONFIDENCE: &str = "0.999999";

/// The default δ of a claim that needs one.
const USUAL_DELTA: f64 = 1e-5;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Event as text or JSON, @FILE, or - for standard input
    #[arg(value_name = "EVENT", required = true)]
    expression: Option<String>,

    #[command(flatten)]
    defined: DefineArguments,

    /// Confidence of the lower bound
    #[arg(
        long,
        value_name = "C",
        default_value = USUAL_CONFIDENCE,
        allow_hyphen_values = true
    )]
    confidence: String,

    /// Runs on each input [default: as many as take one or two seconds]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    samples: Option<String>,

    /// Delta of the claim [default: 0, or 1e-5 for Gaussian noise]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,

    /// Claimed epsilon [default: the result of `mizan account`]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<String>,

    /// Draw the outputs on both inputs to this file (SVG)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Arguments {
    /// Whether any of these arguments was given.
    pub(super) fn is_given(&self) -> bool {
        [&self.expression, &self.samples, &self.delta, &self.epsilon]
            .iter()
            .any(|option| option.is_some())
            || self.svg.is_some()
            || self.confidence != USUAL_CONFIDENCE
    }
}

/// The claim and the result of the audit.
struct Report {
    event: String,
    claimed: (Typed<Epsilon>, Typed<Delta>),
    confidence: Typed<Confidence>,
    samples: u64,
    /// Whether outputs are noisy answers; else they are privacy losses.
    answers: bool,
    found: Audit,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<CommandOutput, Failure> {
    let confidence = input::confidence(&arguments.confidence, "--confidence")?;
    let samples = arguments.samples.as_deref();
    let samples = samples
        .map(|text| input::whole(text, "--samples", Plan::SAMPLES))
        .transpose()?;
    let expression = arguments.expression.as_deref().unwrap_or_default();
    let Expression { text, event } = input::expression(expression, &arguments.defined.read()?)?;
    let mut released = Released::of(&event)?;
    let delta = match &arguments.delta {
        Some(text) => input::claimed_delta(text, "--delta")?,
        None => usual_delta(&released),
    };
    let claimed = match &arguments.epsilon {
        Some(text) => input::claimed_epsilon(text, "--epsilon")?,
        None => {
            let value = accounted(&event, delta.value)?;
            let shown = value.get();
            Typed { shown, value }
        }
    };
    // The claim is computed for a δ not above the typed one, and attacked with one
    // not below it.
    let attacked = match &arguments.delta {
        Some(_) => Delta::saturating(delta.value.get().next_up()),
        None => delta.value,
    };
    let samples = samples.unwrap_or(released.usual_samples());
    let plan = released
        .plan(samples, confidence.value, attacked)
        .map_err(|error| Failure::from(error).of_option("--samples"))?;
    let progress = Progress::of(samples);
    let found = mizan_audit::audit(&mut released, plan, &mut |runs| progress.advance(runs))?;
    let report = Report {
        event: text,
        claimed: (claimed, delta),
        confidence,
        samples,
        answers: released.tells_answers(),
        found,
    };
    let mut saved = String::new();
    if let Some(path) = &arguments.svg {
        let title = format!("Two inputs: {}", output::shortened(&report.event, 60));
        let figure = Figure::new(title).with(report.panel());
        output::write_file(path, &figure.to_svg())?;
        saved = format!("\nSaved {}\n", path.display());
    }
    let text = output.either(|| report.json(), || report.text(output) + &saved);
    Ok(if report.is_violation() {
        CommandOutput::refused(text)
    } else {
        CommandOutput::done(text)
    })
}

fn usual_delta(released: &Released) -> Typed<Delta> {
    let delta = if released.is_pure() { 0.0 } else { USUAL_DELTA };
    Typed {
        shown: delta,
        value: Delta::saturating(delta),
    }
}

/// The ε of the event by the accountant.
fn accounted(event: &PrivacyEvent, delta: Delta) -> Result<Epsilon, Failure> {
    if delta == Delta::ZERO {
        let bound =
            methods::epsilon_by(Method::Pure, event, delta).map_err(|refusal| match refusal {
                Refusal::Unsupported(error) => Failure::new(
                    error.code(),
                    error,
                    "give a delta above 0, such as --delta 1e-5",
                ),
                refusal => Failure::from(refusal),
            })?;
        return Ok(bound.upper);
    }
    let account = methods::epsilon(event, delta);
    let best = account.best().ok_or_else(|| account.refusal())?;
    Ok(best.upper)
}

impl Report {
    fn is_violation(&self) -> bool {
        self.found.contradicts(self.claimed.0.value)
    }

    fn json(&self) -> Value {
        let Audit { attack, hits, .. } = &self.found;
        json!({
            "event": self.event,
            "claimed": {
                "epsilon": finite(self.claimed.0.shown),
                "delta": finite(self.claimed.1.shown),
            },
            "lower_bound": finite(self.found.lower_bound.get()),
            "confidence": finite(self.confidence.shown),
            "samples": self.samples,
            "threshold": finite(attack.region.threshold()),
            "violation": self.is_violation(),
            "attack": {
                "feature": match attack.feature {
                    Feature::Output if self.answers => "output",
                    Feature::Output => "loss",
                    Feature::Difference => "difference",
                },
                "region": match attack.region {
                    Region::AtLeast(_) => "at-least",
                    Region::AtMost(_) => "at-most",
                    Region::Exactly(_) => "exactly",
                },
                "likelier": match attack.likelier {
                    World::With => "with",
                    World::Without => "without",
                },
                "runs": self.found.tried,
                "hits": {"with": hits.with, "without": hits.without},
            },
        })
    }

    fn text(&self, output: Output) -> String {
        let Audit {
            hits,
            tried,
            lower_bound,
            ..
        } = &self.found;
        let (claimed, delta) = self.claimed;
        let share = |hits: u64| number::nearest(hits as f64 / *tried as f64, 4);
        let verdict = if self.is_violation() {
            "VIOLATION: the lower bound is above the claim. A mechanism that satisfies the\n  \
             claim shows this with probability at most 1 - confidence.\n"
        } else {
            "Consistent: the runs do not contradict the claim.\n"
        };
        format!(
            "{}\n\n\
             claimed      ε ≤ {} at δ = {}\n\
             lower bound  ε ≥ {} with confidence {}\n\
             attack       {}\n             \
             in {} of the runs with the person, in {} without\n\
             runs         {} on each input, {} of them to choose the attack\n\n\
             {}\n{verdict}",
            output::shortened(&self.event, 78),
            number::epsilon_up(claimed.shown, 5),
            number::nearest(delta.shown, 4),
            number::down(lower_bound.get(), 5),
            self.confidence.shown,
            self.attack(),
            share(hits.with),
            share(hits.without),
            self.samples,
            self.samples - tried,
            output.terminal.chart(&self.panel()),
        )
    }

    /// The set of outputs as text.
    fn attack(&self) -> String {
        let feature = match self.found.attack.feature {
            Feature::Output if self.answers => "output",
            Feature::Output => "loss",
            Feature::Difference => "difference of two runs",
        };
        let (sign, threshold) = match self.found.attack.region {
            Region::AtLeast(threshold) => ("≥", threshold),
            Region::AtMost(threshold) => ("≤", threshold),
            Region::Exactly(threshold) => ("=", threshold),
        };
        format!("{feature} {sign} {}", number::nearest(threshold, 6))
    }

    /// Histograms of the outputs on both inputs.
    fn panel(&self) -> Panel {
        let histogram = &self.found.histogram;
        let stairs = |name: &str, share: fn(&(f64, f64)) -> f64| {
            let corners = histogram
                .shares
                .iter()
                .enumerate()
                .flat_map(|(bin, shares)| {
                    let left = histogram.start + bin as f64 * histogram.width;
                    let height = share(shares);
                    [(left, height), (left + histogram.width, height)]
                });
            Series::new(name, corners.collect())
        };
        let name = if self.answers {
            "output"
        } else {
            "privacy loss that the output should have"
        };
        Panel::new("", Axis::linear(name), Axis::linear("share of runs"))
            .with(stairs("without the person", |share| share.0))
            .with(stairs("with the person", |share| share.1))
    }
}
