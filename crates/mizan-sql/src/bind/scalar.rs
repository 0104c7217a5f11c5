//! An allow-list of the planner's expressions becomes total expressions with one type each.

use std::cell::Cell;

use datafusion_common::{Column as PlannedColumn, DFSchema};
use datafusion_expr::expr::{Case, InList, Like};
use datafusion_expr::{BinaryExpr, Expr as Planned, Operator};

use super::calls;
use super::intervals;
use super::sql_text::sql_text;
use super::typed::{
    Typed, arithmetic, balanced, call, compare, condition, convert, is_null, is_true, literal, not,
    of_one_type, same,
};
use crate::expr::{Expr, Function};
use crate::parse::Words;
use crate::refusal::{Reason, Refusal, TextSpan};
use crate::value::{Type, Value};

/// The greatest depth of an expression: engines walk it recursively.
const MAX_DEPTH: usize = 100;

/// The largest expression, in nodes.
const MAX_SIZE: usize = 20_000;

/// The most nodes of an expression that are copies of others. `BETWEEN` and `CASE x` use a value
/// several times, so nesting could double the size with every level.
const MAX_COPIES: usize = 2_000;

/// The longest pattern of LIKE, in bytes: an engine may compare each character of a text with each
/// character of the pattern.
const MAX_PATTERN: usize = 1_000;

/// A column that expressions may name.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) expr: Expr,
    pub(super) kind: Type,
    /// The number of nodes it stands for; each use counts them again.
    pub(super) size: usize,
}

impl Field {
    pub(super) fn new(expr: Expr, kind: Type) -> Self {
        let size = measure(&expr).0;
        Self { expr, kind, size }
    }
}

/// The number of nodes of an expression and its depth.
fn measure(expr: &Expr) -> (usize, usize) {
    expr.children()
        .into_iter()
        .map(measure)
        .fold((1, 1), |(size, depth), (more, deeper)| {
            (size + more, depth.max(deeper + 1))
        })
}

/// Translates expressions over the columns of one schema.
pub(super) struct Scope<'a> {
    schema: &'a DFSchema,
    fields: &'a [Field],
    words: &'a Words,
    left: Cell<usize>,
    copies: Cell<usize>,
}

impl<'a> Scope<'a> {
    pub(super) const fn new(schema: &'a DFSchema, fields: &'a [Field], words: &'a Words) -> Self {
        Self {
            schema,
            fields,
            words,
            left: Cell::new(MAX_SIZE),
            copies: Cell::new(MAX_COPIES),
        }
    }

    /// An expression of any type; a bare `NULL` is a text.
    pub(super) fn expression(&self, planned: &Planned) -> Result<(Expr, Type), Refusal> {
        let found = self.total(planned)?.or(Type::Text);
        Ok((found.expr, found.kind.unwrap_or(Type::Text)))
    }

    /// A condition.
    pub(super) fn condition(&self, planned: &Planned) -> Result<Expr, Refusal> {
        let found = self.total(planned)?.or(Type::Boolean);
        if found.kind == Some(Type::Boolean) {
            return Ok(found.expr);
        }
        Err(Refusal::new(
            Reason::Types,
            format!("{} is not a condition", sql_text(planned)),
            "compare it with something",
        )
        .at(place(planned)))
    }

    /// An expression whose size is within the limits.
    fn total(&self, planned: &Planned) -> Result<Typed, Refusal> {
        let found = self.translate(planned, 0).map_err(|refusal| {
            let here = place(planned);
            refusal.at(here)
        })?;
        let (size, depth) = measure(&found.expr);
        if size > MAX_SIZE || depth > MAX_DEPTH {
            return Err(too_complex());
        }
        Ok(found)
    }

    pub(super) fn translate(&self, planned: &Planned, depth: usize) -> Result<Typed, Refusal> {
        let left = self.left.get();
        if left == 0 || depth > 2 * MAX_DEPTH {
            return Err(too_complex());
        }
        self.left.set(left - 1);
        let next = |part: &Planned| self.translate(part, depth + 1);
        match planned {
            Planned::Alias(alias) => next(&alias.expr),
            Planned::Column(column) => self.column(column),
            Planned::Literal(value, _) => literal(value),
            Planned::BinaryExpr(binary) => self.binary(binary, depth),
            Planned::Like(like) => self.like(like, depth),
            Planned::Not(inner) => not(condition(next(inner)?)?),
            Planned::IsNull(inner) | Planned::IsUnknown(inner) => is_null(next(inner)?),
            Planned::IsNotNull(inner) | Planned::IsNotUnknown(inner) => not(is_null(next(inner)?)?),
            Planned::IsTrue(inner) => is_true(condition(next(inner)?)?),
            Planned::IsNotTrue(inner) => not(is_true(condition(next(inner)?)?)?),
            Planned::IsFalse(inner) => is_true(not(condition(next(inner)?)?)?),
            Planned::IsNotFalse(inner) => not(is_true(not(condition(next(inner)?)?)?)?),
            Planned::Negative(inner) => {
                call(Function::Negate, vec![next(inner)?.or(Type::Integer)])
            }
            Planned::Between(between) => {
                let value = next(&between.expr)?;
                let again = self.copied(&value)?;
                let low = compare(Function::GreaterOrEqual, again, next(&between.low)?)?;
                let high = compare(Function::LessOrEqual, value, next(&between.high)?)?;
                let both = call(Function::And, vec![low, high])?;
                if between.negated { not(both) } else { Ok(both) }
            }
            Planned::Case(case) => self.case(case, depth),
            Planned::Cast(cast) => convert(next(&cast.expr)?, cast.field.data_type()),
            Planned::TryCast(cast) => convert(next(&cast.expr)?, cast.field.data_type()),
            Planned::InList(list) => self.in_list(list, depth),
            Planned::ScalarFunction(function) => {
                let arguments: Result<Vec<_>, _> = function.args.iter().map(next).collect();
                calls::named(function.func.name(), arguments?)
                    .map_err(|refusal| refusal.at(self.words.place(function.func.name())))
            }
            Planned::AggregateFunction(function) => Err(Refusal::new(
                Reason::Aggregate,
                format!("the aggregate {} cannot stand here", function.func.name()),
                "use aggregates in SELECT, HAVING and ORDER BY, not inside each other",
            )
            .at(self.words.place(function.func.name()))),
            other => Err(Refusal::new(
                Reason::Call,
                format!("{} is not supported", sql_text(other)),
                "write it with comparisons, CASE, LIKE, CAST, date_trunc, EXTRACT and the like",
            )),
        }
    }

    /// A copy of a value that is used once more.
    fn copied(&self, value: &Typed) -> Result<Typed, Refusal> {
        let (size, _) = measure(&value.expr);
        let left = self.copies.get().checked_sub(size);
        self.copies.set(left.ok_or_else(too_complex)?);
        Ok(value.clone())
    }

    fn column(&self, column: &PlannedColumn) -> Result<Typed, Refusal> {
        let field = self
            .schema
            .maybe_index_of_column(column)
            .and_then(|place| self.fields.get(place));
        let Some(field) = field else {
            return Err(Refusal::new(
                Reason::UnknownColumn,
                format!("there is no column {}", column.name),
                "check its name",
            )
            .at(TextSpan::of(column.spans.first())));
        };
        self.left.set(self.left.get().saturating_sub(field.size));
        Ok(Typed::new(field.expr.clone(), field.kind))
    }

    fn binary(&self, binary: &BinaryExpr, depth: usize) -> Result<Typed, Refusal> {
        let logical = match binary.op {
            Operator::And => Some(Function::And),
            Operator::Or => Some(Function::Or),
            _ => None,
        };
        if let Some(function) = logical {
            let mut parts = Vec::new();
            for part in chain(binary) {
                parts.push(condition(self.translate(part, depth + 1)?)?);
            }
            return balanced(function, parts);
        }
        let (left, right) = (binary.left.as_ref(), binary.right.as_ref());
        if let Some(moved) = intervals::shifted(self, left, binary.op, right, depth)? {
            return Ok(moved);
        }
        let left = self.translate(left, depth + 1)?;
        let right = self.translate(right, depth + 1)?;
        match binary.op {
            Operator::Eq => compare(Function::Equal, left, right),
            Operator::NotEq => compare(Function::NotEqual, left, right),
            Operator::Lt => compare(Function::Less, left, right),
            Operator::LtEq => compare(Function::LessOrEqual, left, right),
            Operator::Gt => compare(Function::Greater, left, right),
            Operator::GtEq => compare(Function::GreaterOrEqual, left, right),
            Operator::Plus => arithmetic(Function::Add, left, right),
            Operator::Minus => arithmetic(Function::Subtract, left, right),
            Operator::Multiply => arithmetic(Function::Multiply, left, right),
            Operator::Divide => arithmetic(Function::Divide, left, right),
            Operator::Modulo => arithmetic(Function::Remainder, left, right),
            Operator::StringConcat => {
                let parts = vec![calls::as_text(left)?, calls::as_text(right)?];
                call(Function::Concat, parts)
            }
            Operator::IsNotDistinctFrom | Operator::IsDistinctFrom => {
                let again = (self.copied(&left)?, self.copied(&right)?);
                let found = same((left, right), again)?;
                if binary.op == Operator::IsDistinctFrom {
                    not(found)
                } else {
                    Ok(found)
                }
            }
            other => Err(Refusal::new(
                Reason::Call,
                format!("the operator {other} is not supported"),
                "use + - * / %, comparisons, AND, OR, NOT, LIKE and ||",
            )),
        }
    }

    fn like(&self, like: &Like, depth: usize) -> Result<Typed, Refusal> {
        let value = self.translate(&like.expr, depth + 1)?.or(Type::Text);
        let pattern = self.translate(&like.pattern, depth + 1)?.or(Type::Text);
        let Some(Value::Text(pattern)) = pattern.value() else {
            return Err(Refusal::new(
                Reason::Call,
                "the pattern of LIKE is not written out",
                "write a text such as 'A%'",
            ));
        };
        if pattern.len() > MAX_PATTERN {
            return Err(Refusal::new(
                Reason::TooComplex,
                format!(
                    "the pattern of LIKE has {} bytes; the most is {MAX_PATTERN}",
                    pattern.len()
                ),
                "write a shorter pattern, or compare the text with =",
            ));
        }
        let mut pattern = escaped_by_backslash(pattern, like.escape_char);
        let value = if like.case_insensitive {
            pattern = pattern.to_ascii_lowercase();
            call(Function::Lower, vec![value])?
        } else {
            value
        };
        let found = call(Function::Like, vec![value, Typed::text(&pattern)])?;
        if like.negated { not(found) } else { Ok(found) }
    }

    fn case(&self, case: &Case, depth: usize) -> Result<Typed, Refusal> {
        let operand = case
            .expr
            .as_ref()
            .map(|operand| self.translate(operand, depth + 1))
            .transpose()?;
        let mut conditions = Vec::new();
        let mut results = Vec::new();
        for (when, then) in &case.when_then_expr {
            let when = self.translate(when, depth + 1)?;
            conditions.push(match &operand {
                Some(operand) => compare(Function::Equal, self.copied(operand)?, when)?,
                None => condition(when)?,
            });
            results.push(self.translate(then, depth + 1)?);
        }
        results.push(match &case.else_expr {
            Some(otherwise) => self.translate(otherwise, depth + 1)?,
            None => Typed {
                expr: Expr::Literal(Value::Null, Type::Text),
                kind: None,
            },
        });
        let (mut results, kind) = of_one_type("CASE", results)?;
        let otherwise = results.pop().map_or_else(
            || Expr::Literal(Value::Null, kind),
            |otherwise| otherwise.expr,
        );
        let branches = conditions
            .into_iter()
            .zip(results)
            .map(|(when, then)| (when.expr, then.expr))
            .collect();
        Ok(Typed::new(
            Expr::Case {
                branches,
                otherwise: Box::new(otherwise),
            },
            kind,
        ))
    }

    fn in_list(&self, list: &InList, depth: usize) -> Result<Typed, Refusal> {
        let value = self.translate(&list.expr, depth + 1)?;
        let mut all = vec![value];
        for item in &list.list {
            let item = self.translate(item, depth + 1)?;
            match item.value() {
                Some(Value::Null) => {
                    return Err(Refusal::new(
                        Reason::Literal,
                        "NULL in a list is equal to nothing",
                        "leave NULL out, or write OR x IS NULL",
                    ));
                }
                Some(_) => all.push(item),
                None => {
                    return Err(Refusal::new(
                        Reason::Call,
                        "a value in the list is not written out",
                        "write x = a OR x = b",
                    ));
                }
            }
        }
        let (all, _) = of_one_type("IN", all)?;
        let found = if all.len() > 1 {
            call(Function::In, all)?
        } else {
            Typed::boolean(false)
        };
        if list.negated { not(found) } else { Ok(found) }
    }
}

pub(super) fn too_complex() -> Refusal {
    Refusal::new(
        Reason::TooComplex,
        "an expression is too large or nested too deeply",
        "write x IN (...) for many alternatives, or join a public table of them",
    )
}

/// The operands of a chain of the same operator, in order, collected without recursion.
fn chain(binary: &BinaryExpr) -> Vec<&Planned> {
    let mut parts = Vec::new();
    let mut open = vec![binary.right.as_ref(), binary.left.as_ref()];
    while let Some(part) = open.pop() {
        match part {
            Planned::BinaryExpr(inner) if inner.op == binary.op => {
                open.push(&inner.right);
                open.push(&inner.left);
            }
            other => parts.push(other),
        }
    }
    parts
}

/// Rewrites a pattern so that its escape character is the backslash.
fn escaped_by_backslash(pattern: &str, escape: Option<char>) -> String {
    let Some(escape) = escape.filter(|escape| *escape != '\\') else {
        return pattern.to_owned();
    };
    let mut changed = String::with_capacity(pattern.len());
    let mut open = pattern.chars();
    while let Some(character) = open.next() {
        if character == escape {
            match open.next() {
                Some(next) if matches!(next, '%' | '_' | '\\') => changed.extend(['\\', next]),
                Some(next) => changed.push(next),
                None => changed.push(character),
            }
        } else if character == '\\' {
            changed.push_str("\\\\");
        } else {
            changed.push(character);
        }
    }
    changed
}

/// The place of an expression: that of its first column.
pub(super) fn place(planned: &Planned) -> Option<TextSpan> {
    let columns = planned.column_refs();
    let spans = columns.iter().filter_map(|column| column.spans.first());
    TextSpan::of(spans.min_by_key(|span| (span.start.line, span.start.column)))
}
