//! `mizan query`: charges for a query and shows its answer.

use std::path::PathBuf;

use mizan_api::budget::view;
use mizan_api::names::Names;
use mizan_api::query::{answered_json, delta_down, denied_help, denied_json};
use mizan_engine::{Answered, Denied, QueryError, QueryOutcome, Quote, ReservedDelta, SpendTarget};
use mizan_report::number;

use super::quote;
use crate::answer_text;
use crate::cli::Format;
use crate::failure::Failure;
use crate::interrupt;
use crate::ledger_args;
use crate::output::{CommandOutput, Output, eprint, shortened, wrapped, write_file};
use crate::query_args::{self, QueryArguments};

/// Answer a query with differential privacy, and charge its account
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The same query on the same data returns the stored answer at no cost. A new --id
makes a new charge, with fresh noise.

Groups discovered in the data are shown above a threshold (private partition
selection). The threshold fails with probability --threshold-delta, which is
taken from the account's reserved delta. A smaller value makes the threshold
higher.

Examples:
  mizan query 'SELECT COUNT(*) FROM visits' --epsilon 0.1
  mizan query 'SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward'
  mizan query 'SELECT MEDIAN(cost) FROM visits' --format json
  mizan query - --svg answer.svg < query.sql")]
pub(crate) struct Arguments {
    #[command(flatten)]
    query: QueryArguments,

    /// Name of this charge: a UUID or any text
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// Draw the answer to this file (SVG), if it has one estimate per row
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<CommandOutput, Failure> {
    let query = &arguments.query;
    // `EXPLAIN PRIVACY SELECT ...` returns the quote.
    if mizan_sql::statement(&query.sql).0 {
        return quote::run_for(query, output);
    }
    let id = arguments.id.as_deref();
    ledger_args::request_id(id)?;
    if let Some(path) = &arguments.svg {
        query.ledger.may_write(path)?;
    }
    let ledger = query.ledger.open()?;
    interrupt::tell_of_charges(output);
    let (outcome, largest) = query.with_query_service(&ledger, |service, sql, spend_target| {
        let outcome = service.query(sql, spend_target, id)?;
        let largest = match &outcome {
            QueryOutcome::Denied(denied) => largest_that_fits(denied, output, |spend_target| {
                service.quote(sql, spend_target)
            }),
            QueryOutcome::Answered(_) => None,
        };
        Ok((outcome, largest))
    })?;
    let answer = match &outcome {
        QueryOutcome::Answered(answered) => {
            if let Some(path) = &arguments.svg {
                // The answer is paid for: it is shown whether or not it can be drawn.
                match query_args::bars(&answered.answer) {
                    Some(bars) => write_file(path, &bars.to_svg())?,
                    None => eprint(
                        "note: nothing was drawn: a chart needs two rows or more, with one \
                         estimate each\n",
                    ),
                }
            }
            CommandOutput::done(output.either(
                || answered_json(answered),
                || text(answered, query.explain, output),
            ))
        }
        QueryOutcome::Denied(denied) => CommandOutput::refused(output.either(
            || denied_json(denied),
            || denied_text(denied, largest.as_deref(), output),
        )),
    };
    ledger.close()?;
    Ok(answer)
}

fn text(answered: &Answered, explain: bool, output: Output) -> String {
    let mut text = query_args::rows_text(&answered.answer, output);
    text.push('\n');
    text.push_str(&answer_text::summary(answered));
    if explain {
        text.push_str(&answer_text::details(answered));
    }
    text.push_str(&answer_text::left_bar(&answered.account, output));
    text.push_str(&format!("receipt {}\n", answered.done.receipt));
    if !explain {
        text.push_str(&answer_text::hint(answered.answer.notes.len()));
    }
    text
}

/// The largest epsilon that fits in place of a refused query, for the text. None if a
/// smaller epsilon does not help, or if the refusal is of an earlier time.
pub(crate) fn largest_that_fits(
    denied: &Denied,
    output: Output,
    quote: impl Fn(SpendTarget) -> Result<Quote, QueryError>,
) -> Option<String> {
    let short = denied
        .reserved
        .as_ref()
        .is_some_and(ReservedDelta::is_short);
    let wanted = output.format == Format::Text && denied.done.fresh && !short;
    wanted.then(|| answer_text::largest_epsilon(denied.epsilon.get(), quote))?
}

/// What to do about a query that does not fit.
pub(crate) fn advice(largest: &str) -> String {
    let advice = format!(
        "At most about ε {largest} fits: try --epsilon {largest}, or ask the data owner for \
         a larger budget."
    );
    wrapped(&advice, "", "")
}

pub(crate) fn denied_text(denied: &Denied, largest: Option<&str>, output: Output) -> String {
    if !denied.done.fresh {
        return "refused: this id was refused before and stays refused\n\
                nothing was charged, and no row was read\n\n\
                Use a new --id, or none.\n"
            .to_owned();
    }
    let account = shortened(denied.account.account.name().as_str(), 30);
    let short = denied.reserved.as_ref().filter(|delta| delta.is_short());
    let mut text = match short {
        Some(reserved) => format!(
            "refused: the threshold of this query needs reserved δ {}; of the reserved\n\
             δ {} of {} only {} is left\n",
            number::delta_up(view::own_delta(reserved.asked)),
            number::nearest(view::own_delta(reserved.reserved), 3),
            shortened(&reserved.account, 30),
            delta_down(view::own_delta(reserved.left)),
        ),
        None => {
            let refused = format!(
                "refused: this query costs ε {} at δ {}, more than the remaining budget of {account}",
                number::epsilon_up(denied.epsilon.get(), 4),
                number::delta_up(denied.delta.get()),
            );
            wrapped(&refused, "", "")
        }
    };
    text.push_str("nothing was charged, and no row was read\n\n");
    text.push_str(&view::summary_text(&denied.account, output.terminal));
    text.push('\n');
    text.push_str(&match largest {
        Some(largest) => advice(largest),
        None => wrapped(&denied_help(denied, Names::CommandLine), "", ""),
    });
    text
}
