//! `mizan spend`: charges an account for a release made elsewhere.

use mizan_api::budget::view::{self, nats_text, variance_text};
use mizan_api::spend::{Refused, Spend};
use mizan_core::Definitions;
use mizan_ledger::Refusal;
use mizan_report::{Column, Table, number};

use crate::failure::Failure;
use crate::input;
use crate::ledger_args::{self, LedgerArguments};
use crate::output::{CommandOutput, Output, order_text, shortened};

/// Charge an account for a release made elsewhere
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Charge first, release afterwards: when the command returns, the charge is
durable. The same --id with the same event is charged once. A charge that does
not fit is refused (exit code 1), and the largest that fits is shown.

Examples:
  mizan spend census 'gaussian(20)'
  mizan spend census '100 * laplace(50)' --id report-2026-11
  mizan spend training '1000 * poisson(0.01, gaussian(1.1))' --format json")]
pub(crate) struct Arguments {
    /// Account to charge
    #[arg(value_name = "ACCOUNT")]
    name: String,

    /// Event, as for `mizan account`
    #[arg(value_name = "EVENT")]
    expression: String,

    /// Name of this charge: a UUID or any text
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// Show a refused charge at each Rényi order
    #[arg(long)]
    explain: bool,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<CommandOutput, Failure> {
    let event = input::expression(&arguments.expression, &Definitions::default())?.event;
    let id = ledger_args::request_id(arguments.id.as_deref())?;
    let ledger = arguments.ledger.open()?;
    let account = ledger_args::account(&ledger, &arguments.name)?;
    let spend = Spend::charge(&ledger, &account, event, id)?;
    let answer = match &spend.refused {
        Some(refused) => CommandOutput::refused(output.either(
            || spend.refused_json(refused),
            || refused_text(&spend, refused, arguments.explain, output),
        )),
        None => CommandOutput::done(output.either(|| spend.json(), || text(&spend, output))),
    };
    ledger.close()?;
    Ok(answer)
}

fn cost_text(spend: &Spend) -> String {
    let account = &spend.view.account;
    let delta = view::reading_delta(account);
    match spend.cost.epsilon(account.orders(), delta) {
        Some(epsilon) if delta.get() > 0.0 => format!(
            "ε {} at δ {} on its own",
            number::epsilon_up(epsilon.get(), 4),
            number::nearest(delta.get(), 3)
        ),
        Some(epsilon) => format!("ε {} on its own", number::epsilon_up(epsilon.get(), 4)),
        None => "ε without bound".to_owned(),
    }
}

fn text(spend: &Spend, output: Output) -> String {
    let charged = match spend.done.fresh {
        true => "charged",
        false => "charged before under this id, not again",
    };
    let mut text = format!(
        "{charged}: {} to {}\nit costs {}\n\n",
        shortened(&spend.event.to_string(), 40),
        spend.view.account.name(),
        cost_text(spend)
    );
    text.push_str(&view::gap_text(&spend.view));
    text.push_str(&view::summary_text(&spend.view, output.terminal));
    text.push_str(&format!(
        "  about {} more of these fit\n\nreceipt {}\n",
        spend.view.how_many(&spend.cost),
        spend.done.receipt
    ));
    text
}

fn refused_text(spend: &Spend, refused: &Refused, explain: bool, output: Output) -> String {
    let Refused {
        denial,
        by,
        fitting,
    } = refused;
    // Alternatives may fit by a price that holds in the present state only: the share is not a maximum.
    let (refused, share) = match spend.done.fresh {
        true => ("refused", "of this cost fits"),
        false => (
            "refused before under this id, and stays refused",
            "of this cost fitted at that time",
        ),
    };
    let mut text = format!(
        "{refused}: the charge does not fit the budget of {by}\n{} costs {}\nnothing was charged\n\n",
        shortened(&spend.event.to_string(), 40),
        cost_text(spend)
    );
    text.push_str(&view::gap_text(&spend.view));
    text.push_str(&view::summary_text(&spend.view, output.terminal));
    text.push('\n');
    if let Some(refusal) = spend.done.refusal.as_deref() {
        text.push_str(&reserved_text(refusal));
        if explain {
            text.push_str(&lines(refusal, output));
            text.push('\n');
        }
    }
    let percent = number::down(100.0 * view::share(denial.largest), 3);
    let fits = match fitting.is_empty() {
        true => "",
        false => ", such as",
    };
    text.push_str(&format!("{percent} % {share}{fits}\n"));
    let events = fitting.iter().map(|fitting| fitting.event().to_string());
    let events: Vec<String> = events
        .map(|event| format!("  {}\n", shortened(&event, 74)))
        .collect();
    text.push_str(&events.join("or\n"));
    if spend.done.refusal.is_some() && !explain {
        text.push_str("details: --explain\n");
    }
    text
}

/// The reserved delta, if too little of it is left.
fn reserved_text(refusal: &Refusal) -> String {
    let (asked, taken) = (refusal.asked_reserved_delta, refusal.taken_reserved_delta);
    let limit = refusal.reserved_delta_limit;
    if asked.atto().saturating_add(taken.atto()) <= limit.atto() {
        return String::new();
    }
    format!(
        "reserved δ: the charge asks for {}; {} of {} is used\n",
        number::delta_up(view::own_delta(asked)),
        number::nearest(view::own_delta(taken), 3),
        number::nearest(view::own_delta(limit), 3),
    )
}

/// The orders that have a limit.
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
    if let Some(clock) = refusal.clock {
        // It was refused, so it did not fit the clock.
        let asked = clock
            .asked
            .map(|asked| variance_text(asked, number::epsilon_up));
        table.row([
            "clock".to_owned(),
            asked.unwrap_or_else(|| "no price".to_owned()),
            variance_text(clock.spent, number::epsilon_up),
            variance_text(clock.pending, number::epsilon_up),
            variance_text(clock.limit, number::down),
            "too much".to_owned(),
        ]);
    }
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
        mizan_ledger::money::Rule::Any if refusal.clock.is_some() => {
            "the charge fits if it fits the clock or one order"
        }
        mizan_ledger::money::Rule::Any => "the charge fits if it fits at one order",
        mizan_ledger::money::Rule::Every => "the charge fits if it fits at every order",
    };
    format!("{table}\n{rule}\n")
}
