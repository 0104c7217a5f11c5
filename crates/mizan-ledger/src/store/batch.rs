//! One transaction for several requests (group commit): each is decided in turn, and all changes
//! are written together.

use std::collections::{HashMap, HashSet};

use crate::log::{Body, Entry, Outcome, RequestId};
use crate::money::Refusal;
use crate::state::carry_out::carry_out;
use crate::state::{Decision, LedgerView, decide};
use crate::store::cache::Cache;
use crate::store::rows::{Changes, Database, NewEntry, Written, row_number};
use crate::store::{Head, NODE_LEVEL, StoreError, Submission};

/// A receipt without the head of the log, which is the same for the whole batch.
pub(super) struct BatchOutcome {
    pub(super) outcome: Outcome,
    pub(super) refusal: Option<Box<Refusal>>,
    pub(super) position: Option<u64>,
}

/// The cache after a batch, and for each job a result for each of its requests up to the first
/// error.
pub(super) type Decided = (Cache, Vec<Vec<Result<BatchOutcome, StoreError>>>);

/// Which ids are looked up before a batch is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdLookup {
    /// All ids.
    All,
    /// Only ids whose first request is not in the batch. Most others are new, and the database
    /// reports a duplicate if it can.
    Old,
}

/// Decides and writes the requests of each job, inside a transaction. An error that is not one of
/// a request fails all of them. `seen` is the last known head of the log. None: an id that was
/// assumed to be new exists, or may exist; the transaction must be rolled back and decided again
/// with all ids looked up.
pub(super) fn decide_all<D: Database>(
    database: &mut D,
    cached: Option<Cache>,
    seen: Option<Head>,
    jobs: &[Vec<Submission>],
    look: IdLookup,
) -> Result<Option<Decided>, StoreError> {
    let moved = database.moved(cached.as_ref().map(|cache| &cache.position))?;
    let mut cache = match (moved, cached) {
        (None, Some(cache)) => cache,
        (Some(position), _) => Cache::at(position),
        (None, None) => Cache::at(super::read::position(database)?),
    };
    // The file may have been replaced by another copy of the ledger.
    let found = cache.position.head();
    if seen.is_some_and(|seen| found.size < seen.size || (found.size == seen.size && found != seen))
    {
        return Err(StoreError::damaged("entries that were there are gone"));
    }
    let taken_for_new = match look {
        IdLookup::Old if D::NOTICES => beginning(jobs),
        _ => HashSet::new(),
    };
    let held = cache.prepare(database, jobs.iter().flatten(), &taken_for_new)?;
    database.hold(&held)?;
    let mut changes = Changes::default();
    let mut all_outcomes = Vec::with_capacity(jobs.len());
    for submissions in jobs {
        let mut outcomes = Vec::with_capacity(submissions.len());
        for submission in submissions {
            match decide_one(&mut cache, &mut changes, submission) {
                // Nothing will be written for this id, so the database cannot report a duplicate.
                Err(StoreError::Request(_)) if taken_for_new.contains(&submission.id) => {
                    return Ok(None);
                }
                // The requests after it in the job depend on its success.
                Err(error @ StoreError::Request(_)) => {
                    outcomes.push(Err(error));
                    break;
                }
                result => outcomes.push(Ok(result?)),
            }
        }
        all_outcomes.push(outcomes);
    }
    if !changes.entries.is_empty() {
        changes.sums = cache.take_sums();
        match database.write(&changes, &cache.position)? {
            Written::All => {}
            Written::Known if look == IdLookup::Old => return Ok(None),
            Written::Known => return Err(StoreError::damaged("an id is known and not found")),
        }
    }
    Ok(Some((cache, all_outcomes)))
}

/// The ids whose first request in a batch creates something.
fn beginning(jobs: &[Vec<Submission>]) -> HashSet<RequestId> {
    let mut first = HashMap::new();
    for submission in jobs.iter().flatten() {
        first
            .entry(submission.id)
            .or_insert_with(|| submission.request.begins());
    }
    let begin = first.into_iter().filter(|(_, begins)| *begins);
    begin.map(|(id, _)| id).collect()
}

fn decide_one<'a>(
    cache: &mut Cache,
    changes: &mut Changes<'a>,
    submission: &'a Submission,
) -> Result<BatchOutcome, StoreError> {
    let (body, refusal) = match decide(cache, submission.id, &submission.request)? {
        Decision::Known(outcome) => {
            return Ok(BatchOutcome {
                outcome,
                refusal: None,
                position: None,
            });
        }
        Decision::Append { body, refusal } => (body, refusal),
    };
    let position = cache.position.frontier.size();
    let seq = row_number(position)?;
    let is_new = cache.record(submission.id).is_none();
    // Not an error of the request: the cache may be changed in part.
    let outcome = carry_out(cache, submission.id, &body, || submission.digest())
        .map_err(|error| StoreError::damaged(format!("entry {position}: {error}")))?;
    match &body {
        Body::Created { account, name, .. } => changes.created.push((*account, name.clone(), seq)),
        Body::Raised { account, .. } => changes.raised.push((*account, seq)),
        _ => {}
    }
    // Times in the log never decrease, even if the clock goes back.
    let unix_ms = submission.unix_ms.max(cache.position.unix_ms);
    cache.position.unix_ms = unix_ms;
    let entry = Entry {
        unix_ms,
        id: submission.id,
        body,
    };
    let (bytes, leaf) = submission.encoded(&entry);
    let frontier = &mut cache.position.frontier;
    for (level, index, hash) in frontier.push_from(leaf, NODE_LEVEL) {
        let node = (i64::from(level), row_number(index)?, hash);
        changes.nodes.push(node);
    }
    changes.entries.push(NewEntry {
        seq,
        id: submission.id,
        is_new,
        bytes,
        answer: submission.answer.as_deref(),
    });
    Ok(BatchOutcome {
        outcome,
        refusal,
        position: Some(position),
    })
}
