//! CSV files as a source of DataFusion's scans: a file is read as a whole, by whoever
//! runs the scan.

use std::any::Any;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
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

use super::Batches;
use crate::engines::datafusion::seen::SeenFile;

/// The scan of files with these columns; each is a partition unless groups of their
/// places say otherwise.
pub(in crate::engines) fn csv_scan(
    schema: SchemaRef,
    files: Vec<SeenFile>,
    groups: &[Vec<usize>],
    limit: Option<usize>,
) -> Arc<dyn ExecutionPlan> {
    // What is read is found by its place, whatever characters its path has.
    let file = |place: &usize| PartitionedFile::new(place.to_string(), 0);
    let groups = groups
        .iter()
        .map(|group| FileGroup::new(group.iter().map(file).collect()));
    let groups = groups.collect();
    let source = CsvFiles {
        schema: TableSchema::from(schema),
        files: files.into(),
        metrics: ExecutionPlanMetricsSet::new(),
    };
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(groups)
        .with_limit(limit)
        .build();
    DataSourceExec::from_data_source(config)
}

/// What a scan of CSV files is made of, if a plan is one.
#[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
pub(in crate::engines) struct CsvParts {
    /// Its columns.
    pub(in crate::engines) schema: SchemaRef,
    /// All files.
    pub(in crate::engines) files: Arc<[SeenFile]>,
    /// The places of those that are read, by partition.
    pub(in crate::engines) groups: Vec<Vec<usize>>,
    /// How many rows are enough.
    pub(in crate::engines) limit: Option<usize>,
}

#[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
impl CsvParts {
    /// Of a plan.
    pub(in crate::engines) fn of(plan: &dyn ExecutionPlan) -> Option<Self> {
        let source: &dyn Any = plan
            .downcast_ref::<DataSourceExec>()?
            .data_source()
            .as_ref();
        let config = source.downcast_ref::<FileScanConfig>()?;
        let source: &dyn Any = config.file_source().as_ref();
        let source = source.downcast_ref::<CsvFiles>()?;
        let groups = config.file_groups.iter();
        let groups = groups.map(|group| group.iter().map(place).collect::<Option<Vec<_>>>());
        Some(Self {
            schema: Arc::clone(source.schema.file_schema()),
            files: Arc::clone(&source.files),
            groups: groups.collect::<Option<_>>()?,
            limit: config.limit,
        })
    }
}

fn place(file: &PartitionedFile) -> Option<usize> {
    file.object_meta.location.as_ref().parse().ok()
}

#[derive(Clone)]
struct CsvFiles {
    schema: TableSchema,
    files: Arc<[SeenFile]>,
    metrics: ExecutionPlanMetricsSet,
}

impl FileSource for CsvFiles {
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
        "mizan_csv"
    }

    // A line may begin in one part of a file and end in another.
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

impl FileOpener for CsvFiles {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let file = place(&file)
            .and_then(|place| self.files.get(place))
            .cloned();
        let schema = Arc::clone(self.schema.file_schema());
        Ok(Box::pin(async move {
            let file = file.ok_or_else(|| DataFusionError::Plan("no such file".into()))?;
            file.check()?;
            let batches = Batches::open(&file.path, schema)?;
            Ok(futures::stream::iter(batches.collect_lazily()).boxed())
        }))
    }
}
