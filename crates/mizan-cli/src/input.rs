//! Arguments as checked values: the parsers of `mizan-api`, and files and standard
//! input.

use std::io::Read;

use mizan_core::{Code, Definitions, MAX_JSON_BYTES, MAX_TEXT_BYTES};

pub(crate) use mizan_api::input::*;

use crate::failure::Failure;

/// Reads an event: typed, as JSON, from a file (`@path`) or from standard input
/// (`-`).
pub(crate) fn expression(argument: &str, definitions: &Definitions) -> Result<Expression, Failure> {
    Expression::parse(&typed(argument)?, definitions)
}

/// The text of an argument, of the file (`@path`) or of standard input (`-`).
pub(crate) fn typed(argument: &str) -> Result<String, Failure> {
    let typed = if argument == "-" {
        limited(std::io::stdin().lock(), "standard input")?
    } else if let Some(path) = argument.strip_prefix('@') {
        file(path)?
    } else {
        argument.to_owned()
    };
    Ok(trimmed(&typed).to_owned())
}

/// The text of a file, up to the limit of an event.
pub(crate) fn file(path: &str) -> Result<String, Failure> {
    let file = std::fs::File::open(path).map_err(|error| Failure::file("read", path, &error))?;
    limited(file, path)
}

/// Reads one byte more than the largest event: the parser then reports that it is too
/// large, and memory stays bounded.
fn limited(source: impl Read, name: &str) -> Result<String, Failure> {
    let limit = MAX_JSON_BYTES.max(MAX_TEXT_BYTES) as u64 + 1;
    let mut bytes = Vec::new();
    source
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::file("read", name, &error))?;
    let cut = bytes.len() as u64 == limit;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // The cut may be inside a character; the text is too long anyway.
        Err(error) if cut => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        Err(_) => Err(Failure::new(
            Code::MZ0003,
            format!("{name} is not UTF-8 text"),
            "save it as UTF-8",
        )),
    }
}
