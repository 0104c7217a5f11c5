//! Lowers a [`UnitAggregation`] to SQL, with the stages S0 to S4.
//!
//! - [`dialect`]: the differences between engines;
//! - [`expressions`], [`relations`]: the rows of S0;
//! - `sums.rs`: the number of units and all sums of a group, with `clipped.rs` for L2 clipping
//!   and `heavy_units.rs` where nearly all units are light;
//! - [`row_limit`]: limits on rows, groups and values of a unit.
//!
//! Units, counts and sums share one statement; distinct counts and histograms have one each. A
//! unit in too many groups must be sampled into the **same** groups in all of them, or it would
//! change more than `groups_per_unit` groups. So every statement samples groups by the same
//! hash ([`LimitedItem::Groups`]) and among the same candidates: the groups of all rows after the
//! filter, whether or not the row has a value to measure.

mod clipped;
pub(crate) mod dialect;
pub(crate) mod expressions;
#[cfg(feature = "ballista")]
mod heavy_units;
pub(crate) mod relations;
pub(crate) mod row_limit;
mod sums;

use mizan_sql::{Catalogue, Expr, Groups, Type, Value};

use self::dialect::{Dialect, Sql};
use self::expressions::{compared, expression, join, plain};
use self::relations::{Relations, column, select_list};
use self::row_limit::LimitedTable;
use crate::engine::{EngineError, bad};
use crate::sampling_hash::Salt;
use crate::unit_aggregation::{LimitedItem, Part, UnitAggregation, ValueMeasure, ValueStatistic};

/// A query and the tables of limited rows that it reads.
pub(crate) struct Query {
    /// The tables, each of which may read those before it.
    pub(crate) tables: Vec<LimitedTable>,
    /// The query.
    pub(crate) text: String,
}

/// The name of the table of group sampling (S3) in statements.
const FIRST_GROUPS: &str = "first_groups";

/// The name of the table of value limits in statements.
const FIRST_VALUES: &str = "first_values";

/// An aggregation in an SQL dialect.
pub(crate) struct SqlLowering<'a> {
    dialect: &'a dyn Dialect,
    salt: &'a Salt,
    pub(crate) aggregation: &'a UnitAggregation,
    input: Query,
    unit: Columns,
    keys: Columns,
    values: Columns,
    /// The condition that the keys of a row are in the list of public groups.
    listed: Option<String>,
}

/// Columns of S0: expressions over the input, and their names.
struct Columns {
    expressions: Vec<Sql>,
    /// `u0`, `k0`, `v0`, ...
    names: Vec<Sql>,
}

impl Columns {
    fn new(expressions: Vec<Sql>, prefix: &str) -> Self {
        let names = expressions.iter().enumerate();
        let names = names.map(|(place, sql)| Sql::new(format!("{prefix}{place}"), sql.kind));
        Self {
            names: names.collect(),
            expressions,
        }
    }

    fn selected(&self) -> impl Iterator<Item = String> {
        let both = self.expressions.iter().zip(&self.names);
        both.map(|(sql, name)| format!("{} AS {}", sql.text, name.text))
    }
}

impl<'a> SqlLowering<'a> {
    /// The aggregation over the tables of a dialect.
    pub(crate) fn new(
        dialect: &'a dyn Dialect,
        catalogue: &Catalogue,
        aggregation: &'a UnitAggregation,
        salt: &'a Salt,
    ) -> Result<Self, EngineError> {
        let input = &aggregation.input;
        let unit = input.unit.iter();
        let unit = unit.map(|place| column(&input.columns, *place));
        let unit = Columns::new(unit.collect::<Result<_, _>>()?, "u");
        let over = |expr: &Expr| expression(dialect, expr, &input.columns, &plain);
        let mut keys = Vec::with_capacity(aggregation.keys.len());
        for key in &aggregation.keys {
            let sql = over(&key.expression)?;
            if sql.kind != key.kind {
                return Err(bad("a key does not have its type"));
            }
            keys.push(sql);
        }
        let mut values = Vec::with_capacity(aggregation.values.len());
        for value in &aggregation.values {
            let sql = over(&value.expression)?;
            values.push(match &value.quantized {
                Some(how) => Sql::new(dialect.quantize(&sql, how), Type::Integer),
                None => sql,
            });
        }
        let listed = match &aggregation.groups {
            Groups::Private => None,
            Groups::Public(groups) if keys.is_empty() => {
                groups.is_empty().then(|| "FALSE".to_owned())
            }
            Groups::Public(groups) => {
                let groups: Vec<&[Value]> = groups.iter().map(Vec::as_slice).collect();
                Some(member(dialect, &keys, &groups)?)
            }
        };
        let relations = Relations::new(dialect, catalogue);
        let text = relations.text(input)?;
        let tables = relations.into_tables();
        Ok(Self {
            dialect,
            salt,
            aggregation,
            input: Query { tables, text },
            unit,
            keys: Columns::new(keys, "k"),
            values: Columns::new(values, "v"),
            listed,
        })
    }

    /// The query of a part, and the tables that it reads.
    pub(crate) fn query(&self, part: Part) -> Query {
        let mut query = match part {
            Part::Sums => self.sums(),
            Part::Values(_, statistic) => self.of_values(statistic),
        };
        query.tables = [self.input.tables.clone(), query.tables].concat();
        query
    }

    /// The statement of a part in plain SQL.
    pub(crate) fn statement(&self, part: Part) -> String {
        let Query { tables, text } = self.query(part);
        self.with_tables(&tables, text)
    }

    fn with_tables(&self, tables: &[LimitedTable], text: String) -> String {
        let tables = tables.iter().map(|table| {
            let rows = table.ranked_rows(self.dialect, self.salt);
            format!("{} AS ({rows})", table.name)
        });
        let tables: Vec<String> = tables.collect();
        match tables.is_empty() {
            true => text,
            false => format!("WITH {} {text}", tables.join(", ")),
        }
    }

    /// S0 for sums: unit, keys and values of rows whose unit is not NULL, in public groups only
    /// or in any group; with the tables that it reads.
    pub(crate) fn rows_of_sums(&self, in_groups: bool) -> Query {
        Query {
            tables: self.input.tables.clone(),
            text: self.rows_of(0, self.aggregation.summed_values(), in_groups),
        }
    }

    /// S0 with this number of values from a place on.
    fn rows_of(&self, from: usize, many: usize, in_groups: bool) -> String {
        let columns = self.unit.selected().chain(self.keys.selected());
        let columns = columns.chain(self.values.selected().skip(from).take(many));
        let units = self.unit.expressions.iter();
        let mut conditions: Vec<String> = units
            .map(|unit| format!("{} IS NOT NULL", unit.text))
            .collect();
        conditions.extend(self.listed.clone().filter(|_| in_groups));
        let rows = format!(
            "SELECT {} FROM ({}) AS t WHERE {}",
            select_list(columns),
            self.input.text,
            conditions.join(" AND ")
        );
        self.dialect.fenced(rows, true)
    }

    fn unit_and_keys(&self) -> Vec<Sql> {
        [self.unit.names.as_slice(), &self.keys.names].concat()
    }

    /// S3: group sampling of a query whose columns are the unit, the keys and others, if groups
    /// are sampled.
    fn first_groups(&self, rows: String, others: &[String]) -> Query {
        let Some(limit) = self.aggregation.sampled_groups() else {
            return Query {
                tables: Vec::new(),
                text: rows,
            };
        };
        let table = LimitedTable {
            name: FIRST_GROUPS.to_owned(),
            rows,
            by: self.unit.names.clone(),
            ranked: self.keys.names.clone(),
            others: others.to_vec(),
            of: LimitedItem::Groups,
            limit,
        };
        Query {
            text: format!("SELECT * FROM {FIRST_GROUPS}"),
            tables: vec![table],
        }
    }

    /// S4: the integers that leave the engine.
    fn per_group(&self, computed: &[String], from: &str, more_key: Option<&str>) -> String {
        let keys = self.keys.names.iter().map(|key| key.text.as_str());
        let keys: Vec<&str> = keys.chain(more_key).collect();
        let by = match keys.is_empty() {
            true => String::new(),
            false => format!(" GROUP BY {}", keys.join(", ")),
        };
        let computed = computed.iter().enumerate();
        let computed = computed.map(|(place, text)| format!("{text} AS o{place}"));
        let columns = keys.iter().map(|key| (*key).to_owned()).chain(computed);
        format!("SELECT {} FROM {from}{by}", select_list(columns))
    }

    /// A statistic of values: those of a unit in a group within the limit, and rows without a
    /// value.
    fn of_values(&self, statistic: ValueStatistic) -> Query {
        let ValueStatistic {
            measure,
            value,
            limit,
        } = statistic;
        let rows = self.rows_of(value, 1, true);
        let names = self.values.names.iter().skip(value).take(1).cloned();
        let ranked: Vec<Sql> = names.collect();
        let name = format!("v{value}");
        let (of, computed, more_key) = match measure {
            ValueMeasure::Distinct => (
                LimitedItem::DistinctValues,
                vec!["COUNT(*)".to_owned(), format!("COUNT(DISTINCT {name})")],
                None,
            ),
            ValueMeasure::Histogram => (
                LimitedItem::Values,
                vec!["COUNT(*)".to_owned()],
                Some(name.as_str()),
            ),
        };
        let Some(limit) = limit else {
            return Query {
                tables: Vec::new(),
                text: self.per_group(&computed, &format!("({rows}) AS t"), more_key),
            };
        };
        let Query { mut tables, text } = self.first_groups(rows, std::slice::from_ref(&name));
        tables.push(LimitedTable {
            name: FIRST_VALUES.to_owned(),
            rows: text,
            by: self.unit_and_keys(),
            ranked,
            others: Vec::new(),
            of,
            limit,
        });
        Query {
            tables,
            text: self.per_group(&computed, FIRST_VALUES, more_key),
        }
    }
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
