//! The totals of all rows by group, without contribution bounds, and beside them the totals of
//! heavy units by unit and group.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use datafusion::common::Result;

use super::super::count_min::{CountMin, Hashes, HeavyUnits};
use super::public_groups::PublicGroups;
use super::row_buffer::RowBuffer;
use super::sums::Sums;
use super::totals::Totals;
use super::unit_group_totals::UnitGroupTotals;
use super::{PartialResult, columns, columns_from, small, unexpected};
use crate::sampling_hash::Salt;
use crate::unit_aggregation::{ContributionKind, UnitAggregation, UnitBounding};

/// Which units are heavy.
pub(super) enum HeavyUnitState {
    /// The heavy units, if there are any.
    Known(Option<Arc<HeavyUnits>>),
    /// Known when all rows were counted; until then all rows are buffered.
    Counting(CountMin, RowBuffer),
}

/// The partial result of some rows.
pub(super) struct GroupTotals {
    groups: PublicGroups,
    /// Each slot is a group.
    totals: Totals,
    heavy_units: HeavyUnitState,
    /// The rows of heavy units, keyed by the number of their group.
    heavy_totals: UnitGroupTotals,
    numbered: SchemaRef,
    units: usize,
    /// The position of the first value column.
    values: usize,
    of_rows: Vec<u32>,
    hashes: Hashes,
}

/// The schema of rows whose keys are replaced by the number of their group.
pub(super) fn numbered(schema: &Schema, aggregation: &UnitAggregation) -> Schema {
    let (fields, units) = (schema.fields().iter(), aggregation.input.unit.len());
    let keys = aggregation.keys.len();
    let group = (keys > 0).then(|| Arc::new(Field::new("g", DataType::UInt32, false)));
    let values = fields.clone().skip(units + keys).cloned();
    let units = fields.take(units).cloned();
    Schema::new(units.chain(group).chain(values).collect::<Vec<_>>())
}

impl GroupTotals {
    /// An empty partial result.
    pub(super) fn new(
        schema: &SchemaRef,
        aggregation: &UnitAggregation,
        groups: PublicGroups,
        heavy_units: HeavyUnitState,
    ) -> Result<Self> {
        // Group sampling and clipping need the keys of groups, not their numbers.
        if aggregation.bounding != UnitBounding::NotNeeded {
            return unexpected();
        }
        let (units, keys) = (aggregation.input.unit.len(), aggregation.keys.len());
        let values = units + keys;
        let Some(number) = schema.fields().len().checked_sub(values) else {
            return unexpected();
        };
        let numbered = Arc::new(numbered(schema, aggregation));
        let mut totals = Totals::new(number, &aggregation.contributions);
        // Groups without rows have totals too.
        totals.grow(groups.len());
        Ok(Self {
            groups,
            totals,
            heavy_units,
            heavy_totals: UnitGroupTotals::with_keys(&numbered, aggregation, keys.min(1))?,
            numbered,
            units,
            values,
            of_rows: Vec::new(),
            hashes: Hashes::default(),
        })
    }

    /// The sketch of the counted rows; it can be taken once.
    pub(super) fn take_sketch(&mut self) -> Result<CountMin> {
        match &mut self.heavy_units {
            HeavyUnitState::Counting(sketch, _) => Ok(std::mem::take(sketch)),
            // Without a partition's sketch, heavy units would not be bounded.
            HeavyUnitState::Known(_) => unexpected(),
        }
    }

    /// The same with known heavy units: their buffered rows are added by unit and group.
    pub(super) fn with_heavy_units(mut self, heavy: Option<&HeavyUnits>) -> Result<Self> {
        if let HeavyUnitState::Counting(_, buffer) =
            std::mem::replace(&mut self.heavy_units, HeavyUnitState::Known(None))
            && let Some(heavy) = heavy
        {
            for batch in buffer.into_batches() {
                self.add_heavy_rows(heavy, &batch)?;
            }
        }
        Ok(self)
    }

    /// The totals of each group. The first number is a count of rows instead of units; it is
    /// zero exactly if there are no units.
    pub(super) fn sums(self, aggregation: &UnitAggregation, salt: &Salt) -> Result<Sums> {
        if matches!(self.heavy_units, HeavyUnitState::Counting(..)) {
            return unexpected();
        }
        let all = aggregation.contributions.iter();
        let all: Vec<ContributionKind> = all.map(|contribution| contribution.of).collect();
        let groups = aggregation.public_groups().iter().enumerate();
        let groups = groups.map(|(group, keys)| {
            let numbers = std::iter::once(&ContributionKind::Rows).chain(&all);
            let numbers = numbers.map(|of| self.totals.unclamped(group, *of));
            Ok((keys.clone(), numbers.collect::<Result<_>>()?))
        });
        let mut groups: Vec<(Vec<_>, Vec<i64>)> = groups.collect::<Result<_>>()?;
        let corrections = self.heavy_totals.corrections(aggregation, salt)?;
        for (place, numbers) in corrections.numbers.iter().enumerate() {
            for (row, number) in numbers.iter().enumerate() {
                let group = number_at(&corrections.keys, row);
                let to = group.and_then(|group| groups.get_mut(group));
                let Some(to) = to.and_then(|(_, numbers)| numbers.get_mut(place)) else {
                    return unexpected();
                };
                *to = to.saturating_add(*number);
            }
        }
        Ok(Sums::new(groups))
    }

    /// Adds the rows of heavy units that are in listed groups.
    fn add_heavy_rows(&mut self, heavy: &HeavyUnits, numbered: &RecordBatch) -> Result<()> {
        let units = columns(numbered, 0..self.units)?;
        let theirs = if self.values > self.units {
            let [group] = columns(numbered, self.units..self.units + 1)? else {
                return unexpected();
            };
            let groups = group.as_primitive::<UInt32Type>().values();
            // The columns of a batch have the same number of rows.
            let listed = |row: usize| groups.get(row).is_some_and(|g| self.groups.is_listed(*g));
            heavy.rows(units, &mut self.hashes, listed)?
        } else {
            heavy.rows(units, &mut self.hashes, |_| true)?
        };
        if theirs.true_count() == 0 {
            return Ok(());
        }
        self.heavy_totals
            .add(&filter_record_batch(numbered, &theirs)?)
    }

    /// The rows of a batch with the numbers of their groups, which were found before.
    fn numbered(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = batch.columns();
        let units = columns.iter().take(self.units).cloned();
        let group = (self.values > self.units).then(|| {
            let groups = std::mem::take(&mut self.of_rows);
            Arc::new(UInt32Array::from(groups)) as ArrayRef
        });
        let values = columns.iter().skip(self.values).cloned();
        let columns = units.chain(group).chain(values).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.numbered), columns)?)
    }

    fn find_groups(&mut self, batch: &RecordBatch) -> Result<()> {
        let keys = columns(batch, self.units..self.values)?;
        self.groups.find(keys, batch.num_rows(), &mut self.of_rows)
    }
}

/// The group number in a key column; without keys there is one group.
fn number_at(keys: &[ArrayRef], row: usize) -> Option<usize> {
    match keys.first() {
        Some(groups) if row < groups.len() => {
            let group = groups.as_primitive_opt::<UInt32Type>()?.value(row);
            usize::try_from(group).ok()
        }
        Some(_) => None,
        None => Some(row),
    }
}

impl PartialResult for GroupTotals {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.find_groups(batch)?;
        let values = columns_from(batch, self.values)?;
        self.totals.add(&self.of_rows, values, self.groups.len())?;
        if matches!(self.heavy_units, HeavyUnitState::Known(None)) {
            return Ok(());
        }
        let rows = self.numbered(batch)?;
        match &mut self.heavy_units {
            HeavyUnitState::Known(heavy) => match heavy.clone() {
                Some(heavy) => self.add_heavy_rows(&heavy, &rows),
                None => Ok(()),
            },
            HeavyUnitState::Counting(sketch, buffer) => {
                sketch.add_units(columns(batch, 0..self.units)?)?;
                buffer.add(&rows)
            }
        }
    }

    fn merged(mut self, other: Self) -> Result<Self> {
        let groups = self.groups.len();
        let same = (0..small(groups)?).collect::<Vec<u32>>();
        self.totals.merge(other.totals, &same, groups)?;
        self.heavy_totals = self.heavy_totals.merged(other.heavy_totals)?;
        match (&self.heavy_units, &other.heavy_units) {
            (HeavyUnitState::Known(_), HeavyUnitState::Known(_)) => Ok(self),
            // Rows are buffered by partition until the heavy units are known.
            _ => unexpected(),
        }
    }
}
