//! Relations as SQL: nested queries whose columns are `c0`, `c1`, ...

use std::cell::RefCell;

use mizan_sql::{
    Catalogue, Column, Dataset, DatasetColumn, Expr, Function, Join, Operator, Quantized, Relation,
    Type, UnitAggregate, Value,
};

use super::dialect::{Dialect, Sql};
use super::expressions::{bad, expression, plain};
use super::row_limit::RowLimitSpec;
use super::statement::{LimitedItem, RowLimit};
use crate::engine::EngineError;
use crate::sampling_hash::Salt;

/// Writes relations as SQL, and collects the tables that they read.
pub(crate) struct Relations<'a> {
    dialect: &'a dyn Dialect,
    catalogue: &'a Catalogue,
    salt: &'a Salt,
    row_limits: RefCell<Vec<RowLimit>>,
}

impl<'a> Relations<'a> {
    /// No tables yet.
    pub(crate) const fn new(
        dialect: &'a dyn Dialect,
        catalogue: &'a Catalogue,
        salt: &'a Salt,
    ) -> Self {
        Self {
            dialect,
            catalogue,
            salt,
            row_limits: RefCell::new(Vec::new()),
        }
    }

    /// The tables that the SQL reads, each of which may read those before it.
    pub(crate) fn into_row_limits(self) -> Vec<RowLimit> {
        self.row_limits.into_inner()
    }

    /// The SQL of a relation.
    pub(crate) fn text(&self, relation: &Relation) -> Result<String, EngineError> {
        let text = self.bare(relation)?;
        Ok(match &relation.operator {
            _ if is_read(relation) => self.dialect.fenced(text, true),
            Operator::Project { input, .. } => self.dialect.fenced(text, is_read(input)),
            Operator::Filter { .. } | Operator::Group { .. } => self.dialect.fenced(text, false),
            _ => text,
        })
    }

    /// The same without a fence around it.
    fn bare(&self, relation: &Relation) -> Result<String, EngineError> {
        let (dialect, catalogue) = (self.dialect, self.catalogue);
        let inner = |input: &Relation| self.text(input);
        // Columns over plain datasets need no fence below filters and joins: rows that these
        // exclude need not be computed.
        let read = |input: &Relation| match is_read(input) {
            true => self.bare(input),
            false => self.text(input),
        };
        let text = match &relation.operator {
            Operator::Scan { dataset } => scan(dialect, catalogue, dataset, &relation.columns)?,
            Operator::Filter { input, predicate } => {
                let predicate = expression(dialect, predicate, &input.columns, &plain)?;
                let columns = select_list((0..input.columns.len()).map(plain));
                let from = read(input)?;
                format!(
                    "SELECT {columns} FROM ({from}) AS t WHERE {}",
                    predicate.text
                )
            }
            Operator::Project { input, expressions } => {
                let mut columns = Vec::with_capacity(expressions.len());
                for (place, expr) in expressions.iter().enumerate() {
                    let text = expression(dialect, expr, &input.columns, &plain)?.text;
                    columns.push(format!("{text} AS c{place}"));
                }
                let from = match is_read(relation) {
                    true => read(input)?,
                    false => inner(input)?,
                };
                format!("SELECT {} FROM ({from}) AS t", select_list(columns))
            }
            Operator::Join { .. } => join(dialect, relation, &read)?,
            Operator::LimitRowsPerUnit { input, rows, read } => {
                self.first(&inner(input)?, input, *rows, read)?
            }
            Operator::Union { inputs } => {
                let mut parts = Vec::with_capacity(inputs.len());
                for input in inputs {
                    let columns = select_list((0..input.columns.len()).map(plain));
                    parts.push(format!("SELECT {columns} FROM ({}) AS t", inner(input)?));
                }
                if parts.is_empty() {
                    return Err(bad("a union of nothing"));
                }
                parts.join(" UNION ALL ")
            }
            Operator::Group {
                input,
                keys,
                aggregates,
            } => group(dialect, &inner(input)?, input, relation, keys, aggregates)?,
        };
        Ok(text)
    }

    /// The rows of each unit with the smallest hash; columns that are not read become NULL.
    fn first(
        &self,
        from: &str,
        input: &Relation,
        rows: u64,
        read: &[usize],
    ) -> Result<String, EngineError> {
        let of = |places: &[usize]| {
            let columns = places.iter().map(|place| column(&input.columns, *place));
            columns.collect::<Result<Vec<Sql>, _>>()
        };
        let others = read.iter().filter(|place| !input.unit.contains(place));
        let others: Vec<usize> = others.copied().collect();
        let (unit, others) = (of(&input.unit)?, of(&others)?);
        if unit.is_empty() || input.unit.iter().any(|place| !read.contains(place)) {
            return Err(bad("a row limit without a unit"));
        }
        let unit_is_known = unit.iter().map(|unit| format!("{} IS NOT NULL", unit.text));
        let unit_is_known: Vec<String> = unit_is_known.collect();
        let values = [unit.as_slice(), &others].concat();
        let query = format!(
            "SELECT {} FROM ({from}) AS t WHERE {}",
            super::expressions::join(&values, ", "),
            unit_is_known.join(" AND ")
        );
        let mut row_limits = self.row_limits.borrow_mut();
        let table = format!("first_rows_{}", row_limits.len());
        let columns = input.columns.iter().enumerate();
        let columns = columns.map(|(place, column)| match read.contains(&place) {
            true => plain(place),
            false => {
                let nothing = self.dialect.literal(&Value::Null, column.kind);
                format!("{nothing} AS c{place}")
            }
        });
        let read = format!("SELECT {} FROM {table}", select_list(columns));
        let spec = RowLimitSpec {
            by: &unit,
            ranked: &others,
            others: &[],
            of: LimitedItem::Rows,
            limit: rows,
        };
        row_limits.push(spec.of(self.dialect, self.salt, table, query));
        Ok(read)
    }
}

/// Whether the columns of a relation are plain columns of datasets.
fn is_read(relation: &Relation) -> bool {
    let computes = |expr: &Expr| !matches!(expr, Expr::Column(_) | Expr::Literal(..));
    match &relation.operator {
        Operator::Scan { .. } => true,
        Operator::Project { input, expressions } => {
            !expressions.iter().any(computes) && is_read(input)
        }
        Operator::Filter { input, .. } => is_read(input),
        Operator::Join { left, right, .. } => is_read(left) && is_read(right),
        _ => false,
    }
}

/// A list of columns; a query has at least one.
pub(crate) fn select_list(columns: impl IntoIterator<Item = String>) -> String {
    let columns: Vec<String> = columns.into_iter().collect();
    if columns.is_empty() {
        "1 AS nothing".to_owned()
    } else {
        columns.join(", ")
    }
}

/// A dataset of the catalogue.
pub(crate) fn dataset<'a>(
    catalogue: &'a Catalogue,
    name: &str,
) -> Result<&'a Dataset, EngineError> {
    let found = catalogue.datasets.get(name);
    found.ok_or_else(|| EngineError::NotInCatalogue {
        dataset: name.to_owned(),
    })
}

/// Whether a column is part of the unit.
pub(crate) fn is_unit(dataset: &Dataset, column: &DatasetColumn) -> bool {
    let unit = dataset.privacy.iter().flat_map(|privacy| &privacy.unit);
    unit.into_iter().any(|name| *name == column.name)
}

/// Whether ids of one type may be read as another: distinct ids stay distinct.
pub(crate) fn fits_unit(found: Type, declared: Type) -> bool {
    found == declared || (found, declared) == (Type::Integer, Type::Text)
}

/// The units of the rows of a private dataset, without NULL units; None if equal units may have
/// different values.
pub(crate) fn units(
    dialect: &dyn Dialect,
    catalogue: &Catalogue,
    name: &str,
) -> Result<Option<String>, EngineError> {
    let declared = dataset(catalogue, name)?;
    let unit = declared.privacy.iter().flat_map(|privacy| &privacy.unit);
    let mut columns = Vec::new();
    for unit in unit {
        let column = declared.columns.iter().find(|column| column.name == *unit);
        let kind = column.map(|column| column.kind);
        match kind {
            None | Some(Type::Number) => return Ok(None),
            Some(kind) => columns.push(Column {
                name: unit.clone(),
                kind,
                bounds: None,
            }),
        }
    }
    if columns.is_empty() {
        return Ok(None);
    }
    let rows = scan(dialect, catalogue, name, &columns)?;
    let unit_is_known = (0..columns.len()).map(|place| format!("{} IS NOT NULL", plain(place)));
    let unit_is_known: Vec<String> = unit_is_known.collect();
    Ok(Some(format!(
        "SELECT * FROM ({rows}) AS t WHERE {}",
        unit_is_known.join(" AND ")
    )))
}

fn scan(
    dialect: &dyn Dialect,
    catalogue: &Catalogue,
    name: &str,
    columns: &[Column],
) -> Result<String, EngineError> {
    let dataset = dataset(catalogue, name)?;
    let mut read = Vec::with_capacity(columns.len());
    for (place, column) in columns.iter().enumerate() {
        let declared = dataset
            .columns
            .iter()
            .find(|declared| declared.name == column.name && declared.kind == column.kind)
            .ok_or_else(|| EngineError::NotInCatalogue {
                dataset: name.to_owned(),
            })?;
        let text = dialect.read(dataset, declared)?;
        read.push(format!("{text} AS c{place}"));
    }
    Ok(format!(
        "SELECT {} FROM {}",
        select_list(read),
        dialect.table(dataset)?
    ))
}

fn join(
    dialect: &dyn Dialect,
    relation: &Relation,
    inner: &dyn Fn(&Relation) -> Result<String, EngineError>,
) -> Result<String, EngineError> {
    let Join {
        left,
        right,
        keeps_left,
        on,
        condition,
    } = relation.as_join().ok_or_else(|| bad("not a join"))?;
    let width = left.columns.len();
    let on_left = |place: usize| format!("l.c{place}");
    let on_right = |place: usize| format!("r.c{place}");
    let on_both = |place: usize| match place.checked_sub(width) {
        None => on_left(place),
        Some(place) => on_right(place),
    };
    let both: Vec<Column> = left.columns.iter().chain(&right.columns).cloned().collect();
    let mut conditions = Vec::new();
    for (of_left, of_right) in on {
        let of_right = of_right.map_columns(&mut |place| Expr::Column(place + width));
        let equal = Expr::call(Function::Equal, [of_left.clone(), of_right]);
        conditions.push(expression(dialect, &equal, &both, &on_both)?.text);
    }
    if let Some(condition) = condition {
        conditions.push(expression(dialect, condition, &both, &on_both)?.text);
    }
    if conditions.is_empty() {
        conditions.push("TRUE".to_owned());
    }
    let columns = (0..both.len()).map(|place| format!("{} AS c{place}", on_both(place)));
    Ok(format!(
        "SELECT {} FROM ({}) AS l {} JOIN ({}) AS r ON {}",
        select_list(columns),
        inner(left)?,
        if keeps_left { "LEFT" } else { "INNER" },
        inner(right)?,
        conditions.join(" AND "),
    ))
}

fn group(
    dialect: &dyn Dialect,
    from: &str,
    input: &Relation,
    output: &Relation,
    keys: &[Expr],
    aggregates: &[UnitAggregate],
) -> Result<String, EngineError> {
    let over = |expr: &Expr| expression(dialect, expr, &input.columns, &plain);
    // The grouping expressions, the aggregates of each group, and the output.
    let mut rows = Vec::new();
    let mut groups = Vec::new();
    let mut shown = Vec::new();
    for (place, key) in keys.iter().enumerate() {
        rows.push(format!("{} AS k{place}", over(key)?.text));
        groups.push(format!("k{place}"));
        shown.push(format!("k{place} AS c{place}"));
    }
    let mut computed: Vec<String> = groups.clone();
    for (place, aggregate) in aggregates.iter().enumerate() {
        let to = keys.len() + place;
        let (value, aggregated) = match aggregate {
            UnitAggregate::Rows => (None, "COUNT(*)".to_owned()),
            UnitAggregate::Count(expr) => (Some(over(expr)?.text), format!("COUNT(v{place})")),
            UnitAggregate::CountDistinct(expr) => {
                let value = over(expr)?;
                let named = Sql::new(format!("v{place}"), value.kind);
                let number = match input.unit.is_empty() {
                    true => format!("COUNT(DISTINCT {})", named.text),
                    false => dialect.count_distinct(&named),
                };
                (Some(value.text), number)
            }
            UnitAggregate::Min(expr) => {
                let value = over(expr)?;
                let least = dialect.min(&Sql::new(format!("v{place}"), value.kind));
                (Some(value.text), least)
            }
            UnitAggregate::Max(expr) => {
                let value = over(expr)?;
                let most = dialect.max(&Sql::new(format!("v{place}"), value.kind));
                (Some(value.text), most)
            }
            UnitAggregate::Sum(expr, how) => {
                let value = dialect.quantize(&over(expr)?, how);
                computed.push(format!("COUNT(v{place}) AS n{place}"));
                (Some(value), format!("SUM(v{place})"))
            }
        };
        rows.extend(value.map(|value| format!("{value} AS v{place}")));
        computed.push(format!("{aggregated} AS a{place}"));
        let text = match aggregate {
            UnitAggregate::Sum(_, how) => {
                let kind = output.columns.get(to).map(|column| column.kind);
                let value = value_of_sum(how, kind.ok_or_else(|| bad("no such column"))?)?;
                let names = |of: usize| format!("{}{place}", if of == 0 { "a" } else { "n" });
                expression(dialect, &value, &SUM_AND_COUNT, &names)?.text
            }
            _ => format!("a{place}"),
        };
        shown.push(format!("{text} AS c{to}"));
    }
    let by = if groups.is_empty() {
        String::new()
    } else {
        format!(" GROUP BY {}", groups.join(", "))
    };
    let rows = format!("SELECT {} FROM ({from}) AS t", select_list(rows));
    Ok(format!(
        "SELECT {} FROM (SELECT {} FROM ({}) AS t{by}) AS t",
        select_list(shown),
        select_list(computed),
        dialect.fenced(rows, true)
    ))
}

const SUM_AND_COUNT: [Column; 2] = [INTEGER, INTEGER];
const INTEGER: Column = Column {
    name: String::new(),
    kind: Type::Integer,
    bounds: None,
};

/// The sum of a group from the sum on the grid (column 0) and the number of values (column 1):
/// `step * s + centre * n`.
pub(crate) fn value_of_sum(how: &Quantized, kind: Type) -> Result<Expr, EngineError> {
    if how.squared {
        return Err(bad("a sum of squares within a unit"));
    }
    let part = |column: usize, factor: f64| {
        let column = Expr::Column(column);
        match kind {
            Type::Integer => times_whole(column, factor),
            Type::Number => {
                let column = Expr::Cast(Box::new(column), Type::Number);
                let factor = Expr::Literal(Value::number(factor), Type::Number);
                Ok(Expr::call(Function::Multiply, [column, factor]))
            }
            _ => Err(bad("a sum that is not a number")),
        }
    };
    let sum = if how.exponent == 0 && kind == Type::Integer {
        Expr::Column(0)
    } else {
        part(0, how.step())?
    };
    if how.centre == 0.0 {
        return Ok(sum);
    }
    Ok(Expr::call(Function::Add, [sum, part(1, how.centre)?]))
}

/// An integer times a whole number, which may be beyond 64 bits. In that case only products
/// with 0, and the least 64-bit integer, are integers; all others are NULL.
#[allow(clippy::cast_possible_truncation, reason = "checked before")]
fn times_whole(column: Expr, factor: f64) -> Result<Expr, EngineError> {
    if factor.fract() != 0.0 || !factor.is_finite() {
        return Err(bad("an integer sum on a grid that is finer"));
    }
    let times = |of: Expr, factor: i64| Expr::call(Function::Multiply, [of, Expr::integer(factor)]);
    // A double above 2^53 is whole, and below 2^63 it is a 64-bit integer.
    let beyond = 2_f64.powi(63);
    if factor.abs() < beyond {
        return Ok(times(column, factor as i64));
    }
    // 2^62 times 2 is 2^63, and 2^62 times 4 is out of range for every integer but 0.
    let rest = if factor.abs() > beyond { 4 } else { 2 };
    let rest = if factor < 0.0 { -rest } else { rest };
    Ok(times(times(column, 1 << 62), rest))
}

/// A column of a relation, by its place.
pub(crate) fn column(columns: &[Column], place: usize) -> Result<Sql, EngineError> {
    let column = columns.get(place).ok_or_else(|| bad("no such column"))?;
    Ok(Sql::new(plain(place), column.kind))
}

/// The range of integers between bounds, to which integers, dates and timestamps are clamped.
/// None if it is empty; then every value is read as NULL.
#[allow(clippy::cast_possible_truncation, reason = "saturates, as it should")]
pub(crate) fn whole_between(low: f64, high: f64) -> Option<(i64, i64)> {
    let (low, high) = (low.ceil() as i64, high.floor() as i64);
    (low <= high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use mizan_sql::Bounds;

    use super::*;

    /// Sums of large integers have coarse grids: their steps are whole numbers too.
    #[test]
    fn integer_sums_may_have_any_step_of_64_bits() {
        let sum = |exponent: i32, centre: f64| Quantized {
            bounds: Bounds {
                low: -1e18,
                high: 1e18,
            },
            centre,
            exponent,
            squared: false,
        };
        let row = [Value::Integer(3), Value::Integer(2)];
        for exponent in [0, 1, 52, 53, 54, 60] {
            let value = value_of_sum(&sum(exponent, 0.0), Type::Integer).unwrap();
            assert_eq!(value.eval(&row), Value::Integer(3 << exponent));
        }
        let value = value_of_sum(&sum(54, 2_f64.powi(60)), Type::Integer).unwrap();
        assert_eq!(value.eval(&row), Value::Integer((3 << 54) + (2 << 60)));
        // Beyond 64 bits the sum is NULL, like every integer.
        let value = value_of_sum(&sum(62, 0.0), Type::Integer).unwrap();
        assert_eq!(value.eval(&row), Value::Null);
        assert!(value_of_sum(&sum(-1, 0.0), Type::Integer).is_err());
        assert!(value_of_sum(&sum(1, 0.5), Type::Integer).is_err());
    }

    /// For steps and centres beyond 64 bits, products within 64 bits are still exact.
    #[test]
    fn integer_sums_may_have_steps_beyond_64_bits() {
        let of = |steps: i64, values: i64, exponent: i32, centre: f64| {
            let how = Quantized {
                bounds: Bounds {
                    low: -1e300,
                    high: 1e300,
                },
                centre,
                exponent,
                squared: false,
            };
            let row = [Value::Integer(steps), Value::Integer(values)];
            value_of_sum(&how, Type::Integer).unwrap().eval(&row)
        };
        for exponent in [63, 64, 65, 124, 125, 126, 200, 900] {
            assert_eq!(of(0, 5, exponent, 0.0), Value::Integer(0), "{exponent}");
            for steps in [1, 2, 3, -2, -3, i64::MAX, i64::MIN] {
                assert_eq!(of(steps, 5, exponent, 0.0), Value::Null, "{exponent}");
            }
            let least = match exponent {
                63 => Value::Integer(i64::MIN),
                _ => Value::Null,
            };
            assert_eq!(of(-1, 5, exponent, 0.0), least, "{exponent}");
        }
        let least = Value::Integer(i64::MIN);
        assert_eq!(of(0, 1, 1, -2_f64.powi(63)), least);
        assert_eq!(of(0, 1, 1, 2_f64.powi(63)), Value::Null);
        assert_eq!(of(0, 1, 1, -2_f64.powi(64)), Value::Null);
        assert_eq!(of(7, 0, 1, 1e300), Value::Integer(14));
    }
}
