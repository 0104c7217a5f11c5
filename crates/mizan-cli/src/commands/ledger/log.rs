//! `mizan ledger log`: entries of the log, oldest first.

use std::collections::HashMap;

use mizan_api::ledger::{LogPage, LogRequest, entry};
use mizan_ledger::{AccountNumber, Body, Entry};
use mizan_report::{Column, Table};

use crate::failure::Failure;
use crate::input;
use crate::ledger_args::{self, LedgerArguments};
use crate::output::{Output, shortened};
use crate::times;

/// Show entries of the log, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan ledger log
  mizan ledger log --last 100 --account census
  mizan ledger log --from 0 --last 50 --format json")]
pub(crate) struct Arguments {
    /// Show at most N entries
    #[arg(
        long,
        value_name = "N",
        default_value = "20",
        allow_hyphen_values = true
    )]
    last: String,

    /// Start at this entry instead of N before the end
    #[arg(long, value_name = "ENTRY", allow_hyphen_values = true)]
    from: Option<String>,

    /// Show only entries of this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let most = input::whole(&arguments.last, "--last", 1..=1_000_000)?;
    let from = arguments.from.as_deref();
    let from = from
        .map(|text| input::whole(text, "--from", 0..=u64::MAX >> 12))
        .transpose()?;
    let ledger = arguments.ledger.look_into()?;
    let page = LogPage::read(
        &ledger,
        LogRequest {
            most,
            from,
            account: arguments.account.as_deref(),
        },
    )?;
    let LogPage { entries: found, .. } = &page;
    let cache: std::cell::RefCell<HashMap<AccountNumber, String>> = Default::default();
    let name = |number: AccountNumber| {
        let mut cache = cache.borrow_mut();
        let named = cache.entry(number);
        named
            .or_insert_with(|| ledger_args::name_of(&ledger, number))
            .clone()
    };
    Ok(output.either(
        || page.json(&ledger),
        || {
            let mut table = Table::new([
                Column::number("entry"),
                Column::text("time (UTC)"),
                Column::text("kind"),
                Column::text("account"),
                Column::text("details"),
            ])
            .ascii(output.terminal.ascii);
            // Reservations outside of the page are looked up, unless the page is long.
            let mut of = page.accounts.clone();
            for (_, entry) in found {
                if let Body::Reserved { charge, .. } = &entry.body {
                    of.insert(entry.id, charge.account);
                }
            }
            let far = |entry: &Entry| {
                let few = found.len() <= 1000;
                few.then(|| entry::charge(&ledger, entry)).flatten()
            };
            for (at, entry) in found {
                let account = entry::account(&entry.body)
                    .or_else(|| of.get(&entry.id).copied())
                    .or_else(|| Some(far(entry)?.account));
                table.row([
                    at.to_string(),
                    times::text(entry.unix_ms),
                    entry::kind(&entry.body).to_owned(),
                    account.map_or_else(String::new, |number| shortened(&name(number), 18)),
                    shortened(&entry::about(&entry.body), 60),
                ]);
            }
            format!("{table}\n{} of {} entries\n", found.len(), page.head.size)
        },
    ))
}
