//! The decoded bytes of the texts of a column, computed before the charge without decoding them.
//!
//! Texts that are stored one by one have at most the bytes of their pages. A dictionary, or
//! prefixes that texts share, make a small page decode to gigabytes: those are counted exactly.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::parquet::basic::{Encoding, Type as Physical};
use datafusion::parquet::column::page::{Page, PageReader as _};
use datafusion::parquet::file::metadata::ColumnChunkMetaData;
use datafusion::parquet::file::reader::SerializedPageReader;

use super::dictionary::{self, CODED, has_dictionary};
use super::footer::{Footer, chunk_range, group_rows};
use super::prefixes::{self, page_values, shares_prefixes};
use super::rows::Chunks;
use super::thrift::page_size;
use crate::engine::EngineError;
use crate::engines::thread::caught;

/// The decoded bytes of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::engines::datafusion) struct TextBytes {
    /// Of all texts; zero if they are known to have at most as many as the caller allows.
    pub(in crate::engines::datafusion) all: u64,
    /// Of those that share prefixes.
    pub(in crate::engines::datafusion) shared: u64,
}

/// The decoded bytes of a column's texts. If the longest text of each dictionary shows that all
/// have at most `enough`, only dictionaries are read.
pub(in crate::engines::datafusion) fn text_bytes(
    footers: &[Arc<Footer>],
    field: &Arc<Field>,
    enough: u64,
) -> Result<TextBytes, EngineError> {
    let alone = Schema::new(vec![Arc::clone(field)]);
    let mut found = TextBytes::default();
    // The row groups whose texts were not counted, and a bound on their texts.
    let mut bounded = Vec::new();
    let mut bound = 0_u64;
    for footer in footers {
        for group in 0..footer.groups().len() {
            let column = ColumnOfGroup {
                footer,
                group,
                alone: &alone,
            };
            if column.read(ColumnOfGroup::shares_prefixes)? {
                found.add(column.read(ColumnOfGroup::exact)?);
            } else {
                bound = bound.saturating_add(column.read(ColumnOfGroup::bound)?);
                bounded.push(column);
            }
        }
    }
    if found.all.saturating_add(bound) <= enough {
        return Ok(TextBytes { all: 0, ..found });
    }
    for column in bounded {
        found.add(column.read(ColumnOfGroup::exact)?);
    }
    Ok(found)
}

impl TextBytes {
    fn add(&mut self, other: Self) {
        self.all = self.all.saturating_add(other.all);
        self.shared = self.shared.saturating_add(other.shared);
    }
}

/// A column of a row group.
struct ColumnOfGroup<'a> {
    footer: &'a Footer,
    group: usize,
    /// The schema of the column alone.
    alone: &'a Schema,
}

impl ColumnOfGroup<'_> {
    /// What a function reads. If the library panics, or a page is damaged, the column is.
    fn read<T>(&self, read: impl FnOnce(&Self) -> Option<T>) -> Result<T, EngineError> {
        let name = self.alone.fields().first().map(|field| field.name());
        let found = caught(|| read(self)).flatten();
        found.ok_or_else(|| EngineError::DamagedParquet {
            path: self.footer.path().to_path_buf(),
            group: self.group.saturating_add(1),
            column: name.cloned().unwrap_or_default(),
        })
    }

    fn shares_prefixes(&self) -> Option<bool> {
        let roots = self.footer.roots(self.alone).ok()?;
        let mut chunks = self.footer.chunks(self.group, &roots);
        Some(chunks.any(shares_prefixes))
    }

    /// A bound on the bytes of its texts, from dictionaries alone, unless texts share prefixes.
    fn bound(&self) -> Option<u64> {
        let roots = self.footer.roots(self.alone).ok()?;
        let mut all = 0_u64;
        for chunk in self.footer.chunks(self.group, &roots) {
            all = all.saturating_add(chunk.uncompressed_size().try_into().ok()?);
            if self.is_text(chunk) && has_dictionary(chunk) {
                let longest = self.dictionary(chunk, &roots)?.into_iter().max();
                let values = u64::try_from(chunk.num_values()).ok()?;
                let longest = u64::from(longest.unwrap_or(0));
                all = all.saturating_add(longest.saturating_mul(values));
            }
        }
        Some(all)
    }

    fn is_text(&self, chunk: &ColumnChunkMetaData) -> bool {
        let mut fields = self.alone.fields().iter();
        chunk.column_type() == Physical::BYTE_ARRAY
            && fields.all(|field| *field.data_type() == DataType::Utf8View)
    }

    /// The lengths of the texts in the dictionary of a chunk. The other pages are not read,
    /// unless the footer does not say where they begin.
    fn dictionary(&self, chunk: &ColumnChunkMetaData, roots: &[usize]) -> Option<Vec<u32>> {
        let first = |chunks: Chunks| {
            let mut pages = self.pages(&chunks, chunk)?;
            match pages.get_next_page().ok()? {
                Some(Page::DictionaryPage {
                    buf, num_values, ..
                }) => dictionary::lengths(&buf, num_values),
                // A dictionary is the first page, so there is none.
                _ => Some(Vec::new()),
            }
        };
        let (footer, group) = (self.footer, self.group);
        let alone = Chunks::load_parts(footer, group, roots, dictionary_range).ok();
        let found = alone.and_then(first);
        found.or_else(|| first(Chunks::load(footer, group, roots).ok()?))
    }

    fn pages(
        &self,
        chunks: &Chunks,
        chunk: &ColumnChunkMetaData,
    ) -> Option<SerializedPageReader<Chunks>> {
        let rows = usize::try_from(group_rows(self.footer.groups().get(self.group)?)).ok()?;
        SerializedPageReader::new(Arc::new(chunks.clone()), chunk, rows, None).ok()
    }

    /// The exact bytes of its texts. Pages that store texts one by one count as a whole.
    fn exact(&self) -> Option<TextBytes> {
        let roots = self.footer.roots(self.alone).ok()?;
        let chunks = Chunks::load(self.footer, self.group, &roots).ok()?;
        let mut found = TextBytes::default();
        for chunk in self.footer.chunks(self.group, &roots) {
            found.add(self.exact_chunk(&chunks, chunk)?);
        }
        Some(found)
    }

    fn exact_chunk(&self, chunks: &Chunks, chunk: &ColumnChunkMetaData) -> Option<TextBytes> {
        let described = chunk.column_descr();
        if described.max_rep_level() > 0 {
            return None;
        }
        let nullable = described.max_def_level() > 0;
        let (mut at, size) = chunk_range(chunk)?;
        let end = at.checked_add(size)?;
        let mut pages = self.pages(chunks, chunk)?;
        let mut lengths = Vec::new();
        let mut found = TextBytes::default();
        while at < end {
            let header = page_size(&chunks.get_from(at).ok()?)?;
            let length = u64::try_from(header.compressed).ok()?;
            at = at.checked_add(header.header as u64)?.checked_add(length)?;
            let mut counted = CODED.iter().chain([&Encoding::DELTA_BYTE_ARRAY]);
            let is_counted = counted.any(|encoding| *encoding as i64 == header.encoding);
            if !(header.is_dictionary || is_counted) {
                pages.skip_next_page().ok()?;
                let page = u64::try_from(header.uncompressed).ok()?;
                found.all = found.all.saturating_add(page);
                continue;
            }
            let page = pages.get_next_page().ok()??;
            if let Page::DictionaryPage {
                buf, num_values, ..
            } = &page
            {
                if self.is_text(chunk) {
                    lengths = dictionary::lengths(buf, *num_values)?;
                }
                continue;
            }
            let values = page_values(&page, nullable)?;
            if values.encoding == Encoding::DELTA_BYTE_ARRAY {
                let shared = prefixes::of_values(values.bytes)?.bytes;
                found.add(TextBytes {
                    all: shared,
                    shared,
                });
            } else if self.is_text(chunk) {
                let number = dictionary::not_null(values.levels, values.number)?;
                let here = dictionary::decoded_bytes(values.bytes, number, &lengths)?;
                found.all = found.all.saturating_add(here);
            }
        }
        Some(found)
    }
}

/// The range of the dictionary page of a chunk, which is before its other pages.
fn dictionary_range(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = u64::try_from(chunk.dictionary_page_offset()?).ok()?;
    let end = u64::try_from(chunk.data_page_offset()).ok()?;
    Some((start, end.checked_sub(start)?))
}
