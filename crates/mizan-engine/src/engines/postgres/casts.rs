//! Casts that never fail: the cast table of `mizan_sql::expr`, and the grammar of
//! `mizan_sql::read` as regular expressions.

use mizan_sql::Type;
use mizan_sql::read::LONGEST_NUMBER;

use super::calendar;
use super::numbers::{below_doubles, beyond_doubles, narrow, nearest};
use super::shared_operands::with_operands;
use crate::engines::lower_sql::dialect::Sql;

/// A cast.
pub(super) fn cast(value: &Sql, to: Type) -> String {
    let text = &value.text;
    match (value.kind, to) {
        (Type::Text, to) => {
            let trimmed = format!("btrim({text}, ' ')");
            from_text(&trimmed, to)
        }
        (Type::Boolean, Type::Integer) => format!("({text})::int4::bigint"),
        (Type::Boolean, Type::Number) => format!("({text})::int4::float8"),
        (Type::Boolean | Type::Integer, Type::Text) => {
            format!("(({text})::text COLLATE \"C\")")
        }
        (Type::Integer, Type::Boolean) => format!("({text} <> 0)"),
        (Type::Integer, Type::Number) => format!("({text})::float8"),
        (Type::Integer, Type::Date) => calendar::of_day(text, |day| format!("{day}::int4")),
        (Type::Integer, Type::Timestamp) | (Type::Timestamp, Type::Integer) => {
            calendar::of_time(text, |time| format!("{time}::bigint"))
        }
        (Type::Number, Type::Integer) => nearest(text),
        (Type::Date, Type::Integer) => calendar::of_day(text, |day| format!("{day}::bigint")),
        (Type::Date, Type::Timestamp) => calendar::midnight(text),
        (Type::Date, Type::Text) => calendar::of_day(text, |day| {
            format!(
                "to_char({}, 'YYYY-MM-DD') COLLATE \"C\"",
                calendar::date(day)
            )
        }),
        (Type::Timestamp, Type::Date) => calendar::of_time(text, calendar::day_of),
        // Type checking excludes other types.
        _ => null(to),
    }
}

/// NULL of a type.
pub(super) fn null(kind: Type) -> String {
    match kind {
        Type::Text => "(NULL::text COLLATE \"C\")".to_owned(),
        _ => format!("NULL::{}", held(kind)),
    }
}

/// The SQL type of a type within the engine.
pub(super) const fn held(kind: Type) -> &'static str {
    match kind {
        Type::Boolean => "boolean",
        Type::Integer | Type::Timestamp => "bigint",
        Type::Number => "float8",
        Type::Text => "text",
        Type::Date => "int4",
    }
}

/// Parses a text without surrounding spaces.
fn from_text(text: &str, to: Type) -> String {
    match to {
        Type::Text => text.to_owned(),
        Type::Boolean => with_operands([&format!("lower({text})")], |[t]| {
            format!(
                "CASE WHEN {t} IN ('true', 't', 'yes', 'y', 'on', '1') THEN TRUE \
                 WHEN {t} IN ('false', 'f', 'no', 'n', 'off', '0') THEN FALSE END"
            )
        }),
        Type::Integer => with_operands([text], |[t]| {
            format!(
                "CASE WHEN char_length({t}) <= {LONGEST_NUMBER} AND {t} ~ '^[+-]?[0-9]+$' \
                 THEN {} END",
                narrow(&format!("{t}::numeric"))
            )
        }),
        Type::Number => number(text),
        Type::Date => with_operands([text], |[t]| {
            format!(
                "CASE WHEN {t} ~ '^{}$' THEN {t}::date - DATE '1970-01-01' END",
                day_pattern()
            )
        }),
        Type::Timestamp => timestamp(text),
    }
}

/// `numeric` decides whether a number is out of the range of doubles. Exponents beyond
/// `numeric` are far out of both ranges.
fn number(text: &str) -> String {
    const MANTISSA: &str = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)";
    with_operands([text], |[t]| {
        let exact = with_operands([&format!("abs({t}::numeric)")], |[n]| {
            format!(
                "CASE WHEN {n} >= {} THEN NULL WHEN {n} <= {} THEN FALSE ELSE TRUE END",
                beyond_doubles(),
                below_doubles()
            )
        });
        format!(
            "CASE WHEN char_length({t}) > {LONGEST_NUMBER} THEN NULL \
             WHEN {t} ~ '^{MANTISSA}([eE][+-]?0*[0-9]{{1,4}})?$' \
             THEN CASE {exact} WHEN TRUE THEN {t}::float8 + 0::float8 WHEN FALSE THEN 0::float8 END \
             WHEN {t} ~ '^[+-]?(0+[.]?0*|[.]0+)[eE][+-]?[0-9]+$' THEN 0::float8 \
             WHEN {t} ~ '^{MANTISSA}[eE]-[0-9]+$' THEN 0::float8 END"
        )
    })
}

/// A pattern for the days of the years 0001 to 9999.
fn day_pattern() -> String {
    const FEBRUARY_29: &str = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|\
                               ([2468][048]|[13579][26]|0[48])00)-02-29";
    format!(
        "((?!0000)[0-9]{{4}}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|\
         (0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|{FEBRUARY_29})"
    )
}

/// A time. Sessions are in UTC. Digits after microseconds are cut off first, because PostgreSQL
/// would round them.
fn timestamp(text: &str) -> String {
    const CLOCK: &str = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?";
    const OFFSET: &str = "(Z|[+-](0[0-9]|1[0-5]):[0-5][0-9])?";
    let time = with_operands([text], |[t]| {
        format!(
            "CASE WHEN {t} ~ '^{}([T ]{CLOCK}{OFFSET})?$' THEN (extract(epoch FROM \
             regexp_replace({t}, '([.][0-9]{{6}})[0-9]+', '\\1')::timestamptz) * 1000000)::bigint END",
            day_pattern()
        )
    });
    calendar::of_time(&time, str::to_owned)
}
