//! The decoded length of texts that share prefixes (DELTA_BYTE_ARRAY).
//!
//! In this encoding a value is a prefix of the previous value and some more bytes, so a page of
//! 60 kB may decode to gigabytes of text. The decoded size follows from the lengths, which are
//! stored before the bytes: no text is decoded to compute it.

use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader as _};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, SerializedPageReader};

use super::footer::{Footer, group_rows};
use super::rows::Chunks;

/// The decoded size of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Decoded {
    /// The bytes of all texts.
    pub(super) bytes: u64,
    /// The bytes of the longest text.
    pub(super) longest: u64,
}

/// Whether some pages of a chunk have this encoding.
pub(super) fn shares_prefixes(chunk: &ColumnChunkMetaData) -> bool {
    chunk.encodings_mask().is_set(Encoding::DELTA_BYTE_ARRAY)
}

/// The decoded size of columns of a row group that share prefixes. None if a page is damaged.
pub(super) fn decoded(
    footer: &Footer,
    group: usize,
    roots: &[usize],
    chunks: &Chunks,
) -> Option<Decoded> {
    let rows = usize::try_from(group_rows(footer.groups().get(group)?)).ok()?;
    let reader = Arc::new(chunks.clone());
    let mut all = Decoded::default();
    for chunk in footer
        .chunks(group, roots)
        .filter(|chunk| shares_prefixes(chunk))
    {
        let here = of_chunk(Arc::clone(&reader), chunk, rows)?;
        all.bytes = all.bytes.saturating_add(here.bytes);
        // A row has one text of each column.
        all.longest = all.longest.saturating_add(here.longest);
    }
    Some(all)
}

fn of_chunk<R: ChunkReader + 'static>(
    reader: Arc<R>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
) -> Option<Decoded> {
    let described = chunk.column_descr();
    if described.max_rep_level() > 0 {
        return None;
    }
    let nullable = described.max_def_level() > 0;
    let mut pages = SerializedPageReader::new(reader, chunk, rows, None).ok()?;
    let mut all = Decoded::default();
    while let Some(page) = pages.get_next_page().ok()? {
        if matches!(page, Page::DictionaryPage { .. }) {
            continue;
        }
        let values = page_values(&page, nullable)?;
        if values.encoding == Encoding::DELTA_BYTE_ARRAY {
            let here = of_values(values.bytes)?;
            all.bytes = all.bytes.saturating_add(here.bytes);
            all.longest = all.longest.max(here.longest);
        }
    }
    Some(all)
}

/// The values of a data page.
pub(super) struct PageValues<'a> {
    pub(super) encoding: Encoding,
    /// The encoded values.
    pub(super) bytes: &'a [u8],
    /// The number of values, including NULL.
    pub(super) number: u64,
    /// Which of them are NULL.
    pub(super) levels: Levels<'a>,
}

/// Definition levels of one bit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Levels<'a> {
    /// There are none: no value is NULL.
    None,
    /// In the encoding RLE.
    Runs(&'a [u8]),
    /// One bit for each value, an encoding of old writers.
    Bits(&'a [u8]),
}

/// The values of a data page of a column without nesting. None for other pages.
pub(super) fn page_values(page: &Page, nullable: bool) -> Option<PageValues<'_>> {
    match page {
        Page::DataPage {
            buf,
            encoding,
            def_level_encoding,
            num_values,
            ..
        } => {
            let (levels, bytes) = match (nullable, def_level_encoding) {
                (false, _) => (Levels::None, buf.as_ref()),
                (true, Encoding::RLE) => {
                    let (length, rest) = buf.split_first_chunk()?;
                    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
                    let (levels, bytes) = rest.split_at_checked(length)?;
                    (Levels::Runs(levels), bytes)
                }
                (true, _) => {
                    let length = usize::try_from(num_values.div_ceil(8)).ok()?;
                    let (levels, bytes) = buf.split_at_checked(length)?;
                    (Levels::Bits(levels), bytes)
                }
            };
            Some(PageValues {
                encoding: *encoding,
                bytes,
                number: (*num_values).into(),
                levels,
            })
        }
        Page::DataPageV2 {
            buf,
            encoding,
            num_values,
            def_levels_byte_len,
            rep_levels_byte_len,
            ..
        } => {
            let repetitions = usize::try_from(*rep_levels_byte_len).ok()?;
            let levels = usize::try_from(*def_levels_byte_len).ok()?;
            let (levels, bytes) = buf.get(repetitions..)?.split_at_checked(levels)?;
            Some(PageValues {
                encoding: *encoding,
                bytes,
                number: (*num_values).into(),
                levels: match nullable {
                    true => Levels::Runs(levels),
                    false => Levels::None,
                },
            })
        }
        Page::DictionaryPage { .. } => None,
    }
}

/// The values of a page: lengths of prefixes, lengths of suffixes, and bytes.
pub(super) fn of_values(bytes: &[u8]) -> Option<Decoded> {
    if bytes.is_empty() {
        // All values are NULL.
        return Some(Decoded::default());
    }
    let mut prefixes = Packed::new(bytes)?;
    while prefixes.left > 0 {
        prefixes.next()?;
    }
    let mut suffixes = Packed::new(prefixes.rest)?;
    let mut prefixes = Packed::new(bytes)?;
    if prefixes.left != suffixes.left {
        return None;
    }
    let mut all = Decoded::default();
    while prefixes.left > 0 {
        let length = prefixes.next()?.checked_add(suffixes.next()?)?;
        let length = u64::try_from(length).ok()?;
        all.bytes = all.bytes.saturating_add(length);
        all.longest = all.longest.max(length);
    }
    Some(all)
}

/// Integers in the encoding DELTA_BINARY_PACKED.
struct Packed<'a> {
    rest: &'a [u8],
    /// How many values are left.
    left: u64,
    per_mini_block: usize,
    mini_blocks: usize,
    last: i64,
    /// Whether the first value was read, which is in the header.
    begun: bool,
    least: i64,
    /// The bit widths of the remaining mini blocks.
    widths: &'a [u8],
    /// The current mini block, and how many of its values were read.
    mini_block: &'a [u8],
    width: u32,
    read: usize,
}

impl<'a> Packed<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes;
        let block = usize::try_from(unsigned(&mut rest)?).ok()?;
        let mini_blocks = usize::try_from(unsigned(&mut rest)?).ok()?;
        let left = unsigned(&mut rest)?;
        let last = signed(&mut rest)?;
        let per_mini_block = block.checked_div(mini_blocks)?;
        let sound = per_mini_block > 0 && per_mini_block % 8 == 0 && block <= 1 << 20;
        sound.then_some(Self {
            rest,
            left,
            per_mini_block,
            mini_blocks,
            last,
            begun: false,
            least: 0,
            widths: &[],
            mini_block: &[],
            width: 0,
            read: per_mini_block,
        })
    }

    /// The next value; None if there is none.
    fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        if !self.begun {
            self.begun = true;
            return Some(self.last);
        }
        if self.read == self.per_mini_block {
            self.next_mini_block()?;
        }
        let from = self.read.checked_mul(self.width as usize)?;
        self.read += 1;
        let delta = bits(self.mini_block, from, self.width)?;
        #[allow(clippy::cast_possible_wrap, reason = "as the encoding adds")]
        let delta = self.least.wrapping_add(delta as i64);
        self.last = self.last.wrapping_add(delta);
        Some(self.last)
    }

    fn next_mini_block(&mut self) -> Option<()> {
        if self.widths.is_empty() {
            self.least = signed(&mut self.rest)?;
            (self.widths, self.rest) = self.rest.split_at_checked(self.mini_blocks)?;
        }
        let (width, widths) = self.widths.split_first()?;
        (self.width, self.widths) = (u32::from(*width), widths);
        if self.width > 64 {
            return None;
        }
        let length = self.per_mini_block / 8 * self.width as usize;
        (self.mini_block, self.rest) = self.rest.split_at_checked(length)?;
        self.read = 0;
        Some(())
    }
}

/// `width` bits from a bit position on, least significant first.
pub(super) fn bits(bytes: &[u8], from: usize, width: u32) -> Option<u64> {
    // Usually they lie within eight bytes.
    if let Some((window, _)) = bytes.get(from / 8..)?.split_first_chunk()
        && width <= 56
    {
        return Some((u64::from_le_bytes(*window) >> (from % 8)) & ((1 << width) - 1));
    }
    let (mut value, mut found) = (0_u64, 0_u32);
    let mut place = from;
    while found < width {
        let byte = u64::from(*bytes.get(place / 8)?);
        let skipped = u32::try_from(place % 8).ok()?;
        let taken = (8 - skipped).min(width - found);
        let part = (byte >> skipped) & ((1 << taken) - 1);
        value |= part << found;
        found += taken;
        place += taken as usize;
    }
    Some(value)
}

/// A LEB128 integer.
pub(super) fn unsigned(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// A zigzag-encoded LEB128 integer.
#[allow(clippy::cast_possible_wrap, reason = "zigzag")]
fn signed(bytes: &mut &[u8]) -> Option<i64> {
    let value = unsigned(bytes)?;
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}
