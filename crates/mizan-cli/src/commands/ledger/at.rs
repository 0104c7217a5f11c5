//! `mizan ledger at`: the accounts as they were at a date.

use mizan_api::budget::view;
use mizan_ledger::state::{LedgerView as _, State};
use mizan_ledger::{Account, AccountNumber, AccountView};
use mizan_report::{Column, Table, number};
use serde_json::json;

use crate::failure::Failure;
use crate::ledger_args::LedgerArguments;
use crate::output::{Output, shortened};
use crate::times;

/// Show the accounts as they were at a date
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A date without a time means the end of that day; times are UTC unless they have
an offset.

Examples:
  mizan ledger at 2026-11-16
  mizan ledger at 2026-11-16T12:30:00+03:00 --format json")]
pub(crate) struct Arguments {
    /// Date or time
    date: String,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let unix_ms = times::end_of(&arguments.date)?;
    let ledger = arguments.ledger.read()?;
    let state = ledger.at(unix_ms)?;
    let size = state.size();
    let gaps: Vec<_> = (ledger.gaps()?.into_iter())
        .filter(|gap| gap.position < size)
        .collect();
    let accounts: Vec<&Account> = (0..)
        .map_while(|number| state.account(AccountNumber::new(number)))
        .collect();
    Ok(output.either(
        || {
            let accounts = accounts.iter().map(|account| {
                view::account_json(&AccountView {
                    account: (*account).clone(),
                    above: above(&state, account),
                    gaps: Vec::new(),
                })
            });
            json!({
                "time": times::exact(unix_ms),
                "entries": state.size(),
                "accounts": accounts.collect::<Vec<_>>(),
                "gaps": gaps.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        },
        || {
            let mut text = format!(
                "{} entries up to {} UTC\n\n",
                state.size(),
                times::text(unix_ms)
            );
            if let Some(gap) = gaps.last() {
                text.push_str(&format!("warning: {gap}\n"));
            }
            if accounts.is_empty() {
                text.push_str("no accounts at that time\n");
                return text;
            }
            let mut table = Table::new([
                Column::text("account"),
                Column::text("target"),
                Column::number("spent (about)"),
                Column::number("left"),
            ])
            .ascii(output.terminal.ascii);
            for account in &accounts {
                let odometer = view::read(account);
                let spent = odometer.estimate.map_or_else(
                    || "∞".to_owned(),
                    |(epsilon, _)| format!("ε {}", number::epsilon_up(epsilon.get(), 4)),
                );
                let share = odometer.room.map_or(0.0, |room| room.share);
                table.row([
                    shortened(account.name().as_str(), 30),
                    view::target_text(account.budget()),
                    spent,
                    format!("{} %", number::down(100.0 * share, 3)),
                ]);
            }
            text.push_str(&format!("{table}\n"));
            text
        },
    ))
}

/// The accounts above one.
fn above(state: &State, account: &Account) -> Vec<Account> {
    let mut above = Vec::new();
    let mut next = account.parent();
    while let Some(found) = next.and_then(|number| state.account(number)) {
        next = found.parent();
        above.push(found.clone());
    }
    above
}
