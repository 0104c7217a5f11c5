//! `mizan budget raise`: raises the target of an account.

use mizan_api::budget::view;
use mizan_ledger::{AccountNumber, Body, Budget, Ledger, RequestId};
use serde_json::json;

use super::target::TargetArguments;
use crate::failure::Failure;
use crate::ledger_args::{self, LedgerArguments, log_json};
use crate::output::Output;

/// Raise the budget of an account
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The kind of target stays the same, and a target is never lowered. The data owner
decides; the log records it forever.

Examples:
  mizan budget raise census --epsilon 2
  mizan budget raise survey --pure 3")]
pub(crate) struct Arguments {
    /// Account to raise
    name: String,

    #[command(flatten)]
    target: TargetArguments,

    /// Idempotency key: repeating the command with the same id changes nothing
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let id = ledger_args::request_id(arguments.id.as_deref())?;
    let ledger = arguments.ledger.open()?;
    let before = ledger_args::account(&ledger, &arguments.name)?.account;
    let budget = match raised_before(&ledger, id, before.number())? {
        // Repeated: the target of the first time, whatever was raised since.
        Some(budget) if arguments.target.is(&budget)? => budget,
        _ => arguments.target.raise(&before)?,
    };
    let done = ledger.raise(id, before.number(), budget)?;
    let view = ledger.account(before.number())?;
    ledger.close()?;
    let after = &view.account;
    Ok(output.either(
        || {
            json!({
                "account": after.name().as_str(),
                "before": view::target_json(before.budget()),
                "target": view::target_json(after.budget()),
                "remaining": view::remaining_json(&view),
                "gaps": view::gaps_json(&view.gaps),
                "receipt": done.receipt.to_string(),
                "log": log_json(done.receipt.head),
            })
        },
        || {
            format!(
                "{}raised {} from {} to {}\nreceipt {}\n",
                view::gap_text(&view),
                after.name(),
                view::target_text(before.budget()),
                view::target_text(after.budget()),
                done.receipt
            )
        },
    ))
}

/// The budget to which an id has raised an account.
fn raised_before(
    ledger: &Ledger,
    id: Option<RequestId>,
    number: AccountNumber,
) -> Result<Option<Budget>, Failure> {
    let found = match id {
        Some(id) => ledger.find(id)?,
        None => None,
    };
    let Some(receipt) = found else {
        return Ok(None);
    };
    let entry = ledger.entries(receipt.position)?.into_iter().next();
    Ok(match entry.map(|entry| entry.body) {
        Some(Body::Raised { account, budget }) if account == number => Some(budget),
        _ => None,
    })
}
