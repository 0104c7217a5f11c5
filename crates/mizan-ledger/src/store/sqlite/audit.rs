//! Rows for proofs and audits: full nodes of the tree over the log, the index of
//! requests as a whole, the answers one after the other.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{ends, position, row_number};
use super::schema::failed;
use crate::store::{MAX_PAGE, NODE_LEVEL, Places, StoreError};
use crate::{Digest, Frontier, RequestId};

/// Appends a leaf to the tree, and keeps the full nodes it completes.
pub(super) fn push(
    connection: &Connection,
    frontier: &mut Frontier,
    leaf: Digest,
) -> Result<(), StoreError> {
    for (level, index, hash) in frontier.push_from(leaf, NODE_LEVEL) {
        let place = row_number(index)?;
        let write = || {
            let mut statement = connection.prepare_cached("INSERT INTO nodes VALUES (?, ?, ?)")?;
            statement.execute(params![level, place, hash.as_bytes()])
        };
        write().map_err(failed)?;
    }
    Ok(())
}

/// A full node from [`NODE_LEVEL`] on.
pub(super) fn node(connection: &Connection, level: u32, index: u64) -> Result<Digest, StoreError> {
    let place = row_number(index)?;
    let read = || -> rusqlite::Result<Option<[u8; 32]>> {
        let sql = "SELECT hash FROM nodes WHERE level = ? AND place = ?";
        let mut statement = connection.prepare_cached(sql)?;
        let hash = statement.query_row(params![level, place], |row| row.get(0));
        hash.optional()
    };
    let hash = read().map_err(failed)?.map(Digest::from_bytes);
    hash.ok_or_else(|| {
        StoreError::damaged(format!("the tree has no node {index} on level {level}"))
    })
}

fn as_position(seq: i64) -> Result<u64, StoreError> {
    u64::try_from(seq).map_err(|_| StoreError::damaged(format!("there is a position {seq}")))
}

fn as_places((first, last): (i64, i64)) -> Result<Places, StoreError> {
    Ok(Places {
        first: as_position(first)?,
        last: as_position(last)?,
    })
}

/// Where the entries of a request stand.
pub(super) fn places(connection: &Connection, id: RequestId) -> Result<Option<Places>, StoreError> {
    ends(connection, id)?.map(as_places).transpose()
}

/// A page of the index.
pub(super) fn index_after(
    connection: &Connection,
    id: Option<RequestId>,
) -> Result<Vec<(RequestId, Places)>, StoreError> {
    let sql = "SELECT id, first, last FROM records WHERE id > ? ORDER BY id LIMIT ?";
    let after = id.as_ref().map_or(&[][..], |id| id.as_bytes());
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let rows = statement
        .query_map(
            params![after, i64::try_from(MAX_PAGE).unwrap_or(1)],
            |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))),
        )
        .map_err(failed)?;
    let mut page = Vec::new();
    for row in rows {
        let (id, ends) = row.map_err(failed)?;
        page.push((RequestId::from_bytes(id), as_places(ends)?));
    }
    Ok(page)
}

/// The hashes of answers, one in memory at a time.
pub(super) fn answer_hashes(
    connection: &Connection,
    positions: Range<u64>,
) -> Result<Vec<(u64, Digest)>, StoreError> {
    // Answers to nothing are as wrong as others: those after the end are looked
    // at together with the last entries.
    let end = if positions.end >= position(connection)?.frontier.size() {
        i64::MAX
    } else {
        row_number(positions.end)?
    };
    let sql = "SELECT seq, bytes FROM answers WHERE seq >= ? AND seq < ? ORDER BY seq";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let rows = statement
        .query_map([row_number(positions.start)?, end], |row| {
            Ok((row.get(0)?, Digest::of(&[row.get_ref(1)?.as_blob()?])))
        })
        .map_err(failed)?;
    let mut hashes = Vec::new();
    for row in rows {
        let (seq, hash) = row.map_err(failed)?;
        hashes.push((as_position(seq)?, hash));
    }
    Ok(hashes)
}
