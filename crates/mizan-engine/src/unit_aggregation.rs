//! What an engine computes for a query, as one value: every engine lowers it, and the oracle
//! (`oracle.rs`) defines its meaning.
//!
//! ```text
//! input          -> rows of (unit, keys, values) in groups      S0
//! contributions  -> of each unit in a group, clamped            S1, S2
//! bounding       -> of a unit in too many groups                S3
//! statistics     -> of each group: integers                     S4
//! ```
//!
//! Row limits before joins are operators of the input. That light units need no bounding
//! follows from the value ([`UnitAggregation::light_rows`]).

mod explain;
#[cfg(test)]
mod tests;

use mizan_sql::{
    BoundedPlan, Clip, Expr, GroupBounding, Groups, Key, MAX_CONTRIBUTION, MAX_ROWS, Measure,
    Quantized, Relation, Statistic, Value,
};
use serde::{Deserialize, Serialize};

use crate::engine::{EngineError, bad};

/// The exact integers that an engine computes, by group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitAggregation {
    /// The rows, each of one unit. Rows whose unit is NULL are left out.
    pub(crate) input: Relation,
    /// The keys of the group of a row, over the input.
    pub(crate) keys: Vec<Key>,
    /// The groups. Public groups are sorted and distinct; rows of other groups are left out.
    pub(crate) groups: Groups,
    /// The values of a row. Those of contributions come first.
    pub(crate) values: Vec<RowValue>,
    /// The contributions of a unit to a group.
    pub(crate) contributions: Vec<Contribution>,
    /// How a unit in many groups is bounded.
    pub(crate) bounding: UnitBounding,
    /// The statistics of each group.
    pub(crate) statistics: Vec<GroupStatistic>,
}

/// A value of a row, over the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowValue {
    pub(crate) expression: Expr,
    /// How it becomes an integer, if it is one.
    pub(crate) quantized: Option<Quantized>,
}

/// The contribution of a unit to a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contribution {
    /// Its definition.
    pub(crate) of: ContributionKind,
    /// Its lower bound.
    pub(crate) low: i64,
    /// Its upper bound.
    pub(crate) high: i64,
}

impl Contribution {
    /// The largest absolute value.
    pub(crate) fn sensitivity(&self) -> u64 {
        self.low.unsigned_abs().max(self.high.unsigned_abs())
    }
}

/// The contribution before clamping, from the rows of a unit in a group. Numbers are places of
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ContributionKind {
    /// One for every unit.
    Unit,
    /// The number of rows.
    Rows,
    /// The number of rows with this value.
    Count(usize),
    /// The sum of this value; zero if no row has it, whatever the bounds.
    Sum(usize),
    /// The same sum; with more rows than the limit, the limit times the mean.
    Scaled(usize, i64),
}

impl ContributionKind {
    /// The value that it is computed from.
    pub(crate) const fn value(self) -> Option<usize> {
        match self {
            Self::Unit | Self::Rows => None,
            Self::Count(value) | Self::Sum(value) | Self::Scaled(value, _) => Some(value),
        }
    }
}

/// What happens to a unit in many groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum UnitBounding {
    /// Nothing: no unit can be in too many.
    NotNeeded,
    /// It contributes to this many groups: those with the least salted hashes.
    SampleGroups(u64),
    /// Its whole contribution is clipped to the norm of this many groups.
    ClipL2(u64),
}

/// A statistic of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum GroupStatistic {
    /// The sum of a contribution over the units.
    Sum(usize),
    /// A statistic of the values of rows.
    Values(ValueStatistic),
}

/// A statistic of the values of rows, of which each unit contributes at most some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ValueStatistic {
    pub(crate) measure: ValueMeasure,
    /// The place of the value.
    pub(crate) value: usize,
    /// The most values of a unit: those with the least salted hashes. None if no unit has more.
    pub(crate) limit: Option<u64>,
}

/// What is measured of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ValueMeasure {
    /// The number of distinct values.
    Distinct,
    /// The number of rows with each value, which is an integer.
    Histogram,
}

/// What a limit for each unit (and group) counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitedItem {
    /// Rows. No columns but the ranked ones are read later.
    Rows,
    /// Groups: rows with equal ranked columns count once.
    Groups,
    /// Rows with a value; no other column is read later. Rows without a value are all kept.
    Values,
    /// Distinct values. Rows without a value are all kept.
    DistinctValues,
}

impl LimitedItem {
    /// Whether rows with equal ranked columns count once.
    pub(crate) const fn is_distinct(self) -> bool {
        matches!(self, Self::Groups | Self::DistinctValues)
    }

    /// Whether rows whose ranked columns are all NULL count; otherwise they are all kept.
    pub(crate) const fn counts_nulls(self) -> bool {
        matches!(self, Self::Rows | Self::Groups)
    }
}

/// A part of the statistics that one pass over the rows computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The number of units, and all sums.
    Sums,
    /// The statistic at this place, of values.
    Values(usize, ValueStatistic),
}

impl UnitAggregation {
    /// What an engine computes for a plan.
    ///
    /// # Errors
    ///
    /// The plan is not one that the binder makes: a sum could overflow (C4), or a unit could
    /// exceed its sensitivity.
    pub(crate) fn of(plan: &BoundedPlan) -> Result<Self, EngineError> {
        let one_row = plan.relation.one_row_per_unit;
        if plan.relation.unit.is_empty() {
            return Err(bad("rows without a unit"));
        }
        let bounding = match plan.group_bounding {
            GroupBounding::ClipL2 if plan.can_be_clipped() => {
                UnitBounding::ClipL2(plan.groups_per_unit)
            }
            GroupBounding::ClipL2 => {
                return Err(bad("units are clipped, but the plan does not allow it"));
            }
            GroupBounding::SampleGroups if !one_row => {
                UnitBounding::SampleGroups(plan.groups_per_unit)
            }
            GroupBounding::SampleGroups | GroupBounding::NotNeeded => UnitBounding::NotNeeded,
        };
        let mut groups = plan.groups.clone();
        if let Groups::Public(groups) = &mut groups {
            if groups.iter().any(|group| group.len() != plan.keys.len()) {
                return Err(bad("a group without a value for every key"));
            }
            groups.sort();
            groups.dedup();
        }
        let mut aggregation = Self {
            input: plan.relation.clone(),
            keys: plan.keys.clone(),
            groups,
            values: Vec::new(),
            contributions: Vec::new(),
            bounding,
            statistics: Vec::with_capacity(plan.statistics.len()),
        };
        for statistic in &plan.statistics {
            check(statistic)?;
            aggregation.add_contribution(statistic);
        }
        let mut sums = 0..aggregation.contributions.len();
        for statistic in &plan.statistics {
            let of_values = aggregation.of_values(statistic);
            let statistic = match of_values {
                Some(statistic) => Some(GroupStatistic::Values(statistic)),
                None => sums.next().map(GroupStatistic::Sum),
            };
            aggregation.statistics.extend(statistic);
        }
        Ok(aggregation)
    }

    fn add_contribution(&mut self, statistic: &Statistic) {
        let of = match &statistic.measure {
            Measure::Units => ContributionKind::Unit,
            Measure::Rows => ContributionKind::Rows,
            Measure::Count(expr) => ContributionKind::Count(self.value(expr, None)),
            Measure::Sum(expr, how) => ContributionKind::Sum(self.value(expr, Some(how))),
            Measure::Scaled(expr, how, rows) => {
                ContributionKind::Scaled(self.value(expr, Some(how)), *rows)
            }
            Measure::Distinct(_) | Measure::Histogram(..) => return,
        };
        let (low, high) = (statistic.low, statistic.high);
        self.contributions.push(Contribution { of, low, high });
    }

    fn of_values(&mut self, statistic: &Statistic) -> Option<ValueStatistic> {
        let (measure, value) = match &statistic.measure {
            Measure::Distinct(expr) => (ValueMeasure::Distinct, self.value(expr, None)),
            Measure::Histogram(expr, how) => (ValueMeasure::Histogram, self.value(expr, Some(how))),
            _ => return None,
        };
        let limit = statistic.high.max(0).unsigned_abs();
        Some(ValueStatistic {
            measure,
            value,
            limit: (!self.input.one_row_per_unit || limit == 0).then_some(limit),
        })
    }

    /// The place of a value, which is added if it is new.
    fn value(&mut self, expression: &Expr, quantized: Option<&Quantized>) -> usize {
        let mut known = self.values.iter();
        let same =
            |one: &RowValue| one.expression == *expression && one.quantized.as_ref() == quantized;
        known.position(same).unwrap_or_else(|| {
            self.values.push(RowValue {
                expression: expression.clone(),
                quantized: quantized.copied(),
            });
            self.values.len() - 1
        })
    }

    /// The same over other rows.
    pub(crate) fn over(&self, input: Relation) -> Self {
        Self {
            input,
            ..self.clone()
        }
    }

    /// The parts that are computed separately.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let values = self.statistics.iter().enumerate();
        let values = values.filter_map(|(place, statistic)| match statistic {
            GroupStatistic::Sum(_) => None,
            GroupStatistic::Values(statistic) => Some(Part::Values(place, *statistic)),
        });
        let mut parts: Vec<Part> = values.collect();
        if parts.len() < self.statistics.len() || parts.is_empty() {
            parts.insert(0, Part::Sums);
        }
        parts
    }

    /// The number of values that contributions are computed from: the first ones.
    pub(crate) fn summed_values(&self) -> usize {
        let values = self.contributions.iter().map(|one| one.of.value());
        values.flatten().max().map_or(0, |last| last + 1)
    }

    /// The public groups; none if groups are private.
    pub(crate) fn public_groups(&self) -> &[Vec<Value>] {
        match &self.groups {
            Groups::Public(groups) => groups,
            Groups::Private => &[],
        }
    }

    /// The most groups of a unit, if groups are sampled.
    pub(crate) const fn sampled_groups(&self) -> Option<u64> {
        match self.bounding {
            UnitBounding::SampleGroups(most) => Some(most),
            UnitBounding::NotNeeded | UnitBounding::ClipL2(_) => None,
        }
    }

    /// The norm that units are clipped to, if they are clipped.
    pub(crate) fn clip(&self) -> Option<Clip> {
        match self.bounding {
            UnitBounding::ClipL2(groups) => Some(Clip::new(groups, self.contributions.len())),
            UnitBounding::NotNeeded | UnitBounding::SampleGroups(_) => None,
        }
    }

    /// The most rows of a light unit: one with so few rows that no bound on sums can affect it.
    /// The rows of light units can be added up by group without separating units. None if
    /// hardly any unit is light: with group sampling or clipping, or with a limit of one row.
    pub(crate) fn light_rows(&self) -> Option<u64> {
        let possible = self.bounding == UnitBounding::NotNeeded
            && !self.input.one_row_per_unit
            && matches!(self.groups, Groups::Public(_));
        let rows = self
            .contributions
            .iter()
            .map(|one| self.unclamped_rows(one));
        let rows = rows.min().filter(|rows| *rows > 1);
        rows.filter(|_| possible)
    }

    /// A number of rows up to which a unit's contribution is never clamped and equals the sum of
    /// the contributions that each row would make alone.
    fn unclamped_rows(&self, contribution: &Contribution) -> u64 {
        let (low, high) = (contribution.low, contribution.high);
        if low > 0 || high < 0 {
            return 0;
        }
        let within = |value: usize| {
            let how = self.values.get(value).and_then(|value| value.quantized);
            let (least, most) = how.map_or((i64::MIN, i64::MAX), |how| how.range());
            let below = if most > 0 { high / most } else { i64::MAX };
            let above = if least < 0 { low / least } else { i64::MAX };
            below.min(above)
        };
        let rows = match contribution.of {
            // Two rows are one unit.
            ContributionKind::Unit => high.min(1),
            ContributionKind::Rows | ContributionKind::Count(_) => high,
            ContributionKind::Sum(value) => within(value),
            ContributionKind::Scaled(value, rows) => within(value).min(rows),
        };
        rows.unsigned_abs()
    }
}

/// Checks the conditions under which no sum can overflow (C4).
fn check(statistic: &Statistic) -> Result<(), EngineError> {
    let allowed = -MAX_CONTRIBUTION..=MAX_CONTRIBUTION;
    let ordered = statistic.low <= statistic.high;
    if !ordered || !allowed.contains(&statistic.low) || !allowed.contains(&statistic.high) {
        return Err(bad("a contribution is not bounded"));
    }
    match &statistic.measure {
        Measure::Scaled(_, _, rows) if *rows < 1 => Err(bad("means of no rows")),
        Measure::Sum(_, how) | Measure::Scaled(_, how, _) | Measure::Histogram(_, how) => {
            check_steps(how)
        }
        _ => Ok(()),
    }
}

fn check_steps(how: &Quantized) -> Result<(), EngineError> {
    let most = i64::MAX / MAX_ROWS;
    let (low, high) = how.range();
    let finite = how.step() > 0.0 && how.step().is_finite() && how.centre.is_finite();
    if finite && low >= -most && high <= most {
        Ok(())
    } else {
        Err(bad("a value has too many steps"))
    }
}
