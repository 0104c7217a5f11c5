//! The fields of a CSV file, in order.
//!
//! Most fields have no quotes and lie in the buffer as a whole: they are found by searching for
//! their end. Quoted fields are parsed by `csv_core`.
//!
//! A row ends at a line feed, or at a carriage return and a line feed. A carriage return alone
//! is part of a field: no content of an unquoted cell can start a new row.

use std::io::{ErrorKind, Read, Result, Take};
use std::ops::Range;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder, Terminator};

/// The longest field that is read.
const MAX_FIELD: usize = mizan_sql::LONGEST_STORED_TEXT;
/// How many bytes are read at once; a field may be longer.
pub(super) const BUFFER: usize = 1 << 17;
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads fields.
pub(super) struct Fields<R> {
    from: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    finished: bool,
    at_row: bool,
    /// The range of the last field in the buffer, if it lies there as a whole.
    whole: Range<usize>,
    /// The last field otherwise, and whether it is too long.
    pieces: Vec<u8>,
    too_long: bool,
    /// The parser of quoted fields, and its output.
    quotes: Reader,
    output: Vec<u8>,
}

/// What follows a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Another field of the row.
    Field,
    /// The end of the row.
    Row,
}

impl<R: Read> Fields<R> {
    /// Starts, and skips a byte order mark.
    pub(super) fn new(from: R, buffer: usize) -> Result<Self> {
        let mut fields = Self {
            from,
            buffer: vec![0; buffer.max(MARK.len())],
            start: 0,
            end: 0,
            finished: false,
            at_row: true,
            whole: 0..0,
            pieces: Vec::new(),
            too_long: false,
            quotes: ReaderBuilder::new()
                .terminator(Terminator::Any(b'\n'))
                .build(),
            output: vec![0; 1 << 12],
        };
        while fields.end < MARK.len() && !fields.finished {
            fields.fill()?;
        }
        if fields.unread().starts_with(MARK) {
            fields.start = MARK.len();
        }
        Ok(fields)
    }

    fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Fills the buffer. Everything in it must have been consumed, or nearly nothing read yet.
    fn fill(&mut self) -> Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        if room.is_empty() {
            // Nothing read would be taken for the end of the file.
            return Err(ErrorKind::StorageFull.into());
        }
        let read = loop {
            match self.from.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.finished = read == 0;
        self.end += read;
        Ok(())
    }

    /// The next byte; None at the end.
    #[inline]
    fn peek(&mut self) -> Result<Option<u8>> {
        while self.start == self.end && !self.finished {
            self.fill()?;
        }
        Ok(self.unread().first().copied())
    }

    /// Whether the next two bytes end a line.
    fn is_at_crlf(&mut self) -> Result<bool> {
        while self.end - self.start < 2 && !self.finished {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            self.fill()?;
        }
        Ok(self.unread().starts_with(b"\r\n"))
    }

    /// Reads the next field and stores it if `wanted`; None at the end.
    #[inline]
    pub(super) fn next(&mut self, wanted: bool) -> Result<Option<After>> {
        self.pieces.clear();
        self.whole = 0..0;
        self.too_long = false;
        if self.at_row {
            // Empty lines are not rows.
            loop {
                match self.peek()? {
                    Some(b'\n') => self.start += 1,
                    Some(b'\r') if self.is_at_crlf()? => self.start += 2,
                    _ => break,
                }
            }
            if self.peek()?.is_none() {
                return Ok(None);
            }
        }
        let after = match self.peek()? {
            Some(b'"') => self.quoted(wanted)?,
            _ => self.plain(wanted)?,
        };
        self.at_row = after == After::Row;
        Ok(Some(after))
    }

    #[inline]
    fn plain(&mut self, wanted: bool) -> Result<After> {
        loop {
            let unread = self.unread();
            let mut bytes = unread.iter();
            let end = bytes.position(|byte| matches!(byte, b',' | b'\n'));
            let length = end.unwrap_or(unread.len());
            let after = match unread.get(length) {
                Some(b',') => After::Field,
                _ => After::Row,
            };
            let mut range = self.start..self.start + length;
            self.start = range.end;
            if end.is_some() {
                self.start += 1;
                if after == After::Row && self.buffer.get(range.clone()).is_some_and(ends_in_return)
                {
                    range.end -= 1;
                }
                if self.pieces.is_empty() {
                    self.whole = range;
                } else if range.is_empty() && after == After::Row && length == 0 {
                    // The carriage return was the last byte of the previous buffer.
                    self.drop_return();
                } else {
                    self.keep(range, wanted);
                }
                self.too_long |= self.pieces.len() > MAX_FIELD;
                return Ok(after);
            }
            self.keep(range, wanted);
            if self.peek()?.is_none() {
                self.too_long |= self.pieces.len() > MAX_FIELD;
                return Ok(After::Row);
            }
        }
    }

    /// Appends a part of the buffer to a field that spans several buffers.
    fn keep(&mut self, range: Range<usize>, wanted: bool) {
        if wanted && !self.too_long {
            let piece = self.buffer.get(range).unwrap_or_default();
            self.pieces.extend_from_slice(piece);
            // The last byte may belong to the end of the line.
            self.too_long = self.pieces.len() > MAX_FIELD + 1;
        }
    }

    /// Removes the carriage return of a line end from the field.
    fn drop_return(&mut self) {
        if ends_in_return(&self.pieces) && !self.too_long {
            self.pieces.pop();
        }
    }

    fn quoted(&mut self, wanted: bool) -> Result<After> {
        self.quotes.reset();
        // The last byte that was read before the current ones.
        let mut last = None;
        loop {
            self.peek()?;
            let input = self.buffer.get(self.start..self.end).unwrap_or_default();
            let (result, read, written) = self.quotes.read_field(input, &mut self.output);
            let mut ended = input.get(..read).unwrap_or_default().iter().rev().copied();
            let (end, before) = (ended.next(), ended.next());
            let before = before.or(last);
            last = end.or(last);
            self.start += read;
            if wanted && !self.too_long {
                let piece = self.output.get(..written).unwrap_or_default();
                self.pieces.extend_from_slice(piece);
                self.too_long = self.pieces.len() > MAX_FIELD + 1;
            }
            match result {
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                ReadFieldResult::Field { record_end: false } => {
                    self.too_long |= self.pieces.len() > MAX_FIELD;
                    return Ok(After::Field);
                }
                ReadFieldResult::Field { record_end: true } | ReadFieldResult::End => {
                    // A line does not end within quotes, so this carriage return is outside of
                    // them.
                    if (end, before) == (Some(b'\n'), Some(b'\r')) {
                        self.drop_return();
                    }
                    self.too_long |= self.pieces.len() > MAX_FIELD;
                    return Ok(After::Row);
                }
            }
        }
    }

    /// The last field; None if it is empty or too long, which means NULL.
    #[inline]
    pub(super) fn field(&self) -> Option<&[u8]> {
        let field = if self.whole.is_empty() {
            self.pieces.as_slice()
        } else {
            self.buffer.get(self.whole.clone()).unwrap_or_default()
        };
        (!field.is_empty() && !self.too_long).then_some(field)
    }

    /// Whether the last field was too long.
    pub(super) const fn is_too_long(&self) -> bool {
        self.too_long
    }
}

impl<R> Fields<Take<R>> {
    /// Whether all bytes up to the limit of the source belong to the fields so far.
    pub(super) fn is_at_limit(&self) -> bool {
        self.start == self.end && self.from.limit() == 0
    }
}

fn ends_in_return(bytes: &[u8]) -> bool {
    bytes.last() == Some(&b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Rows = Vec<Vec<Vec<u8>>>;

    fn ours(bytes: &[u8], buffer: usize) -> Rows {
        let mut fields = Fields::new(bytes, buffer).unwrap();
        let mut rows = Rows::new();
        let mut row = Vec::new();
        while let Some(after) = fields.next(true).unwrap() {
            row.push(fields.field().unwrap_or_default().to_vec());
            if after == After::Row {
                rows.push(std::mem::take(&mut row));
            }
        }
        assert!(row.is_empty());
        rows
    }

    fn csv_core(bytes: &[u8]) -> Rows {
        let (mut reader, mut start) = (Reader::new(), 0);
        let mut rows = Rows::new();
        let (mut row, mut field) = (Vec::new(), Vec::new());
        let mut output = [0; 64];
        loop {
            let (result, read, written) = reader.read_field(&bytes[start..], &mut output);
            start += read;
            field.extend_from_slice(&output[..written]);
            match result {
                ReadFieldResult::Field { record_end } => {
                    row.push(std::mem::take(&mut field));
                    if record_end {
                        rows.push(std::mem::take(&mut row));
                    }
                }
                ReadFieldResult::End => return rows,
                _ => {}
            }
        }
    }

    /// A placeholder for a carriage return without a line feed.
    const LONE: u8 = 1;

    /// The reference: `csv_core` ends rows at every carriage return, so those that do not end a
    /// line are replaced while it reads.
    fn reference(bytes: &[u8]) -> Rows {
        let mut hidden = bytes.to_vec();
        for place in 0..hidden.len() {
            if bytes[place] == b'\r' && bytes.get(place + 1) != Some(&b'\n') {
                hidden[place] = LONE;
            }
        }
        let mut rows = csv_core(&hidden);
        for byte in rows.iter_mut().flatten().flatten() {
            if *byte == LONE {
                *byte = b'\r';
            }
        }
        rows
    }

    #[test]
    fn a_full_buffer_is_not_the_end_of_a_file() {
        let mut fields = Fields::new(&b"1,2,3,4"[..], 3).unwrap();
        assert_eq!(fields.unread(), b"1,2");
        assert!(fields.fill().is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn fields_are_those_of_csv_core(
            letters in prop::collection::vec(0_usize..10, 0..40),
            buffer in 1_usize..12,
        ) {
            const LETTERS: [&[u8]; 10] =
                [b"a", b"bc", b" ", b",", b",", b"\"", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf"];
            let bytes: Vec<u8> = letters.iter().flat_map(|at| LETTERS[*at]).copied().collect();
            prop_assert_eq!(ours(&bytes, buffer), reference(&bytes));
        }

        /// For all contents of an unquoted cell without commas and line feeds, the rows before
        /// and after it stay the same.
        #[test]
        fn a_cell_does_not_change_other_rows(
            letters in prop::collection::vec(0_usize..7, 0..20),
            buffer in 1_usize..12,
        ) {
            const LETTERS: [&[u8]; 7] = [b"a", b" ", b"\r", b"\r\r", b"\0", b"\xff", b"'"];
            let cell: Vec<u8> = letters.iter().flat_map(|at| LETTERS[*at]).copied().collect();
            let file = [b"1,x\n2,b".as_slice(), &cell, b"\n3,y\n"].concat();
            let rows = ours(&file, buffer);
            prop_assert_eq!(rows.len(), 3);
            prop_assert_eq!(&rows[0], &[b"1".to_vec(), b"x".to_vec()]);
            prop_assert_eq!(&rows[2], &[b"3".to_vec(), b"y".to_vec()]);
        }
    }
}
