//! `mizan ledger log`: what happened, oldest first.

use std::collections::HashMap;

use mizan_ledger::{AccountNumber, Body, Entry, RequestId};
use mizan_report::{Column, Table};
use serde_json::json;

use super::entry::{self, Names};
use crate::books::{self, Books, log_json};
use crate::failure::Failure;
use crate::input;
use crate::output::{Output, shortened};
use crate::times;

/// Show what happened
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan ledger log
  mizan ledger log --last 100 --account census
  mizan ledger log --from 0 --last 50 --format json")]
pub(crate) struct Arguments {
    /// At most so many entries
    #[arg(
        long,
        value_name = "N",
        default_value = "20",
        allow_hyphen_values = true
    )]
    last: String,

    /// Begin at this entry, and not --last before the end
    #[arg(long, value_name = "ENTRY", allow_hyphen_values = true)]
    from: Option<String>,

    /// Only what names this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,

    #[command(flatten)]
    books: Books,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let most = input::whole(&arguments.last, "--last", 1..=1_000_000)?;
    let from = arguments.from.as_deref();
    let from = from
        .map(|text| input::whole(text, "--from", 0..=u64::MAX >> 12))
        .transpose()?;
    let ledger = arguments.books.look_into()?;
    let only = arguments.account.as_deref();
    let only = only
        .map(|name| Ok::<_, Failure>(books::account(&ledger, name)?.account.number()))
        .transpose()?;
    let head = ledger.head()?;
    // With an account all is looked through; what follows a reservation is of
    // its account too.
    let first = match (from, only) {
        (_, Some(_)) => 0,
        (Some(from), None) => from,
        (None, None) => head.size.saturating_sub(most),
    };
    let mut of: HashMap<RequestId, AccountNumber> = HashMap::new();
    let mut found: Vec<(u64, Entry)> = Vec::new();
    let mut position = first;
    let limit = usize::try_from(most).unwrap_or(usize::MAX);
    'pages: while position < head.size {
        let page = ledger.entries(position)?;
        if page.is_empty() {
            break;
        }
        for entry in page {
            if position >= head.size {
                break 'pages;
            }
            if let Some(only) = only {
                if let Body::Reserved(charge) = &entry.body {
                    of.insert(entry.id, charge.account);
                }
                let about = entry::account(&entry.body).or_else(|| of.get(&entry.id).copied());
                if about != Some(only) || from.is_some_and(|from| position < from) {
                    position += 1;
                    continue;
                }
            }
            found.push((position, entry));
            position += 1;
            if found.len() >= limit {
                if from.is_some() || only.is_none() {
                    break 'pages;
                }
                // The last ones are wanted; forget early ones now and then.
                if found.len() >= limit.saturating_mul(2) {
                    found.drain(..limit);
                }
            }
        }
    }
    let extra = found.len().saturating_sub(limit);
    found.drain(..extra);
    let cache: std::cell::RefCell<HashMap<AccountNumber, String>> = Default::default();
    let name = |number: AccountNumber| {
        let mut cache = cache.borrow_mut();
        let named = cache.entry(number);
        named
            .or_insert_with(|| books::name_of(&ledger, number))
            .clone()
    };
    Ok(output.either(
        || {
            let names = Names(&name);
            let entries = found
                .iter()
                .map(|(at, entry)| entry::json(*at, entry, &names));
            json!({"entries": entries.collect::<Vec<_>>(), "log": log_json(head)})
        },
        || {
            let mut table = Table::new([
                Column::number("entry"),
                Column::text("time (UTC)"),
                Column::text("what"),
                Column::text("account"),
                Column::text("about"),
            ])
            .ascii(output.terminal.ascii);
            // What is further back is looked up, unless that would take long.
            for (_, entry) in &found {
                if let Body::Reserved(charge) = &entry.body {
                    of.insert(entry.id, charge.account);
                }
            }
            let far = |entry: &Entry| {
                let few = found.len() <= 1000;
                few.then(|| entry::charge(&ledger, entry)).flatten()
            };
            for (at, entry) in &found {
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
            format!("{table}\n{} of {} entries\n", found.len(), head.size)
        },
    ))
}
