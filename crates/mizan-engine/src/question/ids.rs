//! What a question is called in the ledger, and what was answered under it.
//!
//! # Ids and repeated questions
//!
//! The id of a question is the hash of what is released: the bounded plan, the
//! versions of the datasets, and the recipe of the noise. So the same question
//! about the same data has the same id, and the ledger answers it with what it
//! answered before, at no cost. How the answer is sorted or cut is not part of it.
//! The hash has a key, a secret of the ledger ([`mizan_ledger::guards::IdKey`]): versions are
//! made of sizes and times of private files, and an analyst who sees an id must not be
//! able to test guesses about them. Answers that were stored before ids had a key are
//! found under the id without one.
//!
//! Who wants fresh noise pays for it under a name of their own, which is the id.
//!
//! An id that was denied, or given back, stays so for ever. Budgets can be raised,
//! so a question has a list of ids, one for each attempt: all but the last were
//! denied or given back, and the last is looked for by bisection. A name has one
//! attempt.
//!
//! # Shares of the reserved delta
//!
//! A query with groups that are found in the data takes a share of what is left of the
//! reserved delta (`reserved.rs`), so its noise and its charge differ from one time to
//! the next. Its id does not: it is made of what was asked. What is there under an id
//! is gone on with, or shown, with the share that it has.

use mizan_ledger::log::Status;
use mizan_ledger::{Body, Cost, Digest, Ledger, RequestError, RequestId};

use super::{Desk, Prepared, QuestionError, Reply, reserved};
use crate::engine::{Engine, Version};
use crate::release::Released;

impl<E: Engine> Desk<'_, E> {
    /// What was answered under a name: it needs no data, and no engine, any more.
    pub(super) fn kept(
        &self,
        prepared: &Prepared,
        name: Option<&str>,
    ) -> Result<Option<Reply>, QuestionError> {
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

    /// What is released, under the ledger's key; without it if that is how the answer
    /// was stored, before there was a key. Nothing new is stored without the key.
    pub(super) fn keyed(
        &self,
        prepared: &Prepared,
        unkeyed: Digest,
    ) -> Result<Digest, QuestionError> {
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

    /// The query with the share of the reserved delta that it was charged with under an
    /// id. None if it has that share, or no other can be told.
    pub(super) fn adopted(
        &self,
        prepared: &Prepared,
        stamp: &Digest,
        id: RequestId,
    ) -> Result<Option<Prepared>, QuestionError> {
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
            Status::Denied(_) => match self.ledger.find(id)? {
                Some(receipt) => match self.ledger.show(&receipt)?.entry.body {
                    Body::Denied { charge, .. } => charged_with(&charge.cost),
                    _ => Vec::new(),
                },
                None => Vec::new(),
            },
            Status::Released { .. } if self.answers(id, stamp)? => {
                let bytes = self.ledger.answer(id)?.unwrap_or_default();
                let share = unsealed(stamp, &bytes, id)?.threshold_delta();
                share.into_iter().collect()
            }
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

    /// Whether what is there under an id is this query with another share of the
    /// reserved delta; or, for a query without a name, something else: it has other ids.
    pub(super) fn is_made_with_another_share(
        &self,
        prepared: &Prepared,
        stamp: &Digest,
        id: RequestId,
        named: bool,
    ) -> Result<bool, QuestionError> {
        let varies = prepared.takes_usual_share();
        Ok(varies && (!named || self.adopted(prepared, stamp, id)?.is_some()))
    }

    /// The id of the first attempt at a question that was neither denied, nor given
    /// back, nor used up by somebody who named something else by its id: twice as far
    /// on as long as there is none, then by bisection.
    pub(super) fn last_attempt(
        &self,
        prepared: &Prepared,
        stamp: &Digest,
    ) -> Result<RequestId, QuestionError> {
        let asked = digest(prepared);
        // In four bytes, as always; a ledger would have to hold billions for more.
        let bytes = |attempt: u64| match u32::try_from(attempt) {
            Ok(attempt) => attempt.to_be_bytes().to_vec(),
            Err(_) => attempt.to_be_bytes().to_vec(),
        };
        let id = |attempt: u64| {
            let parts: [&[u8]; 2] = [stamp.as_bytes(), &bytes(attempt)];
            id_of(self.ledger, &parts)
        };
        let over = |attempt: u64| -> Result<bool, QuestionError> {
            let id = id(attempt);
            let record = self.ledger.record(id)?;
            let Some(record) = record else {
                return Ok(false);
            };
            let is_other = || -> Result<bool, QuestionError> {
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

    /// Whether what was released under an id is an answer to this.
    pub(super) fn answers(&self, id: RequestId, stamp: &Digest) -> Result<bool, QuestionError> {
        let bytes = self.ledger.answer(id)?.unwrap_or_default();
        Ok(bytes.starts_with(stamp.as_bytes()))
    }
}

/// What a query is charged for.
fn digest(prepared: &Prepared) -> Digest {
    mizan_ledger::state::Request::Reserve(prepared.charge.clone()).digest()
}

/// What is released, as 32 bytes: the plan, the data, the noise.
pub(super) fn stamp(prepared: &Prepared, versions: &[Version]) -> Digest {
    let same = &prepared.same;
    let mut parts: Vec<&[u8]> = vec![b"mizan-question-1", &same.plan];
    parts.extend(versions.iter().map(Version::as_bytes));
    parts.push(&same.noise);
    if same.chosen {
        parts.push(b"threshold-delta");
    }
    Digest::of(&parts)
}

/// The id of a question without a name.
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

/// An answer as the ledger keeps it: what it is an answer to, then the answer.
pub(super) fn sealed(stamp: &Digest, released: &Released) -> Vec<u8> {
    [stamp.as_bytes().as_slice(), &released.to_bytes()].concat()
}

pub(super) fn unsealed(
    stamp: &Digest,
    bytes: &[u8],
    id: RequestId,
) -> Result<Released, QuestionError> {
    match bytes.split_at_checked(32) {
        Some((before, released)) if before == stamp.as_bytes() => {
            Ok(Released::from_bytes(released)?)
        }
        // Under an id that somebody chose: the answer to something else.
        _ => Err(RequestError::IdReused { id }.into()),
    }
}
