//! CSV files as pieces of a scan: each file is one piece.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;

use super::Batches;
use crate::engines::datafusion::file_scan::{Format, Scan};
use crate::engines::datafusion::file_stamp::StampedFile;

/// CSV.
pub(in crate::engines) struct Csv;

impl Format for Csv {
    const NAME: &'static str = "mizan_csv";
    type File = StampedFile;
    type Piece = usize;
    type Rows = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

    fn file(place: &usize) -> usize {
        *place
    }

    fn show(place: &usize) -> String {
        place.to_string()
    }

    fn read(text: &str) -> Option<usize> {
        text.parse().ok()
    }

    fn open(file: &StampedFile, _place: &usize, schema: SchemaRef) -> Result<Self::Rows> {
        file.check()?;
        Ok(Batches::open(&file.path, schema)?.collect_lazily())
    }
}

/// The scan of files with these columns. Each partition reads one group of file positions.
pub(in crate::engines) fn csv_scan(
    schema: SchemaRef,
    files: Vec<StampedFile>,
    groups: &[Vec<usize>],
    limit: Option<usize>,
) -> Arc<dyn ExecutionPlan> {
    let scan: Scan<Csv> = Scan {
        schema,
        files: files.into(),
        groups: groups.to_vec(),
        limit,
    };
    scan.plan(None)
}
