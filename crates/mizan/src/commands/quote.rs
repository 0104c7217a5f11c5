//! `mizan quote`: what a question would cost, and how good its answer would be.

use mizan_api::budget::view;
use mizan_api::question::{delta_down, quote_json};
use mizan_engine::{Quote, ReservedDelta};
use mizan_report::number;

use crate::asking::{Question, clamping_text, notes_text, why_text};
use crate::failure::Failure;
use crate::output::{Answer, Output, shortened, wrapped};

/// Price a question: nothing is read from data, nothing is charged
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan quote 'SELECT COUNT(*) FROM visits' --epsilon 0.1
  mizan quote 'SELECT COUNT(*) FROM visits' --accuracy 50
  mizan quote 'SELECT ward, AVG(cost) FROM visits GROUP BY ward' --why")]
pub(crate) struct Arguments {
    #[command(flatten)]
    question: Question,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<Answer, Failure> {
    run_for(&arguments.question, output)
}

pub(crate) fn run_for(question: &Question, output: Output) -> Result<Answer, Failure> {
    let ledger = question.books.read()?;
    let quote = question.at_desk(&ledger, |desk, sql, wish| desk.quote(sql, wish))?;
    let limits = question.engine.limits_text()?.filter(|_| question.why);
    let limits = limits.map_or_else(String::new, |limits| {
        wrapped(&limits, "  over files: ", "    ")
    });
    let shown = output.either(
        || quote_json(&quote),
        || text(&quote, question.why) + &limits,
    );
    Ok(match quote.fits {
        true => Answer::done(shown),
        false => Answer::refused(shown),
    })
}

pub(crate) fn text(quote: &Quote, why: bool) -> String {
    let mut text = format!(
        "costs ε {} at δ {} of {}\n",
        number::epsilon_up(quote.epsilon.get(), 4),
        number::delta_up(quote.delta.get()),
        shortened(quote.account.account.name().as_str(), 40),
    );
    text.push_str(&match quote.groups {
        Some(1) => String::new(),
        Some(groups) => format!("  {groups} groups, each with its own noise\n"),
        None => {
            "  groups are discovered in the data: those with few people are hidden\n".to_owned()
        }
    });
    for column in &quote.predicted {
        let name = shortened(&column.name, 30);
        text.push_str(&match column.half_width {
            Some(width) => format!("  {name}: ± {} (95 %)\n", number::grouped_up(width, 3)),
            None => format!("  {name}: the width depends on the answer; see --why\n"),
        });
    }
    if let Some(reserved) = &quote.reserved {
        text.push_str(&format!(
            "  δ used for hiding small groups: {}; {} of {} is left\n",
            number::delta_up(view::own_delta(reserved.asked)),
            delta_down(view::own_delta(reserved.left)),
            number::nearest(view::own_delta(reserved.reserved), 3),
        ));
    }
    text.push_str(&match quote.fits {
        true => format!("fits, about {} times from here\n", quote.about),
        false if quote.reserved.as_ref().is_some_and(ReservedDelta::is_short) => {
            "does not fit: more than what is left of the reserved δ (see --threshold-delta)\n"
                .to_owned()
        }
        false => "does not fit into what is left\n".to_owned(),
    });
    if why {
        text.push('\n');
        text.push_str(&why_text(&quote.why));
        let event = shortened(&quote.event.to_string(), 200);
        text.push_str(&wrapped(&event, "  event: ", "    "));
    }
    text.push_str(&clamping_text(&quote.clamping));
    text.push_str(&notes_text(&quote.notes));
    text
}
