//! What a value is called where it was given: `--delta` on the command line,
//! `delta` in a request.

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// A person at a command line.
    CommandLine,
    /// A program, by a field of its request.
    Program,
}

impl Names {
    /// What it calls a value.
    #[must_use]
    pub fn option(self, name: &str) -> String {
        match self {
            Self::CommandLine => format!("--{}", name.replace('_', "-")),
            Self::Program => name.to_owned(),
        }
    }
}
