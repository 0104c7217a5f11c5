//! The topmost aggregate and the post-processing of its noisy results (C8): `HAVING`, `ORDER BY`,
//! `LIMIT` and expressions over aggregates.

use datafusion_expr::logical_plan::{
    Aggregate as PlannedAggregate, Distinct, FetchType, Limit, Projection, SkipType,
};
use datafusion_expr::{Expr as Planned, LogicalPlan, SortExpr};

use super::aggregate_call::AggregateCall;
use super::groups::Grouping;
use super::joins::has_aggregate;
use super::local::Rows;
use super::measures::Measures;
use super::rows::{Binder, node_name};
use super::scalar::{Field, Scope, too_complex};
use super::sql_text::sql_text;
use super::typed::{Typed, balanced};
use super::unit_aggregates::{aggregate_of, is_aggregate};
use crate::expr::{Expr, Function};
use crate::plan::{Aggregate, BoundedPlan, Groups, Key, Order, Output, OutputColumn};
use crate::refusal::{Reason, Refusal};
use crate::value::Type;

/// The largest number of columns of an answer.
const MAX_COLUMNS: usize = 200;

/// The largest expression of one answer column, in nodes.
const MAX_FIELD: usize = 2_000;

/// A released table and the post-processing that was applied to it so far.
struct Released {
    plan: BoundedPlan,
    /// The visible columns: names, and values over keys and aggregates.
    columns: Vec<(String, Field)>,
    having: Vec<Typed>,
    limited: bool,
}

impl Binder<'_> {
    /// The bounded plan of a whole query.
    pub(super) fn answer(mut self, plan: &LogicalPlan) -> Result<BoundedPlan, Refusal> {
        let released = self.released(plan)?;
        let mut plan = released.plan;
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in &released.columns {
            if names.contains(&name.as_str()) {
                return Err(Refusal::new(
                    Reason::SameName,
                    format!("two columns of the answer are called {name}"),
                    "give one of them another name with AS",
                ));
            }
            names.push(name);
        }
        plan.output.columns = released
            .columns
            .into_iter()
            .map(|(name, field)| OutputColumn {
                name,
                expression: field.expr,
                kind: field.kind,
            })
            .collect();
        if !released.having.is_empty() {
            plan.output.having = Some(balanced(Function::And, released.having)?.expr);
        }
        plan.clamping = self.effects;
        plan.notes = self.notes;
        Ok(plan)
    }

    fn released(&mut self, plan: &LogicalPlan) -> Result<Released, Refusal> {
        match plan {
            LogicalPlan::Aggregate(aggregate) => self.topmost(aggregate),
            LogicalPlan::SubqueryAlias(alias) => self.released(&alias.input),
            LogicalPlan::Projection(projection) => self.projected(projection),
            LogicalPlan::Filter(filter) => {
                let mut released = self.released(&filter.input)?;
                self.not_limited(&released, "WHERE or HAVING")?;
                let fields = released.fields();
                let scope = Scope::new(filter.input.schema(), &fields, self.words);
                let condition = scope.condition(&filter.predicate)?;
                released.having.push(Typed::new(condition, Type::Boolean));
                Ok(released)
            }
            LogicalPlan::Sort(sort) => {
                let mut released = self.released(&sort.input)?;
                self.not_limited(&released, "ORDER BY")?;
                let fields = released.fields();
                let mut order = Vec::with_capacity(sort.expr.len());
                for SortExpr {
                    expr,
                    asc,
                    nulls_first,
                } in &sort.expr
                {
                    let scope = Scope::new(sort.input.schema(), &fields, self.words);
                    order.push(Order {
                        expression: scope.expression(expr)?.0,
                        descending: !asc,
                        nulls_first: *nulls_first,
                    });
                }
                released.plan.output.order = order;
                Ok(released)
            }
            LogicalPlan::Limit(limit) => self.limited(limit),
            LogicalPlan::Distinct(Distinct::All(input)) => self.distinct_above(input),
            other => Err(self.no_aggregate(other)),
        }
    }

    fn projected(&mut self, projection: &Projection) -> Result<Released, Refusal> {
        if !has_aggregate(&projection.input) {
            return Err(self.no_aggregate(&projection.input));
        }
        let mut released = self.released(&projection.input)?;
        let fields = released.fields();
        let schema = projection.input.schema();
        let mut columns = Vec::with_capacity(projection.expr.len());
        if projection.expr.len() > MAX_COLUMNS {
            return Err(too_complex());
        }
        for expr in &projection.expr {
            let (value, kind) = Scope::new(schema, &fields, self.words).expression(expr)?;
            let name = match expr {
                Planned::Column(column) => schema
                    .maybe_index_of_column(column)
                    .and_then(|place| released.columns.get(place))
                    .map_or_else(|| column.name.clone(), |(name, _)| name.clone()),
                Planned::Alias(alias) => alias.name.clone(),
                other => sql_text(&released.named(other, schema)),
            };
            let field = Field::new(value, kind);
            // An outer query may use this column many times.
            if field.size > MAX_FIELD {
                return Err(too_complex());
            }
            columns.push((name, field));
        }
        released.columns = columns;
        Ok(released)
    }

    fn limited(&mut self, limit: &Limit) -> Result<Released, Refusal> {
        let mut released = self.released(&limit.input)?;
        self.not_limited(&released, "LIMIT")?;
        let refused = || {
            Refusal::new(
                Reason::Literal,
                "LIMIT and OFFSET need numbers that are written out",
                "write LIMIT 10",
            )
            .at(self.words.place("limit"))
        };
        let skip = limit.get_skip_type().map_err(|_| refused())?;
        let fetch = limit.get_fetch_type().map_err(|_| refused())?;
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = (skip, fetch) else {
            return Err(refused());
        };
        released.plan.output.offset = u64::try_from(skip).map_err(|_| refused())?;
        released.plan.output.limit = fetch
            .map(u64::try_from)
            .transpose()
            .map_err(|_| refused())?;
        released.limited = true;
        Ok(released)
    }

    fn not_limited(&self, released: &Released, what: &str) -> Result<(), Refusal> {
        if !released.limited {
            return Ok(());
        }
        Err(Refusal::new(
            Reason::AfterAnswer,
            format!("{what} after LIMIT is not supported"),
            "put LIMIT last",
        )
        .at(self.words.place("limit")))
    }

    /// `DISTINCT` over aggregates changes nothing if all keys are selected; over rows it groups by
    /// all columns.
    fn distinct_above(&mut self, input: &LogicalPlan) -> Result<Released, Refusal> {
        if !has_aggregate(input) {
            let rows = self.rows(input, Vec::new())?;
            let mut keys = Vec::new();
            for (field, planned) in rows.fields().into_iter().zip(input.schema().fields()) {
                keys.push(Key {
                    name: planned.name().clone(),
                    expression: field.expr,
                    kind: field.kind,
                });
            }
            return self.grouped(rows, keys, &[], Vec::new());
        }
        let released = self.released(input)?;
        let is_shown = |place: usize| {
            let column = Expr::Column(place);
            released
                .columns
                .iter()
                .any(|(_, field)| field.expr == column)
        };
        if (0..released.plan.keys.len()).all(is_shown) {
            return Ok(released);
        }
        Err(Refusal::new(
            Reason::AfterAnswer,
            "DISTINCT over aggregates is not supported where a key of GROUP BY is not shown",
            "leave DISTINCT out, or select all keys",
        )
        .at(self.words.place("distinct")))
    }

    /// The topmost aggregate, which is released.
    fn topmost(&mut self, aggregate: &PlannedAggregate) -> Result<Released, Refusal> {
        let rows = self.rows(&aggregate.input, Vec::new())?;
        let fields = rows.fields();
        let schema = aggregate.input.schema();
        self.no_repeated_keys(aggregate)?;
        let mut keys = Vec::with_capacity(aggregate.group_expr.len());
        for expr in &aggregate.group_expr {
            self.no_grouping_sets(expr)?;
            let (expression, kind) = Scope::new(schema, &fields, self.words).expression(expr)?;
            keys.push(Key {
                name: match expr {
                    Planned::Alias(alias) => alias.name.clone(),
                    other => sql_text(other),
                },
                expression,
                kind,
            });
        }
        let mut calls = Vec::with_capacity(aggregate.aggr_expr.len());
        let mut names = Vec::with_capacity(aggregate.aggr_expr.len());
        for expr in &aggregate.aggr_expr {
            let scope = Scope::new(schema, &fields, self.words);
            let function = aggregate_of(expr)?;
            calls.push(AggregateCall::read(
                function,
                &scope,
                &rows.relation,
                self.words,
            )?);
            names.push(match expr {
                Planned::Alias(alias) => alias.name.clone(),
                other => sql_text(other),
            });
        }
        self.grouped(rows, keys, &calls, names)
    }

    fn grouped(
        &mut self,
        rows: Rows,
        keys: Vec<Key>,
        calls: &[AggregateCall],
        names: Vec<String>,
    ) -> Result<Released, Refusal> {
        self.about_people(&rows)?;
        let unit = &rows.relation.unit;
        let single = unit.iter().all(|place| {
            let column = Expr::Column(*place);
            keys.iter().any(|key| key.expression == column)
        });
        if single {
            return Err(Refusal::new(
                Reason::GroupPerUnit,
                "GROUP BY the privacy unit would publish one row per person",
                "group by a column that many people share, or aggregate per person in a subquery",
            )
            .at(self.words.place("group")));
        }
        let measured = calls.iter().map(|calls| &calls.argument);
        self.check_rows(&rows.relation, &keys, measured)?;
        let Grouping {
            groups,
            per_unit,
            group_bounding,
        } = self.grouping(&rows, &keys)?;
        let mut measures = Measures::default();
        if groups == Groups::Private {
            measures.units();
        }
        let aggregates = self.measured(&rows, calls, &mut measures)?;
        if measures.statistics.is_empty() {
            return Err(Refusal::new(
                Reason::Aggregate,
                "no aggregate is selected, and the keys of these groups are public",
                "add an aggregate such as COUNT(*)",
            ));
        }
        let kinds = aggregates.iter().map(kind_of);
        let key_names = keys.iter().map(|key| (key.name.clone(), key.kind));
        let columns = key_names
            .chain(names.into_iter().zip(kinds))
            .enumerate()
            .map(|(place, (name, kind))| (name, Field::new(Expr::Column(place), kind)))
            .collect();
        let plan = BoundedPlan {
            datasets: self.datasets.iter().cloned().collect(),
            public: self.public.iter().cloned().collect(),
            relation: self.with_limits(rows.relation, &keys, &measures.statistics),
            keys,
            groups,
            groups_per_unit: per_unit,
            group_bounding,
            statistics: measures.statistics,
            output: Output {
                aggregates,
                ..Output::default()
            },
            clamping: Vec::new(),
            notes: Vec::new(),
        };
        self.check_plan(&plan)?;
        Ok(Released {
            plan,
            columns,
            having: Vec::new(),
            limited: false,
        })
    }

    /// Checks that the rows belong to units of one account.
    fn about_people(&self, rows: &Rows) -> Result<(), Refusal> {
        if rows.is_public() {
            return Err(Refusal::new(
                Reason::NoPrivateDataset,
                "this query reads only public tables, so no privacy unit needs protection",
                "use any SQL tool; it costs nothing",
            ));
        }
        let mut accounts: Vec<&str> = self
            .datasets
            .iter()
            .filter_map(|name| self.catalogue.datasets.get(name)?.privacy.as_ref())
            .map(|privacy| privacy.account.as_str())
            .collect();
        accounts.sort_unstable();
        accounts.dedup();
        if accounts.len() > 1 {
            return Err(Refusal::new(
                Reason::TwoAccounts,
                format!(
                    "the datasets are paid from different accounts: {}",
                    accounts.join(", ")
                ),
                "ask about datasets of one account; their owner may register both with one",
            ));
        }
        Ok(())
    }

    fn no_aggregate(&self, plan: &LogicalPlan) -> Refusal {
        let refusal = match plan {
            LogicalPlan::EmptyRelation(_) => {
                return Refusal::new(
                    Reason::NoPrivateDataset,
                    "this reads no dataset",
                    "ask FROM a dataset",
                );
            }
            LogicalPlan::Window(_) => Refusal::new(
                Reason::Window,
                "window functions are not supported",
                "use GROUP BY",
            ),
            LogicalPlan::Union(_) | LogicalPlan::Join(_)
                if has_aggregate(plan) && !is_aggregate(plan) =>
            {
                Refusal::new(
                    Reason::AfterAnswer,
                    "several released results in one query are not supported",
                    "send one query for each",
                )
            }
            other if has_aggregate(other) => Refusal::new(
                Reason::AfterAnswer,
                format!("{} after an aggregate is not supported", node_name(other)),
                "use expressions, HAVING, ORDER BY and LIMIT",
            ),
            _ => Refusal::new(
                Reason::ShowsRows,
                "this would return individual rows",
                "use an aggregate such as COUNT(*), SUM(x) or AVG(x), with or without GROUP BY",
            ),
        };
        refusal.at(self.words.place("select"))
    }
}

impl Released {
    fn fields(&self) -> Vec<Field> {
        self.columns
            .iter()
            .map(|(_, field)| field.clone())
            .collect()
    }

    /// Replaces each column of an expression by the name that the answer shows.
    fn named(&self, planned: &Planned, schema: &datafusion_common::DFSchema) -> Planned {
        use datafusion_common::tree_node::{Transformed, TreeNode};
        let renamed = planned.clone().transform(|part| {
            let Planned::Column(column) = &part else {
                return Ok(Transformed::no(part));
            };
            let name = schema
                .maybe_index_of_column(column)
                .and_then(|place| self.columns.get(place))
                .map(|(name, _)| name.clone());
            Ok(match name {
                Some(name) => Transformed::yes(Planned::Column(
                    datafusion_common::Column::new_unqualified(name),
                )),
                None => Transformed::no(part),
            })
        });
        renamed.map_or_else(|_| planned.clone(), |renamed| renamed.data)
    }
}

const fn kind_of(aggregate: &Aggregate) -> Type {
    match aggregate {
        Aggregate::Count { .. } | Aggregate::Sum { integer: true, .. } => Type::Integer,
        Aggregate::Sum { integer: false, .. }
        | Aggregate::Mean { .. }
        | Aggregate::Variance { .. } => Type::Number,
        Aggregate::Quantile { kind, .. } => *kind,
    }
}
