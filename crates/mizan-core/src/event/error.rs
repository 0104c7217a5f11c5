//! Why a text or JSON document is not a privacy event, and where the fault is.

use super::problem::EventProblem;
use super::snippet::Snippet;
use crate::Code;
use std::fmt;

/// Why a text, a JSON document or a set of parameters is not a privacy event.
///
/// `Display` is one line; [`caret`](EventError::caret) shows the place.
#[derive(Clone, Debug, PartialEq)]
pub struct EventError(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    problem: EventProblem,
    location: ErrorLocation,
}

#[derive(Clone, Debug, PartialEq)]
enum ErrorLocation {
    Unknown,
    Text(Snippet),
    Path(String),
}

impl EventError {
    /// What is wrong.
    #[must_use]
    pub const fn problem(&self) -> &EventProblem {
        &self.0.problem
    }

    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.0.problem.code()
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        self.0.problem.help()
    }

    /// For a text: the offending line, or the part of it that fits a screen,
    /// and below it a caret under the offending character.
    #[must_use]
    pub fn caret(&self) -> Option<String> {
        match &self.0.location {
            ErrorLocation::Text(snippet) => Some(snippet.to_string()),
            _ => None,
        }
    }

    /// For JSON: the path to the fault, such as `$.events[3].of.sigma`.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match &self.0.location {
            ErrorLocation::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Says where in a text the problem is, unless that is known already.
    pub(super) fn in_text(mut self, text: &str, at: usize) -> Self {
        if self.0.location == ErrorLocation::Unknown {
            self.0.location = ErrorLocation::Text(Snippet::new(text, at));
        }
        self
    }

    /// Puts a step in front of the path: the problem is inside of it.
    pub(super) fn under(mut self, step: &str) -> Self {
        let inner = match &self.0.location {
            ErrorLocation::Path(path) => path.as_str(),
            _ => "",
        };
        self.0.location = ErrorLocation::Path(format!("{step}{inner}"));
        self
    }
}

impl From<EventProblem> for EventError {
    fn from(problem: EventProblem) -> Self {
        Self(Box::new(Inner {
            problem,
            location: ErrorLocation::Unknown,
        }))
    }
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.problem)?;
        match &self.0.location {
            ErrorLocation::Unknown => Ok(()),
            ErrorLocation::Text(Snippet {
                line: 1, column, ..
            }) => write!(f, " (at column {column})"),
            ErrorLocation::Text(Snippet { line, column, .. }) => {
                write!(f, " (at line {line}, column {column})")
            }
            ErrorLocation::Path(path) => write!(f, " (at {path})"),
        }
    }
}

impl std::error::Error for EventError {}
