//! The output of `mizan noise`: integers, one per line.
//!
//! A file appears when it is complete: until then it has another name in the same
//! folder. A pipe or a device is written directly.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

pub(super) struct Sink {
    writer: BufWriter<Box<dyn Write>>,
    name: String,
    /// The temporary file and its final path.
    moves: Option<(PathBuf, PathBuf)>,
}

impl Sink {
    /// A file, with a header if it is a `.csv` file.
    pub(super) fn file(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        // Links are followed: their target is replaced, not the link.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let plain = target.metadata().map_or(true, |found| found.is_file());
        let complaint = |error| Failure::file("write", &name, &error);
        let mut sink = if plain {
            let (file, beside) = beside(&target).map_err(complaint)?;
            let mut sink = Self::of(Box::new(file), name);
            sink.moves = Some((beside, target));
            sink
        } else {
            let file = File::create(&target).map_err(complaint)?;
            Self::of(Box::new(file), name)
        };
        if path.extension().is_some_and(|extension| extension == "csv") {
            sink.write_text("value\n")?;
        }
        Ok(sink)
    }

    pub(super) fn standard_output() -> Self {
        Self::of(Box::new(std::io::stdout()), "standard output".to_owned())
    }

    fn of(writer: Box<dyn Write>, name: String) -> Self {
        Self {
            writer: BufWriter::with_capacity(1 << 16, writer),
            name,
            moves: None,
        }
    }

    /// Writes the values; false if the reader is gone.
    pub(super) fn write(&mut self, values: &[i64]) -> Result<bool, Failure> {
        let mut text = String::with_capacity(values.len() * 8);
        for value in values {
            text.push_str(&value.to_string());
            text.push('\n');
        }
        self.write_text(&text)
    }

    /// Flushes, and moves the file to its final path.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let flushed = self.writer.flush();
        self.outcome(flushed)?;
        if let Some((beside, path)) = self.moves.take() {
            std::fs::rename(&beside, path).map_err(|error| {
                let _ = std::fs::remove_file(&beside);
                Failure::file("write", &self.name, &error)
            })?;
        }
        Ok(())
    }

    fn write_text(&mut self, text: &str) -> Result<bool, Failure> {
        let written = self.writer.write_all(text.as_bytes());
        self.outcome(written)
    }

    fn outcome(&self, written: std::io::Result<()>) -> Result<bool, Failure> {
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Failure::file("write", &self.name, &error)),
        }
    }
}

/// A new file in the folder of another: never an existing file, nor the target of a
/// link made in advance.
fn beside(path: &Path) -> std::io::Result<(File, PathBuf)> {
    let mut attempt = 0u32;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{attempt}.partial", std::process::id()));
        let name = PathBuf::from(name);
        match File::create_new(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            made => return made.map(|file| (file, name)),
        }
    }
}

impl Drop for Sink {
    /// Removes an incomplete file.
    fn drop(&mut self) {
        if let Some((beside, _)) = self.moves.take() {
            let _ = std::fs::remove_file(beside);
        }
    }
}
