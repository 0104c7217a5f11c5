//! The rows of a row group in batches. Reading a page gives batches or an error: panics of the
//! library are caught here.

use std::sync::Arc;

use bytes::{Buf as _, Bytes, buf::Reader};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{Result, exec_datafusion_err, exec_err};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use super::bytes::value;
use super::footer::{Footer, TextAs, chunk_range, group_rows, read_part};
use super::prefixes::{decoded, shares_prefixes};
use crate::engines::datafusion::file_stamp::open;
use crate::engines::thread::caught;

/// The rows of a batch.
const BATCH_ROWS: usize = 8192;

/// The most bytes of texts that share prefixes in a batch, unless it has one row.
const STEP_BYTES: u64 = 4 << 20;

/// The rows of a row group.
pub(super) struct Rows {
    footer: Arc<Footer>,
    group: usize,
    /// The columns of the batches.
    schema: SchemaRef,
    /// Their positions in the footer.
    roots: Vec<usize>,
    chunks: Chunks,
    text: TextAs,
    reader: Option<ParquetRecordBatchReader>,
    /// How many rows are decoded at a time.
    step: usize,
    /// How many rows were read, of how many.
    read: u64,
    rows: u64,
    done: bool,
}

impl Rows {
    /// Opens the rows of a group with these columns.
    pub(super) fn open(footer: Arc<Footer>, group: usize, schema: SchemaRef) -> Result<Self> {
        let Some(found) = footer.groups().get(group) else {
            return exec_err!("no such row group");
        };
        let rows = group_rows(found);
        let roots = footer.roots(&schema)?;
        let chunks = Chunks::load(&footer, group, &roots)?;
        let step = step(&footer, group, &roots, &chunks)?;
        Ok(Self {
            footer,
            group,
            schema,
            roots,
            chunks,
            text: TextAs::Text,
            reader: None,
            step,
            read: 0,
            rows,
            done: false,
        })
    }

    /// A decoder that continues after the rows that were read.
    fn decoder(&self) -> Result<ParquetRecordBatchReader> {
        let metadata = self.footer.reader(self.text)?;
        let roots = self.roots.iter().copied();
        let mask = ProjectionMask::roots(metadata.parquet_schema(), roots);
        let decoder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.chunks.clone(), metadata)
                .with_projection(mask)
                .with_row_groups(vec![self.group])
                .with_batch_size(self.step);
        // An offset is implemented as a row selection, which has a slower path.
        let decoder = match self.read {
            0 => decoder,
            read => {
                let read = usize::try_from(read).map_err(|_| exec_datafusion_err!("many rows"))?;
                decoder.with_offset(read)
            }
        };
        Ok(decoder.build()?)
    }

    /// The next decoded batch; None at the end.
    fn decode(&mut self) -> Result<Option<RecordBatch>> {
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => self.decoder()?,
        };
        let batch = reader.next().transpose()?;
        self.reader = Some(reader);
        Ok(batch)
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.read == self.rows {
            return Ok(None);
        }
        let mut batch = self.decode();
        if batch.is_err() && self.text == TextAs::Text {
            // A text may be invalid UTF-8.
            self.text = TextAs::Bytes;
            self.reader = None;
            batch = self.decode();
        }
        let Some(batch) = batch? else {
            return exec_err!("fewer rows than declared");
        };
        self.read = self.read.saturating_add(batch.num_rows() as u64);
        if self.read > self.rows || batch.num_rows() == 0 {
            return exec_err!("other rows than declared");
        }
        self.columns(&batch).map(Some)
    }

    /// Converts a batch to the columns of the schema.
    fn columns(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        for field in self.schema.fields() {
            let Some(array) = batch.column_by_name(field.name()) else {
                return exec_err!("no such column");
            };
            arrays.push(value(array, field.data_type())?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

/// How many rows are decoded at a time. Texts that share prefixes are copied, so few rows of a
/// small page may take much memory.
fn step(footer: &Footer, group: usize, roots: &[usize], chunks: &Chunks) -> Result<usize> {
    if !footer.chunks(group, roots).any(shares_prefixes) {
        return Ok(BATCH_ROWS);
    }
    let found = caught(|| decoded(footer, group, roots, chunks)).flatten();
    let Some(found) = found else {
        return exec_err!("a page cannot be decoded");
    };
    let rows = usize::try_from(STEP_BYTES / found.longest.max(1));
    Ok(rows.map_or(BATCH_ROWS, |rows| rows.clamp(1, BATCH_ROWS)))
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        // After a panic none of this state is used again.
        let batch = caught(|| self.next_batch());
        let batch = batch.unwrap_or_else(|| exec_err!("a page cannot be decoded"));
        self.done = !matches!(batch, Ok(Some(_)));
        batch.transpose()
    }
}

/// The bytes of some columns of a row group. They are loaded at once, since reading page by
/// page takes at least one system call for each.
#[derive(Clone)]
pub(super) struct Chunks {
    length: u64,
    /// The start offset and the bytes of each chunk, in order.
    loaded: Arc<[(u64, Bytes)]>,
}

impl Chunks {
    pub(super) fn load(footer: &Footer, group: usize, roots: &[usize]) -> Result<Self> {
        let file = open(footer.path())?;
        let length = file.metadata()?.len();
        let mut loaded = Vec::with_capacity(roots.len());
        for chunk in footer.chunks(group, roots) {
            // The file may have been replaced since its footer was read.
            let range = chunk_range(chunk)
                .filter(|(start, size)| start.checked_add(*size).is_some_and(|end| end <= length));
            let (start, size) = range.ok_or_else(|| exec_datafusion_err!("another file"))?;
            let size = usize::try_from(size).map_err(|_| exec_datafusion_err!("a long chunk"))?;
            loaded.push((start, Bytes::from(read_part(&file, start, size)?)));
        }
        loaded.sort_by_key(|(start, _)| *start);
        Ok(Self {
            length,
            loaded: loaded.into(),
        })
    }

    /// The loaded bytes from an offset on.
    fn from(&self, start: u64) -> ParquetResult<Bytes> {
        let after = self.loaded.partition_point(|(begin, _)| *begin <= start);
        let (begin, bytes) = after
            .checked_sub(1)
            .and_then(|place| self.loaded.get(place))
            .ok_or_else(not_loaded)?;
        let from = usize::try_from(start.saturating_sub(*begin)).map_err(|_| not_loaded())?;
        if from > bytes.len() {
            return Err(not_loaded());
        }
        Ok(bytes.slice(from..))
    }
}

fn not_loaded() -> ParquetError {
    ParquetError::EOF("beyond the chunk".to_owned())
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Chunks {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let bytes = self.from(start)?;
        if length > bytes.len() {
            return Err(not_loaded());
        }
        Ok(bytes.slice(..length))
    }
}
