//! The ids of queries in the ledger, and the answers that are stored under them.
//!
//! # Ids and repeated queries
//!
//! The id of a query is the hash of what is released: the bounded plan, the versions of the
//! datasets, and the noise plan. So the same query about the same data has the same id, and the
//! ledger returns the stored answer at no cost. Sorting and cutting the answer are not part of
//! the hash. The hash uses a secret key of the ledger ([`mizan_ledger::guards::IdKey`]):
//! versions contain sizes and times of private files, and an analyst who sees an id must not be
//! able to test guesses about them. Answers that were stored before ids had a key are found
//! under the id without the key.
//!
//! An analyst who wants fresh noise gives the query an id of their own (a *name* in this
//! module) and pays for it.
//!
//! An id that was denied or voided stays so forever. Budgets can be raised, so a query has a
//! sequence of ids, one for each attempt: all but the last were denied or voided. The last
//! attempt is found by exponential search. A name has one attempt.
//!
//! # Shares of the reserved delta
//!
//! A query with private groups takes a share of what is left of the reserved delta
//! (`reserved.rs`), so its noise and its charge differ from one time to the next. Its id does
//! not: it is a hash of what was requested. A charge or an answer that exists under the id
//! keeps the share that it was made with.

use mizan_ledger::log::Status;
use mizan_ledger::store::MAX_ANSWER_BYTES;
use mizan_ledger::{Body, Cost, Digest, Ledger, RequestError, RequestId};

use super::{Prepared, QueryError, QueryOutcome, QueryService, reserved};
use crate::engine::{Engine, Version};
use crate::release::Released;

impl<E: Engine> QueryService<'_, E> {
    /// The stored answer of a name. It needs neither data nor an engine.
    pub(super) fn stored_outcome(
        &self,
        prepared: &Prepared,
        name: Option<&str>,
    ) -> Result<Option<QueryOutcome>, QueryError> {
        let Some(id) = name.map(RequestId::from_text) else {
            return Ok(None);
        };
        let record = self.ledger.record(id)?;
        let stamp = stamp(prepared, &[]);
        match record.map(|record| record.status) {
            Some(Status::Released { .. }) if self.answers(id, &stamp)? => {
                let adopted = self.adopted(prepared, &stamp, id)?;
                let prepared = adopted.as_ref().unwrap_or(prepared);
                let done = self.ledger.reserve(Some(id), prepared.charge.clone())?;
                self.recorded(prepared, &stamp, done).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The hash of a query with the ledger's key. It is the hash without the key if an answer
    /// is stored under that, from before ledgers had a key. Nothing new is stored without the
    /// key.
    pub(super) fn keyed(&self, prepared: &Prepared, unkeyed: Digest) -> Result<Digest, QueryError> {
        let Some(key) = self.ledger.id_key()? else {
            return Ok(unkeyed);
        };
        let id = self.last_attempt(prepared, &unkeyed)?;
        let record = self.ledger.record(id)?;
        match record.map(|record| record.status) {
            Some(Status::Released { .. }) => Ok(unkeyed),
            _ => Ok(key.digest(&unkeyed)),
        }
    }

    /// The hash that a charge under a name stores of its query.
    pub(super) fn keyed_for_name(&self, stamp: Digest) -> Result<Digest, QueryError> {
        let key = self.ledger.id_key()?;
        Ok(key.map_or(stamp, |key| key.digest(&stamp)))
    }

    /// The query with the share of the reserved delta that the charge under this id was made
    /// with. None if it has that share already, or if the share cannot be determined.
    pub(super) fn adopted(
        &self,
        prepared: &Prepared,
        stamp: &Digest,
        id: RequestId,
    ) -> Result<Option<Prepared>, QueryError> {
        if !prepared.takes_usual_share() {
            return Ok(None);
        }
        let Some(record) = self.ledger.record(id)? else {
            return Ok(None);
        };
        if record.request == digest(prepared) {
            return Ok(None);
        }
        let charged_with = |cost: &Cost| {
            let groups = prepared.plan.groups_per_unit;
            reserved::candidates(&prepared.view.account, cost.reserved_delta(), groups)
        };
        let shares = match &record.status {
            Status::Reserved(held) | Status::Started(held) => charged_with(&held.cost),
            Status::Denied(_) => match self.last_entry(id)? {
                Some(Body::Denied { charge, .. }) => charged_with(&charge.cost),
                _ => Vec::new(),
            },
            Status::Released { .. } => match self.stored_answer(id, stamp)? {
                Some(bytes) => match (unsealed(stamp, &bytes, id), self.last_entry(id)?) {
                    // A charge without an answer is committed at its whole cost.
                    (Err(QueryError::NoAnswer { .. }), Some(Body::Committed { cost, .. })) => {
                        charged_with(&cost)
                    }
                    (released, _) => released?.threshold_delta().into_iter().collect(),
                },
                None => Vec::new(),
            },
            _ => Vec::new(),
        };
        for share in shares {
            let other = self.with_share(prepared, share)?;
            if record.request == digest(&other) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    fn last_entry(&self, id: RequestId) -> Result<Option<Body>, QueryError> {
        let receipt = self.ledger.find(id)?;
        let entry = receipt.map(|receipt| self.ledger.show(&receipt));
        Ok(entry.transpose()?.map(|shown| shown.entry.body))
    }

    /// Whether the record under an id belongs to this query with another share of the reserved
    /// delta. A query without a name can also find an unrelated record, and then moves to its
    /// next id.
    pub(super) fn is_made_with_another_share(
        &self,
        prepared: &Prepared,
        stamp: &Digest,
        id: RequestId,
        named: bool,
    ) -> Result<bool, QueryError> {
        let varies = prepared.takes_usual_share();
        Ok(varies && (!named || self.adopted(prepared, stamp, id)?.is_some()))
    }

    /// The id of the first attempt that is not denied, not voided, and not used by another
    /// charge with this id as its name. Found by exponential search: the position doubles until
    /// it is past the target, then bisection.
    pub(super) fn last_attempt(
        &self,
        prepared: &Prepared,
        stamp: &Digest,
    ) -> Result<RequestId, QueryError> {
        let asked = digest(prepared);
        // The attempt is hashed as four bytes, so that ids stay the same. More would need
        // billions of entries.
        let bytes = |attempt: u64| match u32::try_from(attempt) {
            Ok(attempt) => attempt.to_be_bytes().to_vec(),
            Err(_) => attempt.to_be_bytes().to_vec(),
        };
        let id = |attempt: u64| {
            let parts: [&[u8]; 2] = [stamp.as_bytes(), &bytes(attempt)];
            id_of(self.ledger, &parts)
        };
        let over = |attempt: u64| -> Result<bool, QueryError> {
            let id = id(attempt);
            let record = self.ledger.record(id)?;
            let Some(record) = record else {
                return Ok(false);
            };
            let is_other = || -> Result<bool, QueryError> {
                Ok(record.request != asked && self.adopted(prepared, stamp, id)?.is_none())
            };
            Ok(match record.status {
                Status::Denied(_) | Status::Voided(_) => true,
                Status::Released { .. } if !self.answers(id, stamp)? => true,
                Status::Released { .. } => prepared.takes_usual_share() && is_other()?,
                _ => is_other()?,
            })
        };
        let (mut from, mut to) = (0_u64, 0_u64);
        while over(to)? {
            from = to.saturating_add(1);
            to = to.saturating_mul(2).max(from);
        }
        while from < to {
            let middle = u64::midpoint(from, to);
            if over(middle)? {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        Ok(id(to))
    }

    /// Whether the answer that is stored under an id is an answer to this query.
    pub(super) fn answers(&self, id: RequestId, stamp: &Digest) -> Result<bool, QueryError> {
        Ok(self.stored_answer(id, stamp)?.is_some())
    }

    /// The bytes that are stored under an id, if they begin with the stamp of this query. A charge
    /// for a release elsewhere stores none, nor does a ledger whose answers are elsewhere.
    fn stored_answer(&self, id: RequestId, stamp: &Digest) -> Result<Option<Vec<u8>>, QueryError> {
        let bytes = self.ledger.answer(id)?;
        Ok(bytes.filter(|bytes| bytes.starts_with(stamp.as_bytes())))
    }
}

/// The digest of what a query is charged for.
fn digest(prepared: &Prepared) -> Digest {
    mizan_ledger::state::Request::Reserve(prepared.charge.clone()).digest()
}

/// The digest of what is released: the plan, the versions of the data, the noise plan.
pub(super) fn stamp(prepared: &Prepared, versions: &[Version]) -> Digest {
    let same = &prepared.identity;
    let mut parts: Vec<&[u8]> = vec![b"mizan-question-1", &same.plan];
    parts.extend(versions.iter().map(Version::as_bytes));
    parts.push(&same.noise);
    if same.chosen {
        parts.push(b"threshold-delta");
    }
    Digest::of(&parts)
}

/// The id of a query without a name.
pub(super) fn id_of(ledger: &Ledger, parts: &[&[u8]]) -> RequestId {
    let ledger = ledger.id();
    let mut all: Vec<&[u8]> = vec![b"mizan-question-id-1", ledger.as_bytes(), b"same"];
    all.extend(parts);
    let digest = Digest::of(&all);
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(digest.as_bytes()) {
        *to = *from;
    }
    RequestId::from_bytes(bytes)
}

/// The bytes of a stamp.
const STAMP: usize = 32;

/// The longest release that a ledger stores after the stamp.
pub(super) const MAX_RELEASE_BYTES: usize = MAX_ANSWER_BYTES - STAMP;

/// Why a query whose noise may have been drawn has no answer and never will. The ledger stores
/// this in place of the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswerReason {
    /// The release is longer than what the ledger stores.
    TooLarge,
    /// The release failed, or the ledger refused to store it.
    Failed,
}

impl NoAnswerReason {
    /// What is stored. No release begins like this.
    const fn marker(self) -> &'static [u8] {
        match self {
            Self::TooLarge => b"mizan: no answer, it is too large",
            Self::Failed => b"mizan: no answer, the release failed",
        }
    }

    /// The marker with the stamp of the query.
    pub(super) fn sealed(self, stamp: &Digest) -> Vec<u8> {
        [stamp.as_bytes().as_slice(), self.marker()].concat()
    }

    /// The reason that is stored in place of a release, if one is.
    fn stored(bytes: &[u8]) -> Option<Self> {
        let marker = bytes.get(STAMP..)?;
        let mut all = [Self::TooLarge, Self::Failed].into_iter();
        all.find(|reason| reason.marker() == marker)
    }
}

/// An answer as the ledger stores it: the stamp of the query, then the release. None if it is too
/// long.
pub(super) fn sealed(stamp: &Digest, released: &Released) -> Option<Vec<u8>> {
    let released = released.to_bytes(MAX_RELEASE_BYTES)?;
    Some([stamp.as_bytes().as_slice(), &released].concat())
}

pub(super) fn unsealed(
    stamp: &Digest,
    bytes: &[u8],
    id: RequestId,
) -> Result<Released, QueryError> {
    match bytes.split_at_checked(STAMP) {
        Some((before, released)) if before == stamp.as_bytes() => {
            match NoAnswerReason::stored(bytes) {
                Some(reason) => Err(QueryError::NoAnswer { id, reason }),
                None => Ok(Released::from_bytes(released)?),
            }
        }
        // The analyst chose an id whose answer belongs to another query.
        _ => Err(RequestError::IdReused { id }.into()),
    }
}
