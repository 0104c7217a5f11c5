//! `mizan budget create`: creates an account.

use mizan_api::budget::view;
use mizan_core::Code;
use mizan_ledger::{AccountName, NewAccount, Outcome};
use serde_json::json;

use super::target::NewTargetArguments;
use crate::failure::Failure;
use crate::ledger_args::{self, LedgerArguments, log_json};
use crate::output::{Output, order_text};

/// Create an account with a target
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A charge to an account is also charged to all accounts above it. The topmost
account, the one of the data, carries the guarantee; accounts below it are
quotas.

Examples:
  mizan budget create census --epsilon 1 --delta 1e-6
  mizan budget create analysts --parent census --epsilon 0.5 --delta 1e-6
  mizan budget create releases --epsilon 1 --delta 1e-6 --clock 1
  mizan budget create survey --pure 2
  mizan budget create training --rho 0.1")]
pub(crate) struct Arguments {
    /// Name of the account
    name: String,

    #[command(flatten)]
    target: NewTargetArguments,

    /// Parent account
    #[arg(long, value_name = "NAME")]
    parent: Option<String>,

    /// Idempotency key: repeating the command with the same id changes nothing
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let name = AccountName::new(&arguments.name)?;
    let id = ledger_args::request_id(arguments.id.as_deref())?;
    let ledger = arguments.ledger.open()?;
    let parent = arguments.parent.as_deref();
    let parent = parent
        .map(|name| ledger_args::account(&ledger, name))
        .transpose()?;
    let above = parent.as_ref().map(|view| &view.account);
    let (orders, budget) = arguments.target.create(above)?;
    let new = NewAccount {
        name: name.clone(),
        parent: above.map(mizan_ledger::Account::number),
        orders,
        budget,
    };
    let done = ledger.create_account(id, new)?;
    let Outcome::Created(number) = done.outcome else {
        return Err(Failure::new(
            Code::MZ1732,
            "this id was used for something else",
            "choose another --id",
        ));
    };
    let account = ledger.account(number)?.account;
    ledger.close()?;
    let odometer = view::read(&account);
    Ok(output.either(
        || {
            json!({
                "account": name.as_str(),
                "parent": arguments.parent,
                "target": view::target_json(account.budget()),
                "own_delta": view::own_delta(account.budget().reserved_delta()),
                "orders": view::orders_json(&account, &odometer),
                "clock": view::clock_json(&account),
                "receipt": done.receipt.to_string(),
                "log": log_json(done.receipt.head),
            })
        },
        || {
            let usable: Vec<_> = (odometer.left.iter())
                .filter(|line| line.limit.is_some())
                .map(|line| order_text(line.order))
                .collect();
            let (first, last) = (usable.first(), usable.last());
            let orders = match (first, last) {
                (Some(only), Some(_)) if usable.len() == 1 => format!("order {only}"),
                (Some(first), Some(last)) => {
                    format!("{} orders from {first} to {last}", usable.len())
                }
                _ => "no orders".to_owned(),
            };
            let clock = match account.budget().clock() {
                Some(_) => "clock, ",
                None => "",
            };
            let under = arguments.parent.as_ref();
            let under = under.map_or_else(String::new, |parent| format!(" under {parent}"));
            format!(
                "created {name}{under}: {} ({clock}{orders})\nreceipt {}\n",
                view::target_text(account.budget()),
                done.receipt
            )
        },
    ))
}
