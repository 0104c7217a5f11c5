//! What happened.

use std::cell::RefCell;
use std::collections::HashMap;

use mizan_ledger::evidence::TreeHead;
use mizan_ledger::{AccountNumber, Body, Entry, Ledger, RequestId};
use serde::Serialize;
use utoipa::ToSchema;

use super::entry::{self, EntryJson};
use crate::books;
use crate::budget::view::{LogJson, log_json};
use crate::failure::Failure;

/// Which part of the log.
#[derive(Clone, Copy, Debug)]
pub struct LogQuestion<'a> {
    /// At most so many entries.
    pub most: u64,
    /// From this entry on, and not the last ones.
    pub from: Option<u64>,
    /// Only what names this account.
    pub account: Option<&'a str>,
}

/// Entries of the log.
#[derive(Debug)]
pub struct LogPage {
    /// Where they stand, and what they say.
    pub entries: Vec<(u64, Entry)>,
    /// The accounts of charges that were met on the way.
    pub accounts: HashMap<RequestId, AccountNumber>,
    /// The log.
    pub head: TreeHead,
}

/// Entries of the log, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogAnswer {
    /// The entries.
    pub entries: Vec<EntryJson>,
    /// The log.
    pub log: LogJson,
}

impl LogPage {
    /// Reads a part of the log.
    ///
    /// # Errors
    ///
    /// There is no such account, or the ledger cannot be read.
    pub fn read(ledger: &Ledger, question: LogQuestion<'_>) -> Result<Self, Failure> {
        let LogQuestion { most, from, .. } = question;
        let only = question.account;
        let only = only
            .map(|name| Ok::<_, Failure>(books::account(ledger, name)?.account.number()))
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
                    // The last ones are wanted; forget early ones now and then.
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

    /// For programs.
    #[must_use]
    pub fn json(&self, ledger: &Ledger) -> LogAnswer {
        let cache: RefCell<HashMap<AccountNumber, String>> = RefCell::default();
        let name = |number: AccountNumber| {
            let mut cache = cache.borrow_mut();
            let named = cache.entry(number);
            named
                .or_insert_with(|| books::name_of(ledger, number))
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
