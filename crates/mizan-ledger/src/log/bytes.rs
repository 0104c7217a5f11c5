//! Readers and writers of canonical bytes: big-endian integers of fixed width, and a length
//! before each text and list. `docs/ledger-format.md` is the specification.

use mizan_core::Code;

/// Appends canonical bytes.
#[derive(Debug)]
pub(crate) struct Writer(Vec<u8>);

impl Default for Writer {
    /// With capacity for a typical entry.
    fn default() -> Self {
        Self(Vec::with_capacity(1024))
    }
}

impl Writer {
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend(value.to_be_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend(value.to_be_bytes());
    }

    pub(crate) fn array(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// The length of a list, at most 255.
    pub(crate) fn count(&mut self, count: usize) {
        assert!(count <= usize::from(u8::MAX), "{count} items");
        self.u8(u8::try_from(count).unwrap_or(u8::MAX));
    }

    /// A text of at most a mebibyte, which the caller has checked.
    pub(crate) fn text(&mut self, text: &str) {
        assert!(u32::try_from(text.len()).is_ok());
        self.u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.0.extend(text.as_bytes());
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads canonical bytes once, from the start.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            length: bytes.len(),
        }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(self.cut_short())?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn count(&mut self) -> Result<usize, DecodeError> {
        self.u8().map(usize::from)
    }

    pub(crate) fn text(&mut self, most: usize) -> Result<&'a str, DecodeError> {
        let length = self.u32()?;
        let length = usize::try_from(length).map_err(|_| self.bad("a text that is too long"))?;
        if length > most {
            return Err(self.bad("a text that is too long"));
        }
        let (text, rest) = (self.rest.split_at_checked(length)).ok_or(self.cut_short())?;
        let text = std::str::from_utf8(text).map_err(|_| self.bad("a text that is not UTF-8"))?;
        self.rest = rest;
        Ok(text)
    }

    /// Checks that nothing is left.
    pub(crate) fn finish(self) -> Result<(), DecodeError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.bad("bytes after the end"))
        }
    }

    /// An error at the next byte.
    pub(crate) const fn bad(&self, what: &'static str) -> DecodeError {
        DecodeError::Malformed {
            at: self.length - self.rest.len(),
            what,
        }
    }

    const fn cut_short(&self) -> DecodeError {
        DecodeError::CutShort {
            length: self.length,
        }
    }
}

/// Why bytes are not an entry. Each entry has one encoding; every other is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end too early.
    #[error("the entry ends early, after {length} bytes")]
    CutShort {
        /// The number of bytes.
        length: usize,
    },
    /// The bytes are of another version.
    #[error("the entry has version {version}, this program reads versions up to {known}", known = crate::log::VERSION)]
    Version {
        /// The version it claims.
        version: u8,
    },
    /// A field has a value that no entry has.
    #[error("the entry has {what} at byte {at}")]
    Malformed {
        /// The position of the field.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
}

impl DecodeError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::CutShort { .. } => Code::MZ1725,
            Self::Version { .. } => Code::MZ1726,
            Self::Malformed { .. } => Code::MZ1727,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Version { .. } => {
                "use the version of Mizan that wrote this ledger, or a newer one"
            }
            Self::CutShort { .. } | Self::Malformed { .. } => {
                "the ledger is damaged: restore it and compare with a receipt or a checkpoint"
            }
        }
    }
}
