//! Parquet files as a source of DataFusion's scans: row groups are dealt out to
//! partitions, and read by the executor that runs the scan.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{
    FileGroup, FileOpenFuture, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::DataFusionError;
use datafusion::object_store::ObjectStore;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};
use futures::StreamExt;

use super::footer::{Footer, group_rows};
use super::rows::Rows;
use crate::engines::datafusion::seen::SeenFile;
use crate::engines::thread::on_own_thread;

/// A file, with its footer once it was read.
#[derive(Debug)]
pub(in crate::engines) struct ParquetFile {
    /// The file.
    pub(in crate::engines) file: SeenFile,
    footer: OnceLock<Arc<Footer>>,
}

impl ParquetFile {
    /// A file whose footer is read when it is needed.
    #[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
    pub(in crate::engines) const fn new(file: SeenFile) -> Self {
        Self {
            file,
            footer: OnceLock::new(),
        }
    }

    /// A file with its footer.
    pub(in crate::engines::datafusion) fn with_footer(file: SeenFile, footer: Arc<Footer>) -> Self {
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

/// A row group: the place of its file, and its own place there.
pub(in crate::engines) type Piece = (usize, usize);

/// All row groups of files in so many partitions with about as many rows each; none of
/// them is empty unless there are no rows.
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
        // Where the middle of it lies decides.
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

/// What is known of the size of columns before they are read. It is an estimate: no
/// aggregate is answered by it.
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

/// The scan of row groups with these columns.
pub(in crate::engines) fn parquet_scan(
    schema: SchemaRef,
    files: Arc<[Arc<ParquetFile>]>,
    groups: &[Vec<Piece>],
    statistics: Option<Statistics>,
    limit: Option<usize>,
) -> Arc<dyn ExecutionPlan> {
    // What is read is found by its place, whatever characters its path has.
    let file = |(file, group): &Piece| PartitionedFile::new(format!("{file}/{group}"), 0);
    let groups = groups
        .iter()
        .map(|group| FileGroup::new(group.iter().map(file).collect()));
    let groups = groups.collect();
    let statistics = statistics.unwrap_or_else(|| Statistics::new_unknown(&schema));
    let source = ParquetFiles {
        schema: TableSchema::from(schema),
        files,
        metrics: ExecutionPlanMetricsSet::new(),
    };
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(groups)
        .with_statistics(statistics)
        .with_limit(limit)
        .build();
    DataSourceExec::from_data_source(config)
}

/// What a scan of Parquet files is made of, if a plan is one.
#[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
pub(in crate::engines) struct ParquetParts {
    /// Its columns.
    pub(in crate::engines) schema: SchemaRef,
    /// All files.
    pub(in crate::engines) files: Arc<[Arc<ParquetFile>]>,
    /// The row groups that are read, by partition.
    pub(in crate::engines) groups: Vec<Vec<Piece>>,
    /// How many rows are enough.
    pub(in crate::engines) limit: Option<usize>,
}

#[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
impl ParquetParts {
    /// Of a plan.
    pub(in crate::engines) fn of(plan: &dyn ExecutionPlan) -> Option<Self> {
        let source: &dyn Any = plan
            .downcast_ref::<DataSourceExec>()?
            .data_source()
            .as_ref();
        let config = source.downcast_ref::<FileScanConfig>()?;
        let source: &dyn Any = config.file_source().as_ref();
        let source = source.downcast_ref::<ParquetFiles>()?;
        let groups = config.file_groups.iter();
        let groups = groups.map(|group| group.iter().map(piece).collect::<Option<Vec<_>>>());
        Some(Self {
            schema: Arc::clone(source.schema.file_schema()),
            files: Arc::clone(&source.files),
            groups: groups.collect::<Option<_>>()?,
            limit: config.limit,
        })
    }
}

fn piece(file: &PartitionedFile) -> Option<Piece> {
    let (file, group) = file.object_meta.location.as_ref().split_once('/')?;
    Some((file.parse().ok()?, group.parse().ok()?))
}

#[derive(Clone)]
struct ParquetFiles {
    schema: TableSchema,
    files: Arc<[Arc<ParquetFile>]>,
    metrics: ExecutionPlanMetricsSet,
}

impl FileSource for ParquetFiles {
    fn create_file_opener(
        &self,
        _object_store: Arc<dyn ObjectStore>,
        _base_config: &FileScanConfig,
        _partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        Ok(Arc::new(self.clone()))
    }

    fn table_schema(&self) -> &TableSchema {
        &self.schema
    }

    fn with_batch_size(&self, _batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(self.clone())
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        "mizan_parquet"
    }

    // Row groups are dealt out already.
    fn supports_repartitioning(&self) -> bool {
        false
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
}

impl FileOpener for ParquetFiles {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let piece = piece(&file);
        let file = piece.and_then(|(file, group)| Some((Arc::clone(self.files.get(file)?), group)));
        let schema = Arc::clone(self.schema.file_schema());
        Ok(Box::pin(async move {
            let (file, group) = file.ok_or_else(|| DataFusionError::Plan("no such file".into()))?;
            file.file.check()?;
            let rows = Rows::open(file.footer()?, group, schema)?;
            Ok(futures::stream::iter(rows).boxed())
        }))
    }
}
