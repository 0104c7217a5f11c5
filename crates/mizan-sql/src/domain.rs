//! The domain of a key, if it is finite and public: declared keys, the integers or days between
//! bounds, the results of a `CASE`. It depends on the catalogue and the query, never on rows.
//!
//! # Guarantee
//!
//! If every value of a row that is not `NULL` is among the keys of its column, or within its
//! bounds, then [`Expr::eval`] is `NULL` or in [`Expr::domain`].

use std::collections::BTreeSet;

use crate::bounds::ExprInfo;
use crate::eval::{cast, towards_zero};
use crate::expr::{Expr, Function, TimePart, TimeUnit};
use crate::relation::Column;
use crate::time;
use crate::value::{Type, Value};

/// 2^53. Below this, doubles distinguish an index of a bucket from the next one.
const MOST_BUCKETS: f64 = 9_007_199_254_740_992.0;

impl Expr {
    /// The values of the expression, in order, or None if they are not known or more than `limit`.
    /// `NULL` is among them only if it is a declared key of a column or a written result. `keys`
    /// has the declared keys of a column.
    #[must_use]
    pub fn domain(
        &self,
        columns: &[Column],
        keys: &dyn Fn(usize) -> Option<Vec<Value>>,
        limit: usize,
    ) -> Option<Vec<Value>> {
        let known = ExprInfo::of(self, columns)?;
        let finder = Finder {
            columns,
            keys,
            limit,
        };
        Some(finder.find(self, known.kind)?.into_iter().collect())
    }
}

struct Finder<'a> {
    columns: &'a [Column],
    keys: &'a dyn Fn(usize) -> Option<Vec<Value>>,
    limit: usize,
}

type Values = BTreeSet<Value>;

impl Finder<'_> {
    fn of(&self, expr: &Expr) -> Option<Values> {
        self.find(expr, ExprInfo::of(expr, self.columns)?.kind)
    }

    fn find(&self, expr: &Expr, kind: Type) -> Option<Values> {
        let found = match expr {
            Expr::Column(place) => self.of_column(*place, kind),
            // Both values, even if the declared keys make one impossible: rows with other values
            // still give true or false.
            Expr::Call(..) | Expr::Cast(..) if kind == Type::Boolean => Some(booleans()),
            Expr::Case { .. } => self.of_results(expr).or_else(|| self.over_columns(expr)),
            Expr::Call(Function::Coalesce, _) => {
                self.of_results(expr).or_else(|| self.over_columns(expr))
            }
            // No part is searched twice: the time would double with every level.
            Expr::Call(Function::NullIf | Function::Least | Function::Greatest, _) => self
                .over_columns(expr)
                .or_else(|| self.of_choice(expr))
                .or_else(|| self.between_bounds(expr, kind)),
            _ => self
                .over_columns(expr)
                .or_else(|| self.of_function(expr, kind))
                .or_else(|| self.over_parts(expr))
                .or_else(|| self.between_bounds(expr, kind)),
        };
        found.filter(|values| values.len() <= self.limit)
    }

    fn of_column(&self, place: usize, kind: Type) -> Option<Values> {
        if let Some(keys) = (self.keys)(place) {
            let keys = keys.into_iter().map(|key| match key {
                Value::Number(value) => Value::number(value),
                other => other,
            });
            return Some(keys.collect());
        }
        if kind == Type::Boolean {
            return Some(booleans());
        }
        self.between_bounds(&Expr::Column(place), kind)
    }

    /// The integers, days or times between bounds.
    fn between_bounds(&self, expr: &Expr, kind: Type) -> Option<Values> {
        // If the owner did not declare bounds for the date, 9999 years are not a useful domain.
        if let Expr::Call(Function::Extract(TimePart::Year), arguments) = expr {
            arguments.first()?.bounds(self.columns)?;
        }
        let bounds = expr.bounds(self.columns)?;
        let low = towards_zero(bounds.low.ceil())?;
        let high = towards_zero(bounds.high.floor())?;
        self.check(low, high)?;
        let value = |value: i64| match kind {
            Type::Integer => Some(Value::Integer(value)),
            Type::Date => i32::try_from(value).ok().map(Value::Date),
            Type::Timestamp => Some(Value::Timestamp(value)),
            _ => None,
        };
        (low..=high).map(value).collect()
    }

    /// None if there are too many values between the ends.
    fn check(&self, low: i64, high: i64) -> Option<()> {
        let count = u64::try_from(high.checked_sub(low)?).ok()?;
        let limit = u64::try_from(self.limit).ok()?;
        (count < limit).then_some(())
    }

    /// The union of the domains of all results. A `NULL` written as a result is a value too.
    fn of_results(&self, expr: &Expr) -> Option<Values> {
        let mut all = Values::new();
        match expr {
            Expr::Case {
                branches,
                otherwise,
            } => {
                all.extend(self.of(otherwise)?);
                for (_, then) in branches {
                    all.extend(self.of(then)?);
                }
            }
            Expr::Call(_, arguments) => {
                for (place, part) in arguments.iter().enumerate() {
                    all.extend(self.of(part)?);
                    if ExprInfo::of(part, self.columns)?.something {
                        all.remove(&Value::Null);
                        break;
                    }
                    if place + 1 < arguments.len() {
                        all.remove(&Value::Null);
                    }
                }
            }
            _ => return None,
        }
        Some(all)
    }

    /// The values for all combinations of the values of its columns.
    fn over_columns(&self, expr: &Expr) -> Option<Values> {
        let places = expr.columns();
        let lists = places
            .iter()
            .map(|place| self.of(&Expr::Column(*place)))
            .collect::<Option<Vec<_>>>()?;
        let mut row = vec![Value::Null; places.last().map_or(0, |last| last + 1)];
        self.product(&lists, is_null_written(expr), |values| {
            for (place, value) in places.iter().zip(values) {
                if let Some(cell) = row.get_mut(*place) {
                    cell.clone_from(value);
                }
            }
            expr.eval(&row)
        })
    }

    /// The values for all combinations of the values of its parts.
    fn over_parts(&self, expr: &Expr) -> Option<Values> {
        let lists = expr
            .children()
            .into_iter()
            .map(|part| self.of(part))
            .collect::<Option<Vec<_>>>()?;
        self.product(&lists, false, |values| match expr {
            Expr::Call(function, _) => function.apply(values),
            Expr::Cast(_, to) => values.first().map_or(Value::Null, |value| cast(value, *to)),
            _ => Value::Null,
        })
    }

    /// The results over all combinations, in which each value may also be `NULL`, since columns of
    /// files may be.
    fn product(
        &self,
        lists: &[Values],
        null_written: bool,
        mut of: impl FnMut(&[Value]) -> Value,
    ) -> Option<Values> {
        let null_declared = lists.iter().any(|list| list.contains(&Value::Null));
        let count = |extra: usize| {
            lists.iter().try_fold(1_usize, |product, list| {
                product.checked_mul(list.len().checked_add(extra)?)
            })
        };
        if count(0)? > self.limit || count(1)? > self.limit.saturating_mul(16).max(16) {
            return None;
        }
        let lists: Vec<Vec<Value>> = lists
            .iter()
            .map(|list| {
                let mut list = list.clone();
                list.insert(Value::Null);
                list.into_iter().collect()
            })
            .collect();
        let mut found = Values::new();
        let mut places = vec![0_usize; lists.len()];
        let mut values = vec![Value::Null; lists.len()];
        loop {
            for ((value, list), place) in values.iter_mut().zip(&lists).zip(&places) {
                value.clone_from(list.get(*place)?);
            }
            found.insert(of(&values));
            if !advance(&mut places, &lists) {
                break;
            }
        }
        if !null_written && !null_declared {
            found.remove(&Value::Null);
        }
        Some(found)
    }

    /// The values of all arguments that may be chosen.
    fn of_choice(&self, expr: &Expr) -> Option<Values> {
        let Expr::Call(function, arguments) = expr else {
            return None;
        };
        let chosen = if *function == Function::NullIf {
            1
        } else {
            arguments.len()
        };
        let mut all = Values::new();
        for part in arguments.iter().take(chosen) {
            all.extend(self.of(part)?);
        }
        Some(all)
    }

    /// The values of a function that maps an interval to few values, such as `date_trunc`.
    fn of_function(&self, expr: &Expr, kind: Type) -> Option<Values> {
        let Expr::Call(function, arguments) = expr else {
            return None;
        };
        match (function, arguments.as_slice()) {
            (Function::Truncate(unit), [part]) => self.units(part, *unit, kind),
            (Function::Bucket, [part, width]) => {
                let bounds = part.bounds(self.columns)?;
                let width = match width {
                    Expr::Literal(width, _) => width,
                    _ => return None,
                };
                self.buckets(bounds.low, bounds.high, width, kind)
            }
            (Function::Floor | Function::Ceil | Function::Round | Function::Sign, [_])
                if kind == Type::Number =>
            {
                let bounds = expr.bounds(self.columns)?;
                self.buckets(bounds.low, bounds.high, &Value::Number(1.0), kind)
            }
            _ => None,
        }
    }

    fn units(&self, part: &Expr, unit: TimeUnit, kind: Type) -> Option<Values> {
        let bounds = part.bounds(self.columns)?;
        let (low, high) = match kind {
            Type::Date => (f64::from(time::FIRST_DAY), f64::from(time::LAST_DAY)),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let mut at = towards_zero(bounds.low.max(low).floor())?;
        let last = towards_zero(bounds.high.min(high).floor())?;
        let mut found = Values::new();
        at = match kind {
            Type::Date => time::truncate_day(i32::try_from(at).ok()?, unit)?.into(),
            _ => time::truncate(at, unit)?,
        };
        while at <= last {
            if found.len() >= self.limit {
                return None;
            }
            let next = if kind == Type::Date {
                let day = i32::try_from(at).ok()?;
                found.insert(Value::Date(day));
                time::next_day(day, unit).map(i64::from)
            } else {
                found.insert(Value::Timestamp(at));
                time::next(at, unit)
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        Some(found)
    }

    fn buckets(&self, low: f64, high: f64, width: &Value, kind: Type) -> Option<Values> {
        if let (Type::Integer, Value::Integer(width)) = (kind, width) {
            let first = towards_zero(low.ceil())?.div_euclid(*width);
            let last = towards_zero(high.floor())?.div_euclid(*width);
            self.check(first, last)?;
            let starts = (first..=last).filter_map(|index| index.checked_mul(*width));
            return Some(starts.map(Value::Integer).collect());
        }
        // Rounding is monotone, so every index lies between those of the ends.
        let width = width.as_f64()?;
        let (first, last) = ((low / width).floor(), (high / width).floor());
        if first.abs() >= MOST_BUCKETS || last.abs() >= MOST_BUCKETS {
            return None;
        }
        let (first, last) = (towards_zero(first)?, towards_zero(last)?);
        self.check(first, last)?;
        #[allow(clippy::cast_precision_loss, reason = "below 2^53")]
        let start = |index: i64| Value::number(index as f64 * width);
        Some((first..=last).map(start).collect())
    }
}

fn booleans() -> Values {
    [Value::Boolean(false), Value::Boolean(true)].into()
}

/// The next combination; false after the last.
fn advance(places: &mut [usize], lists: &[Vec<Value>]) -> bool {
    for (place, list) in places.iter_mut().zip(lists) {
        if *place + 1 < list.len() {
            *place += 1;
            return true;
        }
        *place = 0;
    }
    false
}

/// Whether `NULL` is written as a result.
fn is_null_written(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(value, _) => value.is_null(),
        Expr::Case {
            branches,
            otherwise,
        } => is_null_written(otherwise) || branches.iter().any(|(_, then)| is_null_written(then)),
        Expr::Cast(inner, _) => is_null_written(inner),
        Expr::Column(_) | Expr::Call(..) => false,
    }
}
