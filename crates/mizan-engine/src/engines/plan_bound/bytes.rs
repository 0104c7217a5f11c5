//! How many bytes the values of columns take.

use mizan_sql::{Column, Expr, Function, LONGEST_COMPUTED_TEXT, Type, Value};

/// What the values of a column take, in all rows of its relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnBytes {
    /// Bytes of each row that do not depend on its value.
    pub(super) fixed: u64,
    /// Bytes of stored texts, of all rows together.
    pub(super) stored: u64,
    /// Bytes of literals in the text of each row.
    pub(super) literal: u64,
}

/// The longest text of a boolean, an integer or a day, in bytes.
const LONGEST_CAST: u64 = 20;

impl ColumnBytes {
    /// A value of a type, without its text.
    pub(super) const fn of(kind: Type) -> Self {
        let fixed = match kind {
            Type::Boolean => 2,
            Type::Integer | Type::Number | Type::Timestamp | Type::Date => 9,
            // A view of a text.
            Type::Text => 17,
        };
        Self {
            fixed,
            stored: 0,
            literal: 0,
        }
    }

    /// The bytes of the texts of so many rows.
    pub(super) fn text(&self, rows: u64) -> u64 {
        let literal = self.literal.min(LONGEST_COMPUTED_TEXT as u64);
        self.stored.saturating_add(literal.saturating_mul(rows))
    }

    /// The same column where each row became so many.
    pub(super) fn times(self, factor: u64) -> Self {
        Self {
            stored: self.stored.saturating_mul(factor),
            ..self
        }
    }

    /// Of two columns, those of which a row has the one or the other.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            fixed: self.fixed.max(other.fixed),
            stored: self.stored.saturating_add(other.stored),
            literal: self.literal.max(other.literal),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            literal: self.literal.saturating_add(other.literal),
            ..self.or(other)
        }
    }
}

/// Bytes of several columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowBytes {
    /// Of each row, without texts.
    pub(super) fixed: u64,
    /// Of the texts of all rows.
    pub(super) text: u64,
}

impl RowBytes {
    /// Of some columns of so many rows.
    pub(super) fn of(columns: impl IntoIterator<Item = ColumnBytes>, rows: u64) -> Self {
        let mut all = Self::default();
        for column in columns {
            all.fixed = all.fixed.saturating_add(column.fixed);
            all.text = all.text.saturating_add(column.text(rows));
        }
        all
    }

    /// So many rows, each with so many bytes more. Operators hold texts once, and once
    /// more while they are moved.
    pub(super) fn held(&self, rows: u64, copies: u64, more: u64) -> u64 {
        let each = self.fixed.saturating_mul(copies).saturating_add(more);
        let fixed = rows.saturating_mul(each);
        fixed.saturating_add(self.text.saturating_mul(2))
    }
}

/// The bytes of an expression over these columns.
pub(super) fn bytes_of(expr: &Expr, columns: &[ColumnBytes], types: &[Column]) -> ColumnBytes {
    let Ok(kind) = expr.type_of(types) else {
        // The engine refuses it.
        return ColumnBytes::of(Type::Text);
    };
    let mut found = ColumnBytes::of(kind);
    if kind == Type::Text {
        let text = text(expr, columns);
        (found.stored, found.literal) = (text.stored, text.literal);
    }
    found
}

fn text(expr: &Expr, columns: &[ColumnBytes]) -> ColumnBytes {
    let parts = || expr.children().into_iter().map(|part| text(part, columns));
    let any = || parts().fold(ColumnBytes::default(), ColumnBytes::or);
    match expr {
        Expr::Column(place) => columns.get(*place).copied().unwrap_or_default(),
        Expr::Literal(Value::Text(text), _) => ColumnBytes {
            literal: text.len() as u64,
            ..ColumnBytes::default()
        },
        Expr::Literal(..) => ColumnBytes::default(),
        Expr::Cast(_, Type::Text) => ColumnBytes {
            literal: LONGEST_CAST,
            ..ColumnBytes::default()
        },
        Expr::Cast(..) => ColumnBytes::default(),
        Expr::Case {
            branches,
            otherwise,
        } => {
            let results = branches.iter().map(|(_, then)| then);
            let results = results.chain(std::iter::once(otherwise.as_ref()));
            results
                .map(|part| text(part, columns))
                .fold(ColumnBytes::default(), ColumnBytes::or)
        }
        Expr::Call(function, arguments) => match function {
            Function::Concat => parts().fold(ColumnBytes::default(), ColumnBytes::and),
            Function::Coalesce | Function::Least | Function::Greatest => any(),
            // Case is changed in ASCII alone: lengths stay.
            Function::NullIf
            | Function::Lower
            | Function::Upper
            | Function::Trim
            | Function::Substring => {
                let of = arguments.first().map(|part| text(part, columns));
                of.unwrap_or_default()
            }
            _ => ColumnBytes::default(),
        },
    }
}
