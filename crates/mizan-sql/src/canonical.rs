//! The canonical encoding of a plan: the same bytes for the same noisy statistics, other bytes for
//! other statistics.
//!
//! Everything that decides the released values is encoded: datasets, rows, keys, groups, limits,
//! statistics, and the quantiles taken from a histogram. Post-processing is not encoded: `HAVING`,
//! `ORDER BY`, `LIMIT`, names and notes. The version of the data, the budget and the mechanism are
//! not encoded either: the engine adds them.
//!
//! # Encoding
//!
//! Each variant has a tag. Integers, lengths and doubles (as bits) are 8 bytes, little-endian;
//! texts and lists follow their length. The encoding of a value is never a prefix of another of its
//! type, so no two plans share an encoding.

use sha2::{Digest, Sha256};

use crate::expr::{Expr, Function, TimePart, TimeUnit};
use crate::plan::{Aggregate, BoundedPlan, GroupBounding, Groups, Measure};
use crate::relation::{Bounds, Column, Operator, Quantized, Relation, UnitAggregate};
use crate::value::{Type, Value};

/// The first text of the encoding. It changes with the encoding and with the meaning of
/// expressions.
///
/// A cast of a number to an integer has its own tag because it rounds. Earlier versions truncated
/// under the tag of the other casts. Stored answers with such a cast are not found again; all
/// others are.
const VERSION: &str = "mizan bounded plan 1";

impl BoundedPlan {
    /// The canonical bytes of everything that decides the release.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        // Every field is named, so that a new one cannot be missed here.
        let Self {
            datasets,
            public,
            relation,
            keys,
            groups,
            groups_per_unit,
            group_bounding,
            statistics,
            output,
            clamping: _,
            notes: _,
        } = self;
        let mut bytes = Encoder(Vec::new());
        bytes.text(VERSION);
        bytes.list(datasets, |bytes, name| bytes.text(name));
        bytes.list(public, |bytes, name| bytes.text(name));
        bytes.relation(relation);
        bytes.list(keys, |bytes, key| {
            bytes.expr(&key.expression, &relation.columns);
            bytes.kind(key.kind);
        });
        match groups {
            Groups::Public(groups) => {
                bytes.tag(0);
                bytes.list(groups, |bytes, group| bytes.list(group, Encoder::value));
            }
            Groups::Private => bytes.tag(1),
        }
        bytes.unsigned(*groups_per_unit);
        bytes.tag(match group_bounding {
            GroupBounding::NotNeeded => 0,
            GroupBounding::SampleGroups => 1,
            GroupBounding::ClipL2 => 2,
        });
        bytes.list(statistics, |bytes, statistic| {
            bytes.measure(&statistic.measure, &relation.columns);
            bytes.integer(statistic.low);
            bytes.integer(statistic.high);
        });
        let quantiles = output.aggregates.iter().filter_map(|aggregate| {
            let Aggregate::Quantile { histogram, at, .. } = aggregate else {
                return None;
            };
            Some((*histogram, *at))
        });
        let quantiles: Vec<_> = quantiles.collect();
        bytes.list(&quantiles, |bytes, (histogram, at)| {
            bytes.place(*histogram);
            bytes.number(*at);
        });
        bytes.0
    }

    /// The SHA-256 of the canonical bytes.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.canonical()).into()
    }
}

impl Relation {
    /// The canonical bytes of a relation: relations with the same bytes have the same rows.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        let mut bytes = Encoder(Vec::new());
        bytes.text(VERSION);
        bytes.relation(self);
        bytes.0
    }
}

struct Encoder(Vec<u8>);

impl Encoder {
    fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    fn flag(&mut self, flag: bool) {
        self.tag(u8::from(flag));
    }

    fn unsigned(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn integer(&mut self, value: i64) {
        self.0.extend(value.to_le_bytes());
    }

    /// A place or a length: 64 bits hold everything that fits into memory.
    fn place(&mut self, value: usize) {
        self.unsigned(u64::try_from(value).unwrap_or(u64::MAX));
    }

    fn number(&mut self, value: f64) {
        self.unsigned((value + 0.0).to_bits());
    }

    fn text(&mut self, text: &str) {
        self.place(text.len());
        self.0.extend(text.as_bytes());
    }

    fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.place(list.len());
        for item in list {
            each(self, item);
        }
    }

    fn option<T>(&mut self, option: Option<&T>, each: impl FnOnce(&mut Self, &T)) {
        self.flag(option.is_some());
        if let Some(item) = option {
            each(self, item);
        }
    }

    fn kind(&mut self, kind: Type) {
        self.tag(match kind {
            Type::Boolean => 0,
            Type::Integer => 1,
            Type::Number => 2,
            Type::Text => 3,
            Type::Date => 4,
            Type::Timestamp => 5,
        });
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.tag(0),
            Value::Boolean(value) => {
                self.tag(1);
                self.flag(*value);
            }
            Value::Integer(value) => {
                self.tag(2);
                self.integer(*value);
            }
            Value::Number(value) => {
                self.tag(3);
                self.number(*value);
            }
            Value::Text(value) => {
                self.tag(4);
                self.text(value);
            }
            Value::Date(value) => {
                self.tag(5);
                self.integer((*value).into());
            }
            Value::Timestamp(value) => {
                self.tag(6);
                self.integer(*value);
            }
        }
    }

    fn bounds(&mut self, bounds: &Bounds) {
        self.number(bounds.low);
        self.number(bounds.high);
    }

    fn quantized(&mut self, quantized: &Quantized) {
        self.bounds(&quantized.bounds);
        self.number(quantized.centre);
        self.integer(quantized.exponent.into());
        self.flag(quantized.squared);
    }

    fn measure(&mut self, measure: &Measure, columns: &[Column]) {
        match measure {
            Measure::Units => self.tag(0),
            Measure::Rows => self.tag(1),
            Measure::Count(expr) => {
                self.tag(2);
                self.expr(expr, columns);
            }
            Measure::Sum(expr, quantized) => {
                self.tag(3);
                self.expr(expr, columns);
                self.quantized(quantized);
            }
            Measure::Scaled(expr, quantized, rows) => {
                self.tag(6);
                self.expr(expr, columns);
                self.quantized(quantized);
                self.integer(*rows);
            }
            Measure::Distinct(expr) => {
                self.tag(4);
                self.expr(expr, columns);
            }
            Measure::Histogram(expr, quantized) => {
                self.tag(5);
                self.expr(expr, columns);
                self.quantized(quantized);
            }
        }
    }

    fn unit_aggregate(&mut self, unit_aggregate: &UnitAggregate, columns: &[Column]) {
        match unit_aggregate {
            UnitAggregate::Rows => self.tag(0),
            UnitAggregate::Count(expr) => {
                self.tag(1);
                self.expr(expr, columns);
            }
            UnitAggregate::CountDistinct(expr) => {
                self.tag(2);
                self.expr(expr, columns);
            }
            UnitAggregate::Sum(expr, quantized) => {
                self.tag(3);
                self.expr(expr, columns);
                self.quantized(quantized);
            }
            UnitAggregate::Min(expr) => {
                self.tag(4);
                self.expr(expr, columns);
            }
            UnitAggregate::Max(expr) => {
                self.tag(5);
                self.expr(expr, columns);
            }
        }
    }

    fn relation(&mut self, relation: &Relation) {
        let Relation {
            operator,
            columns,
            unit,
            one_row_per_unit,
        } = relation;
        // A scan finds its columns by name; other operators use places.
        let named = matches!(operator, Operator::Scan { .. });
        match operator {
            Operator::Scan { dataset } => {
                self.tag(0);
                self.text(dataset);
            }
            Operator::Filter { input, predicate } => {
                self.tag(1);
                self.relation(input);
                self.expr(predicate, &input.columns);
            }
            Operator::Project { input, expressions } => {
                self.tag(2);
                self.relation(input);
                self.exprs(expressions, &input.columns);
            }
            Operator::Join {
                left,
                right,
                keeps_left,
                on,
                condition,
            } => {
                self.tag(3);
                self.relation(left);
                self.relation(right);
                self.flag(*keeps_left);
                self.list(on, |bytes, (of_left, of_right)| {
                    bytes.expr(of_left, &left.columns);
                    bytes.expr(of_right, &right.columns);
                });
                let both = [left.columns.as_slice(), &right.columns].concat();
                self.option(condition.as_ref(), |bytes, condition| {
                    bytes.expr(condition, &both);
                });
            }
            Operator::Union { inputs } => {
                self.tag(4);
                self.list(inputs, Self::relation);
            }
            Operator::LimitRowsPerUnit { input, rows, read } => {
                self.tag(6);
                self.relation(input);
                self.unsigned(*rows);
                self.list(read, |bytes, place| bytes.place(*place));
            }
            Operator::Group {
                input,
                keys,
                aggregates,
            } => {
                self.tag(5);
                self.relation(input);
                self.exprs(keys, &input.columns);
                self.list(aggregates, |bytes, unit_aggregate| {
                    bytes.unit_aggregate(unit_aggregate, &input.columns);
                });
            }
        }
        self.list(columns, |bytes, Column { name, kind, bounds }| {
            if named {
                bytes.text(name);
            }
            bytes.kind(*kind);
            bytes.option(bounds.as_ref(), Self::bounds);
        });
        self.list(unit, |bytes, place| bytes.place(*place));
        self.flag(*one_row_per_unit);
    }

    fn exprs(&mut self, exprs: &[Expr], columns: &[Column]) {
        self.list(exprs, |bytes, expr| bytes.expr(expr, columns));
    }

    /// An expression over these columns.
    fn expr(&mut self, expr: &Expr, columns: &[Column]) {
        match expr {
            Expr::Column(place) => {
                self.tag(0);
                self.place(*place);
            }
            Expr::Literal(value, kind) => {
                self.tag(1);
                self.value(value);
                self.kind(*kind);
            }
            Expr::Call(function, arguments) => {
                self.tag(2);
                self.function(*function);
                self.exprs(arguments, columns);
            }
            Expr::Case {
                branches,
                otherwise,
            } => {
                self.tag(3);
                self.list(branches, |bytes, (when, then)| {
                    bytes.expr(when, columns);
                    bytes.expr(then, columns);
                });
                self.expr(otherwise, columns);
            }
            Expr::Cast(inner, to) => {
                let rounds = *to == Type::Integer && inner.type_of(columns) == Ok(Type::Number);
                self.tag(if rounds { 5 } else { 4 });
                self.expr(inner, columns);
                self.kind(*to);
            }
        }
    }

    fn function(&mut self, function: Function) {
        self.tag(match function {
            Function::Add => 0,
            Function::Subtract => 1,
            Function::Multiply => 2,
            Function::Divide => 3,
            Function::Remainder => 4,
            Function::Negate => 5,
            Function::Equal => 6,
            Function::NotEqual => 7,
            Function::Less => 8,
            Function::LessOrEqual => 9,
            Function::Greater => 10,
            Function::GreaterOrEqual => 11,
            Function::And => 12,
            Function::Or => 13,
            Function::Not => 14,
            Function::IsNull => 15,
            Function::In => 16,
            Function::Like => 17,
            Function::Coalesce => 18,
            Function::NullIf => 19,
            Function::Least => 20,
            Function::Greatest => 21,
            Function::Floor => 22,
            Function::Ceil => 23,
            Function::Round => 24,
            Function::Abs => 25,
            Function::Sign => 26,
            Function::Sqrt => 27,
            Function::Lower => 28,
            Function::Upper => 29,
            Function::Trim => 30,
            Function::Length => 31,
            Function::Substring => 32,
            Function::Concat => 33,
            Function::Truncate(unit) => 40 + unit_tag(unit),
            Function::Extract(part) => 50 + part_tag(part),
            Function::Bucket => 34,
        });
    }
}

const fn unit_tag(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Year => 0,
        TimeUnit::Quarter => 1,
        TimeUnit::Month => 2,
        TimeUnit::Week => 3,
        TimeUnit::Day => 4,
        TimeUnit::Hour => 5,
        TimeUnit::Minute => 6,
        TimeUnit::Second => 7,
    }
}

const fn part_tag(part: TimePart) -> u8 {
    match part {
        TimePart::Year => 0,
        TimePart::Quarter => 1,
        TimePart::Month => 2,
        TimePart::Week => 3,
        TimePart::Day => 4,
        TimePart::DayOfWeek => 5,
        TimePart::DayOfYear => 6,
        TimePart::Hour => 7,
        TimePart::Minute => 8,
        TimePart::Second => 9,
    }
}
