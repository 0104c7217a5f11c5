//! A bounded plan as statements: the shape S0 to S4.
//!
//! Units, counts and sums share one statement; distinct values and histograms
//! have one each. A unit with too many groups must show the **same** groups in
//! all of them, or it would change more than `groups_per_unit`: every statement
//! takes the first by the same hash ([`FirstGroups`]), and among the same groups,
//! those of all rows after the filter, whether the row has a value to measure or
//! not.

use mizan_sql::{
    BoundedPlan, Catalogue, Column, Expr, Groups, MAX_CONTRIBUTION, MAX_ROWS, Measure, Quantized,
    Statistic, Type, Value,
};

use super::dialect::{Dialect, Sql};
use super::expressions::{bad, expression, join, literal, plain};
use super::relations::{column, listed, relation};
use crate::engine::EngineError;
use crate::order::Salt;

/// A statement, and what its columns are after the keys.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// The SQL.
    pub(crate) text: String,
    /// What it reads as the table [`FirstGroups::TABLE`], if groups are capped.
    pub(crate) first_groups: Option<FirstGroups>,
    /// What it computes.
    pub(crate) shape: Shape,
}

/// S3: the rows of a query in the first groups of their units, in SQL those with
///
/// ```sql
/// DENSE_RANK() OVER (PARTITION BY unit ORDER BY hash(salt, unit, keys),
///                    keys ASC NULLS FIRST) <= most
/// ```
#[derive(Clone, Debug)]
pub(crate) struct FirstGroups {
    /// The query: columns of the unit, the keys, others.
    pub(crate) rows: String,
    /// How many columns the unit has.
    pub(crate) units: usize,
    /// How many keys there are.
    pub(crate) keys: usize,
    /// How many groups of a unit count.
    pub(crate) most: u64,
}

impl FirstGroups {
    /// What statements call it.
    pub(crate) const TABLE: &str = "first_groups";
}

/// What a statement computes for each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// How many units, then a column for each of these statistics.
    Sums(Vec<usize>),
    /// How many units or rows there were, then the value of this statistic.
    Distinct(usize),
    /// A row per bin of this statistic: the bin (or `NULL` for rows without a
    /// value, which do not count), and how many.
    Histogram(usize),
}

/// The statements of a plan.
pub(crate) fn statements(
    dialect: &dyn Dialect,
    catalogue: &Catalogue,
    plan: &BoundedPlan,
    salt: &Salt,
) -> Result<Vec<Statement>, EngineError> {
    let builder = Builder::new(dialect, catalogue, plan, salt)?;
    let mut sums = Vec::new();
    let mut statements = Vec::new();
    for (place, statistic) in plan.statistics.iter().enumerate() {
        check(statistic)?;
        match &statistic.measure {
            Measure::Distinct(expr) => {
                let query = builder.distinct(expr, statistic)?;
                statements.push(query.computes(Shape::Distinct(place)));
            }
            Measure::Histogram(expr, how) => {
                let query = builder.histogram(expr, how, statistic)?;
                statements.push(query.computes(Shape::Histogram(place)));
            }
            _ => sums.push(place),
        }
    }
    if !sums.is_empty() || statements.is_empty() {
        let query = builder.sums(&sums)?;
        statements.insert(0, query.computes(Shape::Sums(sums)));
    }
    Ok(statements)
}

/// The conditions under which no sum can overflow (C4).
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

/// SQL, and what it reads as [`FirstGroups::TABLE`].
struct Query {
    text: String,
    first_groups: Option<FirstGroups>,
}

impl Query {
    const fn plain(text: String) -> Self {
        Self {
            text,
            first_groups: None,
        }
    }

    fn map(self, text: impl FnOnce(&str) -> String) -> Self {
        Self {
            text: text(&self.text),
            ..self
        }
    }

    fn computes(self, shape: Shape) -> Statement {
        Statement {
            text: self.text,
            first_groups: self.first_groups,
            shape,
        }
    }
}

struct Builder<'a> {
    dialect: &'a dyn Dialect,
    plan: &'a BoundedPlan,
    salt: &'a Salt,
    relation: String,
    /// Over the relation.
    keys: Vec<Sql>,
    unit: Vec<Sql>,
    /// By their names `u0`, `k0`.
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
            return Err(bad("rows that are nobody's"));
        }
        let mut keys = Vec::with_capacity(plan.keys.len());
        for key in &plan.keys {
            let sql = expression(dialect, &key.expression, columns, &plain)?;
            if sql.kind != key.kind {
                return Err(bad("a key is not of its type"));
            }
            keys.push(sql);
        }
        Ok(Self {
            dialect,
            plan,
            salt,
            relation: relation(dialect, catalogue, salt, &plan.relation)?,
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

    /// A contribution between its limits; no contribution is zero.
    fn clamped(&self, text: &str, statistic: &Statistic) -> String {
        format!(
            "CASE WHEN {text} IS NULL THEN 0 ELSE LEAST(GREATEST({text}, {}), {}) END",
            self.integer(statistic.low),
            self.integer(statistic.high)
        )
    }

    /// S0: unit, keys and values of the rows of somebody, in groups that count.
    fn rows(&self, values: &[String]) -> Result<String, EngineError> {
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
        if let Groups::Public(groups) = &self.plan.groups {
            conditions.extend(self.member(groups)?);
        }
        Ok(format!(
            "SELECT {} FROM ({}) AS t WHERE {}",
            listed(columns),
            self.relation,
            conditions.join(" AND ")
        ))
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

    /// Rows whose unit, keys and values are opaque, to be ranked, and `n`.
    fn opaque(&self, from: &str, values: &[Sql]) -> String {
        let values = values.iter();
        let values =
            values.map(|value| format!("{} AS {}", self.dialect.opaque(value), value.text));
        format!("SELECT {}, n FROM ({from}) AS t", listed(values))
    }

    /// S3 of a query whose columns are the unit, the keys and others, if groups are
    /// capped.
    fn first_groups(&self, rows: String) -> Query {
        if !self.plan.enforce_groups || self.plan.relation.one_row_per_unit {
            return Query::plain(rows);
        }
        Query {
            text: format!("SELECT * FROM {}", FirstGroups::TABLE),
            first_groups: Some(FirstGroups {
                rows,
                units: self.unit_names.len(),
                keys: self.key_names.len(),
                most: self.plan.groups_per_unit,
            }),
        }
    }

    fn unit_and_keys(&self) -> String {
        join(
            &[self.unit_names.as_slice(), &self.key_names].concat(),
            ", ",
        )
    }

    /// S4: what leaves the engine.
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
        format!("SELECT {} FROM {from}{by}", listed(keys))
    }

    /// The sum of a unit's values, of so many average ones if there are more. All
    /// operations are of doubles and exact to the last bit on every engine.
    fn scaled(&self, value: usize, rows: i64) -> String {
        let (count, sum) = (format!("COUNT(v{value})"), format!("SUM(v{value})"));
        let limit = self.integer(rows);
        format!(
            "CASE WHEN {count} > {limit} THEN CAST(FLOOR(CAST({sum} AS DOUBLE) * \
             CAST({limit} AS DOUBLE) / CAST({count} AS DOUBLE)) AS BIGINT) ELSE {sum} END"
        )
    }

    fn sums(&self, places: &[usize]) -> Result<Query, EngineError> {
        let once = self.plan.relation.one_row_per_unit;
        let mut values = Vec::new();
        let mut aggregates = Vec::new();
        let mut totals = vec!["COUNT(*)".to_owned()];
        for place in places {
            let Some(statistic) = self.plan.statistics.get(*place) else {
                continue;
            };
            let value = values.len();
            let (value, within, of_one) = match &statistic.measure {
                Measure::Units => {
                    let one = 1.clamp(statistic.low, statistic.high);
                    totals.push(format!("SUM({})", self.integer(one)));
                    continue;
                }
                Measure::Rows => (None, "COUNT(*)".to_owned(), "1".to_owned()),
                Measure::Count(expr) => (
                    Some(self.over(expr)?.text),
                    format!("COUNT(v{value})"),
                    format!("CASE WHEN v{value} IS NULL THEN 0 ELSE 1 END"),
                ),
                Measure::Sum(expr, how) => (
                    Some(self.dialect.quantize(&self.over(expr)?, how)),
                    format!("SUM(v{value})"),
                    format!("v{value}"),
                ),
                Measure::Scaled(expr, how, rows) => (
                    Some(self.dialect.quantize(&self.over(expr)?, how)),
                    self.scaled(value, *rows),
                    format!("v{value}"),
                ),
                Measure::Distinct(_) | Measure::Histogram(..) => continue,
            };
            values.extend(value);
            let name = format!("a{}", aggregates.len());
            totals.push(format!("SUM({})", self.clamped(&name, statistic)));
            let computed = if once { of_one } else { within };
            aggregates.push(format!("{computed} AS {name}"));
        }
        let rows = self.rows(&values)?;
        let from = if once {
            // Each row is all that its unit has: there is nothing to add up.
            let keys = self.key_names.iter().map(|key| key.text.clone());
            format!(
                "SELECT {} FROM ({rows}) AS t",
                listed(keys.chain(aggregates))
            )
        } else {
            let by = self.unit_and_keys();
            aggregates.insert(0, by.clone());
            format!(
                "SELECT {} FROM ({rows}) AS t GROUP BY {by}",
                listed(aggregates)
            )
        };
        let from = self.first_groups(from);
        Ok(from.map(|from| self.per_group(&totals, &format!("({from}) AS t"), &[])))
    }

    /// One row per (unit, group, value) with `n` rows, where `r` is the rank of the
    /// value in its group. Rows without a value come last.
    fn ranked_values(&self, value: &Sql, rank: &str, frame: &str) -> Result<Query, EngineError> {
        let rows = self.rows(std::slice::from_ref(&value.text))?;
        let by = self.unit_and_keys();
        let grouped =
            format!("SELECT {by}, v0, COUNT(*) AS n FROM ({rows}) AS t GROUP BY {by}, v0");
        let value = Sql::new("v0", value.kind);
        let values = [self.unit_names.as_slice(), &self.key_names].concat();
        let values = [values.as_slice(), std::slice::from_ref(&value)].concat();
        let hash = self.dialect.hash(self.salt, &values);
        let rank = format!(
            "{rank} OVER (PARTITION BY {by} ORDER BY (v0 IS NULL) ASC, hv ASC, v0 ASC NULLS LAST{frame}) AS r"
        );
        Ok(self.first_groups(grouped).map(|grouped| {
            let rows = self.opaque(grouped, &values);
            let hashed = format!("SELECT *, {hash} AS hv FROM ({rows}) AS t");
            format!("(SELECT *, {rank} FROM ({hashed}) AS t) AS t")
        }))
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
        let from = self.ranked_values(&value, "ROW_NUMBER()", "")?;
        let most = self.integer(high);
        let values = format!("COUNT(DISTINCT CASE WHEN r <= {most} THEN v0 END)");
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
        // `r` is how many rows there are up to and with this bin, so `r - n` were
        // there before it.
        let from = self.ranked_values(&bin, "SUM(n)", ROWS)?;
        let most = self.integer(high);
        let taken = format!("SUM(GREATEST(LEAST(n, {most} - (r - n)), 0))");
        Ok(from.map(|from| self.per_group(&[taken], from, &["v0"])))
    }
}

/// The rows up to this one.
const ROWS: &str = " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW";

fn named(values: &[Sql], prefix: &str) -> Vec<Sql> {
    let values = values.iter().enumerate();
    values
        .map(|(place, value)| Sql::new(format!("{prefix}{place}"), value.kind))
        .collect()
}

/// Whether keys are in a sorted list: values of the first key that go with the
/// same values of the others are one term, so a product of lists is one term.
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
            list.push(literal(dialect, value, key.kind)?.text);
        }
    }
    if !list.is_empty() {
        terms.push(format!("{} IN ({})", key.text, list.join(", ")));
    }
    Ok(format!("({})", terms.join(" OR ")))
}
