//! The part of a plan below the aggregate: an allow-list of the planner's nodes becomes unit-local
//! relations.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion_common::DFSchema;
use datafusion_expr::logical_plan::{Distinct, Union};
use datafusion_expr::{
    BinaryExpr, Expr as Planned, JoinType, LogicalPlan, Operator as PlannedOperator,
};

use super::local::Rows;
use super::scalar::{Scope, place};
use super::typed::{Typed, balanced, of_one_type};
use crate::catalogue::Catalogue;
use crate::expr::{Expr, Function};
use crate::message::{Effect, Note};
use crate::parse::Words;
use crate::refusal::{Reason, Refusal};
use crate::value::Type;

/// The most planner nodes that are visited.
const MAX_NODES: usize = 2_000;

/// The state of the translation of one query.
pub(super) struct Binder<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) words: &'a Words,
    pub(super) datasets: BTreeSet<String>,
    pub(super) public: BTreeSet<String>,
    pub(super) effects: Vec<Effect>,
    pub(super) notes: Vec<Note>,
    nodes: usize,
}

impl<'a> Binder<'a> {
    pub(super) const fn new(catalogue: &'a Catalogue, words: &'a Words) -> Self {
        Self {
            catalogue,
            words,
            datasets: BTreeSet::new(),
            public: BTreeSet::new(),
            effects: Vec::new(),
            notes: Vec::new(),
            nodes: 0,
        }
    }

    pub(super) fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Records a limit that may change the answer before its noise.
    pub(super) fn record_effect(&mut self, effect: Effect) {
        if !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }

    /// The rows of a plan for which all conditions are true.
    pub(super) fn rows(
        &mut self,
        plan: &LogicalPlan,
        conditions: Vec<Planned>,
    ) -> Result<Rows, Refusal> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Refusal::new(
                Reason::TooComplex,
                "the query is too large once every WITH is written out",
                "simplify the query",
            ));
        }
        match plan {
            LogicalPlan::Filter(filter) => {
                let mut all = conjuncts(&filter.predicate);
                all.extend(conditions);
                self.rows(&filter.input, all)
            }
            LogicalPlan::Join(join) if join.join_type == JoinType::Inner => {
                self.inner_join(join, conditions)
            }
            other => {
                let rows = self.node(other)?;
                self.filtered(rows, other.schema(), &conditions)
            }
        }
    }

    /// The rows for which conditions over a schema are true.
    pub(super) fn filtered(
        &self,
        rows: Rows,
        schema: &DFSchema,
        conditions: &[Planned],
    ) -> Result<Rows, Refusal> {
        if conditions.is_empty() {
            return Ok(rows);
        }
        let fields = rows.fields();
        let mut all = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let scope = Scope::new(schema, &fields, self.words);
            all.push(Typed::new(scope.condition(condition)?, Type::Boolean));
        }
        Ok(rows.filter(balanced(Function::And, all)?.expr))
    }

    fn node(&mut self, plan: &LogicalPlan) -> Result<Rows, Refusal> {
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan.table_name.table()),
            LogicalPlan::SubqueryAlias(alias) => self.rows(&alias.input, Vec::new()),
            LogicalPlan::Projection(projection) => {
                let input = self.rows(&projection.input, Vec::new())?;
                let fields = input.fields();
                let mut columns = Vec::with_capacity(projection.expr.len());
                for (expr, field) in projection.expr.iter().zip(projection.schema.fields()) {
                    let scope = Scope::new(projection.input.schema(), &fields, self.words);
                    let (expr, kind) = scope.expression(expr)?;
                    columns.push((field.name().clone(), expr, kind));
                }
                Ok(input.project(columns))
            }
            LogicalPlan::Join(join) => self.outer_join(join),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Aggregate(aggregate) => self.inner_group_by(aggregate),
            LogicalPlan::Distinct(Distinct::All(input)) => self.distinct(input),
            LogicalPlan::Limit(_) => Err(Refusal::new(
                Reason::LimitBelow,
                "LIMIT before the aggregate is not supported: which rows are left would depend on other people",
                "leave LIMIT out of the subquery; after the aggregate it is fine",
            )
            .at(self.words.place("limit").or_else(|| self.words.place("offset")))),
            LogicalPlan::Sort(_) => Err(Refusal::new(
                Reason::LimitBelow,
                "ORDER BY before the aggregate has no meaning",
                "leave ORDER BY out of the subquery; after the aggregate it is fine",
            )
            .at(self.words.place("order"))),
            LogicalPlan::EmptyRelation(_) => Err(Refusal::new(
                Reason::NoPrivateDataset,
                "this reads no dataset",
                "ask FROM a dataset",
            )),
            LogicalPlan::Window(_) => Err(Refusal::new(
                Reason::Window,
                "window functions are not supported: they look at the rows of other people",
                "use GROUP BY",
            )),
            other => Err(Refusal::new(
                Reason::Clause,
                format!("{} is not supported", node_name(other)),
                "use SELECT, WHERE, JOIN, UNION ALL and GROUP BY",
            )),
        }
    }

    fn scan(&mut self, name: &str) -> Result<Rows, Refusal> {
        let Some(dataset) = self.catalogue.datasets.get(name) else {
            return Err(Refusal::new(
                Reason::UnknownTable,
                format!("there is no dataset {name}"),
                "see `mizan dataset list`",
            )
            .at(self.words.place(name)));
        };
        let names = if dataset.privacy.is_some() {
            &mut self.datasets
        } else {
            &mut self.public
        };
        names.insert(name.to_owned());
        Rows::scan(dataset).map_err(|refusal| refusal.at(self.words.place(name)))
    }

    /// `SELECT DISTINCT` below the aggregate removes duplicates within each unit. It is refused if
    /// the unit is not selected, since it would compare rows of different units.
    fn distinct(&mut self, input: &Arc<LogicalPlan>) -> Result<Rows, Refusal> {
        let rows = self.rows(input, Vec::new())?;
        let mut keys: Vec<(String, Expr, Type)> = Vec::new();
        let mut places = Vec::new();
        for (field, planned) in rows.fields().into_iter().zip(input.schema().fields()) {
            let known = keys.iter().position(|(_, expr, _)| *expr == field.expr);
            places.push(known.unwrap_or(keys.len()));
            if known.is_none() {
                keys.push((planned.name().clone(), field.expr, field.kind));
            }
        }
        let grouped = rows.group(keys, Vec::new()).ok_or_else(|| {
            Refusal::new(
                Reason::DistinctMixesPeople,
                "DISTINCT in a subquery (or UNION without ALL) mixes people: the unit is not selected",
                "select the unit too; to count different values, write COUNT(DISTINCT x); write UNION ALL for UNION",
            )
            .at(self.words.place("distinct").or_else(|| self.words.place("union")))
        })?;
        Ok(Rows { places, ..grouped })
    }

    fn union(&mut self, union: &Union) -> Result<Rows, Refusal> {
        let here = self.words.place("union");
        let mut parts = Vec::with_capacity(union.inputs.len());
        for input in &union.inputs {
            parts.push(self.rows(input, Vec::new())?);
        }
        // Each column of a union has one type, converted as SQL does.
        let width = union.schema.fields().len();
        let mut columns: Vec<Vec<(String, Expr, Type)>> = vec![Vec::new(); parts.len()];
        for index in 0..width {
            let mut values = Vec::with_capacity(parts.len());
            for part in &parts {
                let field = part.fields().into_iter().nth(index);
                let field = field.ok_or_else(|| Rows::unequal().at(here))?;
                values.push(Typed::new(field.expr, field.kind));
            }
            let (values, kind) =
                of_one_type("UNION", values).map_err(|refusal| refusal.at(here))?;
            for (part, value) in columns.iter_mut().zip(values) {
                part.push((union.schema.field(index).name().clone(), value.expr, kind));
            }
        }
        let parts = parts
            .into_iter()
            .zip(columns)
            .map(|(part, columns)| part.project(columns));
        Rows::union(parts.collect()).map_err(|refusal| refusal.at(here))
    }
}

impl Rows {
    fn unequal() -> Refusal {
        Refusal::new(
            Reason::Union,
            "the parts of UNION have different columns",
            "select as many columns in each",
        )
    }
}

/// The parts of a conjunction, and the conditions that every part of a disjunction implies: a join
/// may need them as equalities.
pub(super) fn conjuncts(predicate: &Planned) -> Vec<Planned> {
    let mut all = Vec::new();
    for part in operands(predicate, PlannedOperator::And) {
        all.push(part.clone());
        let alternatives = operands(part, PlannedOperator::Or);
        if let [first, others @ ..] = alternatives.as_slice()
            && !others.is_empty()
        {
            let others: Vec<Vec<&Planned>> = others
                .iter()
                .map(|other| operands(other, PlannedOperator::And))
                .collect();
            let common = operands(first, PlannedOperator::And)
                .into_iter()
                .filter(|part| is_equality(part))
                .filter(|part| others.iter().all(|other| other.contains(part)));
            all.extend(common.cloned());
        }
    }
    all
}

fn is_equality(planned: &Planned) -> bool {
    matches!(planned, Planned::BinaryExpr(binary) if binary.op == PlannedOperator::Eq)
}

/// The operands of a chain of one operator, in order, collected without recursion.
fn operands(planned: &Planned, operator: PlannedOperator) -> Vec<&Planned> {
    let mut parts = Vec::new();
    let mut open = vec![planned];
    while let Some(part) = open.pop() {
        match part {
            Planned::BinaryExpr(BinaryExpr { left, op, right }) if *op == operator => {
                open.push(right);
                open.push(left);
            }
            other => parts.push(other),
        }
    }
    parts
}

/// Whether an expression names only columns of a schema.
pub(super) fn is_over(planned: &Planned, schema: &DFSchema) -> bool {
    planned
        .column_refs()
        .into_iter()
        .all(|column| schema.maybe_index_of_column(column).is_some())
}

/// The place of the first condition that has one.
pub(super) fn first_place(conditions: &[Planned]) -> Option<crate::refusal::TextSpan> {
    conditions.iter().find_map(place)
}

/// The name of a plan node without its details.
pub(super) fn node_name(plan: &LogicalPlan) -> String {
    let sql_text = plan.display().to_string();
    let name: String = sql_text
        .chars()
        .take_while(|character| character.is_alphanumeric())
        .collect();
    if name.is_empty() {
        "this".to_owned()
    } else {
        name
    }
}
