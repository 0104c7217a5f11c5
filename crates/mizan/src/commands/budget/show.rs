//! `mizan budget show`: one account, what is left of it and how it got there.

use std::path::PathBuf;

use mizan_core::PrivacyEvent;
use mizan_ledger::{Account, AccountNumber, AccountView, Body, Cost, Ledger};
use mizan_report::{Column, Figure, Table, number};
use serde_json::{Value, json};

use super::burn_down::BurnDown;
use super::view::{self, nats_text};
use crate::books::{self, Books, log_json};
use crate::failure::Failure;
use crate::output::{self, Output, order_text, shortened};
use crate::times;

/// The chart replays the log; a longer one is replayed only for --svg.
const SHORT_LOG: u64 = 20_000;

/// So far back the last charge is looked for.
const LOOK_BACK: u64 = 4096;

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

/// How many more of an event fit.
struct More {
    event: String,
    given: bool,
    count: u64,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    if let Some(path) = &arguments.svg {
        arguments.books.may_write(path)?;
    }
    let ledger = arguments.books.read()?;
    let view = books::account(&ledger, &arguments.name)?;
    let head = ledger.head()?;
    let more = match &arguments.event {
        Some(text) => {
            let definitions = mizan_core::Definitions::default();
            let event = crate::input::Expression::read(text, &definitions)?.event;
            Some(More {
                count: view.how_many(&Cost::of(&event, view.account.orders())?),
                event: event.to_string(),
                given: true,
            })
        }
        None => last_charge(&ledger, &view)?,
    };
    let burn_down = if head.size <= SHORT_LOG || arguments.svg.is_some() {
        Some(BurnDown::of(&ledger, view.account.number())?)
    } else {
        None
    };
    if let (Some(path), Some(burn_down)) = (&arguments.svg, &burn_down) {
        let figure = Figure::new("");
        let svg = figure.with(burn_down.panel()).to_svg();
        output::write_file(path, &svg)?;
    }
    Ok(output.either(
        || json(&view, more.as_ref(), burn_down.as_ref(), log_json(head)),
        || text(&view, more.as_ref(), burn_down.as_ref(), output),
    ))
}

/// The last event that was charged here or below, and how many more fit.
fn last_charge(ledger: &Ledger, view: &AccountView) -> Result<Option<More>, Failure> {
    let size = ledger.head()?.size;
    let mut begin = size.saturating_sub(LOOK_BACK);
    let mut last = None;
    while begin < size {
        let page = ledger.entries(begin)?;
        if page.is_empty() {
            break;
        }
        begin += page.len() as u64;
        for entry in page {
            if let Body::Reserved(charge) = entry.body
                && !charge.event.is_empty()
                && is_below(ledger, charge.account, view.account.number())?
            {
                last = Some(charge);
            }
        }
    }
    // What was reserved may have been more than was committed; the event says.
    Ok(last.and_then(|charge| {
        let event: PrivacyEvent = charge.event.parse().ok()?;
        let cost = Cost::of(&event, view.account.orders()).ok()?;
        Some(More {
            event: charge.event,
            given: false,
            count: view.how_many(&cost),
        })
    }))
}

/// Whether a charge to one account is one to the other.
fn is_below(
    ledger: &Ledger,
    account: AccountNumber,
    above: AccountNumber,
) -> Result<bool, Failure> {
    let mut next = Some(account);
    while let Some(number) = next {
        if number == above {
            return Ok(true);
        }
        let found = ledger.store().account(number);
        let found = found.map_err(mizan_ledger::LedgerError::from)?;
        next = found.as_ref().and_then(Account::parent);
    }
    Ok(false)
}

fn json(
    view: &AccountView,
    more: Option<&More>,
    burn_down: Option<&BurnDown>,
    log: Value,
) -> Value {
    let account = &view.account;
    let odometer = view::read(account);
    let points = burn_down.map(|burn_down| {
        let point = |point: &super::burn_down::Point| {
            json!({
                "position": point.position,
                "time": times::exact(point.unix_ms),
                "share": point.share,
                "epsilon": point.epsilon,
            })
        };
        burn_down.points().iter().map(point).collect::<Vec<_>>()
    });
    let mut shown = view::account_json(view);
    let more = json!({
        "about_more": more.map(|more| json!({"event": more.event, "count": more.count})),
        "own_delta": {
            "taken": view::own_delta(account.taken().own_delta()),
            "limit": view::own_delta(account.budget().own_delta()),
        },
        "orders": view::orders_json(account, &odometer),
        "burn_down": points,
        "gaps": view::gaps_json(view),
        "log": log,
    });
    if let (Value::Object(shown), Value::Object(more)) = (&mut shown, more) {
        shown.extend(more);
    }
    shown
}

fn text(
    view: &AccountView,
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
        text.push_str(&output.terminal.chart(&burn_down.panel()));
    }
    text
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
