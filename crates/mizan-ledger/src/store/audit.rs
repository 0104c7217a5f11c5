//! Reads what proofs and audits need: nodes of the Merkle tree, the positions of the entries of a
//! request, the hashes of answers.

use std::ops::Range;

use crate::log::{Digest, RequestId};
use crate::store::rows::{Rows, row_number};
use crate::store::{MAX_PAGE, Places, StoreError, read};

/// A full node of the tree.
pub(super) fn node<R: Rows>(rows: &mut R, level: u32, index: u64) -> Result<Digest, StoreError> {
    let hash = rows.node(i64::from(level), row_number(index)?)?;
    let hash = hash.and_then(|hash| <[u8; 32]>::try_from(hash).ok());
    let missing = || StoreError::damaged(format!("the tree has no node {index} on level {level}"));
    hash.map(Digest::from_bytes).ok_or_else(missing)
}

fn position(seq: i64) -> Result<u64, StoreError> {
    u64::try_from(seq).map_err(|_| StoreError::damaged(format!("there is a position {seq}")))
}

fn ends(first: i64, last: i64) -> Result<Places, StoreError> {
    Ok(Places {
        first: position(first)?,
        last: position(last)?,
    })
}

/// The positions of the entries of a request.
pub(super) fn places<R: Rows>(rows: &mut R, id: RequestId) -> Result<Option<Places>, StoreError> {
    let found = rows.records(&[id])?.pop();
    let places = found.map(|(_, row)| ends(row.first.0, row.last.0));
    places.transpose()
}

/// A page of the index.
pub(super) fn index_after<R: Rows>(
    rows: &mut R,
    id: Option<RequestId>,
) -> Result<Vec<(RequestId, Places)>, StoreError> {
    let after = id.as_ref().map_or(&[][..], |id| id.as_bytes());
    let page = rows.index(after, i64::try_from(MAX_PAGE).unwrap_or(1))?;
    let read = |(id, first, last): (Vec<u8>, i64, i64)| {
        let id = id.try_into();
        let id = id.map_err(|_| StoreError::damaged("an id is not of 16 bytes"))?;
        Ok((RequestId::from_bytes(id), ends(first, last)?))
    };
    page.into_iter().map(read).collect()
}

/// The hashes of the answers for these positions.
pub(super) fn answer_hashes<R: Rows>(
    rows: &mut R,
    positions: &Range<u64>,
) -> Result<Vec<(u64, Digest)>, StoreError> {
    // An answer without an entry is a fault too: answers beyond the end of the log are returned
    // with the last entries.
    let end = if positions.end >= read::position(rows)?.frontier.size() {
        i64::MAX
    } else {
        row_number(positions.end)?
    };
    let hashes = rows.answer_hashes(row_number(positions.start)?, end)?;
    let read = |(seq, hash): (i64, [u8; 32])| Ok((position(seq)?, Digest::from_bytes(hash)));
    hashes.into_iter().map(read).collect()
}
