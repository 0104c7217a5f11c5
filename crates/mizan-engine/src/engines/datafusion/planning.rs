//! Planning before the charge.
//!
//! The limits of the binder keep every plan small enough to be planned in little time and
//! memory (`tests/planning.rs`). That is measured, not proved. So the statements of a plan near
//! these limits are planned and run over empty tables before the charge. A failure of the
//! planner is then an error that costs nothing and does not depend on rows. For other plans,
//! far from the limits, statements are only generated: a plan that has none is refused before
//! the charge too.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::EmptyRecordBatchStream;
use datafusion::physical_plan::streaming::PartitionStream;
use mizan_sql::{BoundedPlan, Catalogue, DatasetColumn, PlanSize};

use super::dialect::{DataFusionDialect, Table};
use super::files::Source;
use super::values::data_type;
use super::{DataFusion, Tables, failed};
use crate::engine::EngineError;
use crate::engines::lower_sql::SqlLowering;
use crate::engines::lower_sql::relations;
use crate::engines::thread::on_own_thread;
use crate::unit_aggregation::UnitAggregation;

/// Plans with more nodes than this, in all statements together, are planned before the charge.
const MANY_NODES: u64 = 1_000;

/// So are plans with more joins than this.
const MANY_JOINS: u64 = 4;

/// So are plans with more values of public groups than this, in all statements together.
const MANY_LISTED: u64 = 10_000;

/// Whether a plan is planned before the charge.
pub(in crate::engines) fn is_large(size: &PlanSize) -> bool {
    let of_all = |each: u64| each.saturating_mul(size.statements);
    of_all(size.nodes) > MANY_NODES || size.joins > MANY_JOINS || of_all(size.listed) > MANY_LISTED
}

/// A table of a known schema without rows. It does not report its number of rows, so that
/// planners do not remove it.
#[derive(Debug)]
struct NoRows(SchemaRef);

impl PartitionStream for NoRows {
    fn schema(&self) -> &SchemaRef {
        &self.0
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        Box::pin(EmptyRecordBatchStream::new(Arc::clone(&self.0)))
    }
}

/// Generates the statements of a plan over tables with the declared types. No file is opened.
pub(in crate::engines) fn check_statements(
    plan: &BoundedPlan,
    catalogue: &Catalogue,
) -> Result<(), EngineError> {
    let mut dialect = DataFusionDialect::default();
    for (place, name) in plan.datasets.iter().chain(&plan.public).enumerate() {
        let columns = &relations::dataset(catalogue, name)?.columns;
        let field = |column: &DatasetColumn| Field::new(&column.name, data_type(column.kind), true);
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let table = Table {
            name: format!("d{place}"),
            schema: Arc::new(Schema::new(fields)),
        };
        dialect.tables.insert(name.clone(), table);
    }
    // Deep plans recurse deeply.
    on_own_thread(|| {
        let aggregation = UnitAggregation::of(plan)?;
        SqlLowering::new(&dialect, catalogue, &aggregation, &[0; 16]).map(drop)
    })
}

impl DataFusion {
    /// Checks that a plan can be planned: a large one is planned, for others the statements are
    /// generated.
    pub(super) fn check_planning(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
    ) -> Result<(), EngineError> {
        match is_large(&plan.size()) {
            true => self.plan_without_rows(plan, catalogue),
            false => check_statements(plan, catalogue),
        }
    }

    /// Plans the statements of a plan, and runs them over tables without rows.
    pub(in crate::engines) fn plan_without_rows(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
    ) -> Result<(), EngineError> {
        let mut tables = Tables::new();
        for name in plan.datasets.iter().chain(&plan.public) {
            let schema = Source::open(relations::dataset(catalogue, name)?)?.schema;
            let rows = Arc::new(NoRows(Arc::clone(&schema)));
            let table = StreamingTable::try_new(schema, vec![rows]);
            let table = table.map_err(failed("opening tables"))?;
            tables.insert(name.clone(), Arc::new(table));
        }
        match self.run_on(plan, catalogue, &tables, &[0; 16]) {
            Ok(_) => Ok(()),
            Err(error) => Err(of_planning(error)),
        }
    }
}

/// The error of a plan that the planner rejects: it is a defect of the plan.
pub(in crate::engines) fn of_planning(error: EngineError) -> EngineError {
    match error {
        EngineError::Failed { .. }
        | EngineError::OutOfMemory
        | EngineError::DeadlineExceeded { .. } => EngineError::BadPlan {
            reason: "the engine cannot plan it".into(),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine as _;
    use crate::engines::test_queries;

    fn catalogue(directory: &std::path::Path) -> Catalogue {
        let mut catalogue = test_queries::catalogue();
        for (name, dataset) in &mut catalogue.datasets {
            let path = directory.join(format!("{name}.csv"));
            let columns: Vec<&str> = dataset.columns.iter().map(|c| c.name.as_str()).collect();
            std::fs::write(&path, format!("{}\n", columns.join(","))).unwrap();
            dataset.source = path.to_str().unwrap().to_owned();
        }
        catalogue
    }

    #[test]
    fn large_plans_are_planned_before_the_charge_and_usual_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = catalogue(folder.path());
        let engine = DataFusion::with_partitions(2).unwrap();
        for sql in test_queries::TEST_QUERIES {
            let plan = mizan_sql::plan(sql, &catalogue).unwrap();
            assert!(!is_large(&plan.size()), "{sql} {:?}", plan.size());
        }
        let conditions: Vec<String> = (0..300).map(|n| format!("age <> {n}")).collect();
        let sql = format!(
            "SELECT ward, COUNT(*) FROM visits WHERE {} GROUP BY ward",
            conditions.join(" AND ")
        );
        let plan = mizan_sql::plan(&sql, &catalogue).unwrap();
        assert!(is_large(&plan.size()), "{:?}", plan.size());
        engine.prepare(&plan, &catalogue).unwrap();
        // A plan that cannot be planned is an error before the charge.
        let mut broken = plan;
        broken.keys[0].kind = mizan_sql::Type::Integer;
        let error = engine.prepare(&broken, &catalogue).unwrap_err();
        assert_eq!(error.code(), "MZ1910");
    }
}
