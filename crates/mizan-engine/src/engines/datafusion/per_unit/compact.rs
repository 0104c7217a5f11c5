//! Numbers integers that are close together, as ids often are, with a table instead of a hash
//! map.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Int64Array};
use datafusion::common::Result;

use super::small;

/// The most table entries for each integer.
const PLACES_PER_INTEGER: u64 = 16;

/// A table of this size is always allocated, since the first rows say little. The operating
/// system provides its memory on first use.
const SMALL_TABLE: u64 = 1 << 22;

/// Integers, numbered in order of first occurrence.
#[derive(Debug, Default)]
pub(super) struct Compact {
    /// The integer of the first entry.
    low: i64,
    /// For each integer from `low` on, its number plus one, or zero.
    places: Vec<u32>,
    integers: Vec<i64>,
}

impl Compact {
    /// How many integers there are.
    pub(super) fn len(&self) -> usize {
        self.integers.len()
    }

    /// Numbers the rows of an array. Returns false and changes nothing if one is NULL or if the
    /// integers are too far apart.
    pub(super) fn number(&mut self, array: &Int64Array, numbers: &mut Vec<usize>) -> Result<bool> {
        if array.null_count() > 0 || !self.reach(array.values()) {
            return Ok(false);
        }
        numbers.clear();
        for integer in array.values() {
            let Some(number) = places_from(&mut self.places, self.low, *integer) else {
                return super::unexpected();
            };
            if *number == 0 {
                self.integers.push(*integer);
                *number = small(self.integers.len())?;
            }
            numbers.push(*number as usize - 1);
        }
        Ok(true)
    }

    /// Extends the table to these integers, unless it would become too large.
    fn reach(&mut self, new: &[i64]) -> bool {
        let (Some(&low), Some(&high)) = (new.iter().min(), new.iter().max()) else {
            return true;
        };
        if self.places.is_empty() {
            self.low = low;
        }
        let places = self.places.len() as u64;
        let known = self.integers.len().saturating_add(new.len()) as u64;
        let most = known.saturating_mul(PLACES_PER_INTEGER).max(SMALL_TABLE);
        let above = if high < self.low {
            0
        } else {
            high.abs_diff(self.low).saturating_add(1)
        };
        let below = if low < self.low {
            low.abs_diff(self.low)
        } else {
            0
        };
        let size = places.max(above).saturating_add(below);
        let Some(size) = usize::try_from(size).ok().filter(|_| size <= most) else {
            return false;
        };
        if below == 0 {
            self.places.resize(size, 0);
            return true;
        }
        // Leaves room below, so that descending integers do not move the table each time.
        let from = low.saturating_sub_unsigned(size as u64 / 2);
        let spare = usize::try_from(low.abs_diff(from)).ok();
        let Some((spare, below)) = spare.zip(usize::try_from(below).ok()) else {
            return false;
        };
        let mut moved = vec![0; size + spare];
        let below = below + spare;
        let Some(to) = moved.get_mut(below..below + self.places.len()) else {
            return false;
        };
        to.copy_from_slice(&self.places);
        self.places = moved;
        self.low = from;
        true
    }

    /// The integers, by number.
    pub(super) fn into_values(self) -> ArrayRef {
        Arc::new(Int64Array::from(self.integers))
    }
}

fn places_from(places: &mut [u32], low: i64, integer: i64) -> Option<&mut u32> {
    let place = usize::try_from(integer.abs_diff(low)).ok()?;
    places.get_mut(place)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::datatypes::Int64Type;

    use super::*;

    /// Numbers integers in batches and checks them; returns whether all could be numbered.
    fn check(integers: &[i64], batch: usize) -> bool {
        let mut compact = Compact::default();
        let mut known: BTreeMap<i64, usize> = BTreeMap::new();
        let mut numbers = Vec::new();
        let mut all = true;
        for integers in integers.chunks(batch) {
            let array = Int64Array::from(integers.to_vec());
            let before = compact.len();
            if !compact.number(&array, &mut numbers).unwrap() {
                assert_eq!(compact.len(), before);
                all = false;
                break;
            }
            for (integer, number) in integers.iter().zip(&numbers) {
                let next = known.len();
                assert_eq!(number, known.entry(*integer).or_insert(next));
            }
        }
        let values = compact.into_values();
        let values = values.as_primitive::<Int64Type>();
        assert_eq!(values.len(), known.len());
        for (integer, number) in known {
            assert_eq!(values.value(number), integer);
        }
        all
    }

    #[test]
    fn integers_come_in_any_order() {
        let rising: Vec<i64> = (-5_000..5_000).collect();
        let falling: Vec<i64> = rising.iter().rev().copied().collect();
        let mixed: Vec<i64> = (0..10_000).map(|row| row * 7919 % 3_001 - 1_500).collect();
        for integers in [rising, falling, mixed] {
            assert!(check(&integers, 1));
            assert!(check(&integers, 100));
            assert!(check(&integers, 100_000));
        }
    }

    #[test]
    fn the_ends_of_the_range_are_integers_too() {
        assert!(check(&[i64::MIN, i64::MIN + 3, i64::MIN], 1));
        assert!(check(&[i64::MIN + 3, i64::MIN], 1));
        assert!(check(&[i64::MAX, i64::MAX - 3, i64::MAX], 1));
    }

    #[test]
    fn integers_far_apart_are_not_numbered() {
        assert!(!check(&[i64::MAX, i64::MIN], 1));
        assert!(!check(&[i64::MIN, i64::MAX], 2));
        assert!(!check(&[0, 1, 2, 1 << 22], 3));
        assert!(check(&[0, 1, 2, (1 << 22) - 1], 3));
        assert!(!check(&[0, -(1 << 22), 1], 1));
        let array = Int64Array::from(vec![Some(1), None]);
        let mut compact = Compact::default();
        assert!(!compact.number(&array, &mut Vec::new()).unwrap());
    }
}
