//! Parquet files as tables, read so that no value can make the reader fail.
//!
//! - [`thrift`] and [`footer`]: the claims of a file, checked before they are used;
//! - [`text_bytes`]: the decoded bytes of texts, before the charge: [`prefixes`] of texts that
//!   share prefixes, [`dictionary`] of texts that a dictionary repeats;
//! - [`rows`] and [`bytes`]: row groups to batches; text that is not UTF-8 is `NULL`;
//! - [`scan`]: row groups as a source of DataFusion's scans, also on a cluster;
//! - [`check`]: decodes a whole file once, when its dataset is added.

mod bytes;
pub(crate) mod check;
mod dictionary;
pub(super) mod footer;
mod prefixes;
mod rows;
pub(in crate::engines) mod scan;
pub(super) mod text_bytes;
mod thrift;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;

use self::scan::{ParquetFile, estimate, parquet_scan, partitions};

/// Parquet files as a table with these columns, which all files have.
#[derive(Debug)]
pub(in crate::engines) struct ParquetTable {
    schema: SchemaRef,
    /// The files.
    pub(in crate::engines) files: Arc<[Arc<ParquetFile>]>,
}

impl ParquetTable {
    /// A table of these files.
    pub(in crate::engines) const fn new(schema: SchemaRef, files: Arc<[Arc<ParquetFile>]>) -> Self {
        Self { schema, files }
    }
}

#[async_trait]
impl TableProvider for ParquetTable {
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
        let groups = partitions(&self.files, state.config().target_partitions())?;
        let statistics = estimate(&self.files, &schema)?;
        let files = Arc::clone(&self.files);
        Ok(parquet_scan(
            schema,
            files,
            &groups,
            Some(statistics),
            limit,
        ))
    }
}
