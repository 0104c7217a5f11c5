//! Columns of PostgreSQL as one of our types: every value of a usable type becomes a value or
//! NULL, and none fails.
//!
//! | PostgreSQL | read as | NULL |
//! | --- | --- | --- |
//! | `boolean` | boolean | |
//! | `smallint`, `integer`, `bigint` | integer | |
//! | `numeric` without digits after the point | integer | NaN, beyond 64 bits |
//! | `real`, `double precision` | number | NaN |
//! | other `numeric` | number, the nearest double | NaN |
//! | `text`, `varchar`, `char` (without trailing blanks), `uuid`, enums | text | above 1 MiB |
//! | `date` | date | infinity |
//! | `timestamp`, taken as UTC; `timestamptz` | timestamp | infinity, from the year 294247 on |
//!
//! Domains are read as their base types. Other types cannot be used.

use mizan_sql::{Bounds, Column, DatasetColumn, Expr, Type};

use super::numbers::{NAN, beyond_doubles, narrow};
use super::shared_operands::with_operands;
use super::source::quoted;
use super::table::Table;
use crate::engine::EngineError;

/// Longer texts are NULL, so that no operation on several of them exceeds what PostgreSQL can
/// hold (1 GB) and raises an error.
pub(super) const LONGEST_TEXT: usize = mizan_sql::LONGEST_STORED_TEXT;

/// A column of a table, as PostgreSQL declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundColumn {
    /// Its name.
    pub(super) name: String,
    /// Its type, as it is shown to people.
    pub(super) shown: String,
    /// Its base type, if that is a type of PostgreSQL itself.
    pub(super) base: String,
    /// Whether it is an enum.
    pub(super) is_enum: bool,
    /// The type modifier, such as the digits of a `numeric`.
    pub(super) modifier: i32,
}

impl FoundColumn {
    /// The type as which it is read; None if it cannot be used.
    pub(super) fn kind(&self) -> Option<Type> {
        if self.is_enum {
            return Some(Type::Text);
        }
        Some(match self.base.as_str() {
            "bool" => Type::Boolean,
            "int2" | "int4" | "int8" => Type::Integer,
            "float4" | "float8" => Type::Number,
            "numeric" if self.is_whole() => Type::Integer,
            "numeric" => Type::Number,
            "text" | "varchar" | "bpchar" | "uuid" => Type::Text,
            "date" => Type::Date,
            "timestamp" | "timestamptz" => Type::Timestamp,
            _ => return None,
        })
    }

    /// The declared precision and scale of a `numeric`, encoded as in numeric.c: the scale has
    /// eleven bits with a sign.
    fn digits(&self) -> Option<(i32, i32)> {
        let declared = self.modifier.checked_sub(4).filter(|digits| *digits >= 0)?;
        Some((declared >> 16, ((declared & 0x7ff) ^ 1024) - 1024))
    }

    /// Whether a `numeric` is declared without digits after the point.
    fn is_whole(&self) -> bool {
        self.digits().is_some_and(|(_, scale)| scale <= 0)
    }

    /// Whether all values fit into 64 bits, so that none becomes NULL.
    pub(super) fn is_within_64_bits(&self) -> bool {
        let digits = self.digits();
        self.base != "numeric" || digits.is_some_and(|(all, after)| all - after <= 18)
    }

    /// The value clamped to bounds, if that is faster than clamping the converted value:
    /// comparing decimals takes longer than comparing doubles, and converting them takes longer
    /// than all else.
    pub(super) fn clamped(&self, bounds: Bounds) -> Option<String> {
        let name = quoted(&self.name);
        let whole = |read: String| {
            let (low, high) = bounds.whole()?;
            Some(format!("LEAST(GREATEST({read}, {low}), {high})"))
        };
        match (self.kind()?, self.base.as_str()) {
            (Type::Number, "numeric") => Some(self.clamped_numeric(bounds)),
            (Type::Date, _) => {
                let days = whole(format!("{name} - DATE '1970-01-01'"))?;
                Some(format!(
                    "(CASE WHEN isfinite({name}) THEN {days}::int4 END)"
                ))
            }
            _ => None,
        }
    }

    fn clamped_numeric(&self, bounds: Bounds) -> String {
        let name = quoted(&self.name);
        let (low, high) = (bounds.low, bounds.high);
        if self.has_few_digits() {
            // Converting these values raises no error and keeps their order.
            return format!(
                "(CASE WHEN {name} <> 'NaN'::numeric THEN \
                 LEAST(GREATEST({name}::float8, '{low:?}'::float8), '{high:?}'::float8) END)"
            );
        }
        let tiny = match low > 0.0 || high < 0.0 {
            true => String::new(),
            false => format!("WHEN abs({name}) < 1e-307 THEN 0::float8 "),
        };
        format!(
            "(CASE WHEN {name} = 'NaN'::numeric THEN NULL \
             WHEN {name} <= {} THEN '{low:?}'::float8 WHEN {name} >= {} THEN '{high:?}'::float8 \
             {tiny}ELSE {name}::float8 END)",
            exact(low),
            exact(high)
        )
    }

    /// Whether all values of a `numeric` are within the range of doubles.
    fn has_few_digits(&self) -> bool {
        self.digits()
            .is_some_and(|(all, after)| all <= 300 && after <= 300)
    }

    /// The value as one of our types.
    pub(super) fn sql(&self) -> String {
        let name = quoted(&self.name);
        let text = format!("({name}::text COLLATE \"C\")");
        if self.is_enum {
            return text;
        }
        match self.base.as_str() {
            "bool" | "int2" | "int4" | "int8" => name,
            // Minus zero becomes zero.
            "float4" | "float8" => format!("(NULLIF({name}::float8, {NAN}) + 0::float8)"),
            "numeric" if self.is_whole() => narrow(&name),
            "numeric" if self.has_few_digits() => {
                format!("NULLIF({name}, 'NaN'::numeric)::float8")
            }
            "numeric" => double(&name),
            "uuid" => text,
            "date" => {
                format!("(CASE WHEN isfinite({name}) THEN {name} - DATE '1970-01-01' END)")
            }
            "timestamp" | "timestamptz" => format!(
                "(CASE WHEN {name} > '-infinity' AND {name} < '294247-01-01' \
                 THEN (extract(epoch FROM {name}) * 1000000)::bigint END)"
            ),
            _ => format!("(CASE WHEN octet_length({name}) <= {LONGEST_TEXT} THEN {text} END)"),
        }
    }
}

/// A double in decimal, with all its digits.
fn exact(value: f64) -> String {
    let digits = format!("{value:.1074}");
    digits
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// The double nearest to a `numeric`. Below 1e-307 it is zero, because PostgreSQL raises an
/// error on underflow.
fn double(name: &str) -> String {
    let beyond = beyond_doubles();
    with_operands([name], |[n]| {
        format!(
            "CASE WHEN {n} = 'NaN'::numeric THEN NULL \
             WHEN {n} >= {beyond} THEN 'Infinity'::float8 \
             WHEN {n} <= -{beyond} THEN '-Infinity'::float8 \
             WHEN abs({n}) < 1e-307 THEN 0::float8 ELSE {n}::float8 END"
        )
    })
}

/// The error for a column that cannot be read as declared.
pub(super) fn unreadable(
    table: &Table,
    declared: &DatasetColumn,
    found: &FoundColumn,
) -> EngineError {
    EngineError::BadColumn {
        path: table.shown.clone().into(),
        column: declared.name.clone(),
        found: found.shown.clone(),
        wanted: declared.kind,
    }
}

/// A column of a table, and the type as which it is read before the cast to the declared type;
/// an error if there is no such cast.
pub(super) fn readable<'a>(
    table: &'a Table,
    declared: &DatasetColumn,
) -> Result<(Type, &'a FoundColumn), EngineError> {
    let found = table
        .columns
        .iter()
        .find(|found| found.name == declared.name);
    let found = found.ok_or_else(|| EngineError::NoColumn {
        path: table.shown.clone().into(),
        column: declared.name.clone(),
    })?;
    let castable = |kind: Type| {
        let column = Column {
            name: String::new(),
            kind,
            bounds: None,
        };
        let cast = Expr::Cast(Box::new(Expr::Column(0)), declared.kind);
        kind == declared.kind || cast.type_of(&[column]).is_ok()
    };
    match found.kind() {
        Some(kind) if castable(kind) => Ok((kind, found)),
        _ => Err(unreadable(table, declared, found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(modifier: i32) -> Option<Type> {
        let found = FoundColumn {
            name: "x".into(),
            shown: "numeric".into(),
            base: "numeric".into(),
            is_enum: false,
            modifier,
        };
        found.kind()
    }

    #[test]
    fn decimals_without_digits_after_the_point_are_integers() {
        // -1 means no declaration; otherwise precision and scale, plus 4.
        assert_eq!(numeric(-1), Some(Type::Number));
        assert_eq!(numeric((10 << 16) + 4), Some(Type::Integer));
        assert_eq!(numeric(((10 << 16) | 2) + 4), Some(Type::Number));
        // A scale of -3.
        assert_eq!(numeric(((10 << 16) | 0x7fd) + 4), Some(Type::Integer));
    }
}
