//! The size class of a dataset: the number of rows and bytes of its files, and the decoded bytes
//! of its texts, each rounded up to a power of two.
//!
//! A bound on memory depends on the size of the data, and the exact size is private. The rows
//! of one unit do not change a size class, unless they take a number past a power of two.
//! SECURITY.md says that size classes count as public.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::data_file::{self, unreadable};
use crate::engine::EngineError;

/// The size class of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SizeClass {
    /// A bound on the number of rows.
    pub(crate) rows: u64,
    /// A bound on the encoded bytes of each column of the catalogue, in its order. For CSV this
    /// is the whole file for each column.
    pub(crate) columns: Vec<u64>,
    /// A bound on the bytes of all files.
    pub(crate) bytes: u64,
    /// The number of files.
    pub(crate) files: u64,
    /// The format of the files.
    pub(crate) layout: Layout,
}

/// The class of the texts of a column of Parquet files. It is computed for columns that a query
/// reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextClass {
    /// A bound on the decoded bytes of all texts. Zero if the size class bounds them:
    /// [`SizeClass::usual_text`].
    pub(crate) all: u64,
    /// A bound on the decoded bytes of texts that share prefixes, which are shorter in the file.
    /// Zero if there are none.
    pub(crate) shared: u64,
}

impl TextClass {
    /// The class of texts of these bytes.
    pub(crate) fn of(all: u64, shared: u64) -> Self {
        let class = |bytes: u64| if bytes == 0 { 0 } else { class(bytes) };
        Self {
            all: class(all),
            shared: class(shared),
        }
    }
}

/// The bytes of a text on average that a bound counts at least. Dictionaries of shorter texts
/// need not be decoded.
const SHORT_TEXT: u64 = 32;

/// How rows are stored in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Comma-separated text: a file is read from start to end.
    Text,
    /// Columns, with a footer that stores the number of rows.
    Columns,
}

impl SizeClass {
    /// The class of Parquet files, from the number of rows and the encoded bytes of each column.
    pub(crate) fn of_columns(
        rows: u64,
        columns: impl IntoIterator<Item = u64>,
        files: usize,
    ) -> Self {
        let columns: Vec<u64> = columns.into_iter().map(class).collect();
        Self {
            rows: class(rows),
            bytes: columns.iter().copied().fold(0, u64::saturating_add),
            columns,
            files: files as u64,
            layout: Layout::Columns,
        }
    }

    /// The class of CSV files, from their bytes and the number of names in the header. A row
    /// with a field for each name has one byte after each field, and at least one in its unit.
    pub(crate) fn of_text(bytes: u64, names: usize, columns: usize, files: usize) -> Self {
        let shortest = (names as u64).saturating_add(1);
        let bytes = class(bytes);
        Self {
            rows: class(bytes / shortest.max(2)),
            bytes,
            columns: vec![bytes; columns],
            files: files as u64,
            layout: Layout::Text,
        }
    }

    /// The bytes that a bound counts for the texts of a Parquet column of these encoded bytes,
    /// unless dictionaries or shared prefixes make more of them. This is a power of two, so it
    /// bounds texts if and only if it bounds their class: the result does not depend on whether
    /// they were counted.
    pub(crate) fn usual_text(&self, column: u64) -> u64 {
        column.max(self.rows.saturating_mul(SHORT_TEXT))
    }

    /// Counts the lines of the files, which lowers the bound on rows if rows are long. Fields
    /// are not parsed.
    pub(crate) fn with_lines(mut self, paths: &[PathBuf]) -> Result<Self, EngineError> {
        if self.layout == Layout::Text {
            let mut lines = 0_u64;
            for path in paths {
                lines = lines.saturating_add(count_lines(path)?);
            }
            self.rows = self.rows.min(class(lines));
        }
        Ok(self)
    }
}

/// A number rounded up to a power of two; `u64::MAX` beyond the last one.
pub(crate) fn class(number: u64) -> u64 {
    number.checked_next_power_of_two().unwrap_or(u64::MAX)
}

/// A bound on the lines of a file: each row ends with a line end or at the end of the file.
fn count_lines(path: &Path) -> Result<u64, EngineError> {
    /// The largest count of a one-byte counter.
    const STRETCH: usize = 255;
    let failed = |error: &std::io::Error| unreadable(path, error);
    let mut file = data_file::open(path)?;
    let mut buffer = vec![0; 1 << 17];
    let mut lines = 1_u64;
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(lines),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(&error)),
        };
        let bytes = buffer.get(..read).unwrap_or(&buffer);
        // Compilers vectorize counting in bytes.
        for stretch in bytes.chunks(STRETCH) {
            let here = stretch
                .iter()
                .fold(0_u8, |all, byte| all + u8::from(*byte == b'\n'));
            lines = lines.saturating_add(here.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_the_next_power_of_two() {
        let all = [
            (0, 1),
            (1, 1),
            (2, 2),
            (3, 4),
            (1 << 20, 1 << 20),
            ((1 << 20) + 1, 1 << 21),
            ((1 << 63) + 1, u64::MAX),
            (u64::MAX, u64::MAX),
        ];
        for (number, expected) in all {
            assert_eq!(class(number), expected);
        }
    }

    #[test]
    fn lines_are_counted_whatever_is_between_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let long = "x".repeat(300_000);
        let cases = [
            (String::new(), 1),
            ("a\n".into(), 2),
            ("a\n\"b\nc\"\n".into(), 4),
            ("\n".repeat(1_000_000), 1_000_001),
            (format!("a\n{long}\n{long}"), 3),
        ];
        for (text, expected) in cases {
            std::fs::write(&path, text).unwrap();
            assert_eq!(count_lines(&path), Ok(expected));
        }
        assert!(count_lines(&folder.path().join("none")).is_err());
    }

    #[test]
    fn text_has_no_more_rows_than_lines_and_bytes_allow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, format!("a,b\n{}\n", "x".repeat(1000))).unwrap();
        let by_bytes = SizeClass::of_text(1005, 2, 2, 1);
        assert_eq!((by_bytes.rows, by_bytes.bytes), (512, 1024));
        let by_lines = by_bytes.with_lines(&[path]).unwrap();
        assert_eq!(by_lines.rows, 4);
        // An empty file has a class too.
        let empty = SizeClass::of_text(0, 0, 0, 0);
        assert_eq!((empty.rows, empty.bytes), (1, 1));
    }
}
