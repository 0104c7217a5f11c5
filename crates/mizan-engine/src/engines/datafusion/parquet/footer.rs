//! The footer of a Parquet file: its columns, the types as which they are read, and the
//! positions of their pages. Every number is checked against the length of the file.
//!
//! Statistics, page indexes and Bloom filters of a file are not read: they may be wrong, and
//! must not change an answer or make it fail.
//!
//! Text is read by the library, which validates whole pages at once. Where that fails, it is
//! read as bytes: the schema of the footer is changed for this, because the library validates
//! all columns that the schema declares as UTF-8.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{ConvertedType, Encoding, Type as Physical};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, PageIndexPolicy, ParquetMetaData, ParquetStatisticsPolicy,
    RowGroupMetaData,
};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::thrift::is_sound_footer;
use crate::data_file::{self, unreadable};
use crate::engine::EngineError;
use crate::engines::thread::caught;

/// The longest footer that is read.
const MAX_FOOTER: u64 = 256 << 20;
/// The length of the footer and the magic number at the end of a file.
const TAIL: u64 = 8;
/// The magic number at both ends of a file.
const MARK: &[u8] = b"PAR1";
/// Encodings that store texts one after the other without separators.
pub(super) const TOGETHER: [Encoding; 2] = [
    Encoding::DELTA_LENGTH_BYTE_ARRAY,
    Encoding::DELTA_BYTE_ARRAY,
];
/// The most rows of a file.
const MAX_ROWS: i64 = 1 << 40;

/// How text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextAs {
    /// Validated by the library: one text that is not UTF-8 is an error for the page.
    Text,
    /// As bytes.
    Bytes,
}

/// The footer of a file.
#[derive(Debug)]
pub(in crate::engines::datafusion) struct Footer {
    path: PathBuf,
    /// The schema that the file declares.
    pub(in crate::engines::datafusion) declared: SchemaRef,
    /// The types as which its columns are read, including columns that cannot be used.
    pub(in crate::engines::datafusion) schema: SchemaRef,
    /// The reader for files whose text is all UTF-8.
    reader: ArrowReaderMetadata,
}

impl Footer {
    /// Reads the footer of a file. If the library panics, the footer is invalid.
    pub(in crate::engines::datafusion) fn read(path: &Path) -> Result<Self, EngineError> {
        let bad = || EngineError::BadParquet {
            path: path.to_path_buf(),
        };
        caught(|| Self::decode(path)).unwrap_or_else(|| Err(bad()))
    }

    fn decode(path: &Path) -> Result<Self, EngineError> {
        let bad = || EngineError::BadParquet {
            path: path.to_path_buf(),
        };
        let file = data_file::open(path)?;
        let length = file.metadata().map_err(|error| unreadable(path, &error))?;
        let length = length.len();
        check_bytes(&file, length).ok_or_else(bad)?;
        let metadata = ArrowReaderMetadata::load(&file, options()).map_err(|_| bad())?;
        check_numbers(metadata.metadata(), length).ok_or_else(bad)?;
        let declared = Arc::clone(metadata.schema());
        let schema = read_as(&metadata).map_err(|_| bad())?;
        let reader = reader(metadata.metadata(), &schema, TextAs::Text).map_err(|_| bad())?;
        Ok(Self {
            path: path.to_path_buf(),
            declared,
            schema,
            reader,
        })
    }

    /// The number of rows that it declares.
    pub(in crate::engines::datafusion) fn rows(&self) -> u64 {
        let groups = self.groups().iter();
        groups.map(group_rows).fold(0, u64::saturating_add)
    }

    /// The row groups.
    pub(super) fn groups(&self) -> &[RowGroupMetaData] {
        self.reader.metadata().row_groups()
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The metadata for decoding its pages.
    pub(super) fn reader(&self, text: TextAs) -> ParquetResult<ArrowReaderMetadata> {
        match text {
            TextAs::Text => Ok(self.reader.clone()),
            TextAs::Bytes => reader(self.reader.metadata(), &self.schema, text),
        }
    }

    /// The positions of columns in the footer, by name. An error if one of them is missing.
    pub(super) fn roots(&self, wanted: &Schema) -> Result<Vec<usize>> {
        let fields = wanted.fields().iter();
        fields
            .map(|field| Ok(self.schema.index_of(field.name())?))
            .collect()
    }

    /// The chunks of a row group for some of the columns.
    pub(super) fn chunks<'a>(
        &'a self,
        group: usize,
        roots: &'a [usize],
    ) -> impl Iterator<Item = &'a ColumnChunkMetaData> {
        let schema = self.reader.parquet_schema();
        let chunks = self
            .groups()
            .get(group)
            .map_or(&[][..], |group| group.columns());
        let chunks = chunks.iter().enumerate();
        chunks.filter_map(move |(leaf, chunk)| {
            roots
                .contains(&schema.get_column_root_idx(leaf))
                .then_some(chunk)
        })
    }
}

/// The rows of a group. Negative numbers were rejected before.
pub(super) fn group_rows(group: &RowGroupMetaData) -> u64 {
    group.num_rows().try_into().unwrap_or(0)
}

/// The byte range of a chunk in its file.
pub(super) fn chunk_range(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = chunk
        .dictionary_page_offset()
        .unwrap_or(chunk.data_page_offset());
    let length = chunk.compressed_size();
    Some((start.try_into().ok()?, length.try_into().ok()?))
}

fn options() -> ArrowReaderOptions {
    ArrowReaderOptions::new()
        .with_page_index_policy(PageIndexPolicy::Skip)
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
}

/// Reads a part of a file.
fn read_at(mut file: &File, start: u64, bytes: &mut [u8]) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

/// Reads a range of a file. The caller checks its length against the file. The memory is not
/// zeroed first, since that takes as long as reading.
pub(super) fn read_part(mut file: &File, start: u64, length: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    file.seek(SeekFrom::Start(start))?;
    file.take(length as u64).read_to_end(&mut bytes)?;
    match bytes.len() == length {
        true => Ok(bytes),
        false => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Checks that a file ends in a footer whose structure is consistent.
fn check_bytes(file: &File, length: u64) -> Option<()> {
    let end = length.checked_sub(TAIL)?;
    let mut tail = [0; 8];
    read_at(file, end, &mut tail).ok()?;
    let (size, mark) = tail.split_at(4);
    if mark != MARK {
        return None;
    }
    let size = u64::from(u32::from_le_bytes(size.try_into().ok()?));
    let start = end.checked_sub(size)?;
    if size > MAX_FOOTER || start < MARK.len() as u64 {
        return None;
    }
    let mut footer = vec![0; usize::try_from(size).ok()?];
    read_at(file, start, &mut footer).ok()?;
    is_sound_footer(&footer).then_some(())
}

/// Checks that the numbers of rows add up and that all chunks lie within the file.
fn check_numbers(metadata: &ParquetMetaData, length: u64) -> Option<()> {
    let mut rows = 0_i64;
    for group in metadata.row_groups() {
        let here = group.num_rows();
        if !(0..=MAX_ROWS).contains(&here) {
            return None;
        }
        rows = rows.checked_add(here)?;
        for chunk in group.columns() {
            let (start, size) = chunk_range(chunk)?;
            let inside = start >= MARK.len() as u64 && start.checked_add(size)? <= length;
            let begins = u64::try_from(chunk.data_page_offset()).ok()?;
            let flat = chunk.column_descr().max_rep_level() == 0;
            let counts = chunk.num_values() >= 0 && (!flat || chunk.num_values() == here);
            // Columns in other files are not supported.
            let here = chunk.file_path().is_none();
            if !(inside && begins >= start && counts && here && chunk.uncompressed_size() >= 0) {
                return None;
            }
        }
    }
    (rows == metadata.file_metadata().num_rows() && rows <= MAX_ROWS).then_some(())
}

/// The types as which columns are read: those of the file, but text as views, dictionaries as
/// their values (dictionary indices can overflow), and decimals as they are stored.
fn read_as(metadata: &ArrowReaderMetadata) -> ParquetResult<SchemaRef> {
    let stored = ArrowReaderMetadata::try_new(
        Arc::clone(metadata.metadata()),
        options().with_skip_arrow_metadata(true),
    )?;
    let pairs = stored
        .schema()
        .fields()
        .iter()
        .zip(metadata.schema().fields());
    let columns = metadata.parquet_schema().root_schema().get_fields();
    let fields = pairs.zip(columns).map(|((stored, declared), column)| {
        let kind = match (stored.data_type(), flat(declared.data_type())) {
            // Cannot be used.
            (DataType::Decimal256(..), _) if is_bytes(column) => DataType::Binary,
            (decimal, _) if is_decimal(decimal) => decimal.clone(),
            (_, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => DataType::Utf8View,
            (_, declared) => declared.clone(),
        };
        stored.as_ref().clone().with_data_type(kind)
    });
    Ok(Arc::new(Schema::new(fields.collect::<Vec<Field>>())))
}

fn flat(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, values) => flat(values),
        other => other,
    }
}

const fn is_decimal(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..)
    )
}

/// Whether values have variable length.
fn is_bytes(column: &Type) -> bool {
    column.is_primitive() && column.get_physical_type() == Physical::BYTE_ARRAY
}

/// The columns of which some pages have an encoding whose texts the library validates as one
/// text: half a character at the end of one cell and the other half in the next would pass.
fn validated_together(metadata: &ParquetMetaData) -> BTreeSet<usize> {
    let schema = metadata.file_metadata().schema_descr();
    let mut found = BTreeSet::new();
    for group in metadata.row_groups() {
        for (leaf, chunk) in group.columns().iter().enumerate() {
            if TOGETHER
                .iter()
                .any(|encoding| chunk.encodings_mask().is_set(*encoding))
            {
                found.insert(schema.get_column_root_idx(leaf));
            }
        }
    }
    found
}

/// The metadata for decoding pages into columns of this schema, or into bytes.
fn reader(
    metadata: &Arc<ParquetMetaData>,
    schema: &Schema,
    text: TextAs,
) -> ParquetResult<ArrowReaderMetadata> {
    let columns = metadata.file_metadata().schema_descr().root_schema();
    let together = validated_together(metadata);
    let as_bytes = |place: usize| {
        let column = columns.get_fields().get(place);
        let kind = schema.fields().get(place).map(|field| field.data_type());
        column.zip(kind).is_some_and(|(column, kind)| {
            // The library does not validate other text columns, and reads decimals of any
            // length as if they had sixteen bytes.
            let info = column.get_basic_info();
            let validated =
                info.converted_type() == ConvertedType::UTF8 && !together.contains(&place);
            is_bytes(column)
                && match kind {
                    DataType::Utf8View => text == TextAs::Bytes || !validated,
                    // Columns that cannot be used are not decoded.
                    DataType::Binary => info.converted_type() == ConvertedType::DECIMAL,
                    kind => is_decimal(kind),
                }
        })
    };
    let mut fields = Vec::with_capacity(schema.fields().len());
    let mut changed = false;
    for (place, field) in schema.fields().iter().enumerate() {
        let field = field.as_ref().clone();
        if as_bytes(place) {
            changed = true;
            fields.push(field.with_data_type(DataType::BinaryView));
        } else {
            fields.push(field);
        }
    }
    let metadata = match changed {
        true => Arc::new(with_bytes(metadata, as_bytes)?),
        false => Arc::clone(metadata),
    };
    let options = options().with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(metadata, options)
}

/// The same footer, with some columns declared as plain bytes.
fn with_bytes(
    metadata: &ParquetMetaData,
    as_bytes: impl Fn(usize) -> bool,
) -> ParquetResult<ParquetMetaData> {
    let file = metadata.file_metadata();
    let root = file.schema_descr().root_schema();
    let mut columns = Vec::with_capacity(root.get_fields().len());
    for (place, column) in root.get_fields().iter().enumerate() {
        if !as_bytes(place) {
            columns.push(Arc::clone(column));
            continue;
        }
        let info = column.get_basic_info();
        let bytes = Type::primitive_type_builder(column.name(), Physical::BYTE_ARRAY)
            .with_repetition(info.repetition())
            .with_id(info.has_id().then(|| info.id()));
        columns.push(Arc::new(bytes.build()?));
    }
    let root = Type::group_type_builder(root.name()).with_fields(columns);
    let schema = Arc::new(SchemaDescriptor::new(Arc::new(root.build()?)));
    let mut groups = Vec::with_capacity(metadata.num_row_groups());
    for group in metadata.row_groups() {
        let mut chunks = Vec::with_capacity(group.num_columns());
        for (leaf, chunk) in group.columns().iter().enumerate() {
            let copy = ColumnChunkMetaData::builder(schema.column(leaf))
                .set_encodings_mask(*chunk.encodings_mask())
                .set_num_values(chunk.num_values())
                .set_compression_codec(chunk.compression_codec())
                .set_total_compressed_size(chunk.compressed_size())
                .set_total_uncompressed_size(chunk.uncompressed_size())
                .set_data_page_offset(chunk.data_page_offset())
                .set_dictionary_page_offset(chunk.dictionary_page_offset());
            chunks.push(copy.build()?);
        }
        let copy = RowGroupMetaData::builder(Arc::clone(&schema))
            .set_num_rows(group.num_rows())
            .set_total_byte_size(group.total_byte_size())
            .set_column_metadata(chunks);
        groups.push(copy.build()?);
    }
    let file = FileMetaData::new(file.version(), file.num_rows(), None, None, schema, None);
    Ok(ParquetMetaData::new(file, groups))
}
