//! Reads a catalogue of datasets from its file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use mizan_core::Code;
use mizan_sql::Catalogue;

use crate::failure::Failure;

/// The largest size of a catalogue file, in bytes.
const LONGEST: u64 = 64 << 20;

/// Reads a catalogue; a missing file is an empty catalogue.
///
/// # Errors
///
/// The file cannot be read, or is not a catalogue.
pub fn read(path: &Path) -> Result<Catalogue, Failure> {
    let shown = path.display().to_string();
    let failed = |error: std::io::Error| Failure::file("read", &shown, &error);
    let text = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Catalogue::default()),
        Err(error) => return Err(failed(error)),
        Ok(found) if found.len() > LONGEST => {
            return Err(Failure::new(
                Code::MZ1860,
                format!("{shown} is too long for a catalogue"),
                "name another file with --catalogue",
            ));
        }
        Ok(_) => fs::read_to_string(path).map_err(failed)?,
    };
    let json = serde_json::from_str(&text).map_err(|error| {
        Failure::new(
            Code::MZ1860,
            format!("{shown} is not a catalogue: {error}"),
            "name another file with --catalogue, or mend this one",
        )
    })?;
    Catalogue::from_json(&json).map_err(|error| Failure::from(error).of_option(&shown))
}
