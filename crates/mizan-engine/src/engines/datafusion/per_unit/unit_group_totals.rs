//! Totals by unit and group, with contribution bounding.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::error::DataFusionError;

use super::clip::Factors;
use super::numbers::Numbers;
use super::slots::{Pair, Slots};
use super::sums::{Sums, add_to};
use super::totals::Totals;
use super::{PartialResult, cap, columns_from, unexpected};
use crate::sampling_hash::Salt;
use crate::unit_aggregation::{ContributionKind, UnitAggregation};

/// The partial result of some rows.
pub(super) struct UnitGroupTotals {
    units: Numbers,
    groups: Numbers,
    slots: Slots,
    totals: Totals,
    /// The position of the first value column.
    values: usize,
    /// The slots of the rows of a batch.
    of_rows: Vec<u32>,
}

impl UnitGroupTotals {
    /// An empty partial result.
    pub(super) fn new(schema: &SchemaRef, aggregation: &UnitAggregation) -> Result<Self> {
        Self::with_keys(schema, aggregation, aggregation.keys.len())
    }

    /// An empty partial result with this number of key columns.
    pub(super) fn with_keys(
        schema: &SchemaRef,
        aggregation: &UnitAggregation,
        keys: usize,
    ) -> Result<Self> {
        let units = aggregation.input.unit.len();
        let values = units + keys;
        let Some(number) = schema.fields().len().checked_sub(values) else {
            return unexpected();
        };
        Ok(Self {
            units: Numbers::new(schema, 0..units)?,
            groups: Numbers::new(schema, units..values)?,
            slots: Slots::default(),
            totals: Totals::new(number, &aggregation.contributions),
            values,
            of_rows: Vec::new(),
        })
    }

    /// S3 and S4.
    pub(super) fn sums(self, aggregation: &UnitAggregation, salt: &Salt) -> Result<Sums> {
        let ByGroup { keys, numbers } = self.by_group(aggregation, salt, false)?;
        Sums::of_columns(&keys, &numbers)
    }

    /// The difference that S2 to S4 make to sums without bounds, for these rows.
    pub(super) fn corrections(self, aggregation: &UnitAggregation, salt: &Salt) -> Result<ByGroup> {
        self.by_group(aggregation, salt, true)
    }

    /// The bounded contributions by group, optionally minus the unbounded totals of the same
    /// rows.
    fn by_group(
        self,
        aggregation: &UnitAggregation,
        salt: &Salt,
        without_unlimited: bool,
    ) -> Result<ByGroup> {
        let number = self.groups.len();
        let keys = self.groups.into_values()?;
        let pairs = self.slots.pairs();
        let counts = match aggregation.sampled_groups() {
            Some(most) => {
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                let units = self.units.into_values()?;
                Some(cap::counts(pairs, &units, &keys, most, salt)?)
            }
            None => None,
        };
        let counts = |slot: usize| match counts.as_ref().map(|counts| counts.get(slot)) {
            Some(Some(counts)) => Ok(*counts),
            Some(None) => unexpected(),
            None => Ok(true),
        };
        let totals = &self.totals;
        let by_group = |limited: Limited<'_>, of: ContributionKind| {
            let mut by_group = vec![0_i64; number];
            for (slot, pair) in pairs.iter().enumerate() {
                if counts(slot)? {
                    add_to(&mut by_group, pair.group, limited(slot, pair)?)?;
                }
                if without_unlimited {
                    add_to(&mut by_group, pair.group, -totals.unclamped(slot, of)?)?;
                }
            }
            Ok::<_, DataFusionError>(by_group)
        };
        let mut numbers = vec![by_group(&|_, _| Ok(1), ContributionKind::Rows)?];
        let clipped = aggregation
            .clip()
            .map(|clip| Factors::new(clip, pairs, totals, &aggregation.contributions));
        let clipped = clipped.transpose()?;
        for contribution in &aggregation.contributions {
            let limited = |slot: usize, pair: &Pair| {
                let whole = totals.contribution(slot, contribution)?;
                match &clipped {
                    Some(factors) => factors.clipped(pair, whole, contribution),
                    None => Ok(whole),
                }
            };
            numbers.push(by_group(&limited, contribution.of)?);
        }
        Ok(ByGroup { keys, numbers })
    }
}

/// The bounded contribution of a slot.
type Limited<'a> = &'a dyn Fn(usize, &Pair) -> Result<i64>;

/// Keys of groups, and numbers for each group, as columns.
pub(super) struct ByGroup {
    pub(super) keys: Vec<ArrayRef>,
    pub(super) numbers: Vec<Vec<i64>>,
}

impl PartialResult for UnitGroupTotals {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.units.number(batch)?;
        self.groups.number(batch)?;
        let of_rows = self.units.of_rows().iter().zip(self.groups.of_rows());
        let pairs = of_rows.map(pair);
        self.slots.find(
            pairs,
            self.units.len(),
            self.groups.len(),
            &mut self.of_rows,
        )?;
        let values = columns_from(batch, self.values)?;
        self.totals
            .add(&self.of_rows, values, self.slots.pairs().len())
    }

    /// The smaller one is merged into the other.
    fn merged(mut self, mut other: Self) -> Result<Self> {
        if other.slots.pairs().len() > self.slots.pairs().len() {
            std::mem::swap(&mut self, &mut other);
        }
        self.units.merge(other.units)?;
        self.groups.merge(other.groups)?;
        let (units, groups) = (self.units.of_rows(), self.groups.of_rows());
        let pairs = other.slots.into_pairs().into_iter().map(|old| {
            let (unit, group) = (
                units.get(old.unit as usize)?,
                groups.get(old.group as usize)?,
            );
            pair((unit, group))
        });
        self.slots.find(
            pairs,
            self.units.len(),
            self.groups.len(),
            &mut self.of_rows,
        )?;
        self.totals
            .merge(other.totals, &self.of_rows, self.slots.pairs().len())?;
        Ok(self)
    }
}

/// None if a number exceeds 32 bits: truncated, it would name another unit or group.
fn pair((unit, group): (&usize, &usize)) -> Option<Pair> {
    Some(Pair {
        unit: u32::try_from(*unit).ok()?,
        group: u32::try_from(*group).ok()?,
    })
}
