//! Charges without an answer: started and never committed.
//!
//! Such a charge stands, and no answer was released for it. It is a query that runs just
//! now, or one that failed or was killed after its charge. The log alone tells, so
//! crashes count too.

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

/// The charges without an answer in a log that is read entry by entry.
#[derive(Debug, Default)]
pub(crate) struct OpenCharges {
    /// How many entries were read.
    pub(crate) size: u64,
    /// Reserved and not settled, with when they were started.
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

    /// Those that were started, the oldest first.
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
