//! `mizan spend`: charges for a release that is made elsewhere.

use mizan_api::budget::view::{self, nats_text};
use mizan_api::spend::{Refused, Spend};
use mizan_core::Definitions;
use mizan_ledger::Refusal;
use mizan_report::{Column, Table, number};

use crate::books::{self, Books};
use crate::failure::Failure;
use crate::input;
use crate::output::{Answer, Output, order_text, shortened};

/// Charge an account for a release that is made elsewhere
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Charge first, release after: once this has answered, the charge is on the disk.
The same --id with the same event is charged once, however often it is asked. A
charge that does not fit is refused (exit code 1), with what would fit.

Examples:
  mizan spend census 'gaussian(20)'
  mizan spend census '100 * laplace(50)' --id report-2026-11
  mizan spend training '1000 * poisson(0.01, gaussian(1.1))' --format json")]
pub(crate) struct Arguments {
    /// The account
    #[arg(value_name = "ACCOUNT")]
    name: String,

    /// The event, as for `mizan account`
    #[arg(value_name = "EVENT")]
    expression: String,

    /// A UUID or any text of your own that names this charge
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    #[command(flatten)]
    books: Books,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<Answer, Failure> {
    let event = input::expression(&arguments.expression, &Definitions::default())?.event;
    let id = books::request_id(arguments.id.as_deref())?;
    let ledger = arguments.books.open()?;
    let account = books::account(&ledger, &arguments.name)?;
    let spend = Spend::charge(&ledger, &account, event, id)?;
    let answer = match &spend.refused {
        Some(refused) => Answer::refused(output.either(
            || spend.refused_json(refused),
            || refused_text(&spend, refused, output),
        )),
        None => Answer::done(output.either(|| spend.json(), || text(&spend, output))),
    };
    ledger.close()?;
    Ok(answer)
}

fn cost_text(spend: &Spend) -> String {
    let account = &spend.view.account;
    let delta = view::reading_delta(account);
    match spend.cost.epsilon(account.orders(), delta) {
        Some(epsilon) if delta.get() > 0.0 => format!(
            "alone ε {} at δ {}",
            number::epsilon_up(epsilon.get(), 4),
            number::nearest(delta.get(), 3)
        ),
        Some(epsilon) => format!("alone ε {}", number::epsilon_up(epsilon.get(), 4)),
        None => "without bound".to_owned(),
    }
}

fn text(spend: &Spend, output: Output) -> String {
    let again = if spend.done.fresh {
        "charged"
    } else {
        "charged before under this id, and not again"
    };
    let event = shortened(&spend.event.to_string(), 60);
    let mut text = format!(
        "{again}: {event} to {}, {}\n\n",
        spend.view.account.name(),
        cost_text(spend)
    );
    text.push_str(&view::gap_text(&spend.view));
    text.push_str(&view::summary_text(&spend.view, output.terminal));
    text.push_str(&format!(
        "\n  about {} more of these\n\nreceipt {}\n",
        spend.view.how_many(&spend.cost),
        spend.done.receipt
    ));
    text
}

fn refused_text(spend: &Spend, refused: &Refused, output: Output) -> String {
    let event = shortened(&spend.event.to_string(), 60);
    let Refused {
        denial,
        by,
        fitting,
    } = refused;
    let refusal = spend.done.refusal.as_deref();
    let again = if spend.done.fresh {
        "refused"
    } else {
        "refused before under this id, which stays refused"
    };
    let mut text = format!(
        "{again}: {event}, {}, does not fit into {by}\n",
        cost_text(spend)
    );
    text.push_str("nothing was charged\n\n");
    text.push_str(&view::gap_text(&spend.view));
    if let Some(refusal) = refusal {
        text.push_str(&lines(refusal, output));
        if refusal.asked_reserved_delta > mizan_ledger::DeltaAmount::ZERO {
            text.push_str(&format!(
                "own deltas: asked {}, taken {}, limit {}\n",
                number::delta_up(view::own_delta(refusal.asked_reserved_delta)),
                number::nearest(view::own_delta(refusal.taken_reserved_delta), 3),
                number::nearest(view::own_delta(refusal.reserved_delta_limit), 3),
            ));
        }
        text.push('\n');
    }
    let percent = number::down(100.0 * view::share(denial.largest), 3);
    let most = if spend.done.fresh {
        "the most that fits is"
    } else {
        "the most that fitted then was"
    };
    text.push_str(&format!("{most} {percent} % of this cost"));
    for (place, fitting) in fitting.iter().enumerate() {
        let before = if place == 0 { ", as\n" } else { "or\n" };
        let event = fitting.event();
        text.push_str(&format!(
            "{before}  {}\n",
            shortened(&event.to_string(), 74)
        ));
    }
    if fitting.is_empty() {
        text.push('\n');
    }
    text
}

/// Order by order: those that have a limit.
fn lines(refusal: &Refusal, output: Output) -> String {
    let mut table = Table::new([
        Column::number("order"),
        Column::number("asked"),
        Column::number("spent"),
        Column::number("pending"),
        Column::number("limit"),
        Column::text(""),
    ])
    .ascii(output.terminal.ascii);
    for line in &refusal.lines {
        let Some(limit) = line.limit else { continue };
        let taken = line.spent.saturating_add(line.pending);
        let fits = taken.saturating_add(line.asked) <= limit;
        table.row([
            order_text(line.order),
            nats_text(line.asked, number::epsilon_up),
            nats_text(line.spent, number::epsilon_up),
            nats_text(line.pending, number::epsilon_up),
            nats_text(limit, number::down),
            if fits { "fits" } else { "too much" }.to_owned(),
        ]);
    }
    let rule = match refusal.rule {
        mizan_ledger::money::Rule::Any => "one order would have to fit",
        mizan_ledger::money::Rule::Every => "every order would have to fit",
    };
    format!("{table}\n{rule}\n")
}
