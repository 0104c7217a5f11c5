//! S1 and S2: the totals of the rows of a slot, and the clamped contribution of its unit.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Result;

use crate::unit_aggregation::{Contribution, ContributionKind};

/// The totals of the rows of each slot.
///
/// No sum can overflow (C4 is checked on the plan). If one did, it would saturate, and the
/// contribution would still be clamped.
#[derive(Debug)]
pub(super) struct Totals {
    cells: Cells,
    values: Vec<Totaled>,
}

/// The cells of a slot: the number of rows, then a sum for every value that needs one. They are
/// adjacent, since the slots of consecutive rows are spread over memory. Chunks are never
/// moved: reallocation would leave as much memory unused.
#[derive(Debug)]
struct Cells {
    chunks: Vec<Vec<i64>>,
    width: usize,
}

/// The slots of a chunk.
const SLOTS: usize = 1 << 14;

/// Up to this many slots are added up in a local array; a power of two.
const FEW: usize = 64;

/// Whether sums of any subset of these values in memory fit: all are less than 2^40 in absolute
/// value.
fn small(values: &[i64]) -> bool {
    const END: i64 = 1 << 40;
    let bits = values.iter().fold(0, |bits, value| {
        bits | value.wrapping_add(END).cast_unsigned()
    });
    bits < 2 * END.cast_unsigned() && values.len() < 1 << 22
}

/// Sums of small values, by slot; None if a slot is not one of `all`.
fn few(values: impl Iterator<Item = (u32, i64)>, all: usize) -> Option<[i64; FEW]> {
    let mut sums = [0_i64; FEW];
    let known = sums.get_mut(..all)?;
    for (slot, value) in values {
        let sum = known.get_mut(slot as usize)?;
        *sum = sum.wrapping_add(value);
    }
    Some(sums)
}

/// None stands for a slot that does not exist, here and below: a lost or misplaced row would
/// make an answer wrong without a trace.
impl Cells {
    fn grow(&mut self, slots: usize) {
        while self.chunks.len() * SLOTS < slots {
            self.chunks.push(vec![0; SLOTS * self.width]);
        }
    }

    fn get(&self, slot: usize, place: usize) -> Option<i64> {
        let chunk = self.chunks.get(slot / SLOTS)?;
        chunk.get(slot % SLOTS * self.width + place).copied()
    }

    fn add(&mut self, slot: u32, place: usize, value: i64) -> Option<()> {
        let slot = slot as usize;
        let chunk = self.chunks.get_mut(slot / SLOTS)?;
        add_to(chunk, slot % SLOTS * self.width + place, value)
    }

    /// Adds a value for each of these slots; `all` is the number of slots.
    fn add_all(&mut self, slots: &[u32], place: usize, values: &[i64], all: usize) -> Option<()> {
        let mut both = slots.iter().zip(values);
        if all > FEW || !small(values) {
            return both.try_for_each(|(slot, value)| self.add(*slot, place, *value));
        }
        let sums = few(both.map(|(slot, value)| (*slot, *value)), all)?;
        self.add_few(place, &sums, all)
    }

    /// Counts one row for each of these slots; `all` is the number of slots.
    fn count(&mut self, slots: &[u32], all: usize) -> Option<()> {
        if all > FEW {
            return slots.iter().try_for_each(|slot| self.add(*slot, 0, 1));
        }
        let counts = few(slots.iter().map(|slot| (*slot, 1)), all)?;
        self.add_few(0, &counts, all)
    }

    fn add_few(&mut self, place: usize, sums: &[i64; FEW], all: usize) -> Option<()> {
        let mut sums = (0..).zip(sums.iter().take(all));
        sums.try_for_each(|(slot, sum)| self.add(slot, place, *sum))
    }
}

/// The error for a slot or a value that does not exist.
fn planned<T>(found: Option<T>) -> Result<T> {
    match found {
        Some(found) => Ok(found),
        None => super::unexpected(),
    }
}

/// The stored totals of a value.
#[derive(Debug, Default)]
struct Totaled {
    /// The position of its sum among the cells of a slot, if it needs one.
    sum: Option<usize>,
    /// How many rows of each slot have no value; zero for slots beyond the end. Most values are
    /// never NULL, and then this is empty.
    missing: Vec<i64>,
}

impl Totals {
    /// Empty totals for this number of values.
    pub(super) fn new(values: usize, contributions: &[Contribution]) -> Self {
        let mut width = 1;
        let values = (0..values).map(|value| {
            let summed = contributions.iter().any(|contribution| {
                matches!(contribution.of, ContributionKind::Sum(of) | ContributionKind::Scaled(of, _) if of == value)
            });
            let sum = summed.then_some(width);
            width += usize::from(summed);
            Totaled {
                sum,
                missing: Vec::new(),
            }
        });
        Self {
            values: values.collect(),
            cells: Cells {
                chunks: Vec::new(),
                width,
            },
        }
    }

    /// Adds slots without rows, up to this number of slots.
    pub(super) fn grow(&mut self, all: usize) {
        self.cells.grow(all);
    }

    /// Adds rows, given the slot of each; `all` is the number of slots.
    pub(super) fn add(&mut self, slots: &[u32], values: &[ArrayRef], all: usize) -> Result<()> {
        let rows = |array: &ArrayRef| array.len() == slots.len();
        if values.len() != self.values.len() || !values.iter().all(rows) {
            return super::unexpected();
        }
        self.cells.grow(all);
        planned(self.cells.count(slots, all))?;
        for (array, totaled) in values.iter().zip(&mut self.values) {
            let missing = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
            if let Some(place) = totaled.sum {
                if *array.data_type() != DataType::Int64 {
                    return super::unexpected();
                }
                let integers = array.as_primitive::<Int64Type>();
                let added = if missing.is_none() {
                    self.cells.add_all(slots, place, integers.values(), all)
                } else {
                    let there = integers.iter().map(|value| value.unwrap_or(0));
                    let values: Vec<i64> = there.collect();
                    self.cells.add_all(slots, place, &values, all)
                };
                planned(added)?;
            }
            if let Some(missing) = missing {
                totaled.missing.resize(all, 0);
                for (slot, is_there) in slots.iter().zip(&missing) {
                    let number = i64::from(!is_there);
                    planned(add_to(&mut totaled.missing, *slot as usize, number))?;
                }
            }
        }
        Ok(())
    }

    /// Adds other totals, given the slot here for each of their slots; `all` is the number of
    /// slots.
    pub(super) fn merge(&mut self, others: Self, slots: &[u32], all: usize) -> Result<()> {
        let of_others = others.cells.chunks.len() == slots.len().div_ceil(SLOTS);
        let same =
            self.cells.width == others.cells.width && self.values.len() == others.values.len();
        if !of_others || !same {
            return super::unexpected();
        }
        self.cells.grow(all);
        // Each chunk is freed once it was added.
        for (slots, chunk) in slots.chunks(SLOTS).zip(others.cells.chunks) {
            for (slot, cells) in slots.iter().zip(chunk.chunks_exact(self.cells.width)) {
                for (place, value) in cells.iter().enumerate() {
                    planned(self.cells.add(*slot, place, *value))?;
                }
            }
        }
        for (totaled, other) in self.values.iter_mut().zip(others.values) {
            if other.missing.len() > slots.len() {
                return super::unexpected();
            }
            if !other.missing.is_empty() {
                totaled.missing.resize(all, 0);
            }
            for (slot, missing) in slots.iter().zip(other.missing) {
                planned(add_to(&mut totaled.missing, *slot as usize, missing))?;
            }
        }
        Ok(())
    }

    /// The clamped contribution of a slot's unit to its group.
    pub(super) fn contribution(&self, slot: usize, contribution: &Contribution) -> Result<i64> {
        let total = match contribution.of {
            ContributionKind::Unit => 1,
            ContributionKind::Rows | ContributionKind::Count(_) => {
                self.unclamped(slot, contribution.of)?
            }
            ContributionKind::Sum(of) | ContributionKind::Scaled(of, _) => {
                let (count, sum) = (planned(self.count(slot, of))?, planned(self.sum(slot, of))?);
                match contribution.of {
                    _ if count == 0 => return Ok(0),
                    ContributionKind::Scaled(_, rows) if count > rows => scaled(sum, rows, count),
                    _ => sum,
                }
            }
        };
        // As LEAST(GREATEST(..)). The bounds are in order, which was checked before.
        Ok(total.max(contribution.low).min(contribution.high))
    }

    /// The sum of the contributions that the rows of the slot would have without bounds, each
    /// as the only row of a unit.
    pub(super) fn unclamped(&self, slot: usize, of: ContributionKind) -> Result<i64> {
        planned(match of {
            ContributionKind::Unit | ContributionKind::Rows => self.cells.get(slot, 0),
            ContributionKind::Count(of) => self.count(slot, of),
            ContributionKind::Sum(of) | ContributionKind::Scaled(of, _) => self.sum(slot, of),
        })
    }

    /// How many rows of a slot have a value.
    fn count(&self, slot: usize, value: usize) -> Option<i64> {
        let missing = &self.values.get(value)?.missing;
        // Slots beyond the end of the list have no row without a value.
        let missing = missing.get(slot).copied().unwrap_or(0);
        Some(self.cells.get(slot, 0)?.saturating_sub(missing))
    }

    /// The sum of the values of a slot.
    fn sum(&self, slot: usize, value: usize) -> Option<i64> {
        self.cells.get(slot, self.values.get(value)?.sum?)
    }
}

fn add_to(cells: &mut [i64], place: usize, value: i64) -> Option<()> {
    let cell = cells.get_mut(place)?;
    *cell = cell.saturating_add(value);
    Some(())
}

/// `rows` times the mean of these values, in doubles.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a part of an integer, rounded down"
)]
fn scaled(sum: i64, rows: i64, count: i64) -> i64 {
    (sum as f64 * rows as f64 / count as f64).floor() as i64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{BooleanArray, Int64Array};
    use mizan_sql::{MAX_CONTRIBUTION, MAX_ROWS};

    use super::*;

    const ANY: (i64, i64) = (-MAX_CONTRIBUTION, MAX_CONTRIBUTION);

    fn of(of: ContributionKind, (low, high): (i64, i64)) -> Contribution {
        Contribution { of, low, high }
    }

    fn integers(values: &[Option<i64>]) -> ArrayRef {
        Arc::new(Int64Array::from(values.to_vec()))
    }

    #[test]
    fn contributions_are_counted_summed_scaled_and_clamped() {
        let contributions = [
            of(ContributionKind::Unit, (0, 1)),
            of(ContributionKind::Rows, (0, 2)),
            of(ContributionKind::Count(0), (0, 9)),
            of(ContributionKind::Sum(1), (-6, 6)),
            of(ContributionKind::Scaled(1, 2), ANY),
            // No value contributes zero, whatever the bounds.
            of(ContributionKind::Sum(1), (3, 6)),
        ];
        let mut totals = Totals::new(2, &contributions);
        let text: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, None, None]));
        let numbers = integers(&[Some(-4), Some(-5), None, Some(-2)]);
        totals.add(&[0, 0, 1, 0], &[text, numbers], 2).unwrap();
        let found = |slot| contributions.map(|each| totals.contribution(slot, &each).unwrap());
        // floor(-11 * 2 / 3) is -8.
        assert_eq!(found(0), [1, 2, 1, -6, -8, 3]);
        assert_eq!(found(1), [1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn missing_values_stay_missing_after_a_merge() {
        let contributions = [
            of(ContributionKind::Count(0), ANY),
            of(ContributionKind::Sum(0), ANY),
        ];
        let mut one = Totals::new(1, &contributions);
        one.add(&[0, 1], &[integers(&[Some(1), Some(2)])], 2)
            .unwrap();
        let mut other = Totals::new(1, &contributions);
        other
            .add(&[0, 0], &[integers(&[None, Some(5)])], 1)
            .unwrap();
        other.add(&[1], &[integers(&[Some(7)])], 2).unwrap();
        one.merge(other, &[2, 0], 3).unwrap();
        let found = |slot| contributions.map(|each| one.contribution(slot, &each).unwrap());
        assert_eq!([found(0), found(1), found(2)], [[2, 8], [1, 2], [1, 5]]);
    }

    #[test]
    fn the_greatest_sums_of_the_greatest_tables_fit() {
        let most = i64::MAX / MAX_ROWS;
        let contributions = [
            of(ContributionKind::Sum(0), ANY),
            of(ContributionKind::Scaled(0, 1), (i64::MIN, i64::MAX)),
        ];
        for value in [most, -most] {
            let mut totals = Totals::new(1, &contributions);
            totals.add(&[0], &[integers(&[Some(value)])], 1).unwrap();
            // Twice as many rows each time.
            for _ in 0..40 {
                let mut others = Totals::new(1, &contributions);
                others.cells.chunks.clone_from(&totals.cells.chunks);
                totals.merge(others, &[0], 1).unwrap();
            }
            let found = [0, 1].map(|place| totals.cells.get(0, place).unwrap());
            assert_eq!(found, [MAX_ROWS, MAX_ROWS * value]);
            let clamped = value.signum() * MAX_CONTRIBUTION;
            let found = [0, 1].map(|of| totals.contribution(0, &contributions[of]).unwrap());
            assert_eq!(found, [clamped, value]);
        }
    }

    #[test]
    fn sums_saturate() {
        let contributions = [of(ContributionKind::Sum(0), ANY)];
        let mut totals = Totals::new(1, &contributions);
        let extremes = integers(&[Some(i64::MIN), Some(-1), Some(i64::MAX), Some(1)]);
        totals.add(&[0, 0, 1, 1], &[extremes], 2).unwrap();
        let found = [0, 1].map(|slot| totals.contribution(slot, &contributions[0]).unwrap());
        assert_eq!(found, [-MAX_CONTRIBUTION, MAX_CONTRIBUTION]);
    }

    /// Each of these would lose a row, or count it for another unit or value.
    #[test]
    fn what_does_not_fit_is_an_error() {
        let contributions = [
            of(ContributionKind::Count(0), ANY),
            of(ContributionKind::Sum(1), ANY),
        ];
        let totals = || Totals::new(2, &contributions);
        let columns =
            |rows: usize| vec![integers(&vec![None; rows]), integers(&vec![Some(1); rows])];
        let many = FEW + 1;
        // A slot that is not one of all, among few and among many.
        assert!(totals().add(&[0, 2], &columns(2), 2).is_err());
        let beyond = u32::try_from(SLOTS).unwrap();
        assert!(totals().add(&[0, beyond], &columns(2), many).is_err());
        // A missing column, and rows of different number.
        assert!(totals().add(&[0, 1], &columns(2)[..1], 2).is_err());
        assert!(totals().add(&[0, 1], &columns(3), 2).is_err());
        // Totals that are not those of the slots.
        let mut one = totals();
        one.add(&[0, 1], &columns(2), 2).unwrap();
        let other = || {
            let mut other = totals();
            other.add(&[0, 1], &columns(2), 2).unwrap();
            other
        };
        assert!(one.merge(other(), &[0], 2).is_err());
        assert!(one.merge(other(), &[], 2).is_err());
        assert!(one.merge(Totals::new(1, &contributions), &[], 2).is_err());
        assert!(one.merge(other(), &[0, beyond], 2).is_err());
        // A slot, a value and a sum that do not exist.
        let of_slot = |slot, kind| one.unclamped(slot, kind);
        assert!(of_slot(1, ContributionKind::Sum(1)).is_ok());
        assert!(of_slot(SLOTS, ContributionKind::Rows).is_err());
        assert!(of_slot(1, ContributionKind::Count(2)).is_err());
        assert!(of_slot(1, ContributionKind::Sum(0)).is_err());
        let sum = of(ContributionKind::Sum(0), ANY);
        assert!(one.contribution(1, &sum).is_err());
    }
}
