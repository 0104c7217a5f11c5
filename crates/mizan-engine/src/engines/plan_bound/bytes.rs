//! The bytes of the values of columns.

use mizan_sql::{Column, Expr, Function, LONGEST_COMPUTED_TEXT, Type, Value};

use crate::engine::EngineError;
use crate::engine::bad;

/// The longest text that a function computes, in bytes.
const COMPUTED: u64 = LONGEST_COMPUTED_TEXT as u64;

/// The longest text of a boolean, an integer or a day, in bytes.
const LONGEST_CAST: u64 = 20;

/// The rows that determine the values of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Origin {
    /// No rows: a literal.
    #[default]
    Any,
    /// The rows of one operator (a scan, a union or an aggregate), by its number. Joins above
    /// it repeat these rows.
    One(u64),
    /// Rows of several operators.
    Several,
}

impl Origin {
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, one) | (one, Self::Any) => one,
            (one, other) if one == other => one,
            _ => Self::Several,
        }
    }
}

/// The bytes of the values of a column, in all rows of its relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnBytes {
    /// Bytes of each row that do not depend on its value.
    pub(super) fixed: u64,
    /// Bytes of stored texts, of all rows together, including each repetition by joins.
    pub(super) stored: u64,
    /// The same if a join repeats each row as often as an average one.
    pub(super) usual: u64,
    /// The same without repetitions: of all rows of the origin together.
    pub(super) base: u64,
    /// Bytes of stored texts in the text of one row.
    pub(super) longest: u64,
    /// Bytes of literals in the text of each row.
    pub(super) literal: u64,
    /// The rows that determine its values.
    pub(super) origin: Origin,
    /// Whether it contains stored texts of public tables, which belong to no unit.
    pub(super) public: bool,
    /// Whether a function computes its texts. Other texts are views, which a join repeats
    /// without copying.
    pub(super) made: bool,
}

impl ColumnBytes {
    /// The bytes of a value of a type, without its text.
    pub(super) fn of(kind: Type) -> Self {
        let fixed = match kind {
            Type::Boolean => 2,
            Type::Integer | Type::Number | Type::Timestamp | Type::Date => 9,
            // The view of a text.
            Type::Text => 17,
        };
        Self {
            fixed,
            ..Self::default()
        }
    }

    fn literals(&self, rows: u64) -> u64 {
        self.literal.min(COMPUTED).saturating_mul(rows)
    }

    /// The bytes of the texts of `rows` of the rows.
    pub(super) fn text(&self, rows: u64) -> u64 {
        let stored = self.stored.min(self.longest.saturating_mul(rows));
        stored.saturating_add(self.literals(rows))
    }

    /// The bytes of the texts of `rows` of the rows, if the operator holds rows without
    /// copying.
    pub(super) fn carried(&self, rows: u64) -> u64 {
        let all = self.text(rows);
        match self.made {
            true => all,
            false => all.min(self.usual.saturating_add(self.literals(rows))),
        }
    }

    /// The bytes of the distinct texts of `rows` of the rows.
    pub(super) fn different(&self, rows: u64) -> u64 {
        let all = self.text(rows);
        match self.origin {
            Origin::Several => all,
            Origin::Any | Origin::One(_) => all.min(self.base.saturating_add(self.literals(rows))),
        }
    }

    /// The bytes of one text for each of `units` units.
    pub(super) fn of_units(&self, units: u64) -> u64 {
        let all = self.text(units);
        // Each row of a private origin belongs to one unit.
        match self.public {
            true => all,
            false => all.min(self.base.saturating_add(self.literals(units))),
        }
    }

    /// The column after each row is repeated at most `factor` times, and `average` times on
    /// average, with `rows` rows in total.
    pub(super) fn times(self, factor: u64, average: u64, rows: u64) -> Self {
        let most = self.longest.saturating_mul(rows);
        let stored = self.stored.saturating_mul(factor).min(most);
        let usual = if self.made { self.stored } else { self.usual };
        Self {
            stored,
            usual: usual.saturating_mul(average.min(factor)).min(stored),
            made: false,
            ..self
        }
    }

    /// The column as rows of a new origin, with `rows` rows.
    pub(super) fn from(self, origin: u64, rows: u64) -> Self {
        let stored = self.stored.min(self.longest.saturating_mul(rows));
        Self {
            stored,
            usual: stored,
            base: stored,
            origin: Origin::One(origin),
            made: false,
            ..self
        }
    }

    /// The column whose rows have a value of either of two.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            fixed: self.fixed.max(other.fixed),
            stored: self.stored.saturating_add(other.stored),
            usual: self.usual.saturating_add(other.usual),
            base: self.base.saturating_add(other.base),
            longest: self.longest.max(other.longest),
            literal: self.literal.max(other.literal),
            origin: self.origin.and(other.origin),
            public: self.public || other.public,
            made: self.made || other.made,
        }
    }

    /// The concatenation of two texts.
    fn and(self, other: Self) -> Self {
        Self {
            longest: self.longest.saturating_add(other.longest).min(COMPUTED),
            literal: self.literal.saturating_add(other.literal),
            ..self.or(other)
        }
    }

    /// The text that a function computes from it.
    fn made(self) -> Self {
        Self {
            longest: self.longest.min(COMPUTED),
            made: true,
            ..self
        }
    }
}

/// The bytes of several columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowBytes {
    /// Of each row, without texts.
    pub(super) fixed: u64,
    /// Of the texts of all rows.
    pub(super) text: u64,
}

impl RowBytes {
    /// Of some columns of `rows` rows, each with a copy of its text.
    pub(super) fn of(columns: impl IntoIterator<Item = ColumnBytes>, rows: u64) -> Self {
        Self::by(columns, |column| column.text(rows))
    }

    /// Of some columns of `rows` rows, without copying texts.
    pub(super) fn carried(columns: impl IntoIterator<Item = ColumnBytes>, rows: u64) -> Self {
        Self::by(columns, |column| column.carried(rows))
    }

    /// Of some columns, with a function for the bytes of their texts.
    pub(super) fn by(
        columns: impl IntoIterator<Item = ColumnBytes>,
        text: impl Fn(&ColumnBytes) -> u64,
    ) -> Self {
        let mut all = Self::default();
        for column in columns {
            all.fixed = all.fixed.saturating_add(column.fixed);
            all.text = all.text.saturating_add(text(&column));
        }
        all
    }

    /// Of the keys of `groups` groups: each combination of values is held once. Columns of one
    /// origin have at most as many combinations as it has rows.
    pub(super) fn of_keys(columns: &[ColumnBytes], groups: u64) -> Self {
        let origins = columns.iter().map(|column| column.origin);
        match origins.fold(Origin::Any, Origin::and) {
            Origin::Several => Self::of(columns.iter().copied(), groups),
            Origin::Any | Origin::One(_) => {
                Self::by(columns.iter().copied(), |column| column.different(groups))
            }
        }
    }

    /// Of `rows` rows with `more` additional bytes each. Operators hold texts once, and once
    /// more while they are moved.
    pub(super) fn held(&self, rows: u64, copies: u64, more: u64) -> u64 {
        let each = self.fixed.saturating_mul(copies).saturating_add(more);
        let fixed = rows.saturating_mul(each);
        fixed.saturating_add(self.text.saturating_mul(2))
    }
}

/// The bytes of an expression over these columns.
pub(super) fn bytes_of(
    expr: &Expr,
    columns: &[ColumnBytes],
    types: &[Column],
) -> Result<ColumnBytes, EngineError> {
    let kind = expr.type_of(types);
    let kind = kind.map_err(|_| bad("an expression without a type"))?;
    let mut origin = Origin::Any;
    for place in expr.columns() {
        origin = origin.and(column(columns, place)?.origin);
    }
    let mut found = ColumnBytes::of(kind);
    if kind == Type::Text {
        let fixed = found.fixed;
        found = text(expr, columns)?;
        found.fixed = fixed;
    }
    Ok(ColumnBytes { origin, ..found })
}

/// A column that is read. A missing column would lower the bound, so it is an error.
pub(super) fn column(columns: &[ColumnBytes], place: usize) -> Result<ColumnBytes, EngineError> {
    let found = columns.get(place).copied();
    found.ok_or_else(|| bad("no such column"))
}

fn text(expr: &Expr, columns: &[ColumnBytes]) -> Result<ColumnBytes, EngineError> {
    let literal = |literal: u64| ColumnBytes {
        literal,
        ..ColumnBytes::default()
    };
    let all = |parts: &[&Expr], both: fn(ColumnBytes, ColumnBytes) -> ColumnBytes| {
        let mut found = ColumnBytes::default();
        for part in parts {
            found = both(found, text(part, columns)?);
        }
        Ok(found)
    };
    match expr {
        Expr::Column(place) => column(columns, *place),
        Expr::Literal(Value::Text(text), _) => Ok(literal(text.len() as u64)),
        Expr::Cast(part, Type::Text) => Ok(text(part, columns)?.made().or(literal(LONGEST_CAST))),
        Expr::Literal(..) | Expr::Cast(..) => Ok(ColumnBytes::default()),
        Expr::Case {
            branches,
            otherwise,
        } => {
            let results = branches.iter().map(|(_, then)| then);
            let results: Vec<&Expr> = results.chain([otherwise.as_ref()]).collect();
            all(&results, ColumnBytes::or)
        }
        Expr::Call(function, arguments) => {
            let parts: Vec<&Expr> = arguments.iter().collect();
            // A call without arguments would lower the bound.
            let first = || match arguments.first() {
                Some(part) => text(part, columns),
                None => Err(bad("a call without arguments")),
            };
            match function {
                Function::Concat => Ok(all(&parts, ColumnBytes::and)?.made()),
                Function::Coalesce | Function::Least | Function::Greatest => {
                    all(&parts, ColumnBytes::or)
                }
                Function::NullIf => first(),
                // Case conversion affects ASCII only, so lengths stay the same.
                Function::Lower | Function::Upper | Function::Trim | Function::Substring => {
                    Ok(first()?.made())
                }
                _ => Ok(ColumnBytes::default()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the binder does not make is an error, and not of no bytes.
    #[test]
    fn arguments_and_columns_that_are_not_there_are_errors() {
        let stored = ColumnBytes {
            stored: 1000,
            longest: 100,
            ..ColumnBytes::of(Type::Text)
        };
        let of = |expr: &Expr| text(expr, &[stored]);
        for function in [Function::NullIf, Function::Upper, Function::Trim] {
            let call = |place: usize| Expr::Call(function, vec![Expr::Column(place)]);
            assert_eq!(of(&call(0)).unwrap().stored, 1000);
            assert!(of(&call(1)).is_err());
            assert!(of(&Expr::Call(function, Vec::new())).is_err());
        }
    }
}
