//! The entry that a request most often becomes, encoded and hashed by whoever
//! asks, while somebody else writes. Whether it becomes that entry is decided
//! later, and if it does not, the draft is thrown away.

use std::borrow::Cow;

use crate::log::{Body, Digest, Entry, leaf_hash};
use crate::state::Request;
use crate::store::Submission;

/// The hash of a request; the entry, its bytes and its hash in the tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    request: Digest,
    entry: Entry,
    bytes: Vec<u8>,
    leaf: Digest,
}

impl Draft {
    /// What a request becomes if it is not refused and no clock goes back.
    fn of(submission: &Submission) -> Option<Self> {
        let body = match &submission.request {
            Request::Reserve(charge) => Body::Reserved(charge.clone()),
            Request::Start => Body::Started,
            Request::Commit { cost, answer } => Body::Committed {
                cost: cost.clone(),
                answer: *answer,
            },
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
    /// The same with its draft.
    pub(super) fn drafted(mut self) -> Self {
        self.draft = Draft::of(&self);
        self
    }

    /// The hash of the request.
    pub(super) fn digest(&self) -> Digest {
        let drafted = self.draft.as_ref().map(|draft| draft.request);
        drafted.unwrap_or_else(|| self.request.digest())
    }

    /// The bytes of the entry that it became, and its hash in the tree.
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
