//! Expressions of the planner become total expressions, with one type each.
//!
//! What SQL converts by itself is converted here: text literals to what they are
//! compared with, integers to numbers, dates to timestamps. What is made of
//! literals only is computed at once.

use std::cell::Cell;

use datafusion_common::arrow::datatypes::DataType;
use datafusion_common::{Column as PlannedColumn, DFSchema, ScalarValue};
use datafusion_expr::expr::{Case, InList, Like};
use datafusion_expr::{BinaryExpr, Expr as Planned, Operator};

use super::calls;
use super::intervals;
use super::shown::shown;
use crate::expr::{Expr, Function};
use crate::parse::Words;
use crate::refusal::{Place, Reason, Refusal};
use crate::typing;
use crate::value::{Type, Value};

/// The deepest expression: engines walk them recursively.
const MAX_DEPTH: usize = 150;

/// The largest expression, in nodes.
const MAX_SIZE: usize = 20_000;

/// An expression and its type; a bare `NULL` has none yet.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) expr: Expr,
    pub(super) kind: Option<Type>,
}

impl Typed {
    pub(super) const fn new(expr: Expr, kind: Type) -> Self {
        Self {
            expr,
            kind: Some(kind),
        }
    }

    pub(super) fn literal(value: Value, kind: Type) -> Self {
        Self::new(Expr::Literal(value, kind), kind)
    }

    pub(super) fn integer(value: i64) -> Self {
        Self::literal(Value::Integer(value), Type::Integer)
    }

    pub(super) fn boolean(value: bool) -> Self {
        Self::literal(Value::Boolean(value), Type::Boolean)
    }

    pub(super) fn text(value: &str) -> Self {
        Self::literal(Value::Text(value.to_owned()), Type::Text)
    }

    /// The value, if it is a literal.
    pub(super) const fn value(&self) -> Option<&Value> {
        match &self.expr {
            Expr::Literal(value, _) => Some(value),
            _ => None,
        }
    }

    /// A bare `NULL` gets a type.
    pub(super) fn or(self, kind: Type) -> Self {
        match self.kind {
            Some(_) => self,
            None => Self::literal(Value::Null, kind),
        }
    }
}

/// A column that expressions may name.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) expr: Expr,
    pub(super) kind: Type,
    /// How many nodes it has: each use counts them again.
    pub(super) size: usize,
}

impl Field {
    pub(super) fn new(expr: Expr, kind: Type) -> Self {
        let size = measure(&expr).0;
        Self { expr, kind, size }
    }
}

/// How many nodes an expression has, and how deep it is.
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
}

impl<'a> Scope<'a> {
    pub(super) const fn new(schema: &'a DFSchema, fields: &'a [Field], words: &'a Words) -> Self {
        Self {
            schema,
            fields,
            words,
            left: Cell::new(MAX_SIZE),
        }
    }

    /// An expression of any type; a bare `NULL` is text.
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
            format!("{} is no condition", shown(planned)),
            "compare it with something",
        )
        .at(place(planned)))
    }

    /// An expression whose size is within limits.
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
                let low = compare(Function::GreaterOrEqual, value.clone(), next(&between.low)?)?;
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
                format!("{} is not supported", shown(other)),
                "write it with comparisons, CASE, LIKE, CAST, date_trunc, EXTRACT and the like",
            )),
        }
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
            .at(Place::of(column.spans.first())));
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
            Operator::IsNotDistinctFrom => same(left, right),
            Operator::IsDistinctFrom => not(same(left, right)?),
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
                Some(operand) => compare(Function::Equal, operand.clone(), when)?,
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

fn too_complex() -> Refusal {
    Refusal::new(
        Reason::TooComplex,
        "an expression is too large or nested too deeply",
        "write x IN (...) for many alternatives, or join a public table of them",
    )
}

/// The operands of a chain of the same operator, in order, without recursion.
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

/// A chain as a tree that is not deep: `AND` and `OR` are associative.
pub(super) fn balanced(function: Function, mut parts: Vec<Typed>) -> Result<Typed, Refusal> {
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut open = parts.into_iter();
        while let Some(left) = open.next() {
            joined.push(match open.next() {
                Some(right) => call(function, vec![left, right])?,
                None => left,
            });
        }
        parts = joined;
    }
    Ok(parts
        .pop()
        .unwrap_or_else(|| Typed::boolean(function == Function::And)))
}

/// A call of arguments that have types. What is made of literals is computed.
pub(super) fn call(function: Function, arguments: Vec<Typed>) -> Result<Typed, Refusal> {
    let mut exprs = Vec::with_capacity(arguments.len());
    let mut kinds = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let argument = argument.or(Type::Integer);
        kinds.push(argument.kind.unwrap_or(Type::Integer));
        exprs.push(argument.expr);
    }
    let kind = typing::call(function, &exprs, &kinds)
        .map_err(|problem| Refusal::new(Reason::Types, problem.to_string(), problem.help()))?;
    Ok(folded(Expr::Call(function, exprs), kind))
}

fn folded(expr: Expr, kind: Type) -> Typed {
    let literals = expr
        .children()
        .into_iter()
        .all(|part| matches!(part, Expr::Literal(..)));
    if !literals {
        return Typed::new(expr, kind);
    }
    match expr.eval(&[]) {
        // Literals are finite; what is not stays to be computed.
        Value::Number(value) if !value.is_finite() => Typed::new(expr, kind),
        value => Typed::literal(value, kind),
    }
}

/// The same as another type. A literal that is none of it is refused.
pub(super) fn cast(from: Typed, to: Type) -> Result<Typed, Refusal> {
    let Some(kind) = from.kind else {
        return Ok(from.or(to));
    };
    if kind == to {
        return Ok(from);
    }
    typing::cast(kind, to)
        .map_err(|problem| Refusal::new(Reason::Types, problem.to_string(), problem.help()))?;
    let written = from.value().filter(|value| !value.is_null()).cloned();
    let cast = folded(Expr::Cast(Box::new(from.expr), to), to);
    if let (Some(written), Some(Value::Null)) = (written, cast.value()) {
        let example = match to {
            Type::Date => ", such as '2026-01-31'",
            Type::Timestamp => ", such as '2026-01-31 12:00:00'",
            Type::Boolean => ", true or false",
            _ => "",
        };
        return Err(Refusal::new(
            Reason::Literal,
            format!("{} is no {to}", written_out(&written)),
            format!("write a {to}{example}"),
        ));
    }
    Ok(cast)
}

/// A literal as it is written.
fn written_out(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{}'", text.chars().take(40).collect::<String>()),
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        _ => "this literal".to_owned(),
    }
}

fn convert(from: Typed, to: &DataType) -> Result<Typed, Refusal> {
    let to = match to {
        DataType::Boolean => Type::Boolean,
        kind if kind.is_integer() => Type::Integer,
        kind if kind.is_floating() || kind.is_decimal() => Type::Number,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Type::Text,
        DataType::Date32 | DataType::Date64 => Type::Date,
        DataType::Timestamp(_, None) => Type::Timestamp,
        other => {
            return Err(Refusal::new(
                Reason::Types,
                format!("the type {other} is not supported"),
                "use boolean, integer, double, text, date or timestamp",
            ));
        }
    };
    cast(from, to)
}

fn literal(value: &ScalarValue) -> Result<Typed, Refusal> {
    let integer = |value: i64| Typed::integer(value);
    let found = match value {
        ScalarValue::Null => Typed {
            expr: Expr::Literal(Value::Null, Type::Text),
            kind: None,
        },
        ScalarValue::Boolean(Some(value)) => Typed::boolean(*value),
        ScalarValue::Int8(Some(value)) => integer((*value).into()),
        ScalarValue::Int16(Some(value)) => integer((*value).into()),
        ScalarValue::Int32(Some(value)) => integer((*value).into()),
        ScalarValue::Int64(Some(value)) => integer(*value),
        ScalarValue::UInt64(Some(value)) => match i64::try_from(*value) {
            Ok(value) => integer(value),
            #[allow(clippy::cast_precision_loss, reason = "as SQL does")]
            Err(_) => Typed::literal(Value::number(*value as f64), Type::Number),
        },
        ScalarValue::Float64(Some(value)) if value.is_finite() => {
            Typed::literal(Value::number(*value), Type::Number)
        }
        ScalarValue::Utf8(Some(value))
        | ScalarValue::LargeUtf8(Some(value))
        | ScalarValue::Utf8View(Some(value)) => Typed::text(value),
        _ => {
            return Err(Refusal::new(
                Reason::Literal,
                "a literal of this kind is not supported",
                "write a number, a text, a date or a timestamp",
            ));
        }
    };
    Ok(found)
}

fn condition(value: Typed) -> Result<Typed, Refusal> {
    let value = value.or(Type::Boolean);
    if value.kind == Some(Type::Boolean) {
        return Ok(value);
    }
    Err(Refusal::new(
        Reason::Types,
        "something other than a condition stands where one is needed",
        "compare it with something",
    ))
}

pub(super) fn not(value: Typed) -> Result<Typed, Refusal> {
    call(Function::Not, vec![value])
}

fn is_null(value: Typed) -> Result<Typed, Refusal> {
    call(Function::IsNull, vec![value])
}

fn is_true(value: Typed) -> Result<Typed, Refusal> {
    call(Function::Coalesce, vec![value, Typed::boolean(false)])
}

/// `IS NOT DISTINCT FROM`.
fn same(left: Typed, right: Typed) -> Result<Typed, Refusal> {
    let neither = call(
        Function::And,
        vec![is_null(left.clone())?, is_null(right.clone())?],
    )?;
    let equal = compare(Function::Equal, left, right)?;
    call(Function::Coalesce, vec![equal, neither])
}

fn arithmetic(function: Function, left: Typed, right: Typed) -> Result<Typed, Refusal> {
    let timed = |value: &Typed| matches!(value.kind, Some(Type::Date | Type::Timestamp));
    if timed(&left) || timed(&right) {
        return Err(Refusal::new(
            Reason::Types,
            "arithmetic with dates is supported between a written date and a written INTERVAL only",
            "compare with a date that is written out, or use EXTRACT and date_trunc",
        ));
    }
    call(
        function,
        vec![left.or(Type::Integer), right.or(Type::Integer)],
    )
}

/// A comparison, of one type or of numbers.
pub(super) fn compare(function: Function, left: Typed, right: Typed) -> Result<Typed, Refusal> {
    let numeric = |value: &Typed| value.kind.is_some_and(Type::is_numeric);
    if numeric(&left) && numeric(&right) {
        return call(function, vec![left, right]);
    }
    let (both, _) = of_one_type("a comparison", vec![left, right])?;
    call(function, both)
}

/// Values made one type, as SQL does by itself: a bare `NULL` is of any type,
/// integers become numbers, dates become timestamps, literal text becomes what
/// the others are.
pub(super) fn of_one_type(what: &str, values: Vec<Typed>) -> Result<(Vec<Typed>, Type), Refusal> {
    let mut kind: Option<Type> = None;
    let written = |value: &Typed| matches!(value.value(), Some(Value::Text(_)));
    let typed = values.iter().filter(|value| !written(value));
    for other in typed.filter_map(|value| value.kind) {
        kind = Some(match (kind, other) {
            (None, other) => other,
            (Some(Type::Integer), Type::Number) | (Some(Type::Number), Type::Integer) => {
                Type::Number
            }
            (Some(Type::Date), Type::Timestamp) | (Some(Type::Timestamp), Type::Date) => {
                Type::Timestamp
            }
            (Some(kind), other) if kind == other => kind,
            (Some(kind), other) => {
                return Err(Refusal::new(
                    Reason::Types,
                    format!("{what} of {kind} and {other} is not supported"),
                    "write CAST(... AS ...) to make them one type",
                ));
            }
        });
    }
    let kind = kind.unwrap_or(Type::Text);
    let mut all = Vec::with_capacity(values.len());
    for value in values {
        // '2.5' beside integers is a number.
        let exact = if kind == Type::Integer && written(&value) {
            cast(value.clone(), kind).or_else(|_| cast(value, Type::Number))?
        } else {
            cast(value, kind)?
        };
        all.push(exact);
    }
    if all.iter().any(|value| value.kind != Some(kind)) {
        return of_one_type(what, all);
    }
    Ok((all, kind))
}

/// A pattern whose escape character is the backslash.
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

/// Where an expression is: the place of the first column in it.
pub(super) fn place(planned: &Planned) -> Option<Place> {
    let columns = planned.column_refs();
    let spans = columns.iter().filter_map(|column| column.spans.first());
    Place::of(spans.min_by_key(|span| (span.start.line, span.start.column)))
}
