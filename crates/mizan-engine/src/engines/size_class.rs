//! The size class of a dataset: how many rows and bytes its files hold, each rounded up
//! to a power of two.
//!
//! A bound on memory needs to know about how large the data are, and an exact size is
//! private. Of a size class one unit's rows change nothing, except where they take a
//! number past a power of two. SECURITY.md says that size classes count as public.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::engine::EngineError;
use crate::version::unreadable;

/// The size class of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SizeClass {
    /// The most rows.
    pub(crate) rows: u64,
    /// The most encoded bytes of each column of the catalogue, in its order. Of CSV each
    /// column may be the whole file.
    pub(crate) columns: Vec<u64>,
    /// The most bytes of texts that share prefixes, of each column: they are shorter in the
    /// file. Zero where it has none.
    pub(crate) shared: Vec<u64>,
    /// The most bytes of all files.
    pub(crate) bytes: u64,
    /// How many files there are.
    pub(crate) files: u64,
    /// How they are written.
    pub(crate) layout: Layout,
}

/// How the rows of a file are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Text with commas: a file is read from its beginning to its end.
    Text,
    /// Columns with a footer that says how many rows there are.
    Columns,
}

impl SizeClass {
    /// Of Parquet files with so many rows, and so many encoded bytes of each column, with
    /// those of its texts that share prefixes.
    pub(crate) fn of_columns(
        rows: u64,
        columns: impl IntoIterator<Item = (u64, u64)>,
        files: usize,
    ) -> Self {
        let shared = |bytes: u64| if bytes == 0 { 0 } else { class(bytes) };
        let columns = columns.into_iter();
        let (columns, shared): (Vec<u64>, Vec<u64>) = columns
            .map(|(bytes, texts)| (class(bytes), shared(texts)))
            .unzip();
        Self {
            rows: class(rows),
            bytes: columns.iter().copied().fold(0, u64::saturating_add),
            columns,
            shared,
            files: files as u64,
            layout: Layout::Columns,
        }
    }

    /// Of CSV files with so many bytes and a header of so many names. A row of as many
    /// fields has a byte after each field, and one in its unit.
    pub(crate) fn of_text(bytes: u64, names: usize, columns: usize, files: usize) -> Self {
        let shortest = (names as u64).saturating_add(1);
        let bytes = class(bytes);
        Self {
            rows: class(bytes / shortest.max(2)),
            bytes,
            columns: vec![bytes; columns],
            shared: vec![0; columns],
            files: files as u64,
            layout: Layout::Text,
        }
    }

    /// The same with the lines of the files counted, where a row has more bytes than the
    /// least. No field is looked at.
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

/// A number rounded up to a power of two; beyond the last one, all there is.
pub(crate) fn class(number: u64) -> u64 {
    number.checked_next_power_of_two().unwrap_or(u64::MAX)
}

/// How many lines a file has at most: a row ends with one of them, or with the file.
fn count_lines(path: &Path) -> Result<u64, EngineError> {
    /// What counters of a byte can hold.
    const STRETCH: usize = 255;
    let failed = |error: &std::io::Error| unreadable(path, error);
    let mut file = File::open(path).map_err(|error| failed(&error))?;
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
        // Compilers count in bytes many at a time.
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
