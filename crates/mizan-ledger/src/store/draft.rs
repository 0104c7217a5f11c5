//! The entry that a request probably leads to, encoded and hashed in the thread of the client while
//! another request is written. If the decision is another entry, the draft is dropped.

use std::borrow::Cow;

use crate::log::{Body, Digest, Entry, leaf_hash};
use crate::money::ClockPrice;
use crate::state::{Request, commit};
use crate::store::Submission;

/// The hash of a request; the entry, its bytes and its leaf hash.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    request: Digest,
    entry: Entry,
    bytes: Vec<u8>,
    leaf: Digest,
}

impl Draft {
    /// The entry of a request that is not refused, if no clock goes back.
    fn of(submission: &Submission) -> Option<Self> {
        let body = match &submission.request {
            // A price that is the same at every remainder is what a root account takes.
            Request::Reserve(charge) => Body::Reserved {
                charge: charge.clone(),
                clock: (charge.cost.price().and_then(ClockPrice::constant))
                    .into_iter()
                    .collect(),
            },
            Request::Start => Body::Started,
            Request::Commit { cost, answer } => commit(cost, answer),
            _ => return None,
        };
        let entry = Entry {
            unix_ms: submission.unix_ms,
            id: submission.id,
            body,
        };
        let bytes = entry.encode();
        let leaf = leaf_hash(&bytes);
        let request = submission.request.digest();
        Some(Self {
            request,
            entry,
            bytes,
            leaf,
        })
    }
}

impl Submission {
    /// The same submission with its draft.
    pub(super) fn drafted(mut self) -> Self {
        self.draft = Draft::of(&self);
        self
    }

    /// The hash of the request.
    pub(super) fn digest(&self) -> Digest {
        let drafted = self.draft.as_ref().map(|draft| draft.request);
        drafted.unwrap_or_else(|| self.request.digest())
    }

    /// The bytes and the leaf hash of the entry that it led to.
    pub(super) fn encoded(&self, entry: &Entry) -> (Cow<'_, [u8]>, Digest) {
        match &self.draft {
            Some(draft) if draft.entry == *entry => (Cow::Borrowed(&draft.bytes), draft.leaf),
            _ => {
                let bytes = entry.encode();
                let leaf = leaf_hash(&bytes);
                (Cow::Owned(bytes), leaf)
            }
        }
    }
}
