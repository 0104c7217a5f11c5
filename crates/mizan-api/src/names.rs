//! The name of a value for the user: `--delta` on the command line, `delta` in a request.

/// The interface that a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// The command line.
    CommandLine,
    /// A JSON request, whose values are fields.
    Program,
}

impl Names {
    /// The name of a value in this interface.
    #[must_use]
    pub fn option(self, name: &str) -> String {
        match self {
            Self::CommandLine => format!("--{}", name.replace('_', "-")),
            Self::Program => name.to_owned(),
        }
    }
}
