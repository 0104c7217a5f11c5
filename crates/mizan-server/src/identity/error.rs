//! Why tokens cannot be kept.

use std::path::PathBuf;

use mizan_core::Code;

/// Why tokens cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The file cannot be used.
    #[error("the tokens {} cannot be used: {reason}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Others can read or write it.
    #[error("others than their owner may read the tokens {}", path.display())]
    Shared {
        /// Which.
        path: PathBuf,
    },
    /// The database does not do what it is asked.
    #[error("the tokens cannot be read or written: {0}")]
    Database(#[from] rusqlite::Error),
    /// It is something else, or of another version.
    #[error("{} holds no tokens that this version knows", path.display())]
    Format {
        /// Which.
        path: PathBuf,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandomness,
    /// A name that cannot be one.
    #[error("{name:?} is no name of a token")]
    Name {
        /// What was given.
        name: String,
    },
    /// Nothing it could be used for.
    #[error("{0}")]
    Scope(&'static str),
    /// No token is called so.
    #[error("there is no token {id:?}")]
    Unknown {
        /// What was given.
        id: String,
    },
    /// Several tokens begin so.
    #[error("several tokens begin with {id:?}")]
    Several {
        /// What was given.
        id: String,
    },
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
        }
    }

    /// What to do.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::File { .. } => {
                "check the path and its permissions, or name another with --tokens"
            }
            Self::Shared { .. } => "take the rights of others away: chmod 600",
            Self::Database(_) => "try again; if it stays so, look at the disk",
            Self::Format { .. } => "name another file with --tokens",
            Self::NoRandomness => "look at the system: nothing private works without it",
            Self::Name { .. } => "give 1 to 100 letters, digits and . - _ @",
            Self::Scope(_) => "see `mizan token create --help`",
            Self::Unknown { .. } => "see them with `mizan token list`",
            Self::Several { .. } => "give more digits; see them with `mizan token list`",
        }
    }
}
