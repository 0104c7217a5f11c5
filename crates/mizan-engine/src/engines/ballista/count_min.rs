//! A count-min sketch of the rows of each unit (with one row of counters) as aggregate
//! functions of a cluster: tasks compute partial sketches, which are added up.
//!
//! Counters are found by a hash of the unit, and units that share a counter are counted
//! together: an overestimate is as good as the exact number, only slower. The result of a task
//! has the size of its counters, for any number of units.

use datafusion::arrow::array::{ArrayRef, AsArray as _};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::expressions::Literal;

use crate::engines::datafusion::bloom::hash;
use crate::engines::datafusion::distinct;

/// The least and the largest number of counters: at most 8 megabytes for each task.
const COUNTERS: (u64, u64) = (1 << 10, 1 << 22);

/// If the mean of a counter is at most the limit divided by this, few light units are taken for
/// heavy ones.
const ROOM: u64 = 4;

/// The mean of a counter may be the limit divided by this.
const SHARED: u64 = 16;

/// What the aggregate function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CounterSummary {
    /// Arguments: the number of counters as a power of two, the unit. The most rows of any
    /// unit; NULL if a counter is saturated.
    MostRows,
    /// Arguments: the number of counters as a power of two, the limit of light units, the unit.
    /// A bit for each counter, set if it is above the limit: a Bloom filter for `mizan_among`.
    HeavyUnits,
}

impl CounterSummary {
    /// The name of the function.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::MostRows => "mizan_most",
            Self::HeavyUnits => "mizan_many",
        }
    }

    /// How many arguments come before the unit.
    const fn before_unit(self) -> usize {
        match self {
            Self::MostRows => 1,
            Self::HeavyUnits => 2,
        }
    }
}

/// The number of counters, as a power of two, that finds the units with more than `light_rows` of
/// `all` rows; None if a sketch cannot.
pub(super) fn counters(all: u64, light_rows: u64) -> Option<u32> {
    let (least, most) = COUNTERS;
    // Most people have several rows. And with a high limit people may share a counter, because
    // each task fills, sends and adds up all counters.
    let shared = all.saturating_mul(SHARED) / light_rows.max(1);
    let counters = (all / 4).min(shared).clamp(least, most);
    let counters = counters.next_power_of_two();
    // Counters saturate above any limit that is used.
    let tells = light_rows < u16::MAX.into() && all / counters <= light_rows / ROOM;
    tells.then(|| counters.ilog2())
}

/// Our aggregate functions, to be registered in a session.
pub(super) fn all() -> [AggregateUDF; 3] {
    let [most_rows, heavy_units] =
        [CounterSummary::MostRows, CounterSummary::HeavyUnits].map(|summary| {
            AggregateUDF::new_from_impl(CounterFunction {
                summary,
                signature: Signature::variadic_any(Volatility::Immutable),
            })
        });
    [most_rows, heavy_units, distinct::function()]
}

/// One of our functions, as a DataFusion UDAF.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CounterFunction {
    summary: CounterSummary,
    signature: Signature,
}

impl AggregateUDFImpl for CounterFunction {
    fn name(&self) -> &str {
        self.summary.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(match self.summary {
            CounterSummary::MostRows => DataType::Int64,
            CounterSummary::HeavyUnits => DataType::Binary,
        })
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let literal = |place: usize| {
            let expr = arguments.exprs.get(place)?.downcast_ref::<Literal>()?;
            match expr.value() {
                ScalarValue::Int64(Some(value)) => u16::try_from(*value).ok(),
                _ => None,
            }
        };
        let (Some(bits @ 3..=32), Some(light_rows)) =
            (literal(0), literal(self.summary.before_unit() - 1))
        else {
            return exec_err!("no counters");
        };
        Ok(Box::new(CountMin {
            summary: self.summary,
            bits: bits.into(),
            light_rows,
            counters: Vec::new(),
            hashes: Vec::new(),
        }))
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format_state_name(arguments.name, "counters");
        Ok(vec![Field::new(name, DataType::Binary, true).into()])
    }
}

#[derive(Debug)]
struct CountMin {
    summary: CounterSummary,
    /// The number of counters, as a power of two.
    bits: u32,
    /// The most rows of a light unit.
    light_rows: u16,
    /// Saturating counters; empty before the first row.
    counters: Vec<u16>,
    /// The hashes of the rows of the last batch.
    hashes: Vec<u64>,
}

impl CountMin {
    fn make_room(&mut self) {
        self.counters.resize(1 << self.bits, 0);
    }

    /// A bit for each counter, in the order of [`crate::engines::datafusion::bloom`].
    fn heavy_bits(&self) -> Vec<u8> {
        let bytes = self.counters.chunks(8).map(|counters| {
            let bits = counters.iter().enumerate();
            bits.fold(0, |byte, (bit, counter)| {
                byte | (u8::from(*counter > self.light_rows) << bit)
            })
        });
        bytes.collect()
    }
}

impl Accumulator for CountMin {
    #[allow(clippy::cast_possible_truncation, reason = "less than the counters")]
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.make_room();
        self.hashes.clear();
        let unit = values.get(self.summary.before_unit()..).unwrap_or_default();
        hash(unit, &mut self.hashes)?;
        let mask = self.counters.len().wrapping_sub(1);
        for hash in &self.hashes {
            if let Some(counter) = self.counters.get_mut(*hash as usize & mask) {
                *counter = counter.saturating_add(1);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.make_room();
        Ok(match self.summary {
            CounterSummary::MostRows => {
                let most = self.counters.iter().max().copied();
                let most = most.filter(|most| *most < u16::MAX);
                ScalarValue::Int64(most.map(i64::from))
            }
            CounterSummary::HeavyUnits => ScalarValue::Binary(Some(self.heavy_bits())),
        })
    }

    fn size(&self) -> usize {
        size_of_val(self) + 2 * self.counters.capacity() + 8 * self.hashes.capacity()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let counters = std::mem::take(&mut self.counters);
        let bytes: Vec<u8> = counters.into_iter().flat_map(u16::to_le_bytes).collect();
        Ok(vec![ScalarValue::Binary(
            (!bytes.is_empty()).then_some(bytes),
        )])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(states) = states
            .first()
            .and_then(|states| states.as_binary_opt::<i32>())
        else {
            return exec_err!("no counters");
        };
        for state in states.iter().flatten() {
            self.make_room();
            let (counters, rest) = state.as_chunks::<2>();
            if counters.len() != self.counters.len() || !rest.is_empty() {
                return exec_err!("counters of another sketch");
            }
            for (counter, other) in self.counters.iter_mut().zip(counters) {
                *counter = counter.saturating_add(u16::from_le_bytes(*other));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{BinaryArray, Int64Array};

    use super::*;
    use crate::engines::datafusion::bloom::may_contain;

    fn sketch(summary: CounterSummary, bits: u32, light_rows: u16) -> CountMin {
        CountMin {
            summary,
            bits,
            light_rows,
            counters: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Arrays of these units, after the literal arguments.
    fn rows(summary: CounterSummary, units: impl Iterator<Item = i64>) -> Vec<ArrayRef> {
        let units: ArrayRef = Arc::new(Int64Array::from_iter_values(units));
        let mut columns = vec![Arc::clone(&units); summary.before_unit()];
        columns.push(units);
        columns
    }

    fn merged(mut into: CountMin, parts: Vec<CountMin>) -> CountMin {
        for mut part in parts {
            let state = part.state().unwrap().remove(0).to_array().unwrap();
            into.merge_batch(&[state]).unwrap();
        }
        into
    }

    /// Unit `u` has `u % 50 + 1` rows, in two partial sketches.
    fn two_parts(summary: CounterSummary, bits: u32, light_rows: u16) -> CountMin {
        let all = (0..2000_i64).flat_map(|unit| (0..=unit % 50).map(move |row| (unit, row)));
        let parts = [0, 1].map(|part| {
            let mut sketch = sketch(summary, bits, light_rows);
            let rows_of = all.clone().filter(|(_, row)| row % 2 == part);
            sketch
                .update_batch(&rows(summary, rows_of.map(|(unit, _)| unit)))
                .unwrap();
            sketch
        });
        merged(sketch(summary, bits, light_rows), parts.into())
    }

    #[test]
    fn heavy_units_are_found_and_few_others() {
        let ScalarValue::Binary(Some(bits)) = two_parts(CounterSummary::HeavyUnits, 16, 40)
            .evaluate()
            .unwrap()
        else {
            panic!("no bits");
        };
        assert_eq!(bits.len(), 1 << 13);
        let units: ArrayRef = Arc::new(Int64Array::from_iter_values(0..2000));
        let found = may_contain(&bits, &[units]).unwrap();
        let is_heavy = |unit: usize| unit % 50 + 1 > 40;
        let wrongly = (0..2000).filter(|unit| !is_heavy(*unit) && found.value(*unit));
        // 2,000 units in 65,536 counters: one in 33 shares one.
        assert!(wrongly.count() < 200);
        assert!((0..2000).all(|unit| !is_heavy(unit) || found.value(unit)));
    }

    #[test]
    fn the_maximum_is_never_too_small() {
        for bits in [3, 10, 16] {
            let most = two_parts(CounterSummary::MostRows, bits, 0)
                .evaluate()
                .unwrap();
            let ScalarValue::Int64(Some(most)) = most else {
                panic!("{most}");
            };
            assert!(most >= 50, "{bits}: {most}");
        }
        // A saturated counter gives no bound.
        let mut full = sketch(CounterSummary::MostRows, 3, 0);
        full.update_batch(&rows(
            CounterSummary::MostRows,
            std::iter::repeat_n(7, 70_000),
        ))
        .unwrap();
        assert_eq!(full.evaluate().unwrap(), ScalarValue::Int64(None));
        let none = sketch(CounterSummary::MostRows, 3, 0).evaluate().unwrap();
        assert_eq!(none, ScalarValue::Int64(Some(0)));
    }

    #[test]
    fn empty_and_invalid_partial_sketches() {
        let empty = sketch(CounterSummary::HeavyUnits, 10, 1).state().unwrap();
        assert_eq!(empty, [ScalarValue::Binary(None)]);
        let none = merged(
            sketch(CounterSummary::HeavyUnits, 10, 1),
            vec![sketch(CounterSummary::HeavyUnits, 10, 1)],
        );
        assert_eq!(none.counters, Vec::<u16>::new());
        let strange: ArrayRef = Arc::new(BinaryArray::from(vec![&[1_u8, 2, 3][..]]));
        assert!(
            sketch(CounterSummary::HeavyUnits, 10, 1)
                .merge_batch(&[strange])
                .is_err()
        );
    }

    #[test]
    fn the_number_of_counters_suffices_or_is_none() {
        assert_eq!(counters(0, 4), Some(10));
        assert_eq!(counters(6_000_000, 100), Some(20));
        assert_eq!(counters(6_000_000, 1_024), Some(17));
        assert_eq!(counters(100_000_000, 100), Some(22));
        assert_eq!(counters(1_000_000_000, 100), None);
        assert_eq!(counters(1_000, 65_535), None);
    }
}
