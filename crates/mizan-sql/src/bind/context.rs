//! What the planner can see: the datasets of the catalogue and the listed functions. There is no
//! session, no variable and no information schema.

use std::sync::Arc;

use datafusion_common::arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use datafusion_common::config::ConfigOptions;
use datafusion_common::{Result, ScalarValue, TableReference, plan_err};
use datafusion_expr::expr::AggregateFunction;
use datafusion_expr::logical_plan::builder::LogicalTableSource;
use datafusion_expr::planner::{ContextProvider, ExprPlanner, PlannerResult, RawAggregateExpr};
use datafusion_expr::{AggregateUDF, Expr, HigherOrderUDF, ScalarUDF, TableSource, WindowUDF, lit};

use super::functions;
use crate::catalogue::Catalogue;
use crate::value::Type;

/// The catalogue and the functions, as the planner looks them up.
pub(super) struct Context<'a> {
    catalogue: &'a Catalogue,
    options: ConfigOptions,
    planners: Vec<Arc<dyn ExprPlanner>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(catalogue: &'a Catalogue) -> Self {
        let mut options = ConfigOptions::default();
        options.sql_parser.collect_spans = true;
        Self {
            catalogue,
            options,
            planners: vec![Arc::new(Syntax)],
        }
    }
}

impl ContextProvider for Context<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let dataset = match &name {
            TableReference::Bare { table } => self.catalogue.datasets.get(table.as_ref()),
            _ => None,
        };
        let Some(dataset) = dataset else {
            return plan_err!("there is no dataset {name}");
        };
        let fields = dataset
            .columns
            .iter()
            .map(|column| Field::new(&column.name, arrow_type(column.kind), true));
        let schema = Schema::new(fields.collect::<Vec<_>>());
        Ok(Arc::new(LogicalTableSource::new(Arc::new(schema))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.planners
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        functions::scalar(name)
    }

    fn get_higher_order_meta(&self, _: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        functions::aggregate(name)
    }

    fn get_window_meta(&self, _: &str) -> Option<Arc<WindowUDF>> {
        None
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &self.options
    }

    fn udf_names(&self) -> Vec<String> {
        functions::names().map(str::to_owned).collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udaf_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udwf_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The Arrow type of a column for the planner.
pub(super) const fn arrow_type(kind: Type) -> DataType {
    match kind {
        Type::Boolean => DataType::Boolean,
        Type::Integer => DataType::Int64,
        Type::Number => DataType::Float64,
        Type::Text => DataType::Utf8,
        Type::Date => DataType::Date32,
        Type::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
    }
}

/// Plans SQL syntax that stands for functions, such as `EXTRACT`.
#[derive(Debug)]
struct Syntax;

impl Syntax {
    fn call(name: &str, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(match functions::scalar(name) {
            Some(function) => PlannerResult::Planned(function.call(arguments)),
            None => PlannerResult::Original(arguments),
        })
    }
}

impl ExprPlanner for Syntax {
    fn plan_extract(&self, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Self::call("date_part", arguments)
    }

    fn plan_substring(&self, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Self::call("substring", arguments)
    }

    /// `COUNT(*)` becomes `COUNT(1)` and keeps its name.
    fn plan_aggregate(
        &self,
        mut call: RawAggregateExpr,
    ) -> Result<PlannerResult<RawAggregateExpr>> {
        #[allow(deprecated, reason = "the planner still makes it")]
        let all = matches!(call.args.as_slice(), [] | [Expr::Wildcard { .. }]);
        if call.func.name() != "count" || !all {
            return Ok(PlannerResult::Original(call));
        }
        call.args = vec![lit(ScalarValue::Int64(Some(1)))];
        let name = if call.filter.is_some() {
            None
        } else {
            Some(if call.distinct {
                "count(DISTINCT *)"
            } else {
                "count(*)"
            })
        };
        let counted = Expr::AggregateFunction(AggregateFunction::new_udf(
            call.func,
            call.args,
            call.distinct,
            call.filter,
            call.order_by,
            call.null_treatment,
        ));
        Ok(PlannerResult::Planned(match name {
            Some(name) => counted.alias(name),
            None => counted,
        }))
    }
}
