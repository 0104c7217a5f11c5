//! The decoded bytes of the texts of a column, computed before the charge without decoding them.
//!
//! Texts that are stored one by one have at most the bytes of their pages. A dictionary, or
//! prefixes that texts share, make a small page decode to gigabytes: those are counted exactly.

use std::fs::File;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageReader as _};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, SerializedPageReader};

use super::check::page_header;
use super::dictionary::{self, CODED, has_dictionary};
use super::footer::{Footer, chunk_range, group_rows};
use super::prefixes::{self, page_values, shares_prefixes};
use super::rows::Chunks;
use crate::data_file;
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
                let longest = self.dictionary(chunk)?.into_iter().max();
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

    /// The lengths of the texts in the dictionary of a chunk. Other pages are not read.
    fn dictionary(&self, chunk: &ColumnChunkMetaData) -> Option<Vec<u32>> {
        match self.pages(&self.file()?, chunk)?.get_next_page().ok()? {
            Some(Page::DictionaryPage {
                buf, num_values, ..
            }) => dictionary::lengths(&buf, num_values),
            // A dictionary is the first page, so there is none.
            _ => Some(Vec::new()),
        }
    }

    fn file(&self) -> Option<Arc<File>> {
        data_file::open(self.footer.path()).ok().map(Arc::new)
    }

    fn pages<R: ChunkReader>(
        &self,
        reader: &Arc<R>,
        chunk: &ColumnChunkMetaData,
    ) -> Option<SerializedPageReader<R>> {
        let rows = usize::try_from(group_rows(self.footer.groups().get(self.group)?)).ok()?;
        SerializedPageReader::new(Arc::clone(reader), chunk, rows, None).ok()
    }

    /// The exact bytes of its texts. Pages that store texts one by one count as a whole, and
    /// only their headers are read.
    fn exact(&self) -> Option<TextBytes> {
        let roots = self.footer.roots(self.alone).ok()?;
        let mut found = TextBytes::default();
        for chunk in self.footer.chunks(self.group, &roots) {
            found.add(if shares_prefixes(chunk) {
                // All pages are read, so they are loaded at once.
                let loaded = Chunks::load(self.footer, self.group, &roots).ok()?;
                self.exact_chunk(&Arc::new(loaded), chunk)?
            } else {
                self.exact_chunk(&self.file()?, chunk)?
            });
        }
        Some(found)
    }

    fn exact_chunk<R: ChunkReader>(
        &self,
        reader: &Arc<R>,
        chunk: &ColumnChunkMetaData,
    ) -> Option<TextBytes> {
        let described = chunk.column_descr();
        if described.max_rep_level() > 0 {
            return None;
        }
        let nullable = described.max_def_level() > 0;
        let (mut at, size) = chunk_range(chunk)?;
        let end = at.checked_add(size)?;
        let mut pages = self.pages(reader, chunk)?;
        let mut lengths = Vec::new();
        let mut found = TextBytes::default();
        while at < end {
            let header = page_header(&**reader, at, end)?;
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
