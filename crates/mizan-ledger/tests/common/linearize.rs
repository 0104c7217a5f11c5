//! Whether a recorded history is linearizable: whether one ledger that executes one operation at a
//! time, between its invocation and its response, could have produced it.
//!
//! In general that takes a search. Here the log gives the order, so it is only checked: the log is
//! legal (it replays), every response is that of the replay at its position, and operations that
//! did not overlap in time are in that order.

use mizan_ledger::store::Head;
use mizan_ledger::*;

use super::check::{Checked, ClientRecord};

/// One operation of a client, with times of a clock that all processes share.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) invoked: u64,
    pub(crate) responded: u64,
    pub(crate) seen: Seen,
}

/// What an operation came back with.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    /// A request was decided, now or before.
    Received(ClientRecord),
    /// A read of the head.
    Head { size: u64, root: String },
}

/// Nanoseconds on the clock that all processes of this machine share.
pub(crate) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let (seconds, rest) = (time.tv_sec, time.tv_nsec);
    u64::try_from(seconds * 1_000_000_000 + rest).unwrap()
}

impl Seen {
    pub(crate) fn head(head: Head) -> Self {
        Self::Head {
            size: head.size,
            root: head.root.to_string(),
        }
    }
}

impl Operation {
    pub(crate) fn to_line(&self) -> String {
        let (invoked, responded) = (self.invoked, self.responded);
        match &self.seen {
            Seen::Received(told) => format!("{invoked} {responded} told {}", told.to_line()),
            Seen::Head { size, root } => format!("{invoked} {responded} head {size} {root}"),
        }
    }

    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ');
        let invoked = parts.next()?.parse().ok()?;
        let responded = parts.next()?.parse().ok()?;
        let (kind, rest) = (parts.next()?, parts.next()?);
        let seen = match kind {
            "told" => Seen::Received(ClientRecord::from_line(rest)?),
            _ => {
                let (size, root) = rest.split_once(' ')?;
                let (size, root) = (size.parse().ok()?, root.to_owned());
                Seen::Head { size, root }
            }
        };
        Some(Self {
            invoked,
            responded,
            seen,
        })
    }

    /// Its place in the order of the log: entry p is at 2p + 1, a read of s entries is at 2s,
    /// between the last entry it saw and the next. A new entry also comes with a head, which is a
    /// read.
    fn places(&self) -> impl Iterator<Item = u64> {
        let (entry, size) = match &self.seen {
            Seen::Received(told) => (told.position, told.size),
            Seen::Head { size, .. } => (None, *size),
        };
        let entry = entry.map(|position| 2 * position + 1);
        entry.into_iter().chain([2 * size])
    }
}

/// Checks a history against the log it led to.
///
/// # Errors
///
/// What cannot have happened.
pub(crate) fn check(checked: &Checked, history: &[Operation]) -> Result<(), String> {
    let mut claimed = vec![false; checked.log.len()];
    for operation in history {
        match &operation.seen {
            Seen::Received(told) => {
                if let Some(why) = checked.denies(told) {
                    return Err(format!("{why}: {told:?}"));
                }
                if let Some(position) = told.position {
                    let claimed = &mut claimed[usize::try_from(position).unwrap()];
                    if std::mem::replace(claimed, true) {
                        return Err(format!("two clients made entry {position}"));
                    }
                }
            }
            Seen::Head { size, root } => {
                let known = checked.roots.get(usize::try_from(*size).unwrap());
                if known.map(Digest::to_string).as_ref() != Some(root) {
                    return Err(format!("a head of {size} entries that never was"));
                }
            }
        }
    }
    // Sweep over time: whatever is invoked now stands behind all that has
    // responded before.
    let mut invoked: Vec<&Operation> = history.iter().collect();
    let mut responded = invoked.clone();
    invoked.sort_by_key(|operation| operation.invoked);
    responded.sort_by_key(|operation| operation.responded);
    let mut responded = responded.into_iter().peekable();
    let mut behind = 0;
    for operation in invoked {
        while let Some(earlier) = responded.next_if(|o| o.responded < operation.invoked) {
            behind = earlier.places().chain([behind]).max().unwrap_or(behind);
        }
        if operation.places().any(|place| place < behind) {
            return Err(format!(
                "it does not see what was there before: {operation:?}"
            ));
        }
    }
    Ok(())
}
