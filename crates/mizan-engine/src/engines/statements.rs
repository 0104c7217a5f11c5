//! Writes a bounded plan as statements, with the stages S0 to S4.
//!
//! Units, counts and sums share one statement; distinct counts and histograms have one each. A
//! unit in too many groups must be sampled into the **same** groups in all of them, or it would
//! change more than `groups_per_unit` groups. So every statement samples groups by the same
//! hash ([`LimitedItem::Groups`]) and among the same candidates: the groups of all rows after the
//! filter, whether or not the row has a value to measure.

mod heavy_unit_split;

use mizan_sql::{
    BoundedPlan, Catalogue, Column, Expr, GroupBounding, Groups, MAX_CONTRIBUTION, MAX_ROWS,
    Measure, Quantized, Statistic, Type, Value,
};

use super::clipped::clipped;
use super::dialect::{Dialect, Sql};
use super::expressions::{bad, compared, expression, join, plain};
use super::relations::{Relations, column, select_list};
use super::row_limit::RowLimitSpec;
use super::statement::{
    Contribution, ContributionKind, LimitedItem, PerUnit, ResultLayout, RowLimit, Statement,
};
use crate::engine::EngineError;
use crate::sampling_hash::Salt;

/// The statements of a plan.
pub(crate) fn statements(
    dialect: &dyn Dialect,
    catalogue: &Catalogue,
    plan: &BoundedPlan,
    salt: &Salt,
) -> Result<Vec<Statement>, EngineError> {
    if plan.group_bounding == GroupBounding::ClipL2 && !plan.can_be_clipped() {
        return Err(bad("units are clipped, but the plan does not allow it"));
    }
    let builder = Builder::new(dialect, catalogue, plan, salt)?;
    let mut sums = Vec::new();
    let mut statements = Vec::new();
    for (place, statistic) in plan.statistics.iter().enumerate() {
        check(statistic)?;
        match &statistic.measure {
            Measure::Distinct(expr) => {
                let query = builder.distinct(expr, statistic)?;
                statements.push(query.computes(&builder.row_limits, ResultLayout::Distinct(place)));
            }
            Measure::Histogram(expr, how) => {
                let query = builder.histogram(expr, how, statistic)?;
                statements
                    .push(query.computes(&builder.row_limits, ResultLayout::Histogram(place)));
            }
            _ => sums.push(place),
        }
    }
    if !sums.is_empty() || statements.is_empty() {
        let query = builder.sums(&sums)?;
        statements.insert(
            0,
            query.computes(&builder.row_limits, ResultLayout::Sums(sums)),
        );
    }
    Ok(statements)
}

/// Checks the conditions under which no sum can overflow (C4).
fn check(statistic: &Statistic) -> Result<(), EngineError> {
    let allowed = -MAX_CONTRIBUTION..=MAX_CONTRIBUTION;
    let ordered = statistic.low <= statistic.high;
    if !ordered || !allowed.contains(&statistic.low) || !allowed.contains(&statistic.high) {
        return Err(bad("a contribution is not bounded"));
    }
    match &statistic.measure {
        Measure::Scaled(_, _, rows) if *rows < 1 => Err(bad("means of no rows")),
        Measure::Sum(_, how) | Measure::Scaled(_, how, _) | Measure::Histogram(_, how) => {
            check_steps(how)
        }
        _ => Ok(()),
    }
}

fn check_steps(how: &Quantized) -> Result<(), EngineError> {
    let most = i64::MAX / MAX_ROWS;
    let (low, high) = how.range();
    let finite = how.step() > 0.0 && how.step().is_finite() && how.centre.is_finite();
    if finite && low >= -most && high <= most {
        Ok(())
    } else {
        Err(bad("a value has too many steps"))
    }
}

/// SQL, the row limits that it reads beside those of its relation, and the parameters of the
/// operator for sums.
struct Query {
    text: String,
    limits: Vec<RowLimit>,
    per_unit: Option<PerUnit>,
}

impl Query {
    const fn plain(text: String) -> Self {
        Self {
            text,
            limits: Vec::new(),
            per_unit: None,
        }
    }

    fn map(self, text: impl FnOnce(&str) -> String) -> Self {
        Self {
            text: text(&self.text),
            ..self
        }
    }

    fn computes(self, row_limits: &[RowLimit], layout: ResultLayout) -> Statement {
        Statement {
            text: self.text,
            row_limits: row_limits.to_vec(),
            limits: self.limits,
            per_unit: self.per_unit,
            layout,
        }
    }
}

/// The name of the table of group sampling (S3) in statements.
const FIRST_GROUPS: &str = "first_groups";

/// The name of the table of value limits in statements.
const FIRST_VALUES: &str = "first_values";

struct Builder<'a> {
    dialect: &'a dyn Dialect,
    plan: &'a BoundedPlan,
    salt: &'a Salt,
    relation: String,
    /// Tables that the relation reads.
    row_limits: Vec<RowLimit>,
    /// Over the columns of the relation.
    keys: Vec<Sql>,
    unit: Vec<Sql>,
    /// Their names in S0: `u0`, `k0`, ...
    unit_names: Vec<Sql>,
    key_names: Vec<Sql>,
}

impl<'a> Builder<'a> {
    fn new(
        dialect: &'a dyn Dialect,
        catalogue: &Catalogue,
        plan: &'a BoundedPlan,
        salt: &'a Salt,
    ) -> Result<Self, EngineError> {
        let columns = &plan.relation.columns;
        let unit = plan.relation.unit.iter();
        let unit = unit
            .map(|place| column(columns, *place))
            .collect::<Result<Vec<_>, _>>()?;
        if unit.is_empty() {
            return Err(bad("rows without a unit"));
        }
        let mut keys = Vec::with_capacity(plan.keys.len());
        for key in &plan.keys {
            let sql = expression(dialect, &key.expression, columns, &plain)?;
            if sql.kind != key.kind {
                return Err(bad("a key does not have its type"));
            }
            keys.push(sql);
        }
        let relations = Relations::new(dialect, catalogue, salt);
        let relation = relations.text(&plan.relation)?;
        Ok(Self {
            dialect,
            plan,
            salt,
            relation,
            row_limits: relations.into_row_limits(),
            unit_names: named(&unit, "u"),
            key_names: named(&keys, "k"),
            keys,
            unit,
        })
    }

    fn over(&self, expr: &Expr) -> Result<Sql, EngineError> {
        expression(self.dialect, expr, self.columns(), &plain)
    }

    fn columns(&self) -> &[Column] {
        &self.plan.relation.columns
    }

    fn integer(&self, value: i64) -> String {
        self.dialect.literal(&Value::Integer(value), Type::Integer)
    }

    /// A clamped contribution; NULL counts as zero.
    fn clamped(&self, text: &str, contribution: &Contribution) -> String {
        format!(
            "CASE WHEN {text} IS NULL THEN 0 ELSE LEAST(GREATEST({text}, {}), {}) END",
            self.integer(contribution.low),
            self.integer(contribution.high)
        )
    }

    /// S0: unit, keys and values of rows whose unit is not NULL, in listed groups.
    fn rows(&self, values: &[String]) -> Result<String, EngineError> {
        let member = match &self.plan.groups {
            Groups::Public(groups) => self.member(groups)?,
            Groups::Private => None,
        };
        Ok(self.rows_where(values, member))
    }

    /// The same with other conditions.
    fn rows_where(&self, values: &[String], also: impl IntoIterator<Item = String>) -> String {
        let unit = self.unit.iter().zip(&self.unit_names);
        let keys = self.keys.iter().zip(&self.key_names);
        let mut columns: Vec<String> = unit
            .chain(keys)
            .map(|(value, name)| format!("{} AS {}", value.text, name.text))
            .collect();
        for (place, value) in values.iter().enumerate() {
            columns.push(format!("{value} AS v{place}"));
        }
        let mut conditions: Vec<String> = self
            .unit
            .iter()
            .map(|unit| format!("{} IS NOT NULL", unit.text))
            .collect();
        conditions.extend(also);
        let rows = format!(
            "SELECT {} FROM ({}) AS t WHERE {}",
            select_list(columns),
            self.relation,
            conditions.join(" AND ")
        );
        self.dialect.fenced(rows, true)
    }

    /// Whether the keys of a row are in the list.
    fn member(&self, groups: &[Vec<Value>]) -> Result<Option<String>, EngineError> {
        if groups.iter().any(|group| group.len() != self.keys.len()) {
            return Err(bad("a group without a value for every key"));
        }
        if self.keys.is_empty() {
            return Ok(groups.is_empty().then(|| "FALSE".to_owned()));
        }
        let mut sorted: Vec<&[Value]> = groups.iter().map(Vec::as_slice).collect();
        sorted.sort();
        sorted.dedup();
        member(self.dialect, &self.keys, &sorted).map(Some)
    }

    /// Rows whose unit and keys are hidden from the planner.
    fn opaque(&self, from: &str, others: &[String]) -> String {
        let names = self.unit_names.iter().chain(&self.key_names);
        let names = names.map(|name| format!("{} AS {}", self.dialect.opaque(name), name.text));
        let columns = select_list(names.chain(others.iter().cloned()));
        format!("SELECT {columns} FROM ({from}) AS t")
    }

    /// The group limit of a unit, if groups are sampled.
    fn most(&self) -> Option<u64> {
        let dropped = self.plan.group_bounding == GroupBounding::SampleGroups;
        let capped = dropped && !self.plan.relation.one_row_per_unit;
        capped.then_some(self.plan.groups_per_unit)
    }

    /// S3: group sampling of a query whose columns are the unit, the keys and others, if groups
    /// are sampled.
    fn first_groups(&self, rows: String, others: &[String]) -> Query {
        let Some(most) = self.most() else {
            return Query::plain(rows);
        };
        let spec = RowLimitSpec {
            by: &self.unit_names,
            ranked: &self.key_names,
            others,
            of: LimitedItem::Groups,
            limit: most,
        };
        let limit = spec.of(self.dialect, self.salt, FIRST_GROUPS, rows);
        Query {
            text: format!("SELECT * FROM {FIRST_GROUPS}"),
            limits: vec![limit],
            per_unit: None,
        }
    }

    fn unit_and_keys(&self) -> String {
        join(
            &[self.unit_names.as_slice(), &self.key_names].concat(),
            ", ",
        )
    }

    /// S4: the integers that leave the engine.
    fn per_group(&self, computed: &[String], from: &str, more_keys: &[&str]) -> String {
        let mut keys: Vec<String> = self.key_names.iter().map(|key| key.text.clone()).collect();
        keys.extend(more_keys.iter().map(|key| (*key).to_owned()));
        let by = if keys.is_empty() {
            String::new()
        } else {
            format!(" GROUP BY {}", keys.join(", "))
        };
        let computed = computed.iter().enumerate();
        keys.extend(computed.map(|(place, text)| format!("{text} AS o{place}")));
        format!("SELECT {} FROM {from}{by}", select_list(keys))
    }

    /// The sum of a unit's values; with more than `rows` values, `rows` times their mean. All
    /// operations on doubles give the same bits on every engine.
    fn scaled(&self, value: usize, rows: i64) -> String {
        let (count, sum) = (format!("COUNT(v{value})"), format!("SUM(v{value})"));
        let limit = self.integer(rows);
        format!(
            "CASE WHEN {count} > {limit} THEN CAST(FLOOR(CAST({sum} AS DOUBLE PRECISION) * \
             CAST({limit} AS DOUBLE PRECISION) / CAST({count} AS DOUBLE PRECISION)) AS BIGINT) \
             ELSE {sum} END"
        )
    }

    /// The contributions of the statistics, and the values that they need.
    fn contributions(
        &self,
        places: &[usize],
    ) -> Result<(Vec<Contribution>, Vec<String>), EngineError> {
        let mut values: Vec<String> = Vec::new();
        let mut value = |text: String| {
            let known = values.iter().position(|other| *other == text);
            known.unwrap_or_else(|| {
                values.push(text);
                values.len() - 1
            })
        };
        let mut contributions = Vec::with_capacity(places.len());
        for place in places {
            let Some(statistic) = self.plan.statistics.get(*place) else {
                continue;
            };
            let of = match &statistic.measure {
                Measure::Units => ContributionKind::Unit,
                Measure::Rows => ContributionKind::Rows,
                Measure::Count(expr) => ContributionKind::Count(value(self.over(expr)?.text)),
                Measure::Sum(expr, how) => {
                    ContributionKind::Sum(value(self.dialect.quantize(&self.over(expr)?, how)))
                }
                Measure::Scaled(expr, how, rows) => {
                    let value = value(self.dialect.quantize(&self.over(expr)?, how));
                    ContributionKind::Scaled(value, *rows)
                }
                Measure::Distinct(_) | Measure::Histogram(..) => continue,
            };
            let (low, high) = (statistic.low, statistic.high);
            contributions.push(Contribution { of, low, high });
        }
        Ok((contributions, values))
    }

    /// The contribution of a unit in a group before clamping; `is_single_row` if it has one row.
    fn unit_total(&self, of: ContributionKind, is_single_row: bool) -> String {
        match (of, is_single_row) {
            (ContributionKind::Unit, _) | (ContributionKind::Rows, true) => "1".to_owned(),
            (ContributionKind::Rows, false) => "COUNT(*)".to_owned(),
            (ContributionKind::Count(value), true) => {
                format!("CASE WHEN v{value} IS NULL THEN 0 ELSE 1 END")
            }
            (ContributionKind::Count(value), false) => format!("COUNT(v{value})"),
            (ContributionKind::Sum(value) | ContributionKind::Scaled(value, _), true) => {
                format!("v{value}")
            }
            (ContributionKind::Sum(value), false) => format!("SUM(v{value})"),
            (ContributionKind::Scaled(value, rows), false) => self.scaled(value, rows),
        }
    }

    fn sums(&self, places: &[usize]) -> Result<Query, EngineError> {
        let is_single_row = self.plan.relation.one_row_per_unit;
        let (contributions, values) = self.contributions(places)?;
        let (mut aggregates, mut names) = (Vec::new(), Vec::new());
        let mut contributed = Vec::with_capacity(contributions.len());
        for contribution in &contributions {
            if contribution.of == ContributionKind::Unit {
                let one = 1.clamp(contribution.low, contribution.high);
                contributed.push(self.integer(one));
                continue;
            }
            let name = format!("a{}", names.len());
            aggregates.push(format!(
                "{} AS {name}",
                self.unit_total(contribution.of, is_single_row)
            ));
            contributed.push(self.clamped(&name, contribution));
            names.push(name);
        }
        let sums = || contributed.iter().map(|value| format!("SUM({value})"));
        let mut totals = vec!["COUNT(*)".to_owned()];
        let rows = self.rows(&values)?;
        if is_single_row {
            // Each row is the only one of its unit: there is nothing to add up.
            let keys = self.key_names.iter().map(|key| key.text.clone());
            let columns = select_list(keys.chain(aggregates));
            let from = format!("(SELECT {columns} FROM ({rows}) AS t) AS t");
            totals.extend(sums());
            return Ok(Query::plain(self.per_group(&totals, &from, &[])));
        }
        let by = self.unit_and_keys();
        aggregates.insert(0, by.clone());
        let columns = select_list(aggregates);
        let from = format!("SELECT {columns} FROM ({rows}) AS t GROUP BY {by}");
        let clip = self.plan.clip();
        let from = match clip {
            Some(clip) => {
                let number = Value::number(clip.dividend());
                let (clipped, from) = clipped(
                    &self.opaque(&from, &names),
                    &contributed,
                    &contributions,
                    &join(&self.unit_names, ", "),
                    clip,
                    &self.dialect.literal(&number, Type::Number),
                );
                totals.extend(clipped);
                Query::plain(from)
            }
            None => {
                totals.extend(sums());
                self.first_groups(from, &names)
            }
        };
        let query = from.map(|from| self.per_group(&totals, &format!("({from}) AS t"), &[]));
        let light_units = self.light_units(places, &values, &contributions, &rows);
        Ok(Query {
            per_unit: Some(PerUnit {
                rows_sql: rows,
                units: self.unit_names.len(),
                keys: self.key_names.len(),
                most: self.most(),
                clip,
                contributions,
                light_units,
            }),
            ..query
        })
    }

    /// A unit's values in a group within the limit, as `v0`, and rows without a value.
    fn first_values(&self, value: &Sql, of: LimitedItem, most: i64) -> Result<Query, EngineError> {
        let rows = self.rows(std::slice::from_ref(&value.text))?;
        let mut query = self.first_groups(rows, &["v0".to_owned()]);
        let spec = RowLimitSpec {
            by: &[self.unit_names.as_slice(), &self.key_names].concat(),
            ranked: &[Sql::new("v0", value.kind)],
            others: &[],
            of,
            limit: most.unsigned_abs(),
        };
        let limit = spec.of(self.dialect, self.salt, FIRST_VALUES, query.text);
        query.limits.push(limit);
        query.text = FIRST_VALUES.to_owned();
        Ok(query)
    }

    fn distinct(&self, expr: &Expr, statistic: &Statistic) -> Result<Query, EngineError> {
        let value = self.over(expr)?;
        let rows = "COUNT(*)".to_owned();
        let high = statistic.high.max(0);
        if self.plan.relation.one_row_per_unit && high >= 1 {
            let from = format!("({}) AS t", self.rows(&[value.text])?);
            let values = "COUNT(DISTINCT v0)".to_owned();
            return Ok(Query::plain(self.per_group(&[rows, values], &from, &[])));
        }
        let from = self.first_values(&value, LimitedItem::DistinctValues, high)?;
        let values = "COUNT(DISTINCT v0)".to_owned();
        Ok(from.map(|from| self.per_group(&[rows, values], from, &[])))
    }

    fn histogram(
        &self,
        expr: &Expr,
        how: &Quantized,
        statistic: &Statistic,
    ) -> Result<Query, EngineError> {
        let bin = Sql::new(self.dialect.quantize(&self.over(expr)?, how), Type::Integer);
        let high = statistic.high.max(0);
        if self.plan.relation.one_row_per_unit && high >= 1 {
            let rows = self.rows(&[bin.text])?;
            let computed = ["COUNT(*)".to_owned()];
            let from = format!("({rows}) AS t");
            return Ok(Query::plain(self.per_group(&computed, &from, &["v0"])));
        }
        let from = self.first_values(&bin, LimitedItem::Values, high)?;
        let computed = ["COUNT(*)".to_owned()];
        Ok(from.map(|from| self.per_group(&computed, from, &["v0"])))
    }
}

/// A number of rows up to which a unit's contribution is never clamped and equals the sum of
/// the contributions that each row would make alone.
fn unclamped_rows(statistic: &Statistic) -> u64 {
    let (low, high) = (statistic.low, statistic.high);
    if low > 0 || high < 0 {
        return 0;
    }
    let within = |(least, most): (i64, i64)| {
        let below = if most > 0 { high / most } else { i64::MAX };
        let above = if least < 0 { low / least } else { i64::MAX };
        below.min(above)
    };
    let rows = match &statistic.measure {
        // Two rows are one unit.
        Measure::Units => high.min(1),
        Measure::Rows | Measure::Count(_) => high,
        Measure::Sum(_, how) => within(how.range()),
        Measure::Scaled(_, how, rows) => within(how.range()).min(*rows),
        Measure::Distinct(_) | Measure::Histogram(..) => 0,
    };
    rows.unsigned_abs()
}

fn named(values: &[Sql], prefix: &str) -> Vec<Sql> {
    let values = values.iter().enumerate();
    values
        .map(|(place, value)| Sql::new(format!("{prefix}{place}"), value.kind))
        .collect()
}

/// The condition that keys are in a sorted list. Values of the first key with the same values
/// of the others form one term, so a product of lists becomes one term.
fn member(dialect: &dyn Dialect, keys: &[Sql], groups: &[&[Value]]) -> Result<String, EngineError> {
    let Some((key, others)) = keys.split_first() else {
        return Ok("TRUE".to_owned());
    };
    let mut terms: Vec<(Vec<&Value>, Vec<&[Value]>)> = Vec::new();
    let same_first = |a: &&[Value], b: &&[Value]| a.first() == b.first();
    for chunk in groups.chunk_by(same_first) {
        let Some(first) = chunk.first().and_then(|group| group.first()) else {
            continue;
        };
        let rest: Vec<&[Value]> = chunk.iter().filter_map(|group| group.get(1..)).collect();
        match terms.iter_mut().find(|(_, other)| *other == rest) {
            Some((values, _)) => values.push(first),
            None => terms.push((vec![first], rest)),
        }
    }
    let mut texts = Vec::with_capacity(terms.len());
    for (values, rest) in terms {
        let mut text = one_of(dialect, key, &values)?;
        if !others.is_empty() {
            text = format!("({text} AND {})", member(dialect, others, &rest)?);
        }
        texts.push(text);
    }
    if texts.is_empty() {
        return Ok("FALSE".to_owned());
    }
    Ok(format!("({})", texts.join(" OR ")))
}

fn one_of(dialect: &dyn Dialect, key: &Sql, values: &[&Value]) -> Result<String, EngineError> {
    let mut list = Vec::with_capacity(values.len());
    let mut terms = Vec::new();
    for value in values {
        if value.is_null() {
            terms.push(format!("{} IS NULL", key.text));
        } else {
            list.push(compared(dialect, value, key.kind)?.text);
        }
    }
    if !list.is_empty() {
        terms.push(format!("{} IN ({})", key.text, list.join(", ")));
    }
    Ok(format!("({})", terms.join(" OR ")))
}
