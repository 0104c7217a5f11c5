//! Where integers go, one a line.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use crate::failure::Failure;

pub(super) struct Sink {
    writer: BufWriter<Box<dyn Write>>,
    name: String,
}

impl Sink {
    /// A file, with a heading if its name says that it is a table.
    pub(super) fn file(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|error| Failure::file("write", &name, &error))?;
        let mut sink = Self::of(Box::new(file), name);
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
        }
    }

    /// Writes them all; false if nobody reads any more.
    pub(super) fn write(&mut self, values: &[i64]) -> Result<bool, Failure> {
        let mut text = String::with_capacity(values.len() * 8);
        for value in values {
            text.push_str(&value.to_string());
            text.push('\n');
        }
        self.write_text(&text)
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let flushed = self.writer.flush();
        self.outcome(flushed).map(|_| ())
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
