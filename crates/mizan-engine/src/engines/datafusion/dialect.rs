//! The SQL dialect of DataFusion.

use std::collections::BTreeMap;

use datafusion::arrow::datatypes::SchemaRef;
use mizan_sql::{Bounds, Column, Dataset, DatasetColumn, Expr, Function, Quantized, Type, Value};

use super::functions::{Does, salt_text};
use super::source::{is_ready, source_type};
use super::{Tables, distinct};
use crate::engine::EngineError;
use crate::engines::lower_sql::dialect::{Dialect, Sql};
use crate::engines::lower_sql::expressions::join;
use crate::sampling_hash::Salt;

/// The registered table of a dataset.
#[derive(Clone, Debug)]
pub(in crate::engines) struct Table {
    /// Its name in the session.
    pub(in crate::engines) name: String,
    /// The schema of its files.
    pub(in crate::engines) schema: SchemaRef,
}

/// DataFusion's dialect, with the tables of datasets by name.
#[derive(Clone, Debug, Default)]
pub(in crate::engines) struct DataFusionDialect {
    /// The tables.
    pub(in crate::engines) tables: BTreeMap<String, Table>,
}

impl DataFusionDialect {
    /// The dialect over tables, which are named `d0`, `d1`, ... in the session.
    pub(in crate::engines) fn over(tables: &Tables) -> Self {
        let tables = tables.iter().enumerate().map(|(place, (dataset, table))| {
            let name = format!("d{place}");
            let schema = table.schema();
            (dataset.clone(), Table { name, schema })
        });
        Self {
            tables: tables.collect(),
        }
    }

    fn of(&self, dataset: &Dataset) -> Result<&Table, EngineError> {
        let table = self.tables.get(&dataset.name);
        table.ok_or_else(|| EngineError::NotInCatalogue {
            dataset: dataset.name.clone(),
        })
    }

    /// An aggregate of a group, or this number if all values are equal to it.
    fn unless_all_are(&self, number: f64, value: &Sql, aggregate: String) -> String {
        if value.kind != Type::Number {
            return aggregate;
        }
        let (text, number) = (&value.text, self.number(number));
        format!(
            "CASE WHEN COUNT({text}) > 0 AND COUNT(CASE WHEN {text} <> {number} THEN 1 END) = 0 \
             THEN {number} ELSE {aggregate} END"
        )
    }

    fn number(&self, value: f64) -> String {
        self.literal(&Value::number(value), Type::Number)
    }
}

impl Dialect for DataFusionDialect {
    fn literal(&self, value: &Value, kind: Type) -> String {
        match value {
            Value::Null => {
                let kind = match kind {
                    Type::Boolean => "BOOLEAN",
                    Type::Integer => "BIGINT",
                    Type::Number => "DOUBLE",
                    Type::Text => return "arrow_cast(NULL, 'Utf8View')".to_owned(),
                    Type::Date => "DATE",
                    Type::Timestamp => return format!("arrow_cast(NULL, '{MICROSECONDS}')"),
                };
                format!("CAST(NULL AS {kind})")
            }
            Value::Boolean(true) => "TRUE".to_owned(),
            Value::Boolean(false) => "FALSE".to_owned(),
            Value::Integer(value) if *value >= 0 => value.to_string(),
            Value::Integer(value) => format!("CAST('{value}' AS BIGINT)"),
            // The shortest text that parses as the same number.
            Value::Number(value) => format!("CAST('{value:?}' AS DOUBLE)"),
            // Plain text literals have 32-bit offsets, and so would columns made of them.
            Value::Text(value) => format!("arrow_cast({}, 'Utf8View')", quoted(value)),
            Value::Date(days) => format!("arrow_cast(CAST('{days}' AS INT), 'Date32')"),
            Value::Timestamp(time) => {
                format!("arrow_cast(CAST('{time}' AS BIGINT), '{MICROSECONDS}')")
            }
        }
    }

    fn compared(&self, value: &Value, kind: Type) -> String {
        match value {
            Value::Text(text) => quoted(text),
            other => self.literal(other, kind),
        }
    }

    fn call(
        &self,
        function: Function,
        arguments: &[Sql],
        makes: Type,
        _bounds: Option<Bounds>,
    ) -> String {
        let texts = join(arguments, ", ");
        match function {
            Function::Least => format!("least({texts})"),
            Function::Greatest => format!("greatest({texts})"),
            Function::Floor | Function::Ceil | Function::Round if makes == Type::Integer => texts,
            _ => format!("{}({texts})", Does::Call(function, makes).name()),
        }
    }

    fn cast(&self, value: &Sql, to: Type) -> String {
        match (value.kind, to) {
            (Type::Integer, Type::Number) => format!("CAST({} AS DOUBLE)", value.text),
            _ => format!("{}({})", Does::Cast(to).name(), value.text),
        }
    }

    fn quantize(&self, value: &Sql, how: &Quantized) -> String {
        format!(
            "{}({}, {}, {}, {}, {}, {})",
            Does::Quantize.name(),
            value.text,
            self.number(how.bounds.low),
            self.number(how.bounds.high),
            self.number(how.centre),
            self.literal(&Value::Integer(how.exponent.into()), Type::Integer),
            self.literal(&Value::Boolean(how.squared), Type::Boolean),
        )
    }

    // DataFusion 55 removes columns from a sort that a filter makes constant, and then rejects
    // its own plan because the sort does not match the window. An expression with a part of
    // unknown value is not constant for the planner.
    fn opaque(&self, value: &Sql) -> String {
        let (same, unknown) = (Does::Same(value.kind).name(), Does::Unknown.name());
        // The name is an argument, so that two columns with equal values stay different for the
        // planner.
        let name = quoted(&value.text);
        format!("{same}({}, {unknown}(), {name})", value.text)
    }

    // DataFusion 55 compares each branch with a literal: n branches become n² / 2 conditions.
    fn many_branches(&self, case: &Sql) -> String {
        format!("{}({})", Does::Same(case.kind).name(), case.text)
    }

    // DataFusion 55 starts a minimum of numbers with the greatest finite one, so the minimum of
    // infinite numbers only would be that.
    fn min(&self, value: &Sql) -> String {
        let all = format!("MIN({})", value.text);
        self.unless_all_are(f64::INFINITY, value, all)
    }

    fn max(&self, value: &Sql) -> String {
        let all = format!("MAX({})", value.text);
        self.unless_all_are(f64::NEG_INFINITY, value, all)
    }

    // DataFusion 55 has a hash table of kilobytes for each group.
    fn count_distinct(&self, value: &Sql) -> String {
        match value.kind {
            Type::Text => format!("{}({})", distinct::NAME, value.text),
            _ => format!("COUNT(DISTINCT {})", value.text),
        }
    }

    fn hash(&self, salt: &Salt, values: &[Sql]) -> String {
        let salt = quoted(&salt_text(salt));
        format!("{}({salt}, {})", Does::Hash.name(), join(values, ", "))
    }

    fn table(&self, dataset: &Dataset) -> Result<String, EngineError> {
        Ok(self.identifier(&self.of(dataset)?.name))
    }

    fn read(&self, dataset: &Dataset, column: &DatasetColumn) -> Result<String, EngineError> {
        let table = self.of(dataset)?;
        let field = table.schema.field_with_name(&column.name);
        let found = field.map_err(|_| EngineError::NoColumn {
            path: dataset.source.clone().into(),
            column: column.name.clone(),
        })?;
        let kind = readable(found.data_type(), column.kind);
        let kind = kind.ok_or_else(|| EngineError::BadColumn {
            path: dataset.source.clone().into(),
            column: column.name.clone(),
            found: found.data_type().to_string(),
            wanted: column.kind,
        })?;
        let mut text = self.identifier(&column.name);
        if !is_ready(found.data_type()) {
            text = format!("{}({text})", Does::Read(kind).name());
        }
        if kind != column.kind {
            text = self.cast(&Sql::new(text, kind), column.kind);
        }
        if let Some(bounds) = column.bounds {
            text = format!(
                "{}({text}, {}, {})",
                Does::Clamp(column.kind).name(),
                self.number(bounds.low),
                self.number(bounds.high)
            );
        }
        Ok(text)
    }
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

const MICROSECONDS: &str = "Timestamp(Microsecond, None)";

/// The type as which a column of a file is read before the cast to the declared type; None if
/// there is no such cast.
pub(super) fn readable(
    found: &datafusion::arrow::datatypes::DataType,
    declared: Type,
) -> Option<Type> {
    let kind = source_type(found)?;
    let column = Column {
        name: String::new(),
        kind,
        bounds: None,
    };
    let cast = Expr::Cast(Box::new(Expr::Column(0)), declared);
    (kind == declared || cast.type_of(&[column]).is_ok()).then_some(kind)
}
