//! The release: noisy integers by group, and the noise plan. The ledger stores it, and answers
//! are computed from it.

use std::collections::BTreeMap;

use mizan_core::{Delta, Epsilon};
use mizan_noise::{Entropy, ExponentialMechanism, Mechanism};
use mizan_sql::{BoundedPlan, Groups, Measure, Value};

use super::choose::MISSED;
use super::estimate::as_f64;
use super::noise_plan::{NoiseParameters, NoisePlan, StatisticMechanism};
use super::quantile_target::QuantileTarget;
use super::recursive::{self, Recursive};
use super::tree::Tree;
use super::{ReleaseError, predict};
use crate::exact::{Cell, ExactAggregates};

/// A statistic of a group, after noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoisyCell {
    /// A noisy sum.
    Integer(i64),
    /// The selected values of a histogram, ascending, one for each quantile of the noise plan.
    Selected(Vec<i64>),
    /// The selected values from a tree, and the noisy number of rows at its root.
    FromTree {
        /// The values.
        values: Vec<i64>,
        /// The noisy number of rows.
        rows: i64,
    },
}

impl NoisyCell {
    /// The selected values, if the cell has them.
    pub(super) fn quantiles(&self) -> Option<&[i64]> {
        match self {
            Self::Selected(values) | Self::FromTree { values, .. } => Some(values),
            Self::Integer(_) => None,
        }
    }
}

/// A group that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Its key.
    pub(crate) key: Vec<Value>,
    /// A cell for each statistic.
    pub(crate) cells: Vec<NoisyCell>,
}

/// A release.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Released {
    /// The noise that was used.
    pub(crate) noise: NoiseParameters,
    /// The groups, in the order of their keys.
    pub(crate) groups: Vec<Group>,
}

/// A count of every group, as it was released.
#[derive(Clone, Debug)]
pub(crate) struct NoisyCounts<'a> {
    /// The key of each group and its count, not clamped at zero.
    pub(crate) counts: Vec<(&'a [Value], f64)>,
    /// The half width of the noise of each count.
    pub(crate) half_width: f64,
}

impl Released {
    /// The failure probability of its threshold, if it has one.
    pub(crate) fn threshold_delta(&self) -> Option<Delta> {
        let threshold = self.noise.threshold?;
        Delta::new(threshold.delta).ok()
    }

    /// A count of every group, as it was released.
    pub(crate) fn counts(
        &self,
        plan: &BoundedPlan,
        statistic: usize,
    ) -> Result<NoisyCounts<'_>, ReleaseError> {
        let fineness = predict::fineness(plan, statistic)?;
        let half = self.noise.mechanism(statistic)?.half_width(MISSED)?;
        let count = |group: &'_ Group| match group.cells.get(statistic) {
            Some(NoisyCell::Integer(count)) => Ok(as_f64(*count) / fineness),
            _ => Err(ReleaseError::Shape),
        };
        let counts = self.groups.iter();
        let counts = counts.map(|group| Ok((group.key.as_slice(), count(group)?)));
        Ok(NoisyCounts {
            counts: counts.collect::<Result<_, ReleaseError>>()?,
            half_width: half.ok_or(ReleaseError::Shape)? / fineness,
        })
    }
}

/// Adds the noise of a noise plan to exact integers.
///
/// # Guarantee
///
/// The output is that of the mechanism described by `noise_plan.event()`. For public groups, which
/// groups get noise and in which order is public; private groups below the threshold have no
/// effect on the output.
///
/// # Errors
///
/// The operating system provides no randomness, or the result of the engine has another shape.
/// Nothing is released then.
pub(crate) fn release(
    noise_plan: &NoisePlan,
    plan: &BoundedPlan,
    exact: &ExactAggregates,
) -> Result<Released, ReleaseError> {
    if !noise_plan.is_for(plan) {
        return Err(ReleaseError::Plan {
            what: "a noise plan of another plan",
        });
    }
    let noise = &noise_plan.noise;
    let mut entropy = Entropy::system()?;
    let absent = absent(plan);
    let groups: Vec<(&Vec<Value>, &Vec<Cell>)> = match &plan.groups {
        Groups::Private => exact.iter().collect(),
        Groups::Public(keys) => {
            let cells = |key| (key, exact.get(key).unwrap_or(&absent));
            keys.iter().map(cells).collect()
        }
    };
    let is_malformed = |cell: &Cell| match cell {
        Cell::Histogram(histogram) => histogram.values().any(|rows| *rows < 0),
        Cell::Integer(_) => false,
    };
    if groups
        .iter()
        .any(|(_, cells)| cells.len() != noise.mechanisms.len() || cells.iter().any(is_malformed))
    {
        return Err(ReleaseError::Shape);
    }
    let mut columns: Vec<Option<Vec<i64>>> = Vec::with_capacity(noise.mechanisms.len());
    for (place, mechanism) in noise.mechanisms.iter().enumerate() {
        columns.push(noisy_column(mechanism, &groups, place, &mut entropy)?);
    }
    let shown = shown(noise, columns.first(), groups.len())?;
    let selections = Selection::of_all(noise, plan)?;
    let mut released = Vec::new();
    for (row, (key, cells)) in groups.iter().enumerate() {
        if !*shown.get(row).ok_or(ReleaseError::Shape)? {
            continue;
        }
        let mut noisy = Vec::with_capacity(cells.len());
        for ((column, selection), cell) in columns.iter().zip(&selections).zip(cells.iter()) {
            noisy.push(match (column, selection, cell) {
                (Some(column), ..) => {
                    NoisyCell::Integer(column.get(row).copied().ok_or(ReleaseError::Shape)?)
                }
                (None, Some(selection), Cell::Histogram(histogram)) => {
                    selection.select(&mut entropy, histogram)?
                }
                _ => return Err(ReleaseError::Shape),
            });
        }
        released.push(Group {
            key: (*key).clone(),
            cells: noisy,
        });
    }
    Ok(Released {
        noise: noise.clone(),
        groups: released,
    })
}

/// The cells of a public group without rows.
fn absent(plan: &BoundedPlan) -> Vec<Cell> {
    let zero = |statistic: &mizan_sql::Statistic| match statistic.measure {
        Measure::Histogram(..) => Cell::Histogram(BTreeMap::new()),
        _ => Cell::Integer(0),
    };
    plan.statistics.iter().map(zero).collect()
}

/// A statistic of all groups with its noise; None for histograms.
fn noisy_column(
    mechanism: &StatisticMechanism,
    groups: &[(&Vec<Value>, &Vec<Cell>)],
    place: usize,
    entropy: &mut Entropy,
) -> Result<Option<Vec<i64>>, ReleaseError> {
    if mechanism.targets().is_some() {
        return Ok(None);
    }
    let integer = |(_, cells): &(_, &Vec<Cell>)| match cells.get(place) {
        Some(Cell::Integer(value)) => Ok(*value),
        _ => Err(ReleaseError::Shape),
    };
    // Sampled first where possible, so that missing randomness is detected early.
    if let Some(keys) = mechanism.truncated()? {
        let mut column = vec![0; groups.len()];
        keys.fill(entropy, &mut column)?;
        for (noisy, group) in column.iter_mut().zip(groups) {
            *noisy = noisy.saturating_add(integer(group)?);
        }
        return Ok(Some(column));
    }
    let mechanism = mechanism.mechanism()?;
    let mut column = groups.iter().map(integer).collect::<Result<Vec<_>, _>>()?;
    if !column.is_empty() {
        mechanism.release(entropy, &mut column)?;
    }
    Ok(Some(column))
}

/// Which groups are shown: all, or those above the threshold.
fn shown(
    noise: &NoiseParameters,
    units: Option<&Option<Vec<i64>>>,
    groups: usize,
) -> Result<Vec<bool>, ReleaseError> {
    let Some(threshold) = noise.threshold else {
        return Ok(vec![true; groups]);
    };
    let Some(Some(units)) = units else {
        return Err(ReleaseError::Plan {
            what: "private groups without their units",
        });
    };
    let above = |&units: &i64| i128::from(units) > i128::from(threshold.above);
    Ok(units.iter().map(above).collect())
}

/// The mechanism for the quantiles of a histogram.
struct Selection {
    range: (i64, i64),
    method: SelectionMethod,
}

enum SelectionMethod {
    /// One exponential mechanism for each.
    OneByOne(Vec<(QuantileTarget, ExponentialMechanism)>),
    /// By recursion; minimum and maximum by one exponential mechanism each.
    Recursive(
        Recursive,
        Vec<(QuantileTarget, Option<ExponentialMechanism>)>,
    ),
    /// All from one tree.
    Tree(Mechanism, u32, Vec<QuantileTarget>),
}

impl Selection {
    fn of_all(
        noise: &NoiseParameters,
        plan: &BoundedPlan,
    ) -> Result<Vec<Option<Self>>, ReleaseError> {
        let statistics = noise.mechanisms.iter().zip(&plan.statistics);
        let selection = |(mechanism, statistic): (&StatisticMechanism, &mizan_sql::Statistic)| {
            let Measure::Histogram(_, quantized) = &statistic.measure else {
                return Ok(None);
            };
            let method = match mechanism {
                StatisticMechanism::Select {
                    epsilon,
                    rows,
                    targets,
                } => {
                    let epsilon = to_epsilon(*epsilon)?;
                    let one =
                        |target: &QuantileTarget| Ok((*target, target.mechanism(epsilon, *rows)?));
                    let each = targets.iter().map(one).collect::<Result<_, ReleaseError>>();
                    SelectionMethod::OneByOne(each?)
                }
                StatisticMechanism::Recursive {
                    epsilon,
                    rows,
                    targets,
                } => {
                    let epsilon = to_epsilon(*epsilon)?;
                    let all = Recursive::new(recursive::fractions(targets), epsilon, *rows)?;
                    let edge = |target: &QuantileTarget| match target.parts() {
                        Some(_) => Ok((*target, None)),
                        None => Ok((*target, Some(target.mechanism(epsilon, *rows)?))),
                    };
                    let edges = targets
                        .iter()
                        .map(edge)
                        .collect::<Result<_, ReleaseError>>();
                    SelectionMethod::Recursive(all, edges?)
                }
                StatisticMechanism::Tree {
                    noise,
                    levels,
                    targets,
                } => SelectionMethod::Tree(noise.mechanism()?, *levels, targets.clone()),
                _ => return Ok(None),
            };
            let range = quantized.range();
            Ok(Some(Self { range, method }))
        };
        statistics.map(selection).collect()
    }

    /// A value for each quantile. They are sorted, since the true quantiles are in order.
    fn select(
        &self,
        entropy: &mut Entropy,
        histogram: &BTreeMap<i64, i64>,
    ) -> Result<NoisyCell, ReleaseError> {
        let mut values = Vec::new();
        let mut rows = None;
        match &self.method {
            SelectionMethod::OneByOne(each) => {
                for (target, mechanism) in each {
                    values.push(target.select(mechanism, entropy, histogram, self.range)?);
                }
            }
            SelectionMethod::Recursive(all, targets) => {
                let found = all.select(entropy, histogram, self.range)?;
                for (target, mechanism) in targets {
                    let value = target.parts().and_then(|part| found.get(&part));
                    values.push(match (value, mechanism) {
                        (Some(value), _) => *value,
                        (None, Some(edge)) => {
                            target.select(edge, entropy, histogram, self.range)?
                        }
                        (None, None) => return Err(ReleaseError::Shape),
                    });
                }
            }
            SelectionMethod::Tree(mechanism, levels, targets) => {
                let mut tree = Tree::new(mechanism, *levels, self.range, histogram);
                for target in targets {
                    values.push(tree.find(entropy, *target)?);
                }
                // Every search starts at the root, so its noise is sampled and paid for
                // already.
                rows = Some(tree.rows(entropy)?);
            }
        }
        values.sort_unstable();
        Ok(match rows {
            Some(rows) => NoisyCell::FromTree { values, rows },
            None => NoisyCell::Selected(values),
        })
    }
}

fn to_epsilon(epsilon: f64) -> Result<Epsilon, ReleaseError> {
    Epsilon::new(epsilon).map_err(|_| ReleaseError::TooWide)
}
