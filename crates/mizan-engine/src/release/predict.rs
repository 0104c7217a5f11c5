//! The predicted error of an answer, before private data is read.

use mizan_sql::{
    Aggregate, BoundedPlan, Expr, Measure, OutputColumn, QuantileRank, Quantized, RankTarget,
};

use super::choose::{MISSED, as_f64, candidates, quantiles_of};
use super::group_size::GroupSize;
use super::noise_plan::{NoisePlan, StatisticMechanism};
use super::quantile_target::{self, QuantileTarget};
use super::{ReleaseError, recursive, tree, width};

/// The prediction for a noisy column.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// The name of the column.
    pub name: String,
    /// With 95 % probability the answer is within this distance of the exact bounded answer.
    /// None where it depends on the data: ratios, quantiles, and expressions of several
    /// aggregates.
    pub half_width: Option<f64>,
}

/// The prediction for each noisy column, in order.
///
/// # Errors
///
/// The plan is inconsistent. Its answer could not be computed either.
pub(crate) fn predicted(
    plan: &BoundedPlan,
    noise_plan: &NoisePlan,
) -> Result<Vec<Predicted>, ReleaseError> {
    let (keys, mechanisms) = (plan.keys.len(), &noise_plan.noise.mechanisms);
    let noisy = |column: &&OutputColumn| {
        let columns = column.expression.columns();
        columns.iter().any(|&place| place >= keys)
    };
    let predict = |column: &OutputColumn| {
        let aggregate = match column.expression {
            Expr::Column(place) => place.checked_sub(keys),
            _ => None,
        };
        let half_width = match aggregate {
            Some(place) => shown_half_width(plan, mechanisms, place, MISSED)?,
            None => None,
        };
        Ok(Predicted {
            name: column.name.clone(),
            half_width,
        })
    };
    let columns = plan.output.columns.iter();
    columns.filter(noisy).map(predict).collect()
}

/// The half width of a count or a sum as it is shown, which it exceeds with probability at most
/// `missed`, in its own units; None for other aggregates.
pub(super) fn shown_half_width(
    plan: &BoundedPlan,
    mechanisms: &[StatisticMechanism],
    aggregate: usize,
    missed: f64,
) -> Result<Option<f64>, ReleaseError> {
    let width = half_width(plan, mechanisms, aggregate, missed)?;
    let rounding = rounding(plan, aggregate)?;
    Ok(width.map(|width| width + rounding))
}

/// The largest difference between the released and the shown value, of which whole numbers are
/// shown.
fn rounding(plan: &BoundedPlan, aggregate: usize) -> Result<f64, ReleaseError> {
    let is_whole = match plan.output.aggregates.get(aggregate) {
        Some(Aggregate::Count { of }) => fineness(plan, *of)? <= 1.0,
        Some(Aggregate::Sum {
            sum,
            count,
            integer: true,
        }) => {
            let quantized = quantized(plan, *sum)?;
            let step = quantized.step() / fineness(plan, *sum)?;
            let centre = match count {
                Some(count) => quantized.centre / fineness(plan, *count)?,
                None => 0.0,
            };
            step.fract() == 0.0 && centre.fract() == 0.0
        }
        _ => true,
    };
    Ok(if is_whole { 0.0 } else { 0.5 })
}

/// The half width of a count or a sum as it was released, which it exceeds with probability at
/// most `missed`, in its own units; None for other aggregates.
pub(super) fn half_width(
    plan: &BoundedPlan,
    mechanisms: &[StatisticMechanism],
    aggregate: usize,
    missed: f64,
) -> Result<Option<f64>, ReleaseError> {
    match plan.output.aggregates.get(aggregate) {
        Some(Aggregate::Count { of }) => {
            let fineness = fineness(plan, *of)?;
            let width = mechanism(mechanisms, *of)?.half_width(missed)?;
            Ok(width.map(|width| width / fineness))
        }
        Some(Aggregate::Sum { sum, count, .. }) => {
            let quantized = quantized(plan, *sum)?;
            let step = quantized.step() / fineness(plan, *sum)?;
            let noise = (step, mechanism(mechanisms, *sum)?);
            match count {
                Some(count) if quantized.centre != 0.0 => {
                    let centre = quantized.centre.abs() / fineness(plan, *count)?;
                    let centre = (centre, mechanism(mechanisms, *count)?);
                    width::of_two(noise, centre, missed)
                }
                _ => {
                    let width = noise.1.half_width(missed)?;
                    Ok(width.map(|width| width * noise.0))
                }
            }
        }
        _ => Ok(None),
    }
}

/// The value by which two families of noise are compared: less is better.
pub(super) fn yardstick(
    plan: &BoundedPlan,
    mechanisms: &[StatisticMechanism],
    missed: f64,
) -> Result<f64, ReleaseError> {
    let of_statistic = |statistic: usize| -> Result<f64, ReleaseError> {
        let width = mechanism(mechanisms, statistic)?.half_width(missed)?;
        Ok(width.ok_or(PLACE)? / fineness(plan, statistic)?)
    };
    match plan.output.aggregates.first() {
        Some(Aggregate::Count { .. } | Aggregate::Sum { .. }) => {
            half_width(plan, mechanisms, 0, missed)?.ok_or(PLACE)
        }
        Some(Aggregate::Mean { sum, .. } | Aggregate::Variance { sum, .. }) => {
            Ok(of_statistic(*sum)? * quantized(plan, *sum)?.step())
        }
        Some(Aggregate::Quantile { histogram, at, .. }) => {
            Ok(as_f64(rank_error(plan, mechanisms, *histogram, *at)?))
        }
        None if plan.statistics.is_empty() => Ok(0.0),
        None => of_statistic(0),
    }
}

/// The rank error of a quantile, with 95 % probability.
pub(super) fn rank_error(
    plan: &BoundedPlan,
    mechanisms: &[StatisticMechanism],
    histogram: usize,
    at: f64,
) -> Result<u64, ReleaseError> {
    let candidates = candidates(quantized(plan, histogram)?.range());
    match mechanism(mechanisms, histogram)? {
        StatisticMechanism::Select {
            epsilon,
            rows,
            targets,
        } => {
            let target = targets.get(place_of(plan, histogram, at)?).ok_or(PLACE)?;
            Ok(target.rank_error(*epsilon, *rows, candidates))
        }
        StatisticMechanism::Recursive {
            epsilon,
            rows,
            targets,
        } => {
            let target = targets.get(place_of(plan, histogram, at)?).ok_or(PLACE)?;
            match target.parts() {
                None => Ok(target.rank_error(*epsilon, *rows, candidates)),
                Some(parts) => {
                    let all = recursive::fractions(targets);
                    let errors = recursive::rank_errors(&all, *epsilon, *rows, candidates)?;
                    let found = all.binary_search(&parts).ok();
                    let error = found.and_then(|place| errors.get(place)).ok_or(PLACE)?;
                    Ok(quantile_target::whole_rows(*error))
                }
            }
        }
        StatisticMechanism::Tree { noise, levels, .. } => tree::rank_error(noise, *levels),
        _ => Err(PLACE),
    }
}

/// The rank error of a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankError {
    /// With 95 % probability its rank is within this many rows of the target rank.
    pub rows: u64,
    /// In a group of at most this many rows all ranks are within the rank error, and the value
    /// is arbitrary.
    pub arbitrary_up_to: u64,
}

/// The rank error of an aggregate that is a quantile; None for other aggregates.
pub(super) fn rank_error_of(
    plan: &BoundedPlan,
    mechanisms: &[StatisticMechanism],
    aggregate: &Aggregate,
) -> Result<Option<RankError>, ReleaseError> {
    let Aggregate::Quantile { histogram, at, .. } = aggregate else {
        return Ok(None);
    };
    let rows = rank_error(plan, mechanisms, *histogram, *at)?;
    let targets = mechanism(mechanisms, *histogram)?.targets().ok_or(PLACE)?;
    let target = targets.get(place_of(plan, *histogram, *at)?).ok_or(PLACE)?;
    Ok(Some(RankError {
        rows,
        arbitrary_up_to: target.covered_by(rows),
    }))
}

/// The rank errors of quantiles, and up to which group size their values are arbitrary.
pub(super) fn quantile_ranks(
    plan: &BoundedPlan,
    mechanisms: &[StatisticMechanism],
) -> Result<Vec<QuantileRank>, ReleaseError> {
    let mut ranks = Vec::new();
    for (place, aggregate) in plan.output.aggregates.iter().enumerate() {
        let Aggregate::Quantile { histogram, at, .. } = aggregate else {
            continue;
        };
        let Some(error) = rank_error_of(plan, mechanisms, aggregate)? else {
            continue;
        };
        let mechanism = mechanism(mechanisms, *histogram)?;
        let targets = mechanism.targets().ok_or(PLACE)?;
        let target = targets.get(place_of(plan, *histogram, *at)?).ok_or(PLACE)?;
        let recursive = matches!(mechanism, StatisticMechanism::Recursive { .. });
        let fraction = matches!(target, QuantileTarget::Fraction { .. });
        ranks.push(QuantileRank {
            aggregate: plan.aggregate_name(place),
            rows: error.rows,
            target: match target {
                QuantileTarget::FromLow(row) => RankTarget::FromLeast(*row),
                QuantileTarget::FromHigh(row) => RankTarget::FromGreatest(*row),
                QuantileTarget::Fraction { .. } => RankTarget::Quantile,
            },
            equal_rows: (recursive && fraction).then_some(recursive::EQUAL),
            before_ordering: may_cross(mechanism, targets),
            arbitrary_up_to: error.arbitrary_up_to,
            count_known: GroupSize::new(plan, mechanisms, *histogram)?.is_exact(),
        });
    }
    Ok(ranks)
}

/// Whether quantiles of a histogram may be released in another order than that of their
/// fractions and are then sorted: the rank error holds before sorting. Quantiles by recursion
/// or from one tree are in order.
fn may_cross(mechanism: &StatisticMechanism, targets: &[QuantileTarget]) -> bool {
    let is_edge = |target: &QuantileTarget| target.parts().is_none();
    let apart =
        matches!(mechanism, StatisticMechanism::Select { .. }) || targets.iter().any(is_edge);
    targets.len() > 1 && apart
}

/// The position of a quantile among those of its histogram.
pub(super) fn place_of(
    plan: &BoundedPlan,
    histogram: usize,
    at: f64,
) -> Result<usize, ReleaseError> {
    let quantiles = quantiles_of(plan, histogram);
    let found = quantiles
        .iter()
        .position(|other| other.total_cmp(&at).is_eq());
    found.ok_or(PLACE)
}

/// How a statistic is quantized.
pub(super) fn quantized(plan: &BoundedPlan, statistic: usize) -> Result<&Quantized, ReleaseError> {
    match plan.statistics.get(statistic).map(|one| &one.measure) {
        Some(
            Measure::Sum(_, quantized)
            | Measure::Scaled(_, quantized, _)
            | Measure::Histogram(_, quantized),
        ) => Ok(quantized),
        _ => Err(PLACE),
    }
}

/// How many steps of the released integer are one step of a statistic.
pub(super) fn fineness(plan: &BoundedPlan, statistic: usize) -> Result<f64, ReleaseError> {
    let statistic = plan.statistics.get(statistic).ok_or(PLACE)?;
    #[allow(clippy::cast_precision_loss, reason = "a small power of two")]
    let fineness = plan.fineness(statistic) as f64;
    Ok(fineness)
}

fn mechanism(
    mechanisms: &[StatisticMechanism],
    statistic: usize,
) -> Result<&StatisticMechanism, ReleaseError> {
    mechanisms.get(statistic).ok_or(PLACE)
}

/// The error for a plan whose indices do not fit.
pub(super) const PLACE: ReleaseError = ReleaseError::Plan {
    what: "an aggregate of a missing statistic",
};

/// The name of an aggregate in messages.
pub(super) const fn kind(aggregate: Option<&Aggregate>) -> &'static str {
    match aggregate {
        Some(Aggregate::Count { .. }) => "a count",
        Some(Aggregate::Sum { .. }) => "a sum",
        Some(Aggregate::Mean { .. }) => "a mean",
        Some(Aggregate::Variance { .. }) => "a variance",
        Some(Aggregate::Quantile { .. }) => "a quantile",
        None => "an answer without aggregates",
    }
}
