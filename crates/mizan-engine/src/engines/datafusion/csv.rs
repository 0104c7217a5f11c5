//! CSV files as tables of text. Any bytes are a CSV file: no row can make it fail.
//!
//! A row that is short has nothing at its end; fields beyond the header are left
//! out. An empty field, one that is no UTF-8 and one that is longer than
//! [`MAX_FIELD`] are nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use csv_core::{ReadFieldResult, Reader};
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringViewBuilder};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};

use crate::engine::EngineError;
use crate::version::unreadable;

/// The longest field that is read.
const MAX_FIELD: usize = 16 << 20;
/// The longest header that is read.
const MAX_HEADER: usize = 1 << 20;
/// A batch ends after so many rows, or so many bytes.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 8 << 20;

/// The fields of a file, one after the other.
struct Fields {
    file: File,
    reader: Reader,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    finished: bool,
    /// The field that was read last, and whether it was too long.
    field: Vec<u8>,
    too_long: bool,
    /// Where the reader writes.
    output: Vec<u8>,
}

/// What came after a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// Another field.
    Field,
    /// The end of the row.
    Row,
}

impl Fields {
    fn open(path: &Path) -> std::io::Result<Self> {
        let mut fields = Self {
            file: File::open(path)?,
            reader: Reader::new(),
            buffer: vec![0; 1 << 16],
            start: 0,
            end: 0,
            finished: false,
            field: Vec::new(),
            too_long: false,
            output: vec![0; 1 << 12],
        };
        // The mark of UTF-8 at the beginning is known only if it is all there.
        while fields.end < 3 && !fields.finished {
            fields.fill()?;
        }
        Ok(fields)
    }

    /// Reads on.
    fn fill(&mut self) -> std::io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let space = self.buffer.get_mut(self.end..).unwrap_or_default();
        let read = loop {
            match self.file.read(space) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.finished = read == 0;
        self.end += read;
        Ok(())
    }

    /// Reads the next field, and keeps it if it is wanted; None at the end.
    fn next(&mut self, wanted: bool) -> std::io::Result<Option<After>> {
        self.field.clear();
        self.too_long = false;
        loop {
            if self.start == self.end && !self.finished {
                self.fill()?;
            }
            let input = self.buffer.get(self.start..self.end).unwrap_or_default();
            let (result, read, written) = self.reader.read_field(input, &mut self.output);
            self.start += read;
            if wanted && !self.too_long {
                let written = self.output.get(..written).unwrap_or_default();
                self.field.extend_from_slice(written);
                self.too_long = self.field.len() > MAX_FIELD;
            }
            match result {
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                ReadFieldResult::Field { record_end: true } => return Ok(Some(After::Row)),
                ReadFieldResult::Field { record_end: false } => return Ok(Some(After::Field)),
                ReadFieldResult::End => return Ok(None),
            }
        }
    }

    /// The field, unless it is nothing.
    fn text(&self) -> Option<&str> {
        if self.too_long || self.field.is_empty() {
            return None;
        }
        std::str::from_utf8(&self.field).ok()
    }
}

/// The names of the columns of a file.
pub(super) fn header(path: &Path) -> Result<Vec<String>, EngineError> {
    let bad = |reason| EngineError::BadHeader {
        path: path.to_path_buf(),
        reason,
    };
    let unreadable = |error| unreadable(path, &error);
    let mut fields = Fields::open(path).map_err(unreadable)?;
    let mut names: Vec<String> = Vec::new();
    let mut length = 0_usize;
    loop {
        let Some(after) = fields.next(true).map_err(unreadable)? else {
            return Err(bad("the file is empty"));
        };
        length = length.saturating_add(fields.field.len()).saturating_add(1);
        if fields.too_long || length > MAX_HEADER {
            return Err(bad("it is longer than a megabyte"));
        }
        let name = fields
            .text()
            .ok_or_else(|| bad("a name is empty or no UTF-8"))?;
        if names.iter().any(|other| other == name) {
            return Err(bad("two columns have the same name"));
        }
        names.push(name.to_owned());
        if after == After::Row {
            return Ok(names);
        }
    }
}

/// The schema of a file: text all over.
pub(super) fn schema(path: &Path) -> Result<SchemaRef, EngineError> {
    let names = header(path)?.into_iter();
    let fields = names.map(|name| Field::new(name, DataType::Utf8View, true));
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

/// CSV files as a table with these columns, which all files have.
#[derive(Debug)]
pub(super) struct CsvTable {
    schema: SchemaRef,
    paths: Vec<PathBuf>,
}

impl CsvTable {
    /// A table.
    pub(super) fn new(schema: SchemaRef, paths: Vec<PathBuf>) -> Self {
        Self { schema, paths }
    }
}

#[async_trait]
impl TableProvider for CsvTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(projection) => Arc::new(self.schema.project(projection)?),
            None => Arc::clone(&self.schema),
        };
        let streams = self.paths.iter().map(|path| {
            Arc::new(CsvStream {
                schema: Arc::clone(&schema),
                path: path.clone(),
            }) as Arc<dyn PartitionStream>
        });
        let streams = streams.collect();
        let scan = StreamingTableExec::try_new(schema, streams, None, [], false, limit)?;
        Ok(Arc::new(scan))
    }
}

#[derive(Debug)]
struct CsvStream {
    schema: SchemaRef,
    path: PathBuf,
}

impl PartitionStream for CsvStream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let schema = Arc::clone(&self.schema);
        let batches = match Batches::open(&self.path, Arc::clone(&schema)) {
            Ok(batches) => batches.collect_lazily(),
            Err(error) => Box::new(std::iter::once(Err(error))),
        };
        let stream = futures::stream::iter(batches);
        Box::pin(RecordBatchStreamAdapter::new(schema, stream))
    }
}

/// The rows of a file in batches.
struct Batches {
    fields: Fields,
    schema: SchemaRef,
    /// By the place in the file, the place in the batch.
    places: Vec<Option<usize>>,
    done: bool,
}

impl Batches {
    fn open(path: &Path, schema: SchemaRef) -> Result<Self> {
        let names = header(path).map_err(|error| DataFusionError::External(Box::new(error)))?;
        let wanted: BTreeMap<&str, usize> = schema
            .fields()
            .iter()
            .enumerate()
            .map(|(place, field)| (field.name().as_str(), place))
            .collect();
        let places: Vec<Option<usize>> = names
            .iter()
            .map(|name| wanted.get(name.as_str()).copied())
            .collect();
        let mut fields = Fields::open(path)?;
        while fields.next(false)? == Some(After::Field) {}
        Ok(Self {
            fields,
            schema,
            places,
            done: false,
        })
    }

    fn collect_lazily(mut self) -> Box<dyn Iterator<Item = Result<RecordBatch>> + Send> {
        Box::new(std::iter::from_fn(move || {
            if self.done {
                return None;
            }
            let batch = self.next_batch();
            self.done |= batch.is_err();
            batch.transpose()
        }))
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let width = self.schema.fields().len();
        let mut builders: Vec<StringViewBuilder> =
            (0..width).map(|_| StringViewBuilder::new()).collect();
        let (mut rows, mut bytes) = (0, 0);
        while rows < BATCH_ROWS && bytes < BATCH_BYTES {
            if !self.next_row(&mut builders, &mut bytes)? {
                self.done = true;
                break;
            }
            rows += 1;
            for builder in &mut builders {
                if datafusion::arrow::array::ArrayBuilder::len(builder) < rows {
                    builder.append_null();
                }
            }
        }
        if rows == 0 {
            return Ok(None);
        }
        let arrays = builders.iter_mut();
        let arrays = arrays.map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, arrays.collect(), &options)?;
        Ok(Some(batch))
    }

    /// Appends the fields of a row; false if there is none.
    fn next_row(&mut self, builders: &mut [StringViewBuilder], bytes: &mut usize) -> Result<bool> {
        let mut place = 0;
        loop {
            let to = self.places.get(place).copied().flatten();
            let Some(after) = self.fields.next(to.is_some())? else {
                return Ok(place > 0);
            };
            if let Some(builder) = to.and_then(|to| builders.get_mut(to)) {
                *bytes = bytes.saturating_add(self.fields.field.len());
                builder.append_option(self.fields.text());
            }
            if after == After::Row {
                return Ok(true);
            }
            place += 1;
        }
    }
}
