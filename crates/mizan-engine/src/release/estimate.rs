//! Aggregates from noisy statistics: the value that is shown, and the interval that contains
//! the exact bounded answer with a given probability.
//!
//! Intervals cover the noise only. They follow from the release and the noise plan: no data is
//! read.
//!
//! - Counts and sums: the exact half width of their noise. The interval of a unit count that
//!   decided whether its group is shown extends further down ([`ThresholdedCount`]).
//! - Statistics with natural bounds (counts, means, variances) are clamped to them, value and
//!   interval; the interval keeps its width on the inner side ([`Interval::clamped`]).
//! - Means are ratios of two noisy numbers. For Gaussian noise: Fieller's interval, all θ with
//!   `(s - θ n)² <= z² (σ_s² + θ² σ_n²)`, which has exact coverage for any number of rows. For
//!   Laplace noise: the ratios of a box that contains both numbers. Where the count may be
//!   zero: the whole range.
//! - Variances: the range of a variance over a box of three intervals.
//! - Quantiles have no interval, because the neighbouring rows are private. Their rank error is
//!   known and stated in a note. If the release says that the group has too few rows for it,
//!   the value is NULL and the interval is the whole range.

use mizan_sql::{Aggregate, BoundedPlan, Bounds, Type, Value};

use super::group_size::GroupSize;
use super::interval::Interval;
use super::noise_plan::{NoiseParameters, StatisticMechanism};
use super::predict::{self, PLACE};
use super::released::NoisyCell;
use super::thresholded_count::ThresholdedCount;
use super::{ReleaseError, choose, width};

/// A value and its interval.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: Value,
    pub(super) interval: Option<Interval>,
}

/// How an aggregate is computed, with everything that does not depend on the group.
#[derive(Clone, Debug)]
enum Rule {
    Count {
        of: usize,
        half: f64,
        /// Set if this count decided whether the group is shown.
        shown: Option<ThresholdedCount>,
    },
    Sum {
        sum: usize,
        count: Option<usize>,
        step: f64,
        centre: f64,
        half: f64,
        integer: bool,
        /// The possible sums of values within the bounds: non-negative, non-positive, or all.
        range: (f64, f64),
    },
    Mean {
        sum: usize,
        count: usize,
        step: f64,
        centre: f64,
        bounds: Bounds,
        ratio: Ratio,
    },
    Variance(Box<Variance>),
    Quantile {
        histogram: usize,
        place: usize,
        step: f64,
        centre: f64,
        bounds: Bounds,
        kind: Type,
        /// How many rows the group has, and up to how many the value is arbitrary.
        size: GroupSize,
        arbitrary_up_to: f64,
    },
}

/// How the interval of a ratio is computed.
#[derive(Clone, Copy, Debug)]
enum Ratio {
    Fieller { z: f64, sum: f64, count: f64 },
    Boxed { sum: f64, count: f64 },
}

#[derive(Clone, Debug)]
struct Variance {
    sum: usize,
    squares: usize,
    count: usize,
    step: f64,
    square_step: f64,
    halves: (f64, f64, f64),
    /// The largest variance of values within the bounds.
    most: f64,
    sample: bool,
    root: bool,
}

/// The rules of all aggregates of a plan, at one error probability.
#[derive(Clone, Debug)]
pub(super) struct Estimator {
    rules: Vec<Rule>,
    /// For each statistic, how many steps of the released integer are one step of the
    /// statistic.
    fineness: Vec<i64>,
}

impl Estimator {
    /// Intervals that each miss with probability at most `missed`.
    pub(super) fn new(
        plan: &BoundedPlan,
        noise: &NoiseParameters,
        missed: f64,
    ) -> Result<Self, ReleaseError> {
        let aggregates = plan.output.aggregates.iter().enumerate();
        let rule = |(place, aggregate)| rule(plan, noise, place, aggregate, missed);
        Ok(Self {
            rules: aggregates.map(rule).collect::<Result<_, _>>()?,
            fineness: (plan.statistics.iter())
                .map(|statistic| plan.fineness(statistic))
                .collect(),
        })
    }

    /// The aggregates of a group.
    pub(super) fn estimates(&self, cells: &[NoisyCell]) -> Result<Vec<Estimate>, ReleaseError> {
        let estimate = |rule: &Rule| rule.estimate(cells, &self.fineness);
        self.rules.iter().map(estimate).collect()
    }
}

fn rule(
    plan: &BoundedPlan,
    noise: &NoiseParameters,
    place: usize,
    aggregate: &Aggregate,
    missed: f64,
) -> Result<Rule, ReleaseError> {
    let half = |statistic: usize, missed: f64| -> Result<f64, ReleaseError> {
        let half = noise.mechanism(statistic)?.half_width(missed)?;
        Ok(half.ok_or(PLACE)? / predict::fineness(plan, statistic)?)
    };
    Ok(match aggregate {
        Aggregate::Count { of } => Rule::Count {
            of: *of,
            half: half(*of, missed)?,
            shown: match noise.threshold {
                Some(threshold) if *of == 0 => {
                    ThresholdedCount::new(noise.mechanism(*of)?, threshold, missed)?
                }
                _ => None,
            },
        },
        Aggregate::Sum {
            sum,
            count,
            integer,
        } => {
            let quantized = predict::quantized(plan, *sum)?;
            let width = predict::half_width(plan, &noise.mechanisms, place, missed)?;
            Rule::Sum {
                sum: *sum,
                count: *count,
                step: quantized.step(),
                centre: quantized.centre,
                half: width.ok_or(PLACE)?,
                integer: *integer,
                range: (
                    if quantized.bounds.low >= 0.0 {
                        0.0
                    } else {
                        f64::NEG_INFINITY
                    },
                    if quantized.bounds.high <= 0.0 {
                        0.0
                    } else {
                        f64::INFINITY
                    },
                ),
            }
        }
        Aggregate::Mean { sum, count } => {
            let quantized = predict::quantized(plan, *sum)?;
            let noises = (noise.mechanism(*sum)?, noise.mechanism(*count)?);
            let ratio = match noises {
                (
                    StatisticMechanism::Gaussian { sigma: s, .. },
                    StatisticMechanism::Gaussian { sigma: n, .. },
                ) if s.min(*n) >= width::SMOOTH => {
                    Ratio::Fieller {
                        // Half a step of the lattice is added: for any θ it is at most half of
                        // √(σ_s² + θ² σ_n²) over the smaller σ.
                        z: width::deviations(missed)? + 0.5 / s.min(*n),
                        sum: s / predict::fineness(plan, *sum)?,
                        count: n / predict::fineness(plan, *count)?,
                    }
                }
                _ => Ratio::Boxed {
                    sum: half(*sum, missed / 2.0)?,
                    count: half(*count, missed / 2.0)?,
                },
            };
            Rule::Mean {
                sum: *sum,
                count: *count,
                step: quantized.step(),
                centre: quantized.centre,
                bounds: quantized.bounds,
                ratio,
            }
        }
        Aggregate::Variance {
            sum,
            squares,
            count,
            sample,
            root,
        } => {
            let quantized = predict::quantized(plan, *sum)?;
            let range = quantized.bounds.high - quantized.bounds.low;
            let third = missed / 3.0;
            Rule::Variance(Box::new(Variance {
                sum: *sum,
                squares: *squares,
                count: *count,
                step: quantized.step(),
                square_step: predict::quantized(plan, *squares)?.step(),
                halves: (
                    half(*sum, third)?,
                    half(*squares, third)?,
                    half(*count, third)?,
                ),
                most: range * range / 4.0,
                sample: *sample,
                root: *root,
            }))
        }
        Aggregate::Quantile {
            histogram,
            at,
            kind,
        } => {
            let quantized = predict::quantized(plan, *histogram)?;
            let error = predict::rank_error_of(plan, &noise.mechanisms, aggregate)?;
            let up_to = error.ok_or(PLACE)?.arbitrary_up_to;
            Rule::Quantile {
                histogram: *histogram,
                place: predict::place_of(plan, *histogram, *at)?,
                step: quantized.step(),
                centre: quantized.centre,
                bounds: quantized.bounds,
                kind: *kind,
                size: GroupSize::new(plan, &noise.mechanisms, *histogram)?,
                arbitrary_up_to: choose::as_f64(up_to),
            }
        }
    })
}

impl Rule {
    fn estimate(&self, cells: &[NoisyCell], fineness: &[i64]) -> Result<Estimate, ReleaseError> {
        let integer = |statistic: &usize| match cells.get(*statistic) {
            Some(NoisyCell::Integer(value)) => Ok(*value),
            _ => Err(ReleaseError::Shape),
        };
        let all_fineness = fineness;
        let fineness = |statistic: &usize| match fineness.get(*statistic) {
            Some(fineness) => Ok(*fineness),
            None => Err(ReleaseError::Shape),
        };
        let number = |statistic: &usize| -> Result<f64, ReleaseError> {
            Ok(as_f64(integer(statistic)?) / as_f64(fineness(statistic)?))
        };
        match self {
            Self::Count { of, half, shown } => {
                let (raw, noisy) = (integer(of)?, number(of)?);
                // Counts are shown as whole numbers although the released integers may be
                // finer. A count is not negative.
                let fineness = fineness(of)?;
                let whole = raw.saturating_add(fineness / 2).div_euclid(fineness).max(0);
                let mut low = noisy - half;
                if let Some(shown) = shown {
                    low = low.min(as_f64(shown.least(raw)));
                }
                let interval = Interval::clamped((low, noisy + half), noisy, (0.0, f64::INFINITY));
                Ok(Estimate {
                    value: Value::Integer(whole),
                    interval: interval.and_then(|interval| {
                        Interval::with(interval.low, interval.high, as_f64(whole))
                    }),
                })
            }
            Self::Sum {
                sum,
                count,
                step,
                centre,
                half,
                integer: whole,
                range,
            } => {
                let offset = match count {
                    Some(count) => centre * number(count)?,
                    None => 0.0,
                };
                let total = step * number(sum)? + offset;
                let (value, shown) = if *whole {
                    (Value::Integer(to_i64(total.round())), total.round())
                } else {
                    (Value::number(total), total)
                };
                // The value is not clamped, so that sums over groups are unbiased. The interval
                // is clamped to the possible sums.
                let (low, high) = (total - half, total + half);
                let possible = Interval::clamped((low, high), total, *range);
                let hull = possible.and_then(|possible| {
                    Interval::with(low.min(possible.low), high.max(possible.high), shown)
                });
                Ok(Estimate {
                    value,
                    interval: hull,
                })
            }
            Self::Mean {
                sum,
                count,
                step,
                centre,
                bounds,
                ratio,
            } => {
                let (s, n) = (number(sum)?, number(count)?);
                let at = |theta: f64| centre + step * theta;
                let mean = at(if n >= 1.0 { s / n } else { 0.0 });
                let value = mean.clamp(bounds.low, bounds.high);
                let range = (bounds.low, bounds.high);
                let interval = match ratio.interval(s, n) {
                    Some((low, high)) if n >= 1.0 => {
                        let interval = Interval::clamped((at(low), at(high)), mean, range);
                        interval
                            .and_then(|interval| Interval::with(interval.low, interval.high, value))
                    }
                    _ => Interval::new(bounds.low, bounds.high),
                };
                Ok(Estimate {
                    value: Value::number(value),
                    interval,
                })
            }
            Self::Variance(rule) => {
                let (s, q, n) = (
                    number(&rule.sum)?,
                    number(&rule.squares)?,
                    number(&rule.count)?,
                );
                Ok(rule.estimate(s, q, n))
            }
            Self::Quantile {
                histogram,
                place,
                step,
                centre,
                bounds,
                kind,
                size,
                arbitrary_up_to,
            } => {
                let cell = cells.get(*histogram).and_then(NoisyCell::quantiles);
                let values = cell.ok_or(ReleaseError::Shape)?;
                let rows = size.of(cells, all_fineness)?;
                if rows.is_some_and(|rows| rows <= *arbitrary_up_to) {
                    // The selected value says nothing about the group.
                    return Ok(Estimate {
                        value: Value::Null,
                        interval: Interval::new(bounds.low, bounds.high),
                    });
                }
                let chosen = as_f64(values.get(*place).copied().ok_or(ReleaseError::Shape)?);
                let value = (centre + step * chosen).clamp(bounds.low, bounds.high);
                Ok(Estimate {
                    value: typed(value, *kind),
                    interval: None,
                })
            }
        }
    }
}

impl Ratio {
    /// The interval of `s / n`; None if the count may be zero or negative.
    fn interval(self, s: f64, n: f64) -> Option<(f64, f64)> {
        match self {
            Self::Fieller { z, sum, count } => {
                // a θ² - 2 b θ + c <= 0
                let a = n * n - z * z * count * count;
                if n <= 0.0 || a <= 0.0 {
                    return None;
                }
                let root = z
                    * (n * n * sum * sum + (s * s - z * z * sum * sum) * count * count)
                        .max(0.0)
                        .sqrt();
                Some(((s * n - root) / a, (s * n + root) / a))
            }
            Self::Boxed { sum, count } => {
                let (few, many) = (n - count, n + count);
                if few < 1.0 {
                    return None;
                }
                let (low, high) = (s - sum, s + sum);
                let least = if low < 0.0 { low / few } else { low / many };
                let most = if high < 0.0 { high / many } else { high / few };
                Some((least, most))
            }
        }
    }
}

impl Variance {
    fn estimate(&self, s: f64, q: f64, n: f64) -> Estimate {
        let fewest = if self.sample { 2.0 } else { 1.0 };
        let correction = |n: f64| if self.sample { n / (n - 1.0) } else { 1.0 };
        let finish = |variance: f64, n: f64| {
            let variance = variance.clamp(0.0, self.most) * correction(n);
            if self.root { variance.sqrt() } else { variance }
        };
        let rows = n.max(fewest);
        // Divide first: a sum of squares may overflow a double although their mean does not.
        let mean = self.step * (s / rows);
        let variance = self.square_step * (q / rows) - mean * mean;
        let value = finish(variance, rows);
        let (half_s, half_q, half_n) = self.halves;
        // A count far below the minimum of a variance keeps its width, as counts do.
        let (few, many) = ((n - half_n).max(fewest), rows + half_n);
        // The mean of squares and the mean, each from the corners of the box.
        let per = |value: f64, least: bool| {
            let divisor = if (value < 0.0) == least { few } else { many };
            value / divisor
        };
        let squares = (
            self.square_step * per(q - half_q, true),
            self.square_step * per(q + half_q, false),
        );
        let means = (
            self.step * per(s - half_s, true),
            self.step * per(s + half_s, false),
        );
        let largest = means.0.abs().max(means.1.abs());
        let smallest = if means.0 <= 0.0 && means.1 >= 0.0 {
            0.0
        } else {
            means.0.abs().min(means.1.abs())
        };
        let ends = (
            squares.0 - largest * largest,
            squares.1 - smallest * smallest,
        );
        let clamped = Interval::clamped(ends, variance, (0.0, self.most));
        let interval = clamped.and_then(|interval| {
            let (low, high) = (finish(interval.low, many), finish(interval.high, few));
            Interval::with(low, high, value)
        });
        // The noise overflows a double: nothing is known.
        let everything = || Interval::new(0.0, finish(self.most, few));
        Estimate {
            value: Value::number(value),
            interval: interval.or_else(everything),
        }
    }
}

/// A number as a value of a type.
pub(super) fn typed(value: f64, kind: Type) -> Value {
    match kind {
        Type::Integer => Value::Integer(to_i64(value.round())),
        Type::Timestamp => Value::Timestamp(to_i64(value.round())),
        Type::Date => Value::Date(to_i32(value.round())),
        Type::Number => Value::number(value),
        Type::Boolean | Type::Text => Value::Null,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "beyond 32 bits it saturates"
)]
const fn to_i32(value: f64) -> i32 {
    value as i32
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "beyond 64 bits it saturates"
)]
pub(super) const fn to_i64(value: f64) -> i64 {
    value as i64
}

#[allow(
    clippy::cast_precision_loss,
    reason = "noise is wider than what is lost"
)]
pub(super) const fn as_f64(value: i64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 people with the same value near the largest double: the sum of squares overflows,
    /// and the variance is zero.
    #[test]
    fn a_variance_of_large_values_is_in_its_interval() {
        let rule = Variance {
            sum: 0,
            squares: 1,
            count: 2,
            step: 1e146,
            square_step: 1e299,
            halves: (1e4, 1e4, 0.0),
            most: 1e306,
            sample: false,
            root: false,
        };
        let estimate = rule.estimate(500e7, 500e7, 500.0);
        let value = estimate.value.as_f64();
        assert!(
            value
                .zip(estimate.interval)
                .is_some_and(|(value, interval)| {
                    interval.low <= value && value <= interval.high && value < 1e300
                }),
            "{value:?} in {:?}",
            estimate.interval
        );
    }
}
