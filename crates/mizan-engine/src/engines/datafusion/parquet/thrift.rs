//! The structure of Thrift's compact protocol, which Parquet uses for its footer and the
//! headers of its pages.
//!
//! The decoder of the `parquet` crate allocates whatever a file claims. This one allocates
//! nothing: it walks over the bytes and rejects claims that the bytes cannot hold, before the
//! other decoder runs.

/// The nesting limit of structures: those of Parquet are at most six deep.
const MAX_DEPTH: usize = 32;

/// The nesting limit of columns: deeper schemas are refused, because reading them recurses.
const MAX_SCHEMA_DEPTH: usize = 100;

/// A position in the bytes.
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The type of a value, as the protocol writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    const INTEGERS: [Self; 3] = [Self(4), Self(5), Self(6)];
    const LIST: Self = Self(9);
    const STRUCT: Self = Self(12);
}

impl<'a> Walk<'a> {
    /// Starts at the beginning.
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    fn advance(&mut self, length: usize) -> Option<()> {
        let end = self.at.checked_add(length)?;
        self.at = (end <= self.bytes.len()).then_some(end)?;
        Some(())
    }

    /// A LEB128 number.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A zigzag-encoded number.
    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The fields of a structure. The callback receives the number and the type of each and
    /// must consume its value.
    pub(super) fn fields(
        &mut self,
        mut each: impl FnMut(&mut Self, i64, Kind) -> Option<()>,
    ) -> Option<()> {
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => self.zigzag()?,
                more => field.checked_add(more.into())?,
            };
            each(self, field, Kind(head & 0x0f))?;
        }
    }

    /// An integer.
    pub(super) fn integer(&mut self, kind: Kind) -> Option<i64> {
        if !Kind::INTEGERS.contains(&kind) {
            return None;
        }
        self.zigzag()
    }

    /// The length and the element type of a list. There are enough bytes for all elements.
    fn list(&mut self, kind: Kind) -> Option<(usize, Kind)> {
        if kind != Kind::LIST && kind != Kind(10) {
            return None;
        }
        let head = self.byte()?;
        let size = match head >> 4 {
            15 => usize::try_from(self.varint()?).ok()?,
            size => usize::from(size),
        };
        let left = self.bytes.len().saturating_sub(self.at);
        (size <= left).then_some((size, Kind(head & 0x0f)))
    }

    /// Skips a value of any type.
    pub(super) fn skip(&mut self, kind: Kind) -> Option<()> {
        self.skip_within(kind, MAX_DEPTH)
    }

    fn skip_within(&mut self, kind: Kind, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind.0 {
            // In a structure the type itself encodes the boolean.
            1 | 2 => Some(()),
            3 => self.advance(1),
            4..=6 => self.varint().map(drop),
            7 => self.advance(8),
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.advance(length)
            }
            9 | 10 => {
                let (size, element) = self.list(kind)?;
                for _ in 0..size {
                    self.skip_element(element, depth)?;
                }
                Some(())
            }
            11 => {
                let size = usize::try_from(self.varint()?).ok()?;
                if size == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                for _ in 0..size {
                    self.skip_element(Kind(kinds >> 4), depth)?;
                    self.skip_element(Kind(kinds & 0x0f), depth)?;
                }
                Some(())
            }
            12 => self.fields(|walk, _, kind| walk.skip_within(kind, depth)),
            _ => None,
        }
    }

    /// A boolean in a list has its own byte.
    fn skip_element(&mut self, kind: Kind, depth: usize) -> Option<()> {
        match kind.0 {
            1 | 2 => self.advance(1),
            _ => self.skip_within(kind, depth),
        }
    }
}

/// Checks that the metadata of a file are a structure whose lists and texts fit into the bytes,
/// and whose schema is not too deep.
pub(super) fn is_sound_footer(bytes: &[u8]) -> bool {
    /// The second field of `FileMetaData`: the tree of columns as a list.
    const SCHEMA: i64 = 2;
    let mut walk = Walk::new(bytes);
    walk.fields(|walk, field, kind| match field {
        SCHEMA => schema(walk, kind),
        _ => walk.skip(kind),
    })
    .is_some()
}

/// Walks over the elements of a schema in preorder.
fn schema(walk: &mut Walk<'_>, kind: Kind) -> Option<()> {
    /// The fifth field of `SchemaElement`.
    const CHILDREN: i64 = 5;
    let (size, element) = walk.list(kind)?;
    if element != Kind::STRUCT {
        return None;
    }
    // For each open element, from the root on, how many children are still to come.
    let mut open: Vec<usize> = Vec::new();
    for _ in 0..size {
        let mut children = 0_i64;
        walk.fields(|walk, field, kind| match field {
            CHILDREN => {
                children = walk.integer(kind)?;
                Some(())
            }
            _ => walk.skip(kind),
        })?;
        while let Some(left) = open.last_mut() {
            match left.checked_sub(1) {
                Some(fewer) => {
                    *left = fewer;
                    break;
                }
                None => open.pop().map(drop)?,
            }
        }
        let children = usize::try_from(children).ok()?;
        if children > size {
            return None;
        }
        if children > 0 {
            open.push(children);
        }
        if open.len() > MAX_SCHEMA_DEPTH {
            return None;
        }
    }
    Some(())
}

/// The sizes in the header of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PageSize {
    /// The bytes after the header.
    pub(super) compressed: i64,
    /// The bytes after decompression.
    pub(super) uncompressed: i64,
    /// The number of values.
    pub(super) values: i64,
    /// The encoding, as the number in the format.
    pub(super) encoding: i64,
    /// Whether it is a dictionary page.
    pub(super) is_dictionary: bool,
    /// The bytes of the header.
    pub(super) header: usize,
}

/// Reads the header of a page.
pub(super) fn page_size(bytes: &[u8]) -> Option<PageSize> {
    const UNCOMPRESSED: i64 = 2;
    const COMPRESSED: i64 = 3;
    /// The fields of the headers by type of page; the number of values is the first field of
    /// each.
    const HEADERS: [i64; 3] = [5, 7, 8];
    const DICTIONARY: i64 = 7;
    /// In this header the encoding is the fourth field, not the second.
    const VERSION_2: i64 = 8;
    let mut size = PageSize::default();
    let mut walk = Walk::new(bytes);
    walk.fields(|walk, field, kind| {
        match field {
            UNCOMPRESSED => size.uncompressed = walk.integer(kind)?,
            COMPRESSED => size.compressed = walk.integer(kind)?,
            _ if HEADERS.contains(&field) && kind == Kind::STRUCT => {
                size.is_dictionary = field == DICTIONARY;
                let encoding = if field == VERSION_2 { 4 } else { 2 };
                walk.fields(|walk, field, kind| {
                    match field {
                        1 => size.values = walk.integer(kind)?,
                        _ if field == encoding => size.encoding = walk.integer(kind)?,
                        _ => walk.skip(kind)?,
                    }
                    Some(())
                })?;
            }
            _ => walk.skip(kind)?,
        }
        Some(())
    })?;
    size.header = walk.position();
    Some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_that_bytes_cannot_hold_are_rejected() {
        // A list of 2^31 structures in six bytes.
        let long = [0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00];
        assert!(!is_sound_footer(&long));
        // The same list in another field than the schema.
        let other = [0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00];
        assert!(!is_sound_footer(&other));
        // A text longer than the bytes.
        assert!(!is_sound_footer(&[0x68, 0xff, 0x01, 0x61, 0x00]));
        assert!(is_sound_footer(&[0x68, 0x01, 0x61, 0x00]));
        // Nested structures.
        let deep = [[0x1c; 40].as_slice(), &[0; 41]].concat();
        assert!(!is_sound_footer(&deep));
        assert!(is_sound_footer(&[0x00]));
        assert!(!is_sound_footer(&[]));
    }

    #[test]
    fn a_deep_schema_is_rejected() {
        // Each element has one child: field number five is an i32 of one.
        let chain = |length: u8| {
            let mut bytes = vec![0x29, 0xfc, length];
            for _ in 0..length {
                bytes.extend([0x55, 0x02, 0x00]);
            }
            bytes.push(0);
            bytes
        };
        assert!(is_sound_footer(&chain(50)));
        assert!(!is_sound_footer(&chain(120)));
    }
}
