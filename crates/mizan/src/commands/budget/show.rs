//! `mizan budget show`: one account, what is left of it and how it got there.

use std::path::PathBuf;

use mizan_api::budget::view::{self, nats_text};
use mizan_api::budget::{BurnDown, More, Shown};
use mizan_api::messages::Label;
use mizan_ledger::{Account, AccountView, UnansweredCharge};
use mizan_report::{Column, Figure, Table, number};

use crate::books::{self, Books};
use crate::failure::Failure;
use crate::input;
use crate::output::{self, Output, Progress, order_text, shortened};
use crate::times;

/// Show what an account promises, has spent and has left
#[derive(Debug, clap::Args)]
#[command(after_help = "\
\"spent so far\" and \"left\" are estimates: what the charges would cost had they
been fixed in advance. \"guaranteed\" holds whenever one looks. Whether a charge
fits is decided at each order, by whole numbers.

Examples:
  mizan budget show census
  mizan budget show census --svg burn-down.svg
  mizan budget show census --event 'gaussian(20)'")]
pub(crate) struct Arguments {
    /// The account
    name: String,

    /// Say how many more of this event fit [default: the last one charged]
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,

    /// Draw how the budget burned down
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    #[command(flatten)]
    books: Books,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    if let Some(path) = &arguments.svg {
        arguments.books.may_write(path)?;
    }
    let ledger = arguments.books.read()?;
    let view = books::account(&ledger, &arguments.name)?;
    let event = arguments.event.as_deref().map(input::typed).transpose()?;
    let progress = Progress::of(ledger.head()?.size);
    let shown = Shown::of(
        &ledger,
        view,
        event.as_deref(),
        arguments.svg.is_some(),
        |entries| progress.advance(entries),
    )?;
    if let (Some(path), Some(burn_down)) = (&arguments.svg, &shown.burn_down) {
        let figure = Figure::new("");
        let svg = figure.with(burn_down.panel(Label::english)).to_svg();
        output::write_file(path, &svg)?;
    }
    Ok(output.either(
        || shown.json(),
        || {
            let (more, burn_down) = (shown.more.as_ref(), shown.burn_down.as_ref());
            text(&shown.view, &shown.unanswered, more, burn_down, output)
        },
    ))
}

fn text(
    view: &AccountView,
    unanswered: &[UnansweredCharge],
    more: Option<&More>,
    burn_down: Option<&BurnDown>,
    output: Output,
) -> String {
    let account = &view.account;
    let under = view.above.first();
    let under = under.map_or_else(String::new, |above| format!(", under {}", above.name()));
    let mut text = format!(
        "{}: {}{under}\n\n",
        account.name(),
        view::target_text(account.budget())
    );
    text.push_str(&view::gap_text(view));
    text.push_str(&view::summary_text(view, output.terminal));
    text.push_str(&unanswered_text(unanswered));
    if let Some(more) = more {
        let like = if more.given { "of" } else { "like the last," };
        text.push_str(&format!(
            "\n  about {} more {like} {}\n",
            more.count,
            shortened(&more.event, 50)
        ));
    }
    text.push('\n');
    text.push_str(&orders(account, output));
    if let Some(burn_down) = burn_down.filter(|burn_down| burn_down.points().len() > 1) {
        text.push('\n');
        text.push_str(&output.terminal.chart(&burn_down.panel(Label::english)));
    }
    text
}

/// How many charges have no answer, and the newest of them.
fn unanswered_text(charges: &[UnansweredCharge]) -> String {
    let Some(newest) = charges.last() else {
        return String::new();
    };
    let (count, time) = (charges.len(), times::exact(newest.started_unix_ms));
    format!(
        "\n  charges without an answer: {count} (the newest: {}, {time});\n  each is a query that runs now, or one that failed after its charge\n",
        newest.id
    )
}

/// Order by order: those that count.
fn orders(account: &Account, output: Output) -> String {
    let odometer = view::read(account);
    let decides = odometer.room.map(|(order, _)| order);
    let mut table = Table::new([
        Column::number("order"),
        Column::number("limit"),
        Column::number("spent"),
        Column::number("pending"),
        Column::number("left"),
        Column::text(""),
    ])
    .ascii(output.terminal.ascii);
    let sums = account.spent().amounts().zip(account.pending().amounts());
    for (line, (spent, pending)) in odometer.left.iter().zip(sums) {
        let (Some(limit), Some(left)) = (line.limit, line.left) else {
            continue;
        };
        table.row([
            order_text(line.order),
            nats_text(limit, number::down),
            nats_text(spent, number::epsilon_up),
            nats_text(pending, number::epsilon_up),
            nats_text(left, number::down),
            if decides == Some(line.order) {
                "decides".to_owned()
            } else {
                String::new()
            },
        ]);
    }
    format!("{table}\n")
}
