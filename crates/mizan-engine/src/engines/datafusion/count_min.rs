//! A count-min sketch of the rows of each unit, with one row of counters (Cormode and
//! Muthukrishnan 2005).
//!
//! Contribution bounding costs little where heavy units are known: no bound can affect a light
//! unit, whatever its rows are. Finding heavy units takes a scan of the ids only. Counters are
//! indexed by a hash of the id, and ids that share a counter are counted together: an
//! overestimate is as good as the exact number, only slower.

use std::any::Any;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::common::{Result, exec_err};
use datafusion::physical_plan::{
    ExecutionPlan, ExecutionPlanProperties, StatisticsArgs, StatisticsContext,
};
use datafusion::prelude::SessionContext;

use super::csv::CsvTable;
use super::per_unit::{PartialResult, plan_rows, whole};

/// The expected number of rows if it is not known.
const USUAL_ROWS: usize = 1 << 20;

/// Tables with more rows than this get no more counters.
const MOST_ROWS: usize = 1 << 30;

/// The least and the largest number of counters.
const COUNTERS: (usize, usize) = (1 << 10, 1 << 26);

/// Whether reading one column costs less than reading all: not in text files.
pub(super) fn is_cheap(table: &dyn Any) -> bool {
    !table.is::<CsvTable>()
}

/// Row counts by the hash of the unit.
#[derive(Debug)]
pub(super) struct CountMin {
    /// Counters saturate, above all limits. Their number is a power of two.
    counters: Vec<u16>,
    /// The hashes of the rows of the last batch.
    hashes: Hashes,
}

impl CountMin {
    /// Counts the rows of a query whose columns are those of the unit.
    pub(super) async fn of(context: &SessionContext, units: &str) -> Result<Self> {
        let units = plan_rows(context, units).await?;
        let sketch = whole(context, &units, || Self::for_plan(units.as_ref())).await?;
        Ok(sketch.unwrap_or_default())
    }

    /// An empty sketch, for the rows of a plan.
    pub(super) fn for_plan(rows: &dyn ExecutionPlan) -> Result<Self> {
        let expected = expected_rows(rows)?.unwrap_or(USUAL_ROWS);
        // Each partition has its own counters, which together should not exceed those of a few
        // partitions.
        let partitions = rows.output_partitioning().partition_count().max(1);
        Ok(Self::for_rows(expected.min(MOST_ROWS / partitions)))
    }

    /// An empty sketch, for about this many rows.
    fn for_rows(rows: usize) -> Self {
        let (least, most) = COUNTERS;
        // Most people have several rows.
        let counters = (rows / 4).clamp(least, most).next_power_of_two();
        Self {
            counters: vec![0; counters],
            hashes: Hashes::default(),
        }
    }

    /// Counts rows, given the columns of their units.
    pub(super) fn add_units(&mut self, units: &[ArrayRef]) -> Result<()> {
        let bits = self.counters.len().ilog2();
        for number in numbers(units, &mut self.hashes)? {
            let place = place(number.cast_unsigned(), bits);
            if let Some(counter) = self.counters.get_mut(place) {
                *counter = counter.saturating_add(1);
            }
        }
        Ok(())
    }

    /// An upper bound on the rows of any unit; None if a counter is saturated.
    pub(super) fn most(&self) -> Option<u64> {
        let most = *self.counters.iter().max()?;
        (most < u16::MAX).then_some(most.into())
    }

    /// The units that may have more than `rows` rows; None if there are none.
    pub(super) fn more_than(&self, rows: u64) -> Option<HeavyUnits> {
        // A saturated counter may stand for any number.
        let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(u16::MAX - 1);
        let words = self.counters.chunks(64).map(|counters| {
            let bits = counters.iter().enumerate();
            bits.fold(0, |word, (bit, counter)| {
                word | (u64::from(*counter > rows) << bit)
            })
        });
        let words: Vec<u64> = words.collect();
        words.iter().any(|word| *word != 0).then(|| HeavyUnits {
            words,
            bits: self.counters.len().ilog2(),
        })
    }
}

impl PartialResult for CountMin {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.add_units(batch.columns())
    }

    fn merged(mut self, other: Self) -> Result<Self> {
        if self.counters.len() != other.counters.len() {
            return exec_err!("parts of different plans");
        }
        for (counter, other) in self.counters.iter_mut().zip(other.counters) {
            *counter = counter.saturating_add(other);
        }
        Ok(self)
    }
}

/// The estimated number of rows of a plan, if the planner has one.
pub(super) fn expected_rows(plan: &dyn ExecutionPlan) -> Result<Option<usize>> {
    let statistics = StatisticsContext::default();
    let statistics = statistics.compute(plan, &StatisticsArgs::new())?;
    Ok(statistics.num_rows.get_value().copied())
}

/// The heavy units: those that may have many rows, by the hash of their id.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeavyUnits {
    words: Vec<u64>,
    bits: u32,
}

impl HeavyUnits {
    /// Marks the rows of heavy units, among the positions for which `of` holds. Either all rows
    /// of a unit are marked or none.
    pub(super) fn rows(
        &self,
        units: &[ArrayRef],
        hashes: &mut Hashes,
        of: impl Fn(usize) -> bool,
    ) -> Result<BooleanArray> {
        let numbers = numbers(units, hashes)?;
        let is_theirs = |number: &i64| {
            let place = place(number.cast_unsigned(), self.bits);
            let word = self.words.get(place / 64).copied().unwrap_or(u64::MAX);
            (word >> (place % 64)) & 1 == 1
        };
        let theirs = BooleanBuffer::collect_bool(numbers.len(), |row| {
            numbers.get(row).is_some_and(is_theirs) && of(row)
        });
        Ok(BooleanArray::new(theirs, None))
    }
}

/// A reusable buffer for the hashes of rows.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    hashes: Vec<u64>,
    numbers: Vec<i64>,
}

/// A number for the unit of each row, equal for equal units. Integer ids are their own numbers.
fn numbers<'a>(units: &'a [ArrayRef], room: &'a mut Hashes) -> Result<&'a [i64]> {
    let Some(first) = units.first() else {
        return exec_err!("rows without a unit");
    };
    // A number must not depend on the other rows of its batch.
    if units.iter().any(|unit| unit.logical_null_count() > 0) {
        return exec_err!("rows without a unit");
    }
    if let (Some(integers), 1) = (first.as_primitive_opt::<Int64Type>(), units.len()) {
        return Ok(integers.values());
    }
    let Hashes { hashes, numbers } = room;
    hashes.clear();
    hashes.resize(first.len(), 0);
    create_hashes(units, &RandomState::default(), hashes)?;
    numbers.clear();
    numbers.extend(hashes.iter().map(|hash| hash.cast_signed()));
    Ok(numbers)
}

/// The counter of a number, for two to the power of `bits` counters: the fraction of its
/// multiple of the golden ratio (Fibonacci hashing), which separates neighbours. So consecutive
/// ids get different counters. The upper bits are mixed in, for ids that are a power of two
/// apart.
#[allow(clippy::cast_possible_truncation, reason = "less than the counters")]
const fn place(hash: u64, bits: u32) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let hash = hash ^ (hash >> 20);
    (hash.wrapping_mul(GOLDEN) >> (u64::BITS - bits)) as usize
}

impl Default for CountMin {
    /// An empty sketch, for few rows.
    fn default() -> Self {
        Self::for_rows(0)
    }
}

#[cfg(test)]
impl CountMin {
    /// A sketch of some ids.
    pub(super) fn of_units(units: &ArrayRef) -> Self {
        let mut sketch = Self::for_rows(units.len());
        sketch
            .add_units(std::slice::from_ref(units))
            .unwrap_or_default();
        sketch
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{Int64Array, StringViewArray};

    use super::*;

    fn units(ids: &[i64]) -> Vec<ArrayRef> {
        let texts = ids
            .iter()
            .map(|id| Some(format!("the person of number {id}")));
        vec![
            Arc::new(Int64Array::from(ids.to_vec())),
            Arc::new(texts.collect::<StringViewArray>()),
        ]
    }

    #[test]
    fn no_heavy_unit_is_missed() {
        let rows = |id: i64| u64::try_from(id % 20 + 1).unwrap();
        let of = |id: i64| (0..rows(id)).map(move |_| id);
        let ids: Vec<i64> = (0..3_000).flat_map(of).collect();
        let everybody: Vec<i64> = (0..3_000).collect();
        // Few counters, so that most ids share one, and many.
        for expected in [0, 1 << 18] {
            let (mut one, mut other) = (CountMin::for_rows(expected), CountMin::for_rows(expected));
            for (place, ids) in ids.chunks(997).enumerate() {
                let part = if place % 3 == 0 { &mut one } else { &mut other };
                part.add_units(&units(ids)).unwrap();
            }
            let sketch = one.merged(other).unwrap();
            let most = sketch.most().unwrap();
            assert!(most >= 20 && (expected == 0 || most < 60), "{most}");
            for most in [1_u64, 10, 15, 19, 20, u64::MAX] {
                let Some(heavy) = sketch.more_than(most) else {
                    assert!(most > 20, "{most}");
                    continue;
                };
                let mut hashes = Hashes::default();
                let units = units(&everybody);
                let found = heavy.rows(&units, &mut hashes, |_| true).unwrap();
                let mut wrongly = 0;
                for (id, found) in everybody.iter().zip(found.values()) {
                    let is_many = rows(*id) > most;
                    assert!(!is_many || found, "{id} {most}");
                    wrongly += usize::from(!is_many && found);
                }
                // Of 3,000 ids and 65,536 counters about 130 share one.
                assert!(expected == 0 || wrongly < 250, "{most} {wrongly}");
            }
        }
    }

    #[test]
    fn consecutive_ids_have_different_counters() {
        // With random hashes about 3,000 counters would be shared.
        for (from, apart, most) in [(1, 1, 0), (-5_000_000, 7, 3_000), (1 << 40, 1 << 20, 9_000)] {
            let ids: Vec<i64> = (0..30_000).map(|id| from + id * apart).collect();
            let ids: ArrayRef = Arc::new(Int64Array::from(ids));
            // Sixteen rows each.
            let mut sketch = CountMin::for_rows(480_000);
            for _ in 0..16 {
                sketch.add_units(std::slice::from_ref(&ids)).unwrap();
            }
            let shared = sketch.counters.iter().filter(|rows| **rows > 16).count();
            assert!(shared <= most, "{shared} from {from}, {apart} apart");
        }
    }

    #[test]
    fn a_saturated_counter_gives_no_bound() {
        let mut sketch = CountMin::for_rows(0);
        for _ in 0..70 {
            sketch.add_units(&units(&[-1; 1_000])).unwrap();
        }
        assert_eq!(sketch.most(), None);
        let heavy = sketch.more_than(u64::MAX).unwrap();
        let mut hashes = Hashes::default();
        let units = units(&[-1]);
        let all = heavy.rows(&units, &mut hashes, |_| true).unwrap();
        let none = heavy.rows(&units, &mut hashes, |_| false).unwrap();
        assert_eq!([all.true_count(), none.true_count()], [1, 0]);
    }

    #[test]
    fn an_empty_sketch_has_no_heavy_units() {
        let sketch = CountMin::for_rows(0);
        assert_eq!(sketch.most(), Some(0));
        assert_eq!(sketch.more_than(0), None);
    }

    #[test]
    fn without_counters_nothing_is_known() {
        let sketch = CountMin {
            counters: Vec::new(),
            hashes: Hashes::default(),
        };
        assert_eq!(sketch.most(), None);
    }
}
