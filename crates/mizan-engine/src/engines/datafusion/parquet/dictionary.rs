//! Dictionary-coded texts: a page holds indices into the dictionary of its chunk, so a long text
//! is stored once and may be in many rows. The lengths follow from the dictionary and the
//! indices; no text is copied to count them.

use parquet::basic::Encoding;
use parquet::file::metadata::ColumnChunkMetaData;

use super::prefixes::{Levels, bits, unsigned};

/// Encodings whose values are indices into a dictionary.
pub(super) const CODED: [Encoding; 2] = [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY];

/// The widest index.
const MAX_WIDTH: u32 = 32;

/// Whether a chunk may have a dictionary, from its footer. [`check`] refuses files with others.
///
/// [`check`]: super::check::check
pub(super) fn has_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    let mut coded = CODED.iter();
    chunk.dictionary_page_offset().is_some()
        || coded.any(|encoding| chunk.encodings_mask().is_set(*encoding))
}

/// The lengths of the texts of a dictionary page: each text follows its length.
pub(super) fn lengths(mut page: &[u8], number: u32) -> Option<Vec<u32>> {
    let mut lengths = Vec::new();
    for _ in 0..number {
        let (length, rest) = page.split_first_chunk()?;
        let length = u32::from_le_bytes(*length);
        page = rest.get(usize::try_from(length).ok()?..)?;
        lengths.push(length);
    }
    Some(lengths)
}

/// The decoded bytes of `number` texts that are coded as indices.
pub(super) fn decoded_bytes(values: &[u8], number: u64, lengths: &[u32]) -> Option<u64> {
    if number == 0 {
        return Some(0);
    }
    let (width, runs) = values.split_first()?;
    let mut all = 0_u64;
    each_run(runs, u32::from(*width), number, |index, times| {
        let length = lengths.get(usize::try_from(index).ok()?)?;
        all = all.saturating_add(u64::from(*length).saturating_mul(times));
        Some(())
    })?;
    Some(all)
}

/// How many of `number` values are not NULL.
pub(super) fn not_null(levels: Levels<'_>, number: u64) -> Option<u64> {
    let mut values = 0_u64;
    match levels {
        Levels::None => values = number,
        Levels::Runs(levels) => each_run(levels, 1, number, |level, times| {
            values = values.saturating_add(level.saturating_mul(times));
            Some(())
        })?,
        Levels::Bits(levels) => {
            let ones = levels.iter().map(|byte| u64::from(byte.count_ones()));
            values = ones.fold(0, u64::saturating_add).min(number);
        }
    }
    Some(values)
}

/// The first `left` integers in the encoding RLE: runs of one value, and runs of packed values.
/// None if there are fewer.
fn each_run(
    mut bytes: &[u8],
    width: u32,
    mut left: u64,
    mut each: impl FnMut(u64, u64) -> Option<()>,
) -> Option<()> {
    if width > MAX_WIDTH {
        return None;
    }
    while left > 0 {
        let head = unsigned(&mut bytes)?;
        let length = head >> 1;
        if head & 1 == 0 {
            let (value, rest) = bytes.split_at_checked(width.div_ceil(8) as usize)?;
            bytes = rest;
            let value = value.iter().rev();
            let value = value.fold(0, |value, byte| (value << 8) | u64::from(*byte));
            let times = length.min(left);
            each(value, times)?;
            left -= times;
        } else {
            // Groups of eight. Some writers truncate the last one.
            let size = length.checked_mul(width.into())?;
            let size = usize::try_from(size).ok()?.min(bytes.len());
            let (packed, rest) = bytes.split_at_checked(size)?;
            bytes = rest;
            let number = length.checked_mul(8)?.min(left);
            for place in 0..usize::try_from(number).ok()? {
                let from = place.checked_mul(width as usize)?;
                each(bits(packed, from, width)?, 1)?;
            }
            left -= number;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_both_kinds_are_counted() {
        // The example of the format: 0 to 7 in three bits; then five times 4.
        let runs = [0x03, 0x88, 0xc6, 0xfa, 0x0a, 0x04];
        let mut found = Vec::new();
        let mut read = |number: u64| {
            found.clear();
            each_run(&runs, 3, number, |value, times| {
                found.push((value, times));
                Some(())
            })?;
            Some(found.clone())
        };
        let packed: Vec<(u64, u64)> = (0..8).map(|value| (value, 1)).collect();
        assert_eq!(read(8), Some(packed.clone()));
        assert_eq!(read(3), Some(packed[..3].to_vec()));
        assert_eq!(read(11), Some([&packed[..], &[(4, 3)]].concat()));
        assert_eq!(read(14), None);
        let lengths: Vec<u32> = (0..8).map(|index| 10_u32.pow(index)).collect();
        let values = [&[3], &runs[..]].concat();
        assert_eq!(decoded_bytes(&values, 13, &lengths), Some(11_161_111));
        assert_eq!(decoded_bytes(&values, 8, &lengths[..7]), None);
        assert_eq!(decoded_bytes(&[], 0, &[]), Some(0));
        assert_eq!(decoded_bytes(&[40, 2, 0], 1, &[5]), None);
        assert_eq!(not_null(Levels::Runs(&[0x03, 0b1011_0101]), 6), Some(4));
        assert_eq!(not_null(Levels::Bits(&[0b1011_0101]), 8), Some(5));
        assert_eq!(not_null(Levels::None, 3), Some(3));
    }

    #[test]
    fn lengths_of_a_dictionary_end_with_its_page() {
        let page = [2, 0, 0, 0, b'a', b'b', 0, 0, 0, 0, 1, 0, 0, 0, b'c'];
        assert_eq!(lengths(&page, 3), Some(vec![2, 0, 1]));
        assert_eq!(lengths(&page, 4), None);
        assert_eq!(lengths(&page[..14], 3), None);
    }
}
