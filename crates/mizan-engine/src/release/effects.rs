//! The effect of contribution bounds on an answer: the bounds of the plan, and what the noisy
//! answer shows about them.
//!
//! Bounds are public, and the rest is read from the release: post-processing, which costs
//! nothing.

use mizan_sql::{Aggregate, BoundedPlan, Bounds, Effect, End, Measure, Quantized, Share, Value};

use super::ReleaseError;
use super::estimate::Estimate;
use super::interval::Interval;
use super::predict::PLACE;

/// An interval is narrow if it is at most this share of the declared range.
const NARROW: f64 = 0.1;

/// How often an aggregate is at the end of its range.
#[derive(Clone, Copy, Debug, Default)]
struct AtEnd {
    low: usize,
    high: usize,
}

/// The bounds that may have changed an answer, given the estimates of its groups.
///
/// # Errors
///
/// The estimates are not those of the plan.
pub(super) fn effects(
    plan: &BoundedPlan,
    groups: &[Vec<Estimate>],
) -> Result<Vec<Effect>, ReleaseError> {
    let mut effects = plan.limits();
    // Without bounds there is nothing to report.
    if effects.is_empty() {
        return Ok(effects);
    }
    for (place, aggregate) in plan.output.aggregates.iter().enumerate() {
        let Some((grid, margin)) = grid(plan, aggregate)? else {
            continue;
        };
        let mut ends = AtEnd::default();
        for group in groups {
            let estimate = group.get(place).ok_or(ReleaseError::Shape)?;
            ends.add(estimate, grid.bounds, margin);
        }
        let sides = [(ends.low, End::Lower), (ends.high, End::Upper)];
        for (count, end) in sides.into_iter().filter(|(count, _)| *count > 0) {
            effects.push(Effect::AtBound {
                aggregate: plan.aggregate_name(place),
                end,
                groups: (groups.len() != 1).then(|| Share::of(count, groups.len())),
            });
        }
    }
    Ok(effects)
}

/// The grid of an aggregate whose range is that of its values, and the distance that counts as
/// being at the end.
fn grid<'a>(
    plan: &'a BoundedPlan,
    aggregate: &Aggregate,
) -> Result<Option<(&'a Quantized, f64)>, ReleaseError> {
    let (statistic, steps) = match aggregate {
        Aggregate::Mean { sum, .. } => (*sum, 0.0),
        Aggregate::Quantile { histogram, .. } => (*histogram, 1.0),
        Aggregate::Count { .. } | Aggregate::Sum { .. } | Aggregate::Variance { .. } => {
            return Ok(None);
        }
    };
    Ok(
        match &plan.statistics.get(statistic).ok_or(PLACE)?.measure {
            Measure::Scaled(_, grid, _) | Measure::Histogram(_, grid) => {
                Some((grid, steps * grid.step()))
            }
            _ => None,
        },
    )
}

impl AtEnd {
    /// A wide interval says nothing: it touches a bound anyway.
    fn add(&mut self, estimate: &Estimate, bounds: Bounds, margin: f64) {
        let interval = estimate.interval.or_else(|| point(&estimate.value));
        let Some(Interval { low, high }) = interval else {
            return;
        };
        if high - low > (bounds.high - bounds.low) * NARROW {
            return;
        }
        self.low += usize::from(low <= bounds.low + margin);
        self.high += usize::from(high >= bounds.high - margin);
    }
}

/// A value as an interval of width zero, in the unit of the bounds.
#[allow(clippy::cast_precision_loss, reason = "a step of the grid is wider")]
fn point(value: &Value) -> Option<Interval> {
    let value = match value {
        Value::Date(days) => f64::from(*days),
        Value::Timestamp(microseconds) => *microseconds as f64,
        other => other.as_f64()?,
    };
    Interval::new(value, value)
}
