//! Parquet files as a source of DataFusion's scans: row groups are assigned to partitions and
//! read by the executor that runs the scan.

use std::sync::{Arc, OnceLock};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::{Result, Statistics};
use datafusion::error::DataFusionError;
use datafusion::physical_plan::ExecutionPlan;

use super::footer::{Footer, group_rows};
use super::prefixes::shares_prefixes;
use super::rows::Rows;
use crate::engines::datafusion::file_scan::{Format, Scan};
use crate::engines::datafusion::file_stamp::StampedFile;
use crate::engines::thread::on_own_thread;

/// A file with its footer, which is read on first use.
#[derive(Debug)]
pub(in crate::engines) struct ParquetFile {
    /// The file.
    pub(in crate::engines) file: StampedFile,
    footer: OnceLock<Arc<Footer>>,
}

impl ParquetFile {
    /// A file whose footer is not read yet.
    #[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
    pub(in crate::engines) const fn new(file: StampedFile) -> Self {
        Self {
            file,
            footer: OnceLock::new(),
        }
    }

    /// A file with its footer.
    pub(in crate::engines::datafusion) fn with_footer(
        file: StampedFile,
        footer: Arc<Footer>,
    ) -> Self {
        Self {
            file,
            footer: OnceLock::from(footer),
        }
    }

    /// The footer.
    pub(super) fn footer(&self) -> Result<Arc<Footer>> {
        if let Some(footer) = self.footer.get() {
            return Ok(Arc::clone(footer));
        }
        let footer = on_own_thread(|| Footer::read(&self.file.path));
        let footer = footer.map_err(|error| DataFusionError::External(Box::new(error)))?;
        Ok(Arc::clone(self.footer.get_or_init(|| Arc::new(footer))))
    }
}

/// A row group: the position of its file, and its position in the file.
pub(in crate::engines) type Piece = (usize, usize);

/// Assigns all row groups to at most `most` partitions with about equally many rows. No
/// partition is empty unless there are no rows.
pub(super) fn partitions(files: &[Arc<ParquetFile>], most: usize) -> Result<Vec<Vec<Piece>>> {
    let mut pieces = Vec::new();
    for (file, found) in files.iter().enumerate() {
        let footer = found.footer()?;
        let groups = footer.groups().iter().enumerate();
        pieces.extend(groups.map(|(group, found)| ((file, group), group_rows(found))));
    }
    let all: u64 = pieces
        .iter()
        .map(|(_, rows)| *rows)
        .fold(0, u64::saturating_add);
    let most = most.clamp(1, pieces.len().max(1));
    let mut partitions = vec![Vec::new()];
    let mut before = 0_u64;
    for (piece, rows) in pieces {
        // The position of its middle row decides.
        let middle = u128::from(before) + u128::from(rows / 2);
        let share = middle * most as u128 / u128::from(all.max(1));
        let open = partitions
            .last()
            .is_some_and(|last: &Vec<Piece>| last.is_empty());
        if !open && share >= partitions.len() as u128 && partitions.len() < most {
            partitions.push(Vec::new());
        }
        if let Some(last) = partitions.last_mut() {
            last.push(piece);
        }
        before = before.saturating_add(rows);
    }
    Ok(partitions)
}

/// Estimated sizes of columns for the planner. No aggregate is answered from them.
pub(super) fn estimate(files: &[Arc<ParquetFile>], schema: &Schema) -> Result<Statistics> {
    let (mut rows, mut bytes) = (0_u64, 0_u64);
    for file in files {
        let footer = file.footer()?;
        rows = rows.saturating_add(footer.rows());
        let roots = footer.roots(schema)?;
        for group in 0..footer.groups().len() {
            let sizes = footer.chunks(group, &roots);
            let sizes = sizes.map(|chunk| chunk.uncompressed_size().try_into().unwrap_or(0));
            bytes = bytes.saturating_add(sizes.fold(0, u64::saturating_add));
        }
    }
    let inexact = |number: u64| Precision::Inexact(usize::try_from(number).unwrap_or(usize::MAX));
    let mut statistics = Statistics::new_unknown(schema);
    statistics.num_rows = inexact(rows);
    statistics.total_byte_size = inexact(bytes);
    Ok(statistics)
}

/// Whether a plan is a scan that reads texts that share prefixes.
pub(in crate::engines::datafusion) fn reads_prefixes(plan: &dyn ExecutionPlan) -> Result<bool> {
    let Some(scan) = Scan::<Parquet>::of(plan) else {
        return Ok(false);
    };
    for file in scan.files.iter() {
        let footer = file.footer()?;
        let roots = footer.roots(&scan.schema)?;
        let mut groups = 0..footer.groups().len();
        if groups.any(|group| footer.chunks(group, &roots).any(shares_prefixes)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Row groups of Parquet files.
pub(in crate::engines) struct Parquet;

impl Format for Parquet {
    const NAME: &'static str = "mizan_parquet";
    type File = Arc<ParquetFile>;
    type Piece = Piece;
    type Rows = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

    fn file(piece: &Piece) -> usize {
        piece.0
    }

    fn show((file, group): &Piece) -> String {
        format!("{file}/{group}")
    }

    fn read(text: &str) -> Option<Piece> {
        let (file, group) = text.split_once('/')?;
        Some((file.parse().ok()?, group.parse().ok()?))
    }

    fn open(file: &Arc<ParquetFile>, piece: &Piece, schema: SchemaRef) -> Result<Self::Rows> {
        file.file.check()?;
        Ok(Box::new(Rows::open(file.footer()?, piece.1, schema)?))
    }
}

/// The scan of row groups with these columns.
pub(in crate::engines) fn parquet_scan(
    schema: SchemaRef,
    files: Arc<[Arc<ParquetFile>]>,
    groups: &[Vec<Piece>],
    statistics: Option<Statistics>,
    limit: Option<usize>,
) -> Arc<dyn ExecutionPlan> {
    let scan: Scan<Parquet> = Scan {
        schema,
        files,
        groups: groups.to_vec(),
        limit,
    };
    scan.plan(statistics)
}
