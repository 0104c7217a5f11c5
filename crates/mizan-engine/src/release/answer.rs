//! The answer for the analyst: values with the intervals of their noise, in the columns and the
//! order of the query.
//!
//! All of this is post-processing of the release: `HAVING`, `ORDER BY` and `LIMIT` read noisy
//! values only and cost nothing.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use mizan_sql::{
    Aggregate, BoundedPlan, Effect, Expr, Groups, Note, Order, OutputColumn, Share, Type, Value,
};

use super::choose::MISSED;
use super::effects::effects;
use super::estimate::{Estimate, Estimator, typed};
use super::interval::{self, Interval};
use super::noise_plan::{NoisePlan, StatisticMechanism};
use super::predict::RankError;
use super::released::{Group, Released};
use super::{ReleaseError, predict};

/// A cell of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerCell {
    /// A value without noise: a key, or an expression of keys.
    Key(Value),
    /// A value with noise.
    Estimate {
        /// The noisy value.
        value: Value,
        /// With 95 % probability the exact bounded answer is not below this; None if there is
        /// no interval.
        low: Option<Value>,
        /// The same for the upper end.
        high: Option<Value>,
    },
}

impl AnswerCell {
    /// The value of the cell.
    #[must_use]
    pub const fn value(&self) -> &Value {
        match self {
            Self::Key(value) | Self::Estimate { value, .. } => value,
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows, with one cell for each column.
    pub rows: Vec<Vec<AnswerCell>>,
    /// The rank error of every column that is a quantile.
    pub ranks: Vec<Option<RankError>>,
    /// The contribution bounds that may have changed the answer; empty if none can.
    pub clamping: Vec<Effect>,
    /// What else an analyst should know.
    pub notes: Vec<Note>,
}

/// Computes the answer of a query from its release.
///
/// # Errors
///
/// The release belongs to another noise plan or another plan.
pub(crate) fn answer(
    plan: &BoundedPlan,
    noise_plan: &NoisePlan,
    released: &Released,
) -> Result<Answer, ReleaseError> {
    if released.noise != noise_plan.noise || !noise_plan.is_for(plan) {
        return Err(ReleaseError::Stored {
            what: "it was released with other noise",
        });
    }
    let keys = plan.keys.len();
    let columns = Columns::new(plan, released, keys)?;
    let mut rows = Vec::with_capacity(released.groups.len());
    for group in &released.groups {
        let row = columns.values(group)?;
        let kept = match &plan.output.having {
            Some(having) => having.eval(&row) == Value::Boolean(true),
            None => true,
        };
        if kept {
            let by: Vec<Value> = plan
                .output
                .order
                .iter()
                .map(|order| order.expression.eval(&row))
                .collect();
            rows.push((by, row, group));
        }
    }
    rows.sort_by(|(a, ..), (b, ..)| in_order(&plan.output.order, a, b));
    let skipped = usize::try_from(plan.output.offset).unwrap_or(usize::MAX);
    let limit = plan.output.limit.unwrap_or(u64::MAX);
    let taken = usize::try_from(limit).unwrap_or(usize::MAX);
    let rows = rows.into_iter().skip(skipped).take(taken);
    let shown = rows.map(|(_, row, group)| columns.cells(&row, group));
    let names = plan.output.columns.iter();
    let all = columns.all(released)?;
    Ok(Answer {
        rows: shown.collect::<Result<_, _>>()?,
        ranks: columns.ranks(&released.noise.mechanisms)?,
        columns: names.map(|column| column.name.clone()).collect(),
        clamping: effects(plan, &all)?,
        notes: notes(plan, released, &all)?,
    })
}

/// The order of two rows.
fn in_order(order: &[Order], a: &[Value], b: &[Value]) -> Ordering {
    let compare = |(order, (a, b)): (&Order, (&Value, &Value))| {
        let nulls = if order.nulls_first {
            Ordering::Less
        } else {
            Ordering::Greater
        };
        match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => nulls,
            (false, true) => nulls.reverse(),
            (false, false) => {
                let ordering = a.compare(b).unwrap_or(Ordering::Equal);
                if order.descending {
                    ordering.reverse()
                } else {
                    ordering
                }
            }
        }
    };
    let mut pairs = order.iter().zip(a.iter().zip(b)).map(compare);
    pairs
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The columns of the answer, and how many aggregates each uses.
struct Columns<'a> {
    plan: &'a BoundedPlan,
    keys: usize,
    /// How many aggregates each column uses.
    parts: Vec<usize>,
    /// An estimator for each number of aggregates that share the error probability of one
    /// interval.
    estimators: BTreeMap<usize, Estimator>,
}

impl<'a> Columns<'a> {
    fn new(plan: &'a BoundedPlan, released: &Released, keys: usize) -> Result<Self, ReleaseError> {
        let noisy = |expr: &Expr| {
            expr.columns()
                .iter()
                .filter(|&&place| place >= keys)
                .count()
        };
        let columns = plan.output.columns.iter();
        let parts: Vec<usize> = columns.map(|column| noisy(&column.expression)).collect();
        let mut estimators = BTreeMap::new();
        for &parts in parts.iter().chain([&1]) {
            if parts > 0 && !estimators.contains_key(&parts) {
                #[allow(clippy::cast_precision_loss, reason = "there are few columns")]
                let missed = MISSED / parts as f64;
                estimators.insert(parts, Estimator::new(plan, &released.noise, missed)?);
            }
        }
        Ok(Self {
            plan,
            keys,
            parts,
            estimators,
        })
    }

    fn estimates(&self, parts: usize, group: &Group) -> Result<Vec<Estimate>, ReleaseError> {
        let estimator = self.estimators.get(&parts).ok_or(ReleaseError::Shape)?;
        estimator.estimates(&group.cells)
    }

    /// The aggregates of all groups, each with its own interval.
    fn all(&self, released: &Released) -> Result<Vec<Vec<Estimate>>, ReleaseError> {
        let groups = released.groups.iter();
        groups.map(|group| self.estimates(1, group)).collect()
    }

    /// The rank errors of the quantiles.
    fn ranks(
        &self,
        mechanisms: &[StatisticMechanism],
    ) -> Result<Vec<Option<RankError>>, ReleaseError> {
        let aggregates = &self.plan.output.aggregates;
        let rank = |column: &OutputColumn| {
            let aggregate = match column.expression {
                Expr::Column(place) => place.checked_sub(self.keys),
                _ => None,
            };
            match aggregate.and_then(|place| aggregates.get(place)) {
                Some(aggregate) => predict::rank_error_of(self.plan, mechanisms, aggregate),
                None => Ok(None),
            }
        };
        self.plan.output.columns.iter().map(rank).collect()
    }

    /// Keys and aggregates, as expressions read them.
    fn values(&self, group: &Group) -> Result<Vec<Value>, ReleaseError> {
        if group.key.len() != self.keys {
            return Err(ReleaseError::Shape);
        }
        let mut row = group.key.clone();
        row.extend(
            self.estimates(1, group)?
                .into_iter()
                .map(|estimate| estimate.value),
        );
        Ok(row)
    }

    fn cells(&self, row: &[Value], group: &Group) -> Result<Vec<AnswerCell>, ReleaseError> {
        let columns = self.plan.output.columns.iter().zip(&self.parts);
        let cell = |(column, &parts): (&OutputColumn, &usize)| {
            let value = column.expression.eval(row);
            if parts == 0 {
                return Ok(AnswerCell::Key(value));
            }
            let exact = (0..self.keys).map(|_| None);
            let estimates = self.estimates(parts, group)?.into_iter();
            let intervals: Vec<Option<Option<Interval>>> = exact
                .chain(estimates.map(|estimate| Some(estimate.interval)))
                .collect();
            let interval = match (&value, &column.expression) {
                // A NULL aggregate may be anything within its interval. An expression of it may
                // be NULL for another reason.
                (Value::Null, expression) if !matches!(expression, Expr::Column(_)) => None,
                _ => interval::of(&column.expression, row, &intervals),
            };
            let end = |end: f64, outward: fn(f64) -> f64| match column.kind {
                Type::Number => Value::number(end),
                kind => typed(outward(end), kind),
            };
            // Bounds beyond 64 bits would all be shown as the same number.
            let interval = interval.filter(|interval| is_within(column.kind, *interval));
            Ok(AnswerCell::Estimate {
                value,
                low: interval.map(|interval| end(interval.low, f64::floor)),
                high: interval.map(|interval| end(interval.high, f64::ceil)),
            })
        };
        columns.map(cell).collect()
    }
}

/// Whether a type can represent both ends of an interval.
fn is_within(kind: Type, interval: Interval) -> bool {
    let largest = match kind {
        Type::Number => f64::INFINITY,
        Type::Date => f64::from(i32::MAX),
        _ => 9.2e18,
    };
    interval.low.abs().max(interval.high.abs()) <= largest
}

/// The notes of an answer: from the noise plan and from the release.
fn notes(
    plan: &BoundedPlan,
    released: &Released,
    groups: &[Vec<Estimate>],
) -> Result<Vec<Note>, ReleaseError> {
    let noise = &released.noise;
    let mut notes = plan.notes.clone();
    if let (Groups::Private, Some(threshold)) = (&plan.groups, noise.threshold) {
        notes.push(Note::ThresholdedGroups {
            threshold: threshold.above,
        });
    }
    if chosen_by_noise(plan) {
        notes.push(Note::SelectedByNoise);
    }
    let ranks = predict::quantile_ranks(plan, &noise.mechanisms)?;
    notes.extend(ranks.into_iter().map(Note::QuantileRank));
    for (place, aggregate) in plan.output.aggregates.iter().enumerate() {
        let mut count = 0;
        for group in groups {
            let estimate = group.get(place).ok_or(ReleaseError::Shape)?;
            count += usize::from(estimate.value.is_null());
        }
        if count == 0 || !matches!(aggregate, Aggregate::Quantile { .. }) {
            continue;
        }
        notes.push(Note::TooFewRows {
            aggregate: plan.aggregate_name(place),
            groups: (!plan.keys.is_empty()).then(|| Share::of(count, groups.len())),
        });
    }
    Ok(notes)
}

/// Whether `HAVING` or `LIMIT` selects rows by noisy values.
fn chosen_by_noise(plan: &BoundedPlan) -> bool {
    let output = &plan.output;
    let noisy = |expr: &Expr| expr.columns().iter().any(|&place| place >= plan.keys.len());
    let cut = output.limit.is_some() || output.offset > 0;
    let order = output.order.iter().map(|order| &order.expression);
    output.having.as_ref().is_some_and(noisy) || cut && order.into_iter().any(noisy)
}
