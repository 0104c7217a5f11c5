//! About how many rows a group has, from what was released with it.
//!
//! A quantile of a group with very few rows is arbitrary: every rank is within the rank error.
//! The exponential mechanism does not reveal how many rows there were, and counting them would
//! cost epsilon. But other statistics of the group may have been released, and using them is
//! post-processing:
//!
//! - the noisy count of the same values, or of all rows: a histogram has no more rows;
//! - the noisy number of units, each of which has at most `R` rows in the histogram;
//! - the noisy total at the root of a tree.
//!
//! The smallest of them is used. Without any of them no judgement is made, and a note says up
//! to how many rows the value is arbitrary.
//!
//! # The probability that an empty group is not recognised
//!
//! A quantile that targets a fraction is called arbitrary up to `(2 R / ε) ln(20 N)` rows at
//! least, for `N` candidates. A count of the same release has Laplace noise of scale `R / ε`,
//! which exceeds that with probability `1 / (2 (20 N)²)`, or Gaussian noise, of which it is
//! `ln(20 N)` standard deviations. For the 1,601 values of a usual grid that is below 10⁻⁹.

use mizan_sql::{BoundedPlan, Measure, Statistic};

use super::ReleaseError;
use super::estimate::as_f64;
use super::noise_plan::StatisticMechanism;
use super::predict::PLACE;
use super::released::NoisyCell;

/// Which released statistics bound the number of rows of a histogram.
#[derive(Clone, Debug)]
pub(super) struct GroupSize {
    histogram: usize,
    /// Whether one of them counts exactly the values of the histogram.
    exact: bool,
    /// Statistics, and how many rows of the histogram one step of each stands for at most.
    counts: Vec<(usize, f64)>,
}

impl GroupSize {
    /// For a histogram of a plan.
    pub(super) fn new(
        plan: &BoundedPlan,
        mechanisms: &[StatisticMechanism],
        histogram: usize,
    ) -> Result<Self, ReleaseError> {
        let statistic = plan.statistics.get(histogram).ok_or(PLACE)?;
        let Measure::Histogram(of, _) = &statistic.measure else {
            return Err(PLACE);
        };
        let rows = as_f64(statistic.high.max(1));
        let stands_for = |other: &Statistic| match &other.measure {
            Measure::Units => Some(rows),
            // Fewer rows of a unit may be counted than are in the histogram.
            Measure::Rows => Some((rows / as_f64(other.high.max(1))).max(1.0)),
            Measure::Count(what) if what == of => Some((rows / as_f64(other.high.max(1))).max(1.0)),
            _ => None,
        };
        let is_same =
            |other: &Statistic| matches!(&other.measure, Measure::Count(what) if what == of);
        let mechanism = mechanisms.get(histogram).ok_or(PLACE)?;
        let tree = matches!(mechanism, StatisticMechanism::Tree { .. });
        let counts = plan.statistics.iter().enumerate();
        Ok(Self {
            histogram,
            exact: tree || plan.statistics.iter().any(is_same),
            counts: counts
                .filter_map(|(place, other)| Some((place, stands_for(other)?)))
                .collect(),
        })
    }

    /// Whether it is the number of rows with a value, and not an upper bound.
    pub(super) const fn is_exact(&self) -> bool {
        self.exact
    }

    /// An estimated upper bound on the number of rows; None if no statistic gives one.
    /// Statistics are released in steps of their fineness.
    ///
    /// # Errors
    ///
    /// The release has another shape than the plan.
    pub(super) fn of(
        &self,
        cells: &[NoisyCell],
        fineness: &[i64],
    ) -> Result<Option<f64>, ReleaseError> {
        let mut least: Option<f64> = None;
        let mut bound = |rows: f64| least = Some(least.map_or(rows, |least| least.min(rows)));
        for &(place, rows) in &self.counts {
            let (Some(NoisyCell::Integer(count)), Some(fineness)) =
                (cells.get(place), fineness.get(place))
            else {
                return Err(ReleaseError::Shape);
            };
            bound(rows * as_f64(*count) / as_f64(*fineness));
        }
        match cells.get(self.histogram) {
            Some(NoisyCell::FromTree { rows, .. }) => bound(as_f64(*rows)),
            Some(NoisyCell::Selected(_)) => {}
            Some(NoisyCell::Integer(_)) | None => return Err(ReleaseError::Shape),
        }
        Ok(least.map(|least| least.max(0.0)))
    }
}
