//! Decodes a whole file once, when its dataset is added. So the data owner finds damage then,
//! and not a query after its charge.
//!
//! First it reads the headers of all pages: a page that claims to be too large is not
//! decompressed.

use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;

use super::dictionary::has_dictionary;
use super::footer::{Footer, TOGETHER, chunk_range, group_rows};
use super::rows::Rows;
use super::thrift::{PageSize, page_size};
use crate::data_file;
use crate::engine::EngineError;
use crate::engines::thread::{QUIET, caught};

/// The largest page that is decompressed. Writers use pages of about a megabyte.
const MAX_PAGE: i64 = 1 << 30;
/// The longest header of a page, with its statistics.
const MAX_HEADER: u64 = 1 << 20;
/// Most headers fit into this.
const USUAL_HEADER: u64 = 256;

/// Decodes all row groups of files with these columns. `progress` receives the numbers of
/// decoded rows and of all rows.
pub(in crate::engines::datafusion) fn check(
    footers: &[Arc<Footer>],
    schema: &SchemaRef,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<(), EngineError> {
    let all: u64 = footers
        .iter()
        .map(|footer| footer.rows())
        .fold(0, u64::saturating_add);
    let mut pieces = Vec::new();
    for footer in footers {
        pieces.extend((0..footer.groups().len()).map(|group| (footer, group)));
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(0_u64));
    // The first error in the order of the files, independent of the speed of threads.
    let failed: Mutex<Option<(usize, EngineError)>> = Mutex::new(None);
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some((footer, group)) = pieces.get(place) else {
                return;
            };
            if let Err(error) = check_group(footer, *group, schema) {
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(earlier, _)| place < *earlier) {
                    *failed = Some((place, error));
                }
                next.store(pieces.len(), Ordering::Relaxed);
                return;
            }
            let rows = footer.groups().get(*group).map_or(0, group_rows);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *done = done.saturating_add(rows);
            progress(*done, all);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(pieces.len()) {
            let thread = std::thread::Builder::new().name(QUIET.to_owned());
            // If a thread cannot be started, the others do its work.
            let _ = thread.spawn_scoped(scope, work);
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let decoded = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failed {
        Some((_, error)) => Err(error),
        None if decoded == all => Ok(()),
        None => Err(EngineError::Failed { doing: "starting" }),
    }
}

/// Decodes a row group column by column: that takes less memory, and the error can name the
/// column.
fn check_group(footer: &Arc<Footer>, group: usize, schema: &SchemaRef) -> Result<(), EngineError> {
    let path = footer.path();
    let file = data_file::open(path)?;
    let rows = footer.groups().get(group).map_or(0, group_rows);
    for field in schema.fields() {
        let alone = Arc::new(Schema::new(vec![Arc::clone(field)]));
        let sound = footer.roots(&alone).is_ok_and(|roots| {
            let mut chunks = footer.chunks(group, &roots);
            chunks.all(|chunk| check_pages(&file, chunk, rows).is_some())
        });
        if !(sound && decodes(footer, group, &alone)) {
            return Err(EngineError::DamagedParquet {
                path: path.to_path_buf(),
                group: group.saturating_add(1),
                column: field.name().clone(),
            });
        }
    }
    Ok(())
}

fn decodes(footer: &Arc<Footer>, group: usize, schema: &SchemaRef) -> bool {
    let decode = || {
        let rows = Rows::open(Arc::clone(footer), group, Arc::clone(schema));
        rows.is_ok_and(|mut rows| rows.all(|batch| batch.is_ok()))
    };
    caught(decode).unwrap_or(false)
}

/// Checks that the pages of a chunk fill it, are not too large, and have a value for each row.
fn check_pages(file: &File, chunk: &ColumnChunkMetaData, rows: u64) -> Option<()> {
    let (start, size) = chunk_range(chunk)?;
    let end = start.checked_add(size)?;
    let mut at = start;
    let flat = chunk.column_descr().max_rep_level() == 0;
    let mut values = 0_i64;
    while at < end {
        let page = page_header(file, at, end)?;
        let sizes = [page.compressed, page.uncompressed, page.values];
        if !sizes.iter().all(|size| (0..=MAX_PAGE).contains(size)) {
            return None;
        }
        // Text in these encodings is read in another way, and the footer says which columns have
        // them. Dictionaries are read before the charge: the footer announces them, and they
        // come first.
        let together = TOGETHER
            .iter()
            .find(|encoding| **encoding as i64 == page.encoding);
        if together.is_some_and(|encoding| !chunk.encodings_mask().is_set(*encoding)) {
            return None;
        }
        if page.is_dictionary && !(at == start && has_dictionary(chunk)) {
            return None;
        }
        if !page.is_dictionary {
            values = values.checked_add(page.values)?;
        }
        let length = u64::try_from(page.compressed).ok()?;
        at = at.checked_add(page.header as u64)?.checked_add(length)?;
    }
    let complete = !flat || u64::try_from(values).ok()? == rows;
    (at == end && complete).then_some(())
}

/// The header of the page at this position of a chunk.
pub(super) fn page_header(file: &impl ChunkReader, at: u64, end: u64) -> Option<PageSize> {
    let left = end.checked_sub(at)?;
    let mut length = USUAL_HEADER;
    loop {
        let header = file.get_bytes(at, usize::try_from(length.min(left)).ok()?);
        match page_size(&header.ok()?) {
            Some(page) => return Some(page),
            None if length < MAX_HEADER && length < left => length *= 16,
            None => return None,
        }
    }
}
