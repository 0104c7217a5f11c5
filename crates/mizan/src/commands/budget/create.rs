//! `mizan budget create`: an account from a target.

use mizan_api::budget::view;
use mizan_core::Code;
use mizan_ledger::{AccountName, NewAccount, Outcome};
use serde_json::json;

use super::target::Typed;
use crate::books::{self, Books, log_json};
use crate::failure::Failure;
use crate::output::{Output, order_text};

/// Make an account from a target
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A charge to an account is a charge to all accounts above it. The topmost one, of
the data, carries the guarantee; those below are quotas.

Examples:
  mizan budget create census --epsilon 1 --delta 1e-6
  mizan budget create analysts --parent census --epsilon 0.5 --delta 1e-6
  mizan budget create survey --pure 2
  mizan budget create training --rho 0.1")]
pub(crate) struct Arguments {
    /// What to call it
    name: String,

    #[command(flatten)]
    target: Typed,

    /// The account above it
    #[arg(long, value_name = "NAME")]
    parent: Option<String>,

    /// An id of your own: the same id and command again changes nothing
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    #[command(flatten)]
    books: Books,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let name = AccountName::new(&arguments.name)?;
    let id = books::request_id(arguments.id.as_deref())?;
    let ledger = arguments.books.open()?;
    let parent = arguments.parent.as_deref();
    let parent = parent
        .map(|name| books::account(&ledger, name))
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
                (Some(first), Some(last)) => {
                    format!("{} orders from {first} to {last}", usable.len())
                }
                _ => "no orders".to_owned(),
            };
            let under = arguments.parent.as_ref();
            let under = under.map_or_else(String::new, |parent| format!(" under {parent}"));
            format!(
                "made {name}{under}: {}, kept at {orders}\nreceipt {}\n",
                view::target_text(account.budget()),
                done.receipt
            )
        },
    ))
}
