//! One line of text with a checksum, for receipts, keys and marks: fields between colons. The
//! checksum detects typing and copying errors; it is not a signature.

use std::fmt;

use mizan_core::Code;

use crate::log::Digest;

/// The number of digits of the checksum.
const CHECK_DIGITS: usize = 8;

/// The line of these fields, with its checksum.
pub(crate) fn to_line(fields: fmt::Arguments<'_>) -> String {
    let line = fields.to_string();
    let check = checksum(&line);
    format!("{line}:{check}")
}

/// The fields of a line after the first, which must be `prefix`.
pub(crate) fn parse_line<'a, const N: usize>(
    what: &'static str,
    prefix: &str,
    text: &'a str,
) -> Result<[&'a str; N], TextError> {
    let wrong = |reason| TextError { what, reason };
    let text = text.trim();
    let (line, check) = text.rsplit_once(':').ok_or(wrong("it has no fields"))?;
    let mut fields = line.split(':');
    if fields.next() != Some(prefix) {
        return Err(wrong("it begins with something else"));
    }
    if check != checksum(line) {
        return Err(wrong("its checksum does not fit, so a character is wrong"));
    }
    let fields: Vec<&str> = fields.collect();
    fields
        .try_into()
        .map_err(|_| wrong("it has another number of fields"))
}

fn checksum(line: &str) -> String {
    let digits = Digest::of(&[line.as_bytes()]).to_string();
    digits.chars().take(CHECK_DIGITS).collect()
}

/// Why a line is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a {what}: {reason}")]
pub struct TextError {
    /// What the line should be: a receipt, a key, a checkpoint.
    pub what: &'static str,
    /// What is wrong.
    pub reason: &'static str,
}

impl TextError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        Code::MZ1782
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "copy the whole line again, from its prefix to the eight digits at its end"
    }
}
