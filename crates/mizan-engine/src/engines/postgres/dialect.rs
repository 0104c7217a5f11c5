//! The SQL dialect of PostgreSQL.
//!
//! Days and times are integers here, text has the collation `C`, and numbers are neither NaN
//! nor minus zero. Every expression can be used as an operand: it is a name, a call, a cast, or
//! in parentheses.

use std::collections::BTreeMap;

use mizan_sql::{
    Bounds, Dataset, DatasetColumn, Function, LONGEST_COMPUTED_TEXT, Quantized, Type, Value,
};

use super::calendar;
use super::casts;
use super::columns::{LONGEST_TEXT, readable};
use super::numbers;
use super::shared_operands::{with_each_operand, with_operands};
use super::table::Table;
use crate::engine::EngineError;
use crate::engines::lower_sql::dialect::{Dialect, Sql};
use crate::engines::lower_sql::expressions::join;
use crate::sampling_hash::Salt;

/// PostgreSQL's dialect, with the tables of datasets by name.
pub(super) struct PostgresDialect<'a> {
    /// The tables.
    pub(super) tables: BTreeMap<String, &'a Table>,
}

impl PostgresDialect<'_> {
    fn of(&self, dataset: &Dataset) -> Result<&Table, EngineError> {
        let table = self.tables.get(&dataset.name);
        table.copied().ok_or_else(|| EngineError::NotInCatalogue {
            dataset: dataset.name.clone(),
        })
    }
}

fn number(value: f64) -> String {
    // The shortest text that parses as the same number.
    format!("'{value:?}'::float8")
}

/// A 64-bit integer. Narrower columns stay as they are until something is computed from them,
/// so that the planner recognizes them.
fn whole(value: &Sql) -> String {
    format!("({})::bigint", value.text)
}

/// A numeric value as a double.
fn double(value: &Sql) -> String {
    match value.kind {
        Type::Number => value.text.clone(),
        _ => format!("({})::float8", value.text),
    }
}

impl Dialect for PostgresDialect<'_> {
    fn literal(&self, value: &Value, kind: Type) -> String {
        match value {
            Value::Null => casts::null(kind),
            Value::Boolean(true) => "TRUE".to_owned(),
            Value::Boolean(false) => "FALSE".to_owned(),
            Value::Integer(value) | Value::Timestamp(value) => format!("'{value}'::bigint"),
            Value::Number(value) => number(*value),
            Value::Text(value) => {
                format!("('{}'::text COLLATE \"C\")", value.replace('\'', "''"))
            }
            Value::Date(day) => format!("'{day}'::int4"),
        }
    }

    fn call(
        &self,
        function: Function,
        arguments: &[Sql],
        makes: Type,
        bounds: Option<Bounds>,
    ) -> String {
        match arguments {
            [value] => of_one(function, value, makes),
            [a, b] if function == Function::Bucket => bucket(a, b, makes),
            [a, b] => match of_two(function, a, b, makes, bounds) {
                Some(text) => text,
                None => of_any(function, arguments, makes),
            },
            _ => of_any(function, arguments, makes),
        }
    }

    fn cast(&self, value: &Sql, to: Type) -> String {
        casts::cast(value, to)
    }

    fn quantize(&self, value: &Sql, how: &Quantized) -> String {
        quantize(value, how)
    }

    // A query with a CTE, even an unused one, is not inlined, but conditions are pushed into
    // it, and it may run in parallel. With OFFSET 0 neither is the case.
    fn fenced(&self, query: String, is_shallow: bool) -> String {
        match is_shallow {
            true => format!("WITH once AS (SELECT) {query}"),
            false => format!("{query} OFFSET 0"),
        }
    }

    fn min(&self, value: &Sql) -> String {
        match value.kind {
            Type::Boolean => format!("bool_and({})", value.text),
            _ => format!("min({})", value.text),
        }
    }

    fn max(&self, value: &Sql) -> String {
        match value.kind {
            Type::Boolean => format!("bool_or({})", value.text),
            _ => format!("max({})", value.text),
        }
    }

    fn hash(&self, salt: &Salt, values: &[Sql]) -> String {
        let mut bytes = format!("'\\x{:032x}'::bytea", u128::from_be_bytes(*salt));
        for value in values {
            bytes.push_str(" || ");
            bytes.push_str(&hashed(value));
        }
        format!("('x' || encode(substr(sha256({bytes}), 1, 8), 'hex'))::bit(64)::bigint")
    }

    fn table(&self, dataset: &Dataset) -> Result<String, EngineError> {
        Ok(self.of(dataset)?.sql())
    }

    fn read(&self, dataset: &Dataset, column: &DatasetColumn) -> Result<String, EngineError> {
        let (kind, found) = readable(self.of(dataset)?, column)?;
        let text = match kind == column.kind {
            true => found.sql(),
            false => casts::cast(&Sql::new(found.sql(), kind), column.kind),
        };
        let Some(bounds) = column.bounds else {
            return Ok(text);
        };
        if let (true, Some(text)) = (kind == column.kind, found.clamped(bounds)) {
            return Ok(text);
        }
        let (low, high) = match column.kind {
            Type::Number => (number(bounds.low), number(bounds.high)),
            kind => match bounds.whole() {
                None => return Ok(casts::null(kind)),
                Some((low, high)) => {
                    let end = |end: i64| match kind {
                        // Dates beyond the supported range become the first or the last
                        // supported date.
                        Type::Date => end.clamp(i32::MIN.into(), i32::MAX.into()),
                        _ => end,
                    };
                    let held = casts::held(kind);
                    (
                        format!("'{}'::{held}", end(low)),
                        format!("'{}'::{held}", end(high)),
                    )
                }
            },
        };
        Ok(numbers::clamp(&text, &low, &high))
    }
}

fn of_one(function: Function, value: &Sql, makes: Type) -> String {
    let text = &value.text;
    let least = "'-9223372036854775808'::bigint";
    match (function, value.kind) {
        (Function::Negate, Type::Integer) => format!("(-NULLIF({}, {least}))", whole(value)),
        (Function::Negate, _) => format!("(0::float8 - {text})"),
        (Function::Abs, Type::Integer) => format!("abs(NULLIF({}, {least}))", whole(value)),
        (Function::Abs, _) => format!("abs({text})"),
        (Function::Sign, Type::Integer) => format!("sign({text})::bigint"),
        (Function::Sign, _) => format!("sign({text})"),
        (Function::Floor | Function::Ceil | Function::Round, Type::Integer) => text.clone(),
        // Minus zero becomes zero.
        (Function::Floor, _) => format!("(floor({text}) + 0::float8)"),
        (Function::Ceil, _) => format!("(ceil({text}) + 0::float8)"),
        (Function::Round, _) => format!("({} + 0::float8)", numbers::round(text)),
        (Function::Sqrt, _) => numbers::root(&double(value)),
        (Function::Lower, _) => unless_long(text, |text| format!("lower({text} COLLATE \"C\")")),
        (Function::Upper, _) => unless_long(text, |text| format!("upper({text} COLLATE \"C\")")),
        (Function::Trim, _) => unless_long(&format!("btrim({text}, ' ')"), str::to_owned),
        (Function::Length, _) => format!("char_length({text})::bigint"),
        (Function::Truncate(unit), Type::Date) => calendar::truncate_day(text, unit),
        (Function::Truncate(unit), _) => calendar::truncate(text, unit),
        (Function::Extract(part), Type::Date) => calendar::part_of_day(text, part),
        (Function::Extract(part), _) => calendar::part(text, part),
        _ => of_any(function, std::slice::from_ref(value), makes),
    }
}

/// None if the function takes any number of arguments.
fn of_two(
    function: Function,
    a: &Sql,
    b: &Sql,
    makes: Type,
    bounds: Option<Bounds>,
) -> Option<String> {
    if let Some(operator) = never_raises(function, a, b, makes, bounds) {
        let held = |value: &Sql| match makes {
            Type::Integer => whole(value),
            _ => double(value),
        };
        // Minus zero becomes zero.
        let zero = match function {
            Function::Multiply | Function::Divide if makes == Type::Number => " + 0::float8",
            _ => "",
        };
        return Some(format!("({} {operator} {}{zero})", held(a), held(b)));
    }
    let operator = match function {
        Function::Add => "+",
        Function::Subtract => "-",
        Function::Multiply => "*",
        Function::Divide => return Some(numbers::quotient(&double(a), &double(b))),
        Function::Remainder => return Some(format!("({} % NULLIF({}, 0))", whole(a), whole(b))),
        Function::Like => return Some(format!("({} LIKE {})", a.text, b.text)),
        Function::NullIf => return Some(format!("NULLIF({}, {})", a.text, b.text)),
        _ => return None,
    };
    Some(match (makes, function) {
        (Type::Integer, _) => numbers::integers(operator, &whole(a), &whole(b)),
        (_, Function::Multiply) => numbers::product(&double(a), &double(b)),
        _ => numbers::sum(operator, &double(a), &double(b)),
    })
}

/// The plain operator, if bounds show that PostgreSQL raises no error: bounded values are not
/// infinite, and a product with a factor above one half, or a quotient by less than two, does
/// not underflow.
fn never_raises(
    function: Function,
    a: &Sql,
    b: &Sql,
    makes: Type,
    bounds: Option<Bounds>,
) -> Option<&'static str> {
    let (bounds, of_a, of_b) = (bounds?, a.bounds?, b.bounds?);
    if makes == Type::Integer && bounds.low.abs().max(bounds.high.abs()) > 2_f64.powi(62) {
        return None;
    }
    let beyond = |bounds: Bounds, limit: f64| bounds.low > limit || bounds.high < -limit;
    match function {
        Function::Add => Some("+"),
        Function::Subtract => Some("-"),
        Function::Multiply if makes == Type::Integer => Some("*"),
        Function::Multiply if beyond(of_a, 0.5) || beyond(of_b, 0.5) => Some("*"),
        Function::Divide if beyond(of_b, 0.0) && of_b.low > -2.0 && of_b.high < 2.0 => Some("/"),
        _ => None,
    }
}

fn of_any(function: Function, arguments: &[Sql], makes: Type) -> String {
    match (function, arguments) {
        (Function::Least, _) => format!("LEAST({})", join(arguments, ", ")),
        (Function::Greatest, _) => format!("GREATEST({})", join(arguments, ", ")),
        (Function::Concat, parts) => concat(parts),
        (Function::Substring, [text, position, length]) => {
            // Past the longest text, so that both fit into `int4`.
            let end = |at: &Sql| format!("LEAST({}, {LONGEST_TEXT})::int4", at.text);
            let part = format!("substr({}, {}, {})", text.text, end(position), end(length));
            unless_long(&part, str::to_owned)
        }
        // Type checking excludes other functions.
        _ => casts::null(makes),
    }
}

/// A concatenation, or NULL if it is too long. Each part is written twice, or once if its SQL
/// is long.
fn concat(parts: &[Sql]) -> String {
    let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    with_each_operand(&texts, |names| {
        let lengths = names.iter().map(|name| format!("octet_length({name})"));
        let lengths: Vec<String> = lengths.collect();
        format!(
            "CASE WHEN 0::bigint + {} <= {LONGEST_COMPUTED_TEXT} THEN {} END",
            lengths.join(" + "),
            names.join(" || ")
        )
    })
}

/// A function of a text that keeps its length, or NULL if the text is too long.
fn unless_long(text: &str, make: impl FnOnce(&str) -> String) -> String {
    with_operands([text], |[text]| {
        format!(
            "CASE WHEN octet_length({text}) <= {LONGEST_COMPUTED_TEXT} THEN {} END",
            make(text)
        )
    })
}

fn bucket(value: &Sql, width: &Sql, makes: Type) -> String {
    if makes == Type::Integer {
        return numbers::integer_bucket(&whole(value), &whole(width));
    }
    let width = double(width);
    let whole = format!("floor({})", numbers::quotient(&double(value), &width));
    numbers::product(&whole, &width)
}

/// The bytes of a value in the hash, with a marker for NULL: as in [`crate::sampling_hash::hash`].
fn hashed(value: &Sql) -> String {
    let text = &value.text;
    let fixed = |length: u8, bytes: &str| format!("'\\x01000000{length:02x}'::bytea || {bytes}");
    let bytes = match value.kind {
        Type::Boolean => fixed(
            1,
            &format!(
                "CASE {text} WHEN TRUE THEN '\\x01'::bytea WHEN FALSE THEN '\\x00'::bytea END"
            ),
        ),
        Type::Integer | Type::Timestamp => fixed(8, &format!("int8send({text}::bigint)")),
        Type::Number => fixed(8, &format!("float8send({text})")),
        Type::Date => fixed(4, &format!("int4send({text})")),
        Type::Text => format!(
            "'\\x01'::bytea || int4send(octet_length({text})) || convert_to({text}, 'UTF8')"
        ),
    };
    format!("COALESCE({bytes}, '\\x00'::bytea)")
}

/// `Quantized::integer` of a number, a date or a timestamp. Earlier checks keep it within 24
/// bits, so that `int4` suffices, whose sums are the fastest.
fn quantize(value: &Sql, how: &Quantized) -> String {
    if let Some(text) = whole_steps(value, how) {
        return text;
    }
    let (low, high) = (how.bounds.low, how.bounds.high);
    let within = |bounds: Bounds| bounds.low >= low && bounds.high <= high;
    let clamped = match value.bounds.is_some_and(within) {
        true => double(value),
        false => numbers::clamp(&double(value), &number(low), &number(high)),
    };
    let difference = match how.centre {
        0.0 => clamped,
        centre => format!("({clamped} - {})", number(centre)),
    };
    let power = match how.squared {
        false => difference,
        true => with_operands([&difference], |[d]| {
            let least = number(LEAST_ROOT);
            format!("CASE WHEN abs({d}) < {least} THEN 0::float8 ELSE {d} * {d} END")
        }),
    };
    let step = number(how.step());
    // For steps of two and more, half a step is added before dividing, because the division
    // could raise an error. Otherwise both orders give the same result.
    let steps = match how.step() >= 2.0 {
        true => format!("({power} + {}) / {step}", number(how.step() / 2.0)),
        false => format!("{power} / {step} + 0.5::float8"),
    };
    format!("floor({steps})::int4")
}

/// The least number whose square does not underflow.
const LEAST_ROOT: f64 = 1.571_727_784_702_628_8e-162;

/// The same for integers and days in steps of one.
#[allow(clippy::cast_possible_truncation, reason = "checked before")]
fn whole_steps(value: &Sql, how: &Quantized) -> Option<String> {
    let whole = |value: f64| {
        let exact = value.fract() == 0.0 && value.abs() < 2_f64.powi(53);
        exact.then_some(value as i64)
    };
    if value.kind == Type::Number || how.exponent != 0 || how.squared {
        return None;
    }
    let (low, high) = (whole(how.bounds.low)?, whole(how.bounds.high)?);
    let centre = whole(how.centre)?;
    let clamped = numbers::clamp(
        &value.text,
        &format!("'{low}'::bigint"),
        &format!("'{high}'::bigint"),
    );
    Some(format!("({clamped} - '{centre}'::bigint)::int4"))
}

#[cfg(test)]
mod tests {
    use super::LEAST_ROOT;

    #[test]
    fn the_least_number_whose_square_is_not_zero() {
        let squares = [LEAST_ROOT.next_down(), LEAST_ROOT].map(|root| root * root);
        assert_eq!(squares, [0.0, 5e-324]);
    }
}
