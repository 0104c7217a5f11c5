//! `mizan quote`: the cost and the expected error of a query.

use mizan_api::budget::view;
use mizan_api::query::{delta_down, quote_json};
use mizan_engine::{Quote, ReservedDelta};
use mizan_report::number;
use mizan_sql::Note;

use super::query::advice;
use crate::answer_text::{hidden_part, hint, joined, largest_epsilon, limits_part, notes_section};
use crate::cli::Format;
use crate::failure::Failure;
use crate::output::{CommandOutput, Output, shortened, wrapped};
use crate::query_args::{QueryArguments, clamping_text, notes_text, why_text};

/// Show the cost and expected error of a query; nothing is charged
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan quote 'SELECT COUNT(*) FROM visits' --epsilon 0.1
  mizan quote 'SELECT COUNT(*) FROM visits' --accuracy 50
  mizan quote 'SELECT ward, AVG(cost) FROM visits GROUP BY ward' --explain")]
pub(crate) struct Arguments {
    #[command(flatten)]
    query: QueryArguments,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<CommandOutput, Failure> {
    run_for(&arguments.query, output)
}

pub(crate) fn run_for(query: &QueryArguments, output: Output) -> Result<CommandOutput, Failure> {
    let ledger = query.ledger.read()?;
    let (quote, largest) = query.with_query_service(&ledger, |service, sql, spend_target| {
        let quote = service.quote(sql, spend_target)?;
        let wanted = output.format == Format::Text && !quote.fits && !is_short(&quote);
        let largest = wanted.then(|| {
            largest_epsilon(quote.epsilon.get(), |spend_target| {
                service.quote(sql, spend_target)
            })
        });
        Ok((quote, largest.flatten()))
    })?;
    let limits = query.engine.limits_text()?.filter(|_| query.explain);
    let limits = limits.map_or_else(String::new, |limits| {
        wrapped(&limits, "  limits of this query: ", "    ")
    });
    let shown = output.either(
        || quote_json(&quote),
        || text(&quote, largest.as_deref(), query.explain) + &limits,
    );
    Ok(match quote.fits {
        true => CommandOutput::done(shown),
        false => CommandOutput::refused(shown),
    })
}

/// Whether more of the reserved delta is asked for than is left.
fn is_short(quote: &Quote) -> bool {
    quote.reserved.as_ref().is_some_and(ReservedDelta::is_short)
}

fn text(quote: &Quote, largest: Option<&str>, explain: bool) -> String {
    let mut text = format!(
        "costs ε {} at δ {} of {}\n",
        number::epsilon_up(quote.epsilon.get(), 4),
        number::delta_up(quote.delta.get()),
        shortened(quote.account.account.name().as_str(), 40),
    );
    for column in &quote.predicted {
        let name = shortened(&column.name, 30);
        text.push_str(&match column.half_width {
            Some(width) => format!("  {name}: ± {} (95 %)\n", number::grouped_up(width, 3)),
            None => format!("  {name}: the ± depends on the data\n"),
        });
    }
    let mut parts = Vec::new();
    let groups = quote.groups.filter(|groups| *groups != 1);
    parts.extend(groups.map(|groups| format!("{groups} groups")));
    parts.push(limits_part(&quote.clamping));
    parts.extend(quote.threshold.map(hidden_part));
    text.push_str(&joined(&parts));
    if let Some(reserved) = &quote.reserved {
        text.push_str(&format!(
            "reserved δ for the threshold: {}; {} of {} is left\n",
            number::delta_up(view::own_delta(reserved.asked)),
            delta_down(view::own_delta(reserved.left)),
            number::nearest(view::own_delta(reserved.reserved), 3),
        ));
    }
    text.push_str(&match (quote.fits, largest) {
        (true, _) if quote.about <= 1 => "fits once\n".to_owned(),
        (true, _) => format!("fits about {} times\n", quote.about),
        (false, _) if is_short(quote) => {
            "does not fit: more than what is left of the reserved δ (see --threshold-delta)\n"
                .to_owned()
        }
        (false, None) => "does not fit into what is left\n".to_owned(),
        (false, Some(largest)) => format!("does not fit\n{}", advice(largest)),
    });
    if !explain {
        // That a query would be refused, or may be, is not a detail.
        let (urgent, others): (Vec<Note>, Vec<Note>) =
            quote.notes.iter().cloned().partition(|note| {
                matches!(
                    note,
                    Note::LimitsNotChecked { .. } | Note::UnansweredCharges { .. }
                )
            });
        text.push_str(&notes_text(&urgent));
        text.push_str(&hint(others.len()));
        return text;
    }
    text.push('\n');
    let has_margin = quote
        .predicted
        .iter()
        .any(|column| column.half_width.is_some());
    text.push_str(&clamping_text(&quote.clamping, has_margin));
    text.push_str(&notes_section(&notes_text(&quote.notes)));
    text.push_str("Choice of noise:\n");
    text.push_str(&why_text(&quote.why));
    let event = shortened(&quote.event.to_string(), 200);
    text.push_str(&wrapped(&event, "  event: ", "    "));
    text
}
