//! Pieces of files as a source of DataFusion's scans: CSV files, and row groups of Parquet
//! files. The executor that runs the scan reads each piece as a whole.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
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

/// A file format.
pub(in crate::engines) trait Format: Send + Sync + Unpin + 'static {
    /// The name in DataFusion.
    const NAME: &'static str;
    /// A file.
    type File: Clone + Send + Sync + 'static;
    /// A piece of a file, which is read as a whole.
    type Piece: Send + 'static;
    /// The rows of a piece.
    type Rows: Iterator<Item = Result<RecordBatch>> + Send + 'static;

    /// The position of a piece's file.
    fn file(piece: &Self::Piece) -> usize;
    /// A piece as text, which DataFusion stores.
    fn show(piece: &Self::Piece) -> String;
    /// Parses the text of a piece.
    fn read(text: &str) -> Option<Self::Piece>;
    /// Opens a piece with these columns.
    fn open(file: &Self::File, piece: &Self::Piece, schema: SchemaRef) -> Result<Self::Rows>;
}

/// The parameters of a scan.
pub(in crate::engines) struct Scan<F: Format> {
    /// Its columns.
    pub(in crate::engines) schema: SchemaRef,
    /// All files.
    pub(in crate::engines) files: Arc<[F::File]>,
    /// The pieces to read, by partition.
    pub(in crate::engines) groups: Vec<Vec<F::Piece>>,
    /// The row limit of the scan.
    pub(in crate::engines) limit: Option<usize>,
}

impl<F: Format> Scan<F> {
    /// The physical plan, with estimated sizes.
    pub(in crate::engines) fn plan(self, statistics: Option<Statistics>) -> Arc<dyn ExecutionPlan> {
        // Pieces are identified by position, so paths may contain any characters.
        let file = |piece: &F::Piece| PartitionedFile::new(F::show(piece), 0);
        let groups = self.groups.iter();
        let groups = groups.map(|group| FileGroup::new(group.iter().map(file).collect()));
        let groups = groups.collect();
        let statistics = statistics.unwrap_or_else(|| Statistics::new_unknown(&self.schema));
        let source = PieceSource::<F> {
            schema: TableSchema::from(self.schema),
            files: self.files,
            metrics: ExecutionPlanMetricsSet::new(),
            format: PhantomData,
        };
        let url = ObjectStoreUrl::local_filesystem();
        let config = FileScanConfigBuilder::new(url, Arc::new(source))
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_limit(self.limit)
            .build();
        DataSourceExec::from_data_source(config)
    }

    /// The parameters of a plan, if it is a scan of this format.
    pub(in crate::engines) fn of(plan: &dyn ExecutionPlan) -> Option<Self> {
        let source: &dyn Any = plan
            .downcast_ref::<DataSourceExec>()?
            .data_source()
            .as_ref();
        let config = source.downcast_ref::<FileScanConfig>()?;
        let source: &dyn Any = config.file_source().as_ref();
        let source = source.downcast_ref::<PieceSource<F>>()?;
        let groups = config.file_groups.iter();
        let groups = groups.map(|group| group.iter().map(piece::<F>).collect());
        Some(Self {
            schema: Arc::clone(source.schema.file_schema()),
            files: Arc::clone(&source.files),
            groups: groups.collect::<Option<_>>()?,
            limit: config.limit,
        })
    }
}

fn piece<F: Format>(file: &PartitionedFile) -> Option<F::Piece> {
    F::read(file.object_meta.location.as_ref())
}

struct PieceSource<F: Format> {
    schema: TableSchema,
    files: Arc<[F::File]>,
    metrics: ExecutionPlanMetricsSet,
    format: PhantomData<F>,
}

impl<F: Format> Clone for PieceSource<F> {
    fn clone(&self) -> Self {
        Self {
            schema: self.schema.clone(),
            files: Arc::clone(&self.files),
            metrics: self.metrics.clone(),
            format: PhantomData,
        }
    }
}

impl<F: Format> FileSource for PieceSource<F> {
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
        F::NAME
    }

    // A line may start in one part of a file and end in another, and row groups are already
    // assigned to partitions.
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

impl<F: Format> FileOpener for PieceSource<F> {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let piece = piece::<F>(&file);
        let found = piece.and_then(|piece| {
            let file = self.files.get(F::file(&piece)).cloned();
            Some((file?, piece))
        });
        let schema = Arc::clone(self.schema.file_schema());
        Ok(Box::pin(async move {
            let (file, piece) =
                found.ok_or_else(|| DataFusionError::Plan("no such file".into()))?;
            let rows = F::open(&file, &piece, schema)?;
            Ok(futures::stream::iter(rows).boxed())
        }))
    }
}
