//! Lowers an aggregation to DataFusion: to our operators, without the bounds that no unit
//! exceeds, or to plain SQL.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use mizan_sql::{Catalogue, Value};

use super::count_min::{self, CountMin};
use super::dialect::DataFusionDialect;
use super::per_unit::{self, Rows, SumsOperator};
use super::row_limit::RowLimitTable;
use super::values::Values;
use super::{Tables, failed};
use crate::engine::EngineError;
use crate::engines::lower_sql::row_limit::LimitedTable;
use crate::engines::lower_sql::{Query, SqlLowering, relations};
use crate::engines::redundant_limits::{self, MostRows};
use crate::engines::result_collector::ResultCollector;
use crate::exact::ExactAggregates;
use crate::sampling_hash::Salt;
use crate::unit_aggregation::{Part, UnitAggregation};

/// A session with the tables of a plan.
pub(super) struct PlanSession<'a> {
    pub(super) context: &'a SessionContext,
    pub(super) dialect: &'a DataFusionDialect,
    pub(super) catalogue: &'a Catalogue,
    pub(super) tables: &'a Tables,
    pub(super) salt: &'a Salt,
    /// How many bytes of rows are buffered until the heavy units are known.
    pub(super) keeps: usize,
}

impl PlanSession<'_> {
    fn lowered<'a>(
        &'a self,
        aggregation: &'a UnitAggregation,
    ) -> Result<SqlLowering<'a>, EngineError> {
        SqlLowering::new(self.dialect, self.catalogue, aggregation, self.salt)
    }

    /// Computes an aggregation in plain SQL.
    pub(super) async fn run_plain(
        &self,
        aggregation: &UnitAggregation,
    ) -> Result<ExactAggregates, EngineError> {
        let lowering = self.lowered(aggregation)?;
        let mut collector = ResultCollector::new(aggregation);
        for part in aggregation.parts() {
            self.collect(&lowering.statement(part), part, &mut collector)
                .await?;
        }
        Ok(collector.finish())
    }

    /// Computes an aggregation with our operators.
    pub(super) async fn run_operators(
        &self,
        aggregation: &UnitAggregation,
    ) -> Result<ExactAggregates, EngineError> {
        let mut sketches = UnitSketches {
            session: self,
            known: BTreeMap::new(),
        };
        let mut most = MostRows::new();
        for dataset in redundant_limits::limited(&aggregation.input) {
            let rows = sketches.of(dataset).await?.and_then(CountMin::most);
            most.extend(rows.map(|rows| (dataset.to_owned(), rows)));
        }
        let input = aggregation.input.clone();
        let input = redundant_limits::remove_redundant_limits(input, &most);
        let aggregation = aggregation.over(input);
        let lowering = self.lowered(&aggregation)?;
        let mut collector = ResultCollector::new(&aggregation);
        for part in aggregation.parts() {
            // Without rows to add up for a unit, SQL does as well.
            if part == Part::Sums && !aggregation.input.one_row_per_unit {
                for row in self.sums(&lowering, &mut sketches).await? {
                    collector.add(part, row)?;
                }
                continue;
            }
            let Query { tables, text } = lowering.query(part);
            self.register(&tables).await?;
            self.collect(&text, part, &mut collector).await?;
        }
        Ok(collector.finish())
    }

    /// The sums of an aggregation. Light units need no contribution bounding: rows are counted
    /// in the same pass, or beforehand over the whole dataset.
    async fn sums(
        &self,
        lowering: &SqlLowering<'_>,
        sketches: &mut UnitSketches<'_>,
    ) -> Result<Vec<Vec<Value>>, EngineError> {
        let aggregation = lowering.aggregation;
        let operator = SumsOperator {
            context: self.context,
            aggregation,
            salt: self.salt,
        };
        if let Some(light_rows) = aggregation.light_rows() {
            // With keys more bytes are buffered, and allocating them takes longer than reading
            // the ids again.
            let sketch = match redundant_limits::source(&aggregation.input) {
                Some(dataset) if !aggregation.keys.is_empty() => sketches.of(dataset).await?,
                _ => None,
            };
            let all = || self.plan_rows(lowering.rows_of_sums(false));
            let found = match sketch {
                Some(sketch) => {
                    operator
                        .bounding_heavy(&all().await?, light_rows, sketch)
                        .await
                }
                None if aggregation.keys.is_empty() => {
                    operator
                        .bounding_counted(&all().await?, light_rows, self.keeps)
                        .await
                }
                None => Ok(None),
            };
            if let Some(rows) = found.map_err(failed("running"))? {
                return Ok(rows);
            }
        }
        let rows = self.plan_rows(lowering.rows_of_sums(true)).await?;
        operator
            .bounding_all(&rows)
            .await
            .map_err(failed("running"))
    }

    /// Plans a query of rows, and the tables of limited rows that it reads.
    async fn plan_rows(&self, rows: Query) -> Result<Rows, EngineError> {
        self.register(&rows.tables).await?;
        let rows = per_unit::plan_rows(self.context, &rows.text).await;
        rows.map_err(failed("running"))
    }

    /// Registers tables of limited rows that queries read.
    async fn register(&self, tables: &[LimitedTable]) -> Result<(), EngineError> {
        for table in tables {
            let planned = self.plan_row_limit(table).await;
            planned.map_err(failed("planning"))?;
        }
        Ok(())
    }

    async fn plan_row_limit(&self, limited: &LimitedTable) -> datafusion::common::Result<()> {
        let rows = self.context.sql(&limited.rows).await?;
        let rows = rows.create_physical_plan().await?;
        let partitions = self.context.state().config().target_partitions();
        let table = RowLimitTable::new(rows, partitions, limited, self.salt)?;
        self.context.deregister_table(&limited.name)?;
        self.context
            .register_table(&limited.name, Arc::new(table))?;
        Ok(())
    }

    /// Runs a query and collects its rows.
    async fn collect(
        &self,
        text: &str,
        part: Part,
        collector: &mut ResultCollector,
    ) -> Result<(), EngineError> {
        let planned = self.context.sql(text).await.map_err(failed("planning"))?;
        let stream = planned.execute_stream().await;
        let mut stream = stream.map_err(failed("planning"))?;
        while let Some(batch) = stream.next().await {
            let batch = batch.map_err(failed("running"))?;
            add(collector, part, &batch)?;
        }
        Ok(())
    }
}

/// Count-min sketches of the rows of units, computed on demand.
struct UnitSketches<'a> {
    session: &'a PlanSession<'a>,
    /// None where counting would take too long.
    known: BTreeMap<String, Option<CountMin>>,
}

impl UnitSketches<'_> {
    async fn of(&mut self, dataset: &str) -> Result<Option<&CountMin>, EngineError> {
        if !self.known.contains_key(dataset) {
            let session = self.session;
            let table = session.tables.get(dataset);
            let cheap = table.is_some_and(|table| count_min::is_cheap(table.as_ref()));
            let units = relations::units(session.dialect, session.catalogue, dataset)?;
            let sketch = match units.filter(|_| cheap) {
                Some(units) => {
                    let sketch = CountMin::of(session.context, &units).await;
                    Some(sketch.map_err(failed("running"))?)
                }
                None => None,
            };
            self.known.insert(dataset.to_owned(), sketch);
        }
        Ok(self.known.get(dataset).and_then(Option::as_ref))
    }
}

/// The rows of a batch.
pub(in crate::engines) fn rows(batch: &RecordBatch) -> Result<Vec<Vec<Value>>, EngineError> {
    let columns = batch.columns().iter().map(|column| Values::new(column));
    let columns = columns.collect::<Result<Vec<_>, _>>();
    let columns = columns.map_err(failed("reading results"))?;
    let row = |row| columns.iter().map(|column| column.get(row)).collect();
    Ok((0..batch.num_rows()).map(row).collect())
}

/// Collects the rows of a batch.
pub(in crate::engines) fn add(
    collector: &mut ResultCollector,
    part: Part,
    batch: &RecordBatch,
) -> Result<(), EngineError> {
    for row in rows(batch)? {
        collector.add(part, row)?;
    }
    Ok(())
}
