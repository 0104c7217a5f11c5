//! The token file of a command.

use std::path::PathBuf;

use mizan_server::identity::{Identity, IdentityError};

use crate::failure::Failure;

/// The default file.
const DEFAULT: &str = "mizan.tokens.db";

/// The option that names the token file.
#[derive(Debug, clap::Args)]
pub(crate) struct Tokens {
    /// Token file [default: MIZAN_TOKENS, else mizan.tokens.db]
    #[arg(long, value_name = "FILE", global = true)]
    tokens: Option<PathBuf>,
}

impl Tokens {
    pub(crate) fn path(&self) -> PathBuf {
        let set = std::env::var_os("MIZAN_TOKENS").filter(|value| !value.is_empty());
        let named = self.tokens.clone().or_else(|| set.map(PathBuf::from));
        named.unwrap_or_else(|| DEFAULT.into())
    }

    pub(crate) fn open(&self) -> Result<Identity, Failure> {
        Identity::open(&self.path()).map_err(failure)
    }
}

pub(crate) fn failure(error: IdentityError) -> Failure {
    Failure::new(error.code(), &error, error.help())
}
