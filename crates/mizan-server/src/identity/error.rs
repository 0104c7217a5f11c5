//! Errors of the token file.

use std::path::PathBuf;

use mizan_core::Code;

/// An error of the token file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The file cannot be used.
    #[error("the token file {} cannot be used: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Other users can read or write the file.
    #[error("other users can read the token file {}", path.display())]
    Shared {
        /// The file.
        path: PathBuf,
    },
    /// The database reports an error.
    #[error("the tokens cannot be read or written: {0}")]
    Database(#[from] rusqlite::Error),
    /// The file is not a token file, or has another version.
    #[error("{} is not a token file of this version", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// The operating system provides no random numbers.
    #[error("the operating system provides no random numbers")]
    NoRandomness,
    /// A text that cannot be the name of a token.
    #[error("{name:?} cannot be the name of a token")]
    Name {
        /// The given text.
        name: String,
    },
    /// A scope without datasets or accounts.
    #[error("{0}")]
    Scope(&'static str),
    /// A token that does not exist.
    #[error("there is no token {id:?}")]
    Unknown {
        /// The given text.
        id: String,
    },
    /// Several tokens whose ids begin with the given digits.
    #[error("several tokens begin with {id:?}")]
    Several {
        /// The given text.
        id: String,
    },
    /// The clock of the machine is before 1970.
    #[error("the clock of this machine is before 1970")]
    Clock,
}

impl IdentityError {
    /// A stable code.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::File { .. } => Code::MZ2030,
            Self::Shared { .. } => Code::MZ2031,
            Self::Database(_) => Code::MZ2032,
            Self::Format { .. } => Code::MZ2033,
            Self::NoRandomness => Code::MZ2034,
            Self::Name { .. } => Code::MZ2035,
            Self::Scope(_) => Code::MZ2036,
            Self::Unknown { .. } => Code::MZ2037,
            Self::Several { .. } => Code::MZ2038,
            Self::Clock => Code::MZ2039,
        }
    }

    /// What to do.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::File { .. } => {
                "check the path and its permissions, or name another with --tokens"
            }
            Self::Shared { .. } => "remove the permissions of other users: chmod 600",
            Self::Database(_) => "retry; if the error stays, check the disk",
            Self::Format { .. } => "name another file with --tokens",
            Self::NoRandomness => "check getrandom(2) on the machine",
            Self::Name { .. } => "use 1 to 100 letters, digits and . - _ @",
            Self::Scope(_) => "see `mizan token create --help`",
            Self::Unknown { .. } => "list the tokens with `mizan token list`",
            Self::Several { .. } => "give more digits; list the tokens with `mizan token list`",
            Self::Clock => "set the clock: tokens expire by it",
        }
    }
}
