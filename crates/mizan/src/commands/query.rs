//! `mizan query`: asks a question, pays for it, and shows the answer.

use std::path::PathBuf;

use mizan_api::budget::view;
use mizan_api::names::Names;
use mizan_api::question::{answered_json, delta_down, denied_help, denied_json};
use mizan_engine::{Answered, Denied, Reply};
use mizan_report::number;

use super::quote;
use crate::asking::{self, Question, clamping_text, notes_text, why_text};
use crate::books;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Answer, Output, complain, shortened, wrapped, write_file};

/// Ask a question: charged first, answered with error bars and a receipt
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The same question about the same data again is answered as before, for free;
--id names a charge of its own, with fresh noise.

Groups that are found in the data are shown above a threshold, which may fail with
the probability --threshold-delta. This is taken from the part of the account's delta
that is reserved for it; a smaller share makes the threshold a little higher.

Examples:
  mizan query 'SELECT COUNT(*) FROM visits' --epsilon 0.1
  mizan query 'SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward'
  mizan query 'SELECT MEDIAN(cost) FROM visits' --format json
  mizan query - --svg answer.svg < question.sql")]
pub(crate) struct Arguments {
    #[command(flatten)]
    question: Question,

    /// A UUID or any text of your own that names this charge
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// Draw the answer, if it has one estimate a row
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<Answer, Failure> {
    let question = &arguments.question;
    // `EXPLAIN PRIVACY SELECT ...` asks for the price.
    if mizan_sql::statement(&question.sql).0 {
        return quote::run_for(question, output);
    }
    let id = arguments.id.as_deref();
    books::request_id(id)?;
    if let Some(path) = &arguments.svg {
        question.books.may_write(path)?;
    }
    let ledger = question.books.open()?;
    interrupt::tell_of_charges(output);
    let reply = question.at_desk(&ledger, |desk, sql, wish| desk.query(sql, wish, id))?;
    let answer = match &reply {
        Reply::Answered(answered) => {
            if let Some(path) = &arguments.svg {
                // The answer is paid for: it is shown whether or not it can be drawn.
                match asking::bars(&answered.answer) {
                    Some(bars) => write_file(path, &bars.to_svg())?,
                    None => complain(
                        "note: nothing was drawn: that takes two rows or more with one \
                         estimate each\n",
                    ),
                }
            }
            Answer::done(output.either(
                || answered_json(answered),
                || text(answered, question.why, output),
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
    let mut text = asking::rows_text(&answered.answer, output);
    text.push('\n');
    if asking::has_margins(&answered.answer) {
        text.push_str(
            "± is a 95 % margin of error for the privacy noise only; sampling error and\n\
             contribution limits are not included.\n",
        );
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
        text.push_str(&why_text(&answered.why));
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
