//! Charges without an answer: started and never committed.
//!
//! Such a charge counts in full, and no answer was released for it. Its query is running, or it
//! failed or was killed after the charge. The list follows from the log alone, so that it
//! includes queries that crashed.

use std::collections::BTreeMap;

use crate::log::{Body, Entry, RequestId};
use crate::money::AccountNumber;

/// A charge without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnansweredCharge {
    /// Its id.
    pub id: RequestId,
    /// The account that was charged.
    pub account: AccountNumber,
    /// When it was started.
    pub started_unix_ms: u64,
}

/// The charges without an answer of a log that is read entry by entry.
#[derive(Debug, Default)]
pub(crate) struct OpenCharges {
    /// The number of entries read so far.
    pub(crate) size: u64,
    /// The reservations without a commit or void, with the time of their start.
    open: BTreeMap<RequestId, (AccountNumber, Option<u64>)>,
}

impl OpenCharges {
    /// Reads the next entry.
    pub(crate) fn read(&mut self, entry: &Entry) {
        self.size += 1;
        match &entry.body {
            Body::Reserved(charge) => {
                self.open.insert(entry.id, (charge.account, None));
            }
            Body::Started => {
                if let Some((_, started)) = self.open.get_mut(&entry.id) {
                    *started = Some(entry.unix_ms);
                }
            }
            Body::Committed { .. } | Body::Voided => {
                self.open.remove(&entry.id);
            }
            _ => {}
        }
    }

    /// The charges that were started, the oldest first.
    pub(crate) fn started(&self) -> Vec<UnansweredCharge> {
        let started = self.open.iter().filter_map(|(id, (account, started))| {
            started.map(|started_unix_ms| UnansweredCharge {
                id: *id,
                account: *account,
                started_unix_ms,
            })
        });
        let mut started: Vec<_> = started.collect();
        started.sort_by_key(|charge| (charge.started_unix_ms, charge.id));
        started
    }
}
