//! CSV files as tables. Any sequence of bytes is a valid CSV file: no row can make the reader
//! fail.
//!
//! A row ends at LF or CRLF. Missing fields of a short row are NULL; fields beyond the header
//! are ignored. These fields are NULL too: empty ones, those that do not parse as the type of
//! their column, text that is not UTF-8, and fields above 1 MiB.

mod column;
mod fields;
pub(in crate::engines) mod scan;

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use mizan_sql::MAX_COLUMNS;

use self::column::Column;
use self::fields::{After, BUFFER, Fields};
use self::scan::csv_scan;
use super::file_stamp::{StampedFile, open};
use super::source::source_type;
use crate::data_file::{self, unreadable};
use crate::engine::EngineError;

/// The longest header that is read.
const MAX_HEADER: u64 = 1 << 20;
/// How many files are read concurrently, unless there are more partitions.
const AT_ONCE: usize = 16;
/// The rows after which a batch ends, and the bytes.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 8 << 20;

/// The names of the columns of a file. The header of a broken file may be the whole file, so no
/// more of it is read than a header can have.
pub(super) fn header(path: &Path) -> Result<Vec<String>, EngineError> {
    let bad = |reason| EngineError::BadHeader {
        path: path.to_path_buf(),
        reason,
    };
    let unreadable = |error| unreadable(path, &error);
    let file = data_file::open(path)?;
    let mut fields = Fields::new(file.take(MAX_HEADER + 1), BUFFER).map_err(unreadable)?;
    let mut names: Vec<String> = Vec::new();
    let mut different = HashSet::new();
    loop {
        let Some(after) = fields.next(true).map_err(unreadable)? else {
            return Err(bad("the file is empty"));
        };
        if fields.is_too_long() || fields.is_at_limit() {
            return Err(bad("it is longer than a megabyte"));
        }
        if names.len() == MAX_COLUMNS {
            return Err(bad("it has more than 10,000 names"));
        }
        let name = fields.field().unwrap_or_default();
        let name = std::str::from_utf8(name).unwrap_or_default();
        if name.is_empty() {
            return Err(bad("a name is empty or not UTF-8"));
        }
        if name.replace("\r\n", "").contains('\r') {
            return Err(bad(
                "it has a carriage return without a line feed; lines end in LF or CRLF",
            ));
        }
        if !different.insert(name.to_owned()) {
            return Err(bad("two columns have the same name"));
        }
        names.push(name.to_owned());
        if after == After::Row {
            return Ok(names);
        }
    }
}

/// The schema of a file without declared types: all columns are text.
pub(super) fn schema(path: &Path) -> Result<SchemaRef, EngineError> {
    let names = header(path)?.into_iter();
    let fields = names.map(|name| Field::new(name, DataType::Utf8View, true));
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

/// CSV files as a table with these columns, which all files have. A field is parsed as the type
/// of its column.
#[derive(Debug)]
pub(in crate::engines) struct CsvTable {
    schema: SchemaRef,
    /// The files.
    pub(in crate::engines) files: Vec<StampedFile>,
}

impl CsvTable {
    /// A table of these files.
    pub(in crate::engines) const fn new(schema: SchemaRef, files: Vec<StampedFile>) -> Self {
        Self { schema, files }
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
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(projection) => Arc::new(self.schema.project(projection)?),
            None => Arc::clone(&self.schema),
        };
        // Each open file takes some memory, so only a few of many are read concurrently.
        let most = AT_ONCE.max(state.config().target_partitions());
        let each = self.files.len().div_ceil(most).max(1);
        let places: Vec<usize> = (0..self.files.len()).collect();
        let groups: Vec<Vec<usize>> = places.chunks(each).map(<[usize]>::to_vec).collect();
        Ok(csv_scan(schema, self.files.clone(), &groups, limit))
    }
}

/// The rows of a file in batches.
struct Batches {
    fields: Fields<File>,
    schema: SchemaRef,
    /// For each position in the file, the position in the batch.
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
        let mut fields = Fields::new(open(path)?, BUFFER)?;
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
        let fields = self.schema.fields().iter();
        let kinds = fields.map(|field| source_type(field.data_type()));
        let mut columns: Vec<Column> = kinds
            .map(|kind| kind.map(Column::new))
            .collect::<Option<_>>()
            .ok_or_else(|| DataFusionError::Plan("a column of no type".into()))?;
        let (mut rows, mut bytes) = (0, 0);
        while rows < BATCH_ROWS && bytes < BATCH_BYTES {
            if !self.next_row(&mut columns, &mut bytes)? {
                self.done = true;
                break;
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let arrays = columns.into_iter().map(Column::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options)?;
        Ok(Some(batch))
    }

    /// Appends the fields of a row; false at the end of the file.
    fn next_row(&mut self, columns: &mut [Column], bytes: &mut usize) -> Result<bool> {
        let mut places = self.places.iter();
        loop {
            let to = places.next().copied().flatten();
            let Some(after) = self.fields.next(to.is_some())? else {
                return Ok(false);
            };
            if let Some(column) = to.and_then(|to| columns.get_mut(to)) {
                let field = self.fields.field();
                *bytes = bytes.saturating_add(field.map_or(0, <[u8]>::len));
                column.append(field);
            }
            if after == After::Row {
                break;
            }
        }
        // Columns that a short row lacks.
        for to in places.flatten() {
            if let Some(column) = columns.get_mut(*to) {
                column.append(None);
            }
        }
        Ok(true)
    }
}
