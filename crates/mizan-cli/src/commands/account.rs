//! `mizan account`: the privacy cost of an event.

use std::path::PathBuf;

use mizan_api::account::AccountRequest;
use mizan_api::messages::Label;
use mizan_api::names::Names;

use crate::define::DefineArguments;
use crate::failure::Failure;
use crate::input;
use crate::output::{Output, write_file};

/// Compute the cost of an event: epsilon at a delta, or delta at an epsilon
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Methods: pure, basic, advanced (Dwork-Rothblum-Vadhan), concentrated-advanced
(Dwork-Rothblum), optimal (Kairouz-Oh-Viswanath, Murtagh-Vadhan), cdp, zcdp,
renyi, gaussian-dominating, gaussian-exact, numeric (privacy loss distribution,
with error bounds).
All methods that apply are computed; the tightest bound is reported.

Examples:
  mizan account 'gaussian(1.1)' --delta 1e-5
  mizan account '10000 * poisson(0.01, gaussian(1.1))' --delta 1e-5
  mizan account '30 * rr(0.6)' --delta 1e-5 --profile --svg profile.svg
  mizan account '100 * (rr(0.52) + laplace(20))' --delta 1e-6 --explain
  mizan account '1000 * pure(0.01)' --epsilon 1 --method renyi
  mizan account 'group(3, gaussian(5))' --delta 1e-9 --population 1000000
  mizan account '10 * laplace(5)' --report
  mizan account @releases.txt --delta 1e-9 --format json")]
pub(crate) struct Arguments {
    /// Event as text or JSON, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: DefineArguments,

    #[command(flatten)]
    target: Target,

    /// Use only this method [default: all that apply]
    #[arg(long, value_name = "NAME")]
    method: Option<String>,

    /// Show the derivation of the result
    #[arg(long, visible_alias = "why")]
    explain: bool,

    /// Print the Rényi curve at 13 orders, as an event to add to others
    #[arg(long)]
    report: bool,

    /// Show the privacy profile by every method, and the best attacker's error rates
    #[arg(long)]
    profile: bool,

    /// Draw the profile and the trade-off function to this file (SVG)
    #[arg(long, value_name = "FILE", requires = "profile")]
    svg: Option<PathBuf>,

    /// Write the points of both to this file (CSV: panel,series,x,y)
    #[arg(long, value_name = "FILE", requires = "profile")]
    csv: Option<PathBuf>,

    /// Number of people in the data; warns if delta is not far below 1/N
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    population: Option<String>,
}

#[derive(Debug, clap::Args)]
#[group(required = false, multiple = false)]
struct Target {
    /// Report epsilon at this delta
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,

    /// Report delta at this epsilon
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let given = |text: &Option<String>| text.as_deref().map(Into::into);
    let request = AccountRequest {
        expression: input::typed(&arguments.expression)?,
        delta: given(&arguments.target.delta),
        epsilon: given(&arguments.target.epsilon),
        method: arguments.method.clone(),
        why: arguments.explain,
        report: arguments.report,
        profile: arguments.profile,
        population: given(&arguments.population),
    };
    let answer = request.evaluate(&arguments.defined.read()?, Names::CommandLine)?;
    let mut saved = String::new();
    if let Some(profile) = &answer.profile {
        let event = &answer.expression;
        if let Some(path) = &arguments.svg {
            write_file(path, &profile.figure(event, Label::english).to_svg())?;
            saved += &format!("Saved {}\n", path.display());
        }
        if let Some(path) = &arguments.csv {
            write_file(path, &profile.csv(event))?;
            saved += &format!("Saved {}\n", path.display());
        }
    }
    Ok(output.either(
        || answer.json(),
        || answer.text(&output.terminal) + &saved + &answer.warnings_text(),
    ))
}
