//! How many rows units have, at most, as aggregate functions of a cluster: the embedded
//! engine's tally, which tasks make in parts and somebody adds up.
//!
//! Counters are found by a hash of the unit, and units that share one are counted
//! together: too many rows are as good as the true number, only slower. A task sends its
//! counters, however many units it met.

use datafusion::arrow::array::{ArrayRef, AsArray as _};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::expressions::Literal;

use crate::engines::datafusion::among::hash;
use crate::engines::datafusion::distinct;

/// How many counters there are at least and at most: 8 megabytes of a task.
const COUNTERS: (u64, u64) = (1 << 10, 1 << 22);

/// Where fewer rows than a quarter of what is many share a counter, few units are taken
/// for others.
const ROOM: u64 = 4;

/// Of what is few, the part that the rows of a counter are in the mean.
const SHARED: u64 = 16;

/// What is said of the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Says {
    /// How many counters as a power of two, the unit: the most rows, if it can be said.
    Most,
    /// How many counters as a power of two, how many rows are few, the unit: a bit for
    /// each counter, whether it has more, as `mizan_among` takes it.
    Many,
}

impl Says {
    /// What it is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Most => "mizan_most",
            Self::Many => "mizan_many",
        }
    }

    /// How many arguments there are before the unit.
    const fn before_unit(self) -> usize {
        match self {
            Self::Most => 1,
            Self::Many => 2,
        }
    }
}

/// How many counters, as a power of two, tell who has more rows than these of all.
pub(super) fn counters(all: u64, few: u64) -> Option<u32> {
    let (least, most) = COUNTERS;
    // Most people have several rows; and where many rows are few, people may share a
    // counter, for what each task fills, sends and adds up is counters.
    let shared = all.saturating_mul(SHARED) / few.max(1);
    let counters = (all / 4).min(shared).clamp(least, most);
    let counters = counters.next_power_of_two();
    // Counters stay at their ends, beyond all that is few.
    let tells = few < u16::MAX.into() && all / counters <= few / ROOM;
    tells.then(|| counters.ilog2())
}

/// Our aggregate functions, for a session to know.
pub(super) fn all() -> [AggregateUDF; 3] {
    let [most, many] = [Says::Most, Says::Many].map(|says| {
        AggregateUDF::new_from_impl(Ours {
            says,
            signature: Signature::variadic_any(Volatility::Immutable),
        })
    });
    [most, many, distinct::function()]
}

/// One of our functions, as DataFusion wants it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Ours {
    says: Says,
    signature: Signature,
}

impl AggregateUDFImpl for Ours {
    fn name(&self) -> &str {
        self.says.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(match self.says {
            Says::Most => DataType::Int64,
            Says::Many => DataType::Binary,
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
        let (Some(bits @ 3..=32), Some(few)) = (literal(0), literal(self.says.before_unit() - 1))
        else {
            return exec_err!("no counters");
        };
        Ok(Box::new(Tally {
            says: self.says,
            bits: bits.into(),
            few,
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
struct Tally {
    says: Says,
    /// The power of two that there are counters.
    bits: u32,
    /// How many rows are few.
    few: u16,
    /// Each stays at its end. There are none before there are rows.
    counters: Vec<u16>,
    /// Of the rows that were added last.
    hashes: Vec<u64>,
}

impl Tally {
    fn make_room(&mut self) {
        self.counters.resize(1 << self.bits, 0);
    }

    /// A bit for each counter, as [`crate::engines::datafusion::among`] places them.
    fn many(&self) -> Vec<u8> {
        let bytes = self.counters.chunks(8).map(|counters| {
            let bits = counters.iter().enumerate();
            bits.fold(0, |byte, (bit, counter)| {
                byte | (u8::from(*counter > self.few) << bit)
            })
        });
        bytes.collect()
    }
}

impl Accumulator for Tally {
    #[allow(clippy::cast_possible_truncation, reason = "less than the counters")]
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.make_room();
        self.hashes.clear();
        let unit = values.get(self.says.before_unit()..).unwrap_or_default();
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
        Ok(match self.says {
            Says::Most => {
                let most = self.counters.iter().max().copied();
                let most = most.filter(|most| *most < u16::MAX);
                ScalarValue::Int64(most.map(i64::from))
            }
            Says::Many => ScalarValue::Binary(Some(self.many())),
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
                return exec_err!("counters of another tally");
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
    use crate::engines::datafusion::among::among;

    fn tally(says: Says, bits: u32, few: u16) -> Tally {
        Tally {
            says,
            bits,
            few,
            counters: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Rows of these units, with the literals before them.
    fn rows(says: Says, units: impl Iterator<Item = i64>) -> Vec<ArrayRef> {
        let units: ArrayRef = Arc::new(Int64Array::from_iter_values(units));
        let mut columns = vec![Arc::clone(&units); says.before_unit()];
        columns.push(units);
        columns
    }

    fn merged(mut into: Tally, parts: Vec<Tally>) -> Tally {
        for mut part in parts {
            let state = part.state().unwrap().remove(0).to_array().unwrap();
            into.merge_batch(&[state]).unwrap();
        }
        into
    }

    /// Unit `u` has `u % 50 + 1` rows, in two parts.
    fn two_parts(says: Says, bits: u32, few: u16) -> Tally {
        let all = (0..2000_i64).flat_map(|unit| (0..=unit % 50).map(move |row| (unit, row)));
        let parts = [0, 1].map(|part| {
            let mut tally = tally(says, bits, few);
            let rows_of = all.clone().filter(|(_, row)| row % 2 == part);
            tally
                .update_batch(&rows(says, rows_of.map(|(unit, _)| unit)))
                .unwrap();
            tally
        });
        merged(tally(says, bits, few), parts.into())
    }

    #[test]
    fn whoever_has_many_rows_is_found_and_few_others() {
        let ScalarValue::Binary(Some(bits)) = two_parts(Says::Many, 16, 40).evaluate().unwrap()
        else {
            panic!("no bits");
        };
        assert_eq!(bits.len(), 1 << 13);
        let units: ArrayRef = Arc::new(Int64Array::from_iter_values(0..2000));
        let found = among(&bits, &[units]).unwrap();
        let many = |unit: usize| unit % 50 + 1 > 40;
        let wrongly = (0..2000).filter(|unit| !many(*unit) && found.value(*unit));
        // 2,000 in 65,536 counters: one in 33 shares one.
        assert!(wrongly.count() < 200);
        assert!((0..2000).all(|unit| !many(unit) || found.value(unit)));
    }

    #[test]
    fn the_most_is_never_too_few() {
        for bits in [3, 10, 16] {
            let most = two_parts(Says::Most, bits, 0).evaluate().unwrap();
            let ScalarValue::Int64(Some(most)) = most else {
                panic!("{most}");
            };
            assert!(most >= 50, "{bits}: {most}");
        }
        // Nobody can say of a counter at its end.
        let mut full = tally(Says::Most, 3, 0);
        full.update_batch(&rows(Says::Most, std::iter::repeat_n(7, 70_000)))
            .unwrap();
        assert_eq!(full.evaluate().unwrap(), ScalarValue::Int64(None));
        let none = tally(Says::Most, 3, 0).evaluate().unwrap();
        assert_eq!(none, ScalarValue::Int64(Some(0)));
    }

    #[test]
    fn parts_without_rows_and_strange_ones() {
        let empty = tally(Says::Many, 10, 1).state().unwrap();
        assert_eq!(empty, [ScalarValue::Binary(None)]);
        let none = merged(tally(Says::Many, 10, 1), vec![tally(Says::Many, 10, 1)]);
        assert_eq!(none.counters, Vec::<u16>::new());
        let strange: ArrayRef = Arc::new(BinaryArray::from(vec![&[1_u8, 2, 3][..]]));
        assert!(tally(Says::Many, 10, 1).merge_batch(&[strange]).is_err());
    }

    #[test]
    fn there_are_counters_enough_or_none() {
        assert_eq!(counters(0, 4), Some(10));
        assert_eq!(counters(6_000_000, 100), Some(20));
        assert_eq!(counters(6_000_000, 1_024), Some(17));
        assert_eq!(counters(100_000_000, 100), Some(22));
        assert_eq!(counters(1_000_000_000, 100), None);
        assert_eq!(counters(1_000, 65_535), None);
    }
}
