//! `mizan budget show`: one account: target, spent, remaining, history.

use std::path::PathBuf;

use mizan_api::budget::view::{self, nats_text, variance_text};
use mizan_api::budget::{AccountDetails, BurnDown, RepeatsLeft};
use mizan_api::messages::Label;
use mizan_ledger::AccountView;
use mizan_ledger::evidence::{MAX_UNANSWERED, UnansweredCharge};
use mizan_report::{Column, Figure, Table, number};

use crate::failure::Failure;
use crate::input;
use crate::ledger_args::{self, LedgerArguments};
use crate::output::{self, Output, Progress, order_text, shortened};
use crate::times;

/// Show an account: target, spent, remaining
#[derive(Debug, clap::Args)]
#[command(after_help = "\
\"Spent\" and \"left\" as ε are estimates that hold if the queries were fixed in
advance. \"Worst case\" holds for adaptively chosen queries at any time. Whether a
charge fits is decided at each Rényi order, in integers (--explain shows them).

Examples:
  mizan budget show census
  mizan budget show census --svg burn-down.svg
  mizan budget show census --event 'gaussian(20)'")]
pub(crate) struct Arguments {
    /// Name of the account
    name: String,

    /// Count how many more of this event fit [default: the last one charged]
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,

    /// Draw the remaining budget over the log to this file (SVG)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Show limit, spent and left at each Rényi order
    #[arg(long)]
    explain: bool,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    if let Some(path) = &arguments.svg {
        arguments.ledger.may_write(path)?;
    }
    let ledger = arguments.ledger.read()?;
    let view = ledger_args::account(&ledger, &arguments.name)?;
    let event = arguments.event.as_deref().map(input::typed).transpose()?;
    let progress = Progress::of(ledger.head()?.size);
    let shown = AccountDetails::of(
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
            let orders = arguments.explain.then(|| orders(&shown.view, output));
            text(&shown.view, &shown.unanswered, more, burn_down, output)
                + &orders.unwrap_or_else(|| "\ndetails: --explain\n".to_owned())
        },
    ))
}

fn text(
    view: &AccountView,
    unanswered: &[UnansweredCharge],
    more: Option<&RepeatsLeft>,
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
    text.push_str(&unanswered_text(account.name().as_str(), unanswered));
    if let Some(more) = more {
        let like = match more.given {
            true => shortened(&more.event, 36),
            false => "the last one".to_owned(),
        };
        text.push_str(&match more.count {
            0 => format!("  no charge like {like} fits\n"),
            1 => format!("  one more charge like {like} fits\n"),
            count => format!("  about {count} more charges like {like} fit\n"),
        });
    }
    if let Some(burn_down) = burn_down.filter(|burn_down| burn_down.points().len() > 1) {
        text.push('\n');
        text.push_str(&output.terminal.chart(&burn_down.panel(Label::english)));
    }
    text
}

/// So many queries that failed or run are listed.
const LISTED: usize = 20;

/// How many queries failed or run, and the newest of them.
fn unanswered_text(name: &str, charges: &[UnansweredCharge]) -> String {
    if charges.is_empty() {
        return String::new();
    }
    let count = charges.len();
    let mut text = format!(
        "\n  queries that failed after their charge, or run now: {count} (with {MAX_UNANSWERED} that failed\n  queries are refused)\n"
    );
    for charge in charges.iter().rev().take(LISTED) {
        let time = times::exact(charge.started_unix_ms);
        let answered = if charge.answered {
            "  answered later"
        } else {
            ""
        };
        text.push_str(&format!("    {}  {time}{answered}\n", charge.id));
    }
    if count > LISTED {
        text.push_str(&format!("    and {} older ones\n", count - LISTED));
    }
    text.push_str(&format!(
        "  settle them with `mizan budget settle {name}`\n"
    ));
    text
}

/// The orders that have a limit, and the one with most left.
fn orders(view: &AccountView, output: Output) -> String {
    let account = &view.account;
    let odometer = view::read(account);
    let most_left = odometer.room.and_then(|room| room.order);
    let measured = odometer.room.map_or_else(String::new, |room| {
        let order = room.order.map_or_else(
            || "the clock has most left".to_owned(),
            |order| format!("order {} has most left", order_text(order)),
        );
        let holds = match account.budget().clock() {
            Some(_) => "while the\nclock or at least one order is within its limit",
            None => "while at\nleast one order is within its limit",
        };
        format!(
            "\nMany small queries cost less than the sum of their ε. The budget holds {holds}; {order}.\n"
        )
    });
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
    if let Some(clock) = account.budget().clock() {
        let left = account.clock_left().unwrap_or_default();
        table.row([
            "clock".to_owned(),
            variance_text(clock.limit, number::down),
            variance_text(account.spent().clock(), number::epsilon_up),
            variance_text(account.pending().clock(), number::epsilon_up),
            variance_text(left, number::down),
            match odometer.room {
                Some(room) if room.order.is_none() => "most left".to_owned(),
                _ => String::new(),
            },
        ]);
    }
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
            if most_left == Some(line.order) {
                "most left".to_owned()
            } else {
                String::new()
            },
        ]);
    }
    format!("{measured}\n{table}\n")
}
