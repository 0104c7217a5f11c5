//! Relations as SQL: nested queries whose columns are `c0`, `c1`, ...

use std::cell::RefCell;

use mizan_sql::{
    Catalogue, Column, Dataset, DatasetColumn, Expr, Function, Join, Operator, Relation, Type,
    UnitAggregate, Value,
};

use super::dialect::{Dialect, Sql};
use super::expressions::{expression, plain};
use super::row_limit::LimitedTable;
use crate::engine::{EngineError, bad};
use crate::unit_aggregation::LimitedItem;

/// Writes relations as SQL, and collects the tables that they read.
pub(crate) struct Relations<'a> {
    dialect: &'a dyn Dialect,
    catalogue: &'a Catalogue,
    tables: RefCell<Vec<LimitedTable>>,
}

impl<'a> Relations<'a> {
    /// No tables yet.
    pub(crate) const fn new(dialect: &'a dyn Dialect, catalogue: &'a Catalogue) -> Self {
        Self {
            dialect,
            catalogue,
            tables: RefCell::new(Vec::new()),
        }
    }

    /// The tables that the SQL reads, each of which may read those before it.
    pub(super) fn into_tables(self) -> Vec<LimitedTable> {
        self.tables.into_inner()
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
        let mut tables = self.tables.borrow_mut();
        let name = format!("first_rows_{}", tables.len());
        let columns = input.columns.iter().enumerate();
        let columns = columns.map(|(place, column)| match read.contains(&place) {
            true => plain(place),
            false => {
                let nothing = self.dialect.literal(&Value::Null, column.kind);
                format!("{nothing} AS c{place}")
            }
        });
        let read = format!("SELECT {} FROM {name}", select_list(columns));
        tables.push(LimitedTable {
            name,
            rows: query,
            by: unit,
            ranked: others,
            others: Vec::new(),
            of: LimitedItem::Rows,
            limit: rows,
        });
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
                let value = kind.and_then(|kind| how.value_of_sum(kind));
                let value = value.ok_or_else(|| bad("a sum that has no value"))?;
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

/// A column of a relation, by its place.
pub(crate) fn column(columns: &[Column], place: usize) -> Result<Sql, EngineError> {
    let column = columns.get(place).ok_or_else(|| bad("no such column"))?;
    Ok(Sql::new(plain(place), column.kind))
}
