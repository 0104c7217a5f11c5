//! A Bloom filter of unit ids with one hash function (Bloom 1970), as an argument of an SQL
//! function. It has no false negatives and few false positives.
//!
//! Executors on several machines test rows against one filter, so hashes depend neither on the
//! processor nor on the build.

use std::fmt::Write as _;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{Result, exec_err};
use mizan_sql::{Type, Value};

use super::values::{Values, array_of};

/// Bits per unit: one in so many other units is a false positive. Plans are copied many times,
/// so a filter is no larger than necessary.
const BITS_EACH: usize = 16;

/// One megabyte.
const MOST_BITS: usize = 1 << 23;

/// The filter of these units, each with values of these types.
#[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
pub(in crate::engines) fn bits(units: &[Vec<Value>], kinds: &[Type]) -> Result<Vec<u8>> {
    let mut bits = vec![0_u8; bytes_for(units.len())];
    let column = |(place, kind): (usize, &Type)| {
        let values = units.iter();
        array_of(
            *kind,
            values.map(|unit| unit.get(place).cloned().unwrap_or(Value::Null)),
        )
    };
    let columns: Vec<ArrayRef> = kinds.iter().enumerate().map(column).collect();
    let mut hashes = Vec::new();
    hash(&columns, &mut hashes)?;
    for hash in hashes {
        let (byte, bit) = place(hash, bits.len());
        if let Some(byte) = bits.get_mut(byte) {
            *byte |= bit;
        }
    }
    Ok(bits)
}

/// The size in bytes of a filter of `units` units.
fn bytes_for(units: usize) -> usize {
    let wanted = units.saturating_mul(BITS_EACH).next_power_of_two();
    wanted.clamp(1024, MOST_BITS) / 8
}

/// The filter folded to the size that its units need; None if it has more than `most` units.
#[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
pub(in crate::engines) fn folded(mut bits: Vec<u8>, most: usize) -> Option<Vec<u8>> {
    let ones = bits.iter().map(|byte| byte.count_ones() as usize).sum();
    if ones > most {
        return None;
    }
    while bits.len() > bytes_for(ones) {
        let upper = bits.split_off(bits.len() / 2);
        for (lower, upper) in bits.iter_mut().zip(upper) {
            *lower |= upper;
        }
    }
    Some(bits)
}

/// The filter as an SQL literal.
#[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
pub(in crate::engines) fn literal(bits: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bits.len() + 3);
    text.push_str("X'");
    for byte in bits {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\'');
    text
}

/// The filter in the only row of a result.
#[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
pub(in crate::engines) fn bits_of(batch: &RecordBatch) -> Option<Vec<u8>> {
    let bits = batch.columns().first()?.as_binary_opt::<i32>()?;
    Some(bits.iter().next()??.to_vec())
}

/// For each row, whether its unit may be in the filter.
pub(in crate::engines) fn may_contain(bits: &[u8], units: &[ArrayRef]) -> Result<BooleanArray> {
    if !bits.len().is_power_of_two() {
        return exec_err!("no bits");
    }
    let mut hashes = Vec::new();
    hash(units, &mut hashes)?;
    let found = hashes.into_iter().map(|hash| {
        let (byte, bit) = place(hash, bits.len());
        Some(bits.get(byte).is_some_and(|byte| byte & bit != 0))
    });
    Ok(found.collect())
}

/// A hash for each row.
pub(in crate::engines) fn hash(units: &[ArrayRef], hashes: &mut Vec<u64>) -> Result<()> {
    let Some(first) = units.first() else {
        return exec_err!("rows without a unit");
    };
    let integers = first.as_primitive_opt::<Int64Type>();
    if let (Some(integers), 1, 0) = (integers, units.len(), first.null_count()) {
        hashes.extend(integers.values().iter().map(|id| mixed(id.cast_unsigned())));
        return Ok(());
    }
    let columns = units.iter().map(|unit| Values::new(unit));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    for row in 0..first.len() {
        // An id that is an integer has the same hash as above, whether or not other rows are
        // NULL.
        let hash = match columns.as_slice() {
            [Values::Integer(ids)] if ids.is_valid(row) => mixed(ids.value(row).cast_unsigned()),
            columns => {
                let each = columns.iter().map(|column| bytes_hash(column, row));
                each.fold(0, |all, one| mixed(all ^ one))
            }
        };
        hashes.push(hash);
    }
    Ok(())
}

/// FNV-1a of the bytes of a value.
fn bytes_hash(column: &Values<'_>, row: usize) -> u64 {
    let of = |bytes: &[u8]| {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    };
    if column.is_null(row) {
        return 1;
    }
    match column {
        Values::Boolean(array) => of(&[u8::from(array.value(row))]),
        Values::Integer(array) => of(&array.value(row).to_le_bytes()),
        Values::Number(array) => of(&array.value(row).to_bits().to_le_bytes()),
        Values::Text(array) => of(array.value(row).as_bytes()),
        Values::PlainText(array) => of(array.value(row).as_bytes()),
        Values::Date(array) => of(&array.value(row).to_le_bytes()),
        Values::Timestamp(array) => of(&array.value(row).to_le_bytes()),
    }
}

/// Mixes a hash, so that its lower bits depend on all bits.
const fn mixed(hash: u64) -> u64 {
    let hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 29)
}

/// The byte and the bit of a hash, in a power of two of bytes: the lowest three bits select the
/// bit.
#[allow(clippy::cast_possible_truncation, reason = "less than the bytes")]
const fn place(hash: u64, bytes: usize) -> (usize, u8) {
    let bit = 1_u8 << (hash & 7);
    ((hash >> 3) as usize & bytes.wrapping_sub(1), bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_false_negatives_and_few_false_positives() {
        let id = |id: i64| vec![Value::Integer(id)];
        let named = |id: i64| vec![Value::Text(format!("p{id}")), Value::Date(3)];
        for (unit, kinds) in [
            (&id as &dyn Fn(i64) -> Vec<Value>, vec![Type::Integer]),
            (&named, vec![Type::Text, Type::Date]),
        ] {
            let units: Vec<Vec<Value>> = (0..2_000).map(|place| unit(place * 7)).collect();
            let bits = bits(&units, &kinds).unwrap();
            let rows: Vec<Vec<Value>> = (0..100_000).map(unit).collect();
            let column = |place: usize| {
                let values = rows.iter().map(|row| row[place].clone());
                array_of(kinds[place], values)
            };
            let columns: Vec<ArrayRef> = (0..kinds.len()).map(column).collect();
            let found = may_contain(&bits, &columns).unwrap();
            let mut wrongly = 0;
            for (row, found) in found.iter().enumerate() {
                let is = row % 7 == 0 && row < 14_000;
                assert!(!is || found == Some(true), "{row}");
                wrongly += u32::from(!is && found == Some(true));
            }
            // About one in 16 is a false positive.
            assert!(wrongly < 9_000, "{wrongly}");
        }
    }

    #[test]
    fn a_null_beside_an_id_does_not_change_its_hash() {
        let ids = |ids: &[Option<i64>]| {
            let value = |id: &Option<i64>| id.map_or(Value::Null, Value::Integer);
            vec![array_of(Type::Integer, ids.iter().map(value))]
        };
        let (mut one, mut other) = (Vec::new(), Vec::new());
        hash(&ids(&[Some(5), Some(-1)]), &mut one).unwrap();
        hash(&ids(&[Some(5), None, Some(-1)]), &mut other).unwrap();
        assert_eq!((one[0], one[1]), (other[0], other[2]));
    }

    #[test]
    fn folded_filters_contain_the_same_units() {
        let ids: Vec<i64> = (0..40).map(|place| place * 1_000_003).collect();
        let units = [array_of(
            Type::Integer,
            ids.iter().map(|id| Value::Integer(*id)),
        )];
        let mut hashes = Vec::new();
        hash(&units, &mut hashes).unwrap();
        let mut bits = vec![0_u8; 1 << 18];
        for hash in hashes {
            let (byte, bit) = place(hash, bits.len());
            bits[byte] |= bit;
        }
        assert_eq!(folded(bits.clone(), 39), None);
        let folded = folded(bits, 40).unwrap();
        assert_eq!(folded.len(), 128);
        assert!(
            may_contain(&folded, &units)
                .unwrap()
                .iter()
                .all(|found| found == Some(true))
        );
    }

    #[test]
    fn a_literal_has_every_byte() {
        assert_eq!(literal(&[0, 171, 255]), "X'00abff'");
    }
}
