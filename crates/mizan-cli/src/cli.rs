//! The definition of the command line: commands, global options, examples.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use mizan_core::Code;

#[cfg(feature = "ballista")]
use crate::commands::cluster;
use crate::commands::{
    account, audit, budget, calibrate, completions, curve, dataset, demo, divergence, figure,
    group, init, ledger, noise, query, quote, risk, serve, spend, table, token,
};
use crate::failure::Failure;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  mizan demo
  mizan init
  mizan dataset add visits --from visits.csv --unit person \\
    --epsilon 3 --delta 1e-7 --max-rows-per-unit 10
  mizan quote 'SELECT COUNT(*) AS n FROM visits' --epsilon 0.1
  mizan query 'SELECT COUNT(*) AS n FROM visits' --epsilon 0.1
  mizan budget show visits
  mizan ledger verify
  mizan spend visits 'gaussian(20)'
  mizan account '100 * (rr(0.52) + laplace(20) + gaussian(10))' --delta 1e-6
  mizan curve 'gaussian(2) + laplace(1)' --svg curve.svg
  mizan audit 'discrete-laplace(10)'

Exit codes: 0 done, 1 refused, 2 error.";

/// Differentially private SQL engine, privacy-budget ledger and accountant
#[derive(Debug, Parser)]
#[command(name = "mizan", version, about, after_help = EXAMPLES, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Text for people, or JSON for programs
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Arguments),
    Init(init::Arguments),
    Dataset(dataset::Arguments),
    Quote(quote::Arguments),
    Query(query::Arguments),
    Budget(budget::Arguments),
    Spend(spend::Arguments),
    Ledger(ledger::Arguments),
    Serve(serve::Arguments),
    Token(token::Arguments),
    #[cfg(feature = "ballista")]
    Cluster(cluster::Arguments),
    Account(account::Arguments),
    Curve(curve::Arguments),
    Calibrate(calibrate::Arguments),
    Divergence(divergence::Arguments),
    Risk(risk::Arguments),
    Group(group::Arguments),
    Noise(noise::Arguments),
    Audit(audit::Arguments),
    Figure(figure::Arguments),
    Table(table::Arguments),
    Completions(completions::Arguments),
    /// Write the manual page (troff) to standard output
    #[command(after_help = "Examples:\n  mizan man > /usr/local/share/man/man1/mizan.1")]
    Man,
}

/// The parsed command line, or the exit code after `--help`, `--version` or an error.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            match output::print(&error.render().to_string()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => {
                    output::eprint(&output::failure(&failure, requested_format()));
                    ExitCode::from(2)
                }
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::eprint(&error.render().to_string());
            output::eprint(&format!(
                "\nerror[{}]: no command was given\nhelp: choose one of the commands above\n",
                Code::MZ0001
            ));
            ExitCode::from(2)
        }
        _ => {
            let failure = usage(&error);
            output::eprint(&output::failure(&failure, requested_format()));
            ExitCode::from(2)
        }
    })
}

/// A command line that does not parse.
fn usage(error: &clap::Error) -> Failure {
    let rendered = error.render().to_string();
    let message = rendered.strip_prefix("error: ").unwrap_or(&rendered);
    let message = message
        .split("\n\nFor more information")
        .next()
        .unwrap_or(message);
    Failure::new(
        Code::MZ0001,
        message.trim_end(),
        "see `mizan --help`, or `mizan COMMAND --help`",
    )
}

/// The output format that a command line which does not parse names.
fn requested_format() -> Format {
    let words: Vec<_> = std::env::args_os().collect();
    let json = words
        .windows(2)
        .any(|pair| matches!(pair, [flag, value] if flag == "--format" && value == "json"));
    if json || words.iter().any(|word| word == "--format=json") {
        Format::Json
    } else {
        Format::Text
    }
}

/// The definition from which help, completions and the manual page are generated.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}
