//! The row limit as an operator: the first rows, groups or values of each unit, by their salted
//! hash.
//!
//! A window function would sort whole rows. Here rows stay where they are. Of units that may
//! exceed the limit, only a hash and a position are sorted; rows of other units are not sorted.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result, exec_err};
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::group_values::new_group_values;
use datafusion::physical_plan::aggregates::order::GroupOrdering;
use datafusion::physical_plan::project_schema;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::TryStreamExt;

use super::values::{Values, compare_rows};
use crate::engines::lower_sql::row_limit::LimitedTable;
use crate::sampling_hash::{Hasher, Salt};
use crate::unit_aggregation::LimitedItem;

/// The limited rows or groups of the units of a query, as a table.
///
/// The query is planned beforehand, and other plans do not see inside the table: applying the
/// optimizer rules of DataFusion 55 to it twice would lose rows.
#[derive(Debug)]
pub(super) struct RowLimitTable {
    /// All rows of a unit are in one partition.
    rows: Arc<dyn ExecutionPlan>,
    partitions: usize,
    rule: Rule,
}

impl RowLimitTable {
    /// A table of the rows of this plan.
    pub(super) fn new(
        rows: Arc<dyn ExecutionPlan>,
        partitions: usize,
        limited: &LimitedTable,
        salt: &Salt,
    ) -> Result<Self> {
        let schema = rows.schema();
        let unit = schema.fields().iter().take(limited.by.len()).enumerate();
        let unit = unit
            .map(|(place, field)| Arc::new(Column::new(field.name(), place)) as _)
            .collect::<Vec<Arc<dyn PhysicalExpr>>>();
        let rows = RepartitionExec::try_new(rows, Partitioning::Hash(unit, partitions))?;
        Ok(Self {
            rows: Arc::new(rows),
            partitions,
            rule: Rule {
                by: limited.by.len(),
                keys: limited.ranked.len(),
                of: limited.of,
                most: usize::try_from(limited.limit).unwrap_or(usize::MAX),
                salt: *salt,
            },
        })
    }
}

#[async_trait]
impl TableProvider for RowLimitTable {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = project_schema(&self.schema(), projection)?;
        let streams = (0..self.partitions).map(|partition| {
            Arc::new(RowLimitStream {
                rows: Arc::clone(&self.rows),
                partition,
                rule: self.rule.clone(),
                columns: projection.cloned(),
                schema: Arc::clone(&schema),
            }) as Arc<dyn PartitionStream>
        });
        let streams = streams.collect();
        let scan =
            StreamingTableExec::try_new(Arc::clone(&schema), streams, None, [], false, limit)?;
        Ok(Arc::new(scan))
    }
}

/// A partition of the table.
#[derive(Debug)]
struct RowLimitStream {
    rows: Arc<dyn ExecutionPlan>,
    partition: usize,
    rule: Rule,
    /// The output columns; None for all.
    columns: Option<Vec<usize>>,
    schema: SchemaRef,
}

impl RowLimitStream {
    fn filtered(
        &self,
        context: Arc<TaskContext>,
    ) -> Result<impl futures::Stream<Item = Result<RecordBatch>> + Send + use<>> {
        let rows = self.rows.execute(self.partition, context)?;
        let (rule, columns) = (self.rule.clone(), self.columns.clone());
        let kept = async move {
            let batches: Vec<RecordBatch> = rows.try_collect().await?;
            let kept = rule.kept(&batches)?;
            let both = batches.into_iter().zip(kept);
            let filtered = both.map(move |(batch, kept)| {
                let batch = match &columns {
                    Some(columns) => batch.project(columns)?,
                    None => batch,
                };
                if kept.iter().all(|kept| *kept) {
                    return Ok(batch);
                }
                Ok(filter_record_batch(&batch, &BooleanArray::from(kept))?)
            });
            Ok::<_, DataFusionError>(futures::stream::iter(filtered))
        };
        Ok(futures::stream::once(kept).try_flatten())
    }
}

impl PartitionStream for RowLimitStream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let stream = futures::stream::once(std::future::ready(self.filtered(context)));
        let schema = Arc::clone(&self.schema);
        Box::pin(RecordBatchStreamAdapter::new(schema, stream.try_flatten()))
    }
}

/// Which rows are kept.
#[derive(Clone, Debug)]
struct Rule {
    /// The first columns: the unit, and the keys of a group.
    by: usize,
    /// The next columns, which are ranked.
    keys: usize,
    of: LimitedItem,
    /// How many rows or groups of a unit are kept.
    most: usize,
    salt: Salt,
}

/// A row of a unit that may exceed the limit.
#[derive(Clone, Copy)]
struct Ranked {
    hash: i64,
    batch: u32,
    row: u32,
}

impl Rule {
    /// For each row, whether it is kept. All rows of their units are in these batches.
    fn kept(&self, batches: &[RecordBatch]) -> Result<Vec<Vec<bool>>> {
        let (numbers, counts) = self.units(batches)?;
        let (units, keys) = (0..self.by, self.by..self.by + self.keys);
        let values = |range: &Range<usize>| {
            let batches = batches.iter().map(|batch| {
                let columns = columns(batch, range)?.iter();
                columns.map(|column| Values::new(column)).collect()
            });
            batches.collect::<Result<Vec<Vec<Values<'_>>>>>()
        };
        let (units, keys) = (values(&units)?, values(&keys)?);
        // Each unit that exceeds the limit gets its own range.
        let mut end = 0;
        let mut next: Vec<Option<usize>> = Vec::with_capacity(counts.len());
        for count in &counts {
            let many = *count > self.most;
            next.push(many.then_some(end));
            end += if many { *count } else { 0 };
        }
        let nothing = Ranked {
            hash: 0,
            batch: 0,
            row: 0,
        };
        let mut ranked = vec![nothing; end];
        let mut hasher = Hasher::new(&self.salt);
        let salted = hasher.len();
        for (batch, ((numbers, units), keys)) in numbers.iter().zip(&units).zip(&keys).enumerate() {
            for (row, number) in numbers.iter().enumerate() {
                let Some(Some(next)) = next.get_mut(*number) else {
                    continue;
                };
                if !self.counts(keys, row) {
                    continue;
                }
                hasher.truncate(salted);
                for column in units.iter().chain(keys) {
                    column.hash(row, &mut hasher);
                }
                if let Some(to) = ranked.get_mut(*next) {
                    *to = Ranked {
                        hash: hasher.finish(),
                        batch: small(batch)?,
                        row: small(row)?,
                    };
                }
                *next += 1;
            }
        }
        drop(numbers);
        let sizes = batches.iter().map(RecordBatch::num_rows);
        let mut kept: Vec<Vec<bool>> = sizes.map(|rows| vec![true; rows]).collect();
        let mut rest = ranked.as_mut_slice();
        for count in counts.into_iter().filter(|count| *count > self.most) {
            let Some((unit, others)) = rest.split_at_mut_checked(count) else {
                return exec_err!("a unit has other rows than before");
            };
            rest = others;
            unit.sort_unstable_by(|a, b| compare(&keys, a, b));
            let same =
                |a: &Ranked, b: &Ranked| self.of.is_distinct() && compare(&keys, a, b).is_eq();
            for row in unit.chunk_by(same).skip(self.most).flatten() {
                let batch = kept.get_mut(row.batch as usize);
                if let Some(kept) = batch.and_then(|batch| batch.get_mut(row.row as usize)) {
                    *kept = false;
                }
            }
        }
        Ok(kept)
    }

    /// Whether a row counts towards the limit; otherwise it is kept.
    fn counts(&self, keys: &[Values<'_>], row: usize) -> bool {
        self.of.counts_nulls() || keys.iter().any(|key| !key.is_null(row))
    }

    /// The number of each row's unit, and how many rows of each unit count.
    fn units(&self, batches: &[RecordBatch]) -> Result<(Vec<Vec<usize>>, Vec<usize>)> {
        let (mut numbers, mut counts) = (Vec::with_capacity(batches.len()), Vec::new());
        let Some(first) = batches.first() else {
            return Ok((numbers, counts));
        };
        let places: Vec<usize> = (0..self.by).collect();
        let schema = first.schema().project(&places)?;
        let mut known = new_group_values(Arc::new(schema), &GroupOrdering::None)?;
        for batch in batches {
            let unit = columns(batch, &(0..self.by))?;
            let mut of_batch = Vec::with_capacity(batch.num_rows());
            known.intern(unit, &mut of_batch)?;
            counts.resize(known.len(), 0);
            let keys = columns(batch, &(self.by..self.by + self.keys))?;
            let keys = keys.iter().map(|key| Values::new(key));
            let keys = keys.collect::<Result<Vec<Values<'_>>>>()?;
            for (row, number) in of_batch.iter().enumerate() {
                let count = counts.get_mut(*number);
                if let Some(count) = count.filter(|_| self.counts(&keys, row)) {
                    *count += 1;
                }
            }
            numbers.push(of_batch);
        }
        Ok((numbers, counts))
    }
}

/// Compares hashes; equal hashes, which are rare, are ordered by keys.
fn compare(keys: &[Vec<Values<'_>>], a: &Ranked, b: &Ranked) -> Ordering {
    let of = |ranked: &Ranked| {
        let of_batch = keys.get(ranked.batch as usize);
        (of_batch.map_or(&[][..], Vec::as_slice), ranked.row as usize)
    };
    let by_keys = || compare_rows(of(a), of(b));
    a.hash.cmp(&b.hash).then_with(by_keys)
}

/// Columns of a batch. Without those of its unit a row would be a row of another unit.
fn columns<'a>(batch: &'a RecordBatch, range: &Range<usize>) -> Result<&'a [ArrayRef]> {
    match batch.columns().get(range.clone()) {
        Some(columns) => Ok(columns),
        None => exec_err!("rows without their unit"),
    }
}

fn small(place: usize) -> Result<u32> {
    match u32::try_from(place) {
        Ok(place) => Ok(place),
        Err(_) => exec_err!("too many rows"),
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::StringViewArray;

    use super::*;

    #[test]
    fn groups_of_equal_hash_are_in_the_order_of_their_keys() {
        let array: ArrayRef = Arc::new(StringViewArray::from(vec![
            Some("b"),
            None,
            Some("a long text that is not part of its view"),
            Some("a long text that is a part of another"),
        ]));
        let keys = [vec![Values::new(&array).unwrap()]];
        let mut ranked: Vec<Ranked> = (0..4)
            .map(|row| Ranked {
                hash: 0,
                batch: 0,
                row,
            })
            .collect();
        ranked.sort_unstable_by(|a, b| compare(&keys, a, b));
        let rows: Vec<u32> = ranked.iter().map(|ranked| ranked.row).collect();
        assert_eq!(rows, [1, 3, 2, 0]);
    }
}
