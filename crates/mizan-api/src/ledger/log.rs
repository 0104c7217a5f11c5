//! Reads a part of the log.

use std::cell::RefCell;
use std::collections::HashMap;

use mizan_ledger::evidence::TreeHead;
use mizan_ledger::{AccountNumber, Body, Entry, Ledger, RequestId};
use serde::Serialize;
use utoipa::ToSchema;

use super::entry::{self, EntryJson};
use crate::budget::view::{LogJson, log_json};
use crate::failure::Failure;
use crate::lookup;

/// A request for a part of the log.
#[derive(Clone, Copy, Debug)]
pub struct LogRequest<'a> {
    /// The most entries.
    pub most: u64,
    /// The first position; otherwise the last entries are read.
    pub from: Option<u64>,
    /// Only entries of this account.
    pub account: Option<&'a str>,
}

/// A part of the log.
#[derive(Debug)]
pub struct LogPage {
    /// The entries with their positions.
    pub entries: Vec<(u64, Entry)>,
    /// The accounts of the charges that were read on the way.
    pub accounts: HashMap<RequestId, AccountNumber>,
    /// Size and root of the log.
    pub head: TreeHead,
}

/// A part of the log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogAnswer {
    /// The entries.
    pub entries: Vec<EntryJson>,
    /// Size and root of the log.
    pub log: LogJson,
}

impl LogPage {
    /// Reads a part of the log.
    ///
    /// # Errors
    ///
    /// The account does not exist, or the ledger cannot be read.
    pub fn read(ledger: &Ledger, request: LogRequest<'_>) -> Result<Self, Failure> {
        let LogRequest { most, from, .. } = request;
        let only = request.account;
        let only = only
            .map(|name| Ok::<_, Failure>(lookup::account(ledger, name)?.account.number()))
            .transpose()?;
        let head = ledger.head()?;
        // For an account the whole log is read: entries after a reservation belong to its account
        // too, but do not name it.
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
                    if let Body::Reserved { charge, .. } = &entry.body {
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
                    // Only the last entries are wanted: drop earlier ones from time to time.
                    if found.len() >= limit.saturating_mul(2) {
                        found.drain(..limit);
                    }
                }
            }
        }
        let extra = found.len().saturating_sub(limit);
        found.drain(..extra);
        Ok(Self {
            entries: found,
            accounts: of,
            head,
        })
    }

    /// The JSON form.
    #[must_use]
    pub fn json(&self, ledger: &Ledger) -> LogAnswer {
        let cache: RefCell<HashMap<AccountNumber, String>> = RefCell::default();
        let name = |number: AccountNumber| {
            let mut cache = cache.borrow_mut();
            let named = cache.entry(number);
            named
                .or_insert_with(|| lookup::name_of(ledger, number))
                .clone()
        };
        let entries = self.entries.iter();
        LogAnswer {
            entries: entries
                .map(|(at, entry)| entry::json(*at, entry, &name))
                .collect(),
            log: log_json(self.head),
        }
    }
}
