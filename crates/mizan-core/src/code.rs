//! The registry of error codes: what each code means, what to do about it, and how a
//! program reacts to it.
//!
//! A [`Code`] has one meaning. Its [`ErrorKind`] decides the HTTP status, the exit code,
//! when a client may retry and whether the server stops; nothing is decided by the number.
//! A code that is not in the tables below does not compile, so `docs/errors.md`, the pages
//! in Arabic and the libraries cannot drift apart.

mod accounting;
mod command_line;
mod engine;
mod events;
mod kind;
mod ledger;
mod noise;
mod query;
mod server;
#[cfg(test)]
mod tests;
mod values;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

pub use kind::ErrorKind;
use serde_core::{Serialize, Serializer};

/// A stable error code, such as `MZ1809`.
///
/// ```
/// use mizan_core::{Code, ErrorKind};
///
/// assert_eq!(Code::MZ1766.to_string(), "MZ1766");
/// assert_eq!(Code::MZ1766.kind(), ErrorKind::Fatal);
/// assert!(Code::MZ1766.kind().stops_server());
/// ```
#[derive(Clone, Copy)]
pub struct Code(&'static Entry);

/// The entry of a code in the registry.
struct Entry {
    name: &'static str,
    kind: ErrorKind,
    title: Bilingual,
    next_step: Bilingual,
}

/// A sentence in the languages of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bilingual {
    /// In English.
    pub english: &'static str,
    /// In Arabic.
    pub arabic: &'static str,
}

/// A part of Mizan and its codes.
#[derive(Clone, Copy, Debug)]
pub struct CodeArea {
    /// The name of the part.
    pub title: &'static str,
    /// Its codes, in increasing order.
    pub codes: &'static [Code],
}

/// Fills the table of an area: code, kind, title and next step in English, then both in
/// Arabic. A number that is used twice does not compile.
macro_rules! codes {
    ($($code:ident $kind:ident ($title:literal, $next:literal) ($arabic:literal, $arabic_next:literal);)*) => {
        impl super::Code {
            $(
                #[doc = $title]
                pub const $code: Self = Self(&super::Entry {
                    name: stringify!($code),
                    kind: super::ErrorKind::$kind,
                    title: super::Bilingual { english: $title, arabic: $arabic },
                    next_step: super::Bilingual { english: $next, arabic: $arabic_next },
                });
            )*
        }

        pub(super) const TABLE: &[super::Code] = &[$(super::Code::$code,)*];
    };
}
use codes;

const AREAS: &[CodeArea] = &[
    CodeArea {
        title: "Command line",
        codes: command_line::TABLE,
    },
    CodeArea {
        title: "Numbers",
        codes: values::TABLE,
    },
    CodeArea {
        title: "Privacy events",
        codes: events::TABLE,
    },
    CodeArea {
        title: "Accounting",
        codes: accounting::TABLE,
    },
    CodeArea {
        title: "Noise, and audits of mechanisms",
        codes: noise::TABLE,
    },
    CodeArea {
        title: "Budgets and the ledger",
        codes: ledger::TABLE,
    },
    CodeArea {
        title: "Queries and the catalogue",
        codes: query::TABLE,
    },
    CodeArea {
        title: "Engines and answers",
        codes: engine::TABLE,
    },
    CodeArea {
        title: "Server",
        codes: server::TABLE,
    },
];

impl Code {
    /// All codes, by area.
    #[must_use]
    pub const fn areas() -> &'static [CodeArea] {
        AREAS
    }

    /// All codes.
    pub fn all() -> impl Iterator<Item = Self> {
        AREAS.iter().flat_map(|area| area.codes.iter().copied())
    }

    /// The code as it is written, such as `MZ1809`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0.name
    }

    /// What kind of error it is.
    #[must_use]
    pub const fn kind(self) -> ErrorKind {
        self.0.kind
    }

    /// What is wrong, without names and numbers of the case at hand: it may be shown to
    /// every client.
    #[must_use]
    pub const fn title(self) -> Bilingual {
        self.0.title
    }

    /// What to do about it.
    #[must_use]
    pub const fn next_step(self) -> Bilingual {
        self.0.next_step
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Code {}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Code {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.name.cmp(other.0.name)
    }
}

impl Hash for Code {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

/// For tests, which state the code that a user reads.
impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        self.0.name == *other
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}
