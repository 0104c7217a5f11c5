//! `mizan query`: charges for a query and shows its answer.

use std::path::PathBuf;

use mizan_api::budget::view;
use mizan_api::names::Names;
use mizan_api::question::{answered_json, delta_down, denied_help, denied_json};
use mizan_engine::{Answered, Denied, Reply};
use mizan_report::number;

use super::quote;
use crate::failure::Failure;
use crate::interrupt;
use crate::ledger_args;
use crate::output::{Answer, Output, eprint, shortened, wrapped, write_file};
use crate::query_args::{self, QueryArguments, clamping_text, notes_text};

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

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<Answer, Failure> {
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
    let reply = query.at_desk(&ledger, |desk, sql, wish| desk.query(sql, wish, id))?;
    let answer = match &reply {
        Reply::Answered(answered) => {
            if let Some(path) = &arguments.svg {
                // The answer is paid for: it is shown whether or not it can be drawn.
                match query_args::bars(&answered.answer) {
                    Some(bars) => write_file(path, &bars.to_svg())?,
                    None => eprint(
                        "note: nothing was drawn: that takes two rows or more with one \
                         estimate each\n",
                    ),
                }
            }
            Answer::done(output.either(
                || answered_json(answered),
                || text(answered, query.explain, output),
            ))
        }
        Reply::Denied(denied) => {
            Answer::refused(output.either(|| denied_json(denied), || denied_text(denied, output)))
        }
    };
    ledger.close()?;
    Ok(answer)
}

pub(crate) fn text(answered: &Answered, why: bool, output: Output) -> String {
    let mut text = query_args::rows_text(&answered.answer, output);
    text.push('\n');
    if text.contains('±') {
        text.push_str("± is the noise, 95 times in 100; it says nothing about sampling\n");
    }
    text.push_str(&clamping_text(&answered.answer.clamping));
    text.push_str(&notes_text(&answered.answer.notes));
    text.push_str(&match answered.repeated {
        true => "answered before: free\n".to_owned(),
        false => format!(
            "spent ε {} at δ {}\n",
            number::epsilon_up(answered.epsilon.get(), 4),
            number::delta_up(answered.delta.get())
        ),
    });
    if let Some((_, share)) = view::left(&answered.account).room {
        text.push_str(&format!(
            "left  {} {} % of {}\n",
            output.terminal.bar(share, 30),
            number::down(100.0 * share, 3),
            shortened(answered.account.account.name().as_str(), 30)
        ));
    }
    if why {
        text.push('\n');
        for line in &answered.why {
            text.push_str(&wrapped(line, "  ", "    "));
        }
    }
    text.push_str(&format!("receipt {}\n", answered.done.receipt));
    text
}

pub(crate) fn denied_text(denied: &Denied, output: Output) -> String {
    if !denied.done.fresh {
        return format!(
            "refused: the id {} was refused before, and stays refused for ever\n\
             nothing was charged, and no row was read\n\n\
             ask with another --id, or without one\n",
            denied.done.id
        );
    }
    let account = shortened(denied.account.account.name().as_str(), 30);
    let short = denied.reserved.as_ref().filter(|delta| delta.is_short());
    let mut text = match short {
        Some(reserved) => format!(
            "refused: this asks for δ {} to hide small groups, and of the δ {} reserved\n\
             for that in {} only {} is left\n",
            number::delta_up(view::own_delta(reserved.asked)),
            number::nearest(view::own_delta(reserved.reserved), 3),
            shortened(&reserved.account, 30),
            delta_down(view::own_delta(reserved.left)),
        ),
        None => format!(
            "refused: this asks for ε {} at δ {}, which does not fit into {account}\n",
            number::epsilon_up(denied.epsilon.get(), 4),
            number::delta_up(denied.delta.get()),
        ),
    };
    text.push_str("nothing was charged, and no row was read\n\n");
    text.push_str(&view::summary_text(&denied.account, output.terminal));
    text.push('\n');
    text.push_str(&wrapped(&denied_help(denied, Names::CommandLine), "", ""));
    text
}
