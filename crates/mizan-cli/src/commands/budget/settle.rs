//! `mizan budget settle`: the data owner has looked at queries that failed. Charges without an
//! answer are closed at their whole cost.

use mizan_api::budget::view;
use mizan_core::Code;
use mizan_ledger::RequestId;
use mizan_ledger::evidence::UnansweredCharge;
use serde_json::json;

use crate::failure::Failure;
use crate::ledger_args::{self, LedgerArguments, log_json};
use crate::output::Output;
use crate::times;

/// Settle queries that failed; charges without an answer are spent in full
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A query that failed after its charge may tell an analyst something about a person, so
with 8 of them an account refuses queries, even if they were sent again and answered.
List them first: `mizan budget show ACCOUNT`. Settling spends the whole cost of a charge
without an answer forever: a query that runs now loses its answer, and the same query
sent again is a new charge. A stored answer stays.

Examples:
  mizan budget settle census
  mizan budget settle census --id 5b0e7c9d2f3a4b1c8d7e6f5a4b3c2d1e")]
pub(crate) struct Arguments {
    /// The account; charges of the accounts below it are settled too
    name: String,

    /// Settle this charge only; may be given several times [default: all]
    #[arg(long, value_name = "ID")]
    id: Vec<String>,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let ledger = arguments.ledger.open()?;
    let account = ledger_args::account(&ledger, &arguments.name)?.account;
    let open = ledger.unanswered(&account)?;
    let charges = match arguments.id.is_empty() {
        true => open,
        false => chosen(&arguments.name, &arguments.id, &open)?,
    };
    let mut settled = Vec::with_capacity(charges.len());
    for charge in charges {
        settled.push((charge, ledger.settle(charge.id)?));
    }
    let view = ledger.account(account.number())?;
    let head = ledger.head()?;
    ledger.close()?;
    Ok(output.either(
        || {
            let charges = settled.iter().map(|(charge, done)| {
                json!({
                    "id": charge.id.to_string(),
                    "time": times::exact(charge.started_unix_ms),
                    "answered": charge.answered,
                    "receipt": done.receipt.to_string(),
                })
            });
            json!({
                "account": account.name().as_str(),
                "settled": charges.collect::<Vec<_>>(),
                "remaining": view::remaining_json(&view),
                "gaps": view::gaps_json(&view.gaps),
                "log": log_json(head),
            })
        },
        || {
            let mut text = view::gap_text(&view);
            if settled.is_empty() {
                text.push_str(&format!(
                    "{} has no query that failed or runs now\n",
                    account.name()
                ));
            }
            for (charge, done) in &settled {
                text.push_str(&format!(
                    "settled {}, started {}\nreceipt {}\n",
                    charge.id,
                    times::exact(charge.started_unix_ms),
                    done.receipt
                ));
            }
            text
        },
    ))
}

/// The charges of these ids.
fn chosen(
    account: &str,
    ids: &[String],
    open: &[UnansweredCharge],
) -> Result<Vec<UnansweredCharge>, Failure> {
    let find = |text: &String| {
        let id = RequestId::from_text(text);
        let found = open.iter().find(|charge| charge.id == id);
        found.copied().ok_or_else(|| {
            Failure::new(
                Code::MZ1791,
                format!("{account} has no query that failed or runs now under the id {text:?}"),
                format!("list them with `mizan budget show {account}`"),
            )
        })
    };
    ids.iter().map(find).collect()
}
