//! `mizan token revoke`: revokes a token.

use crate::failure::Failure;
use crate::output::Output;
use crate::tokens::{Tokens, failure};

/// Revoke a token at once and permanently
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mizan token revoke 5f0c2a9e")]
pub(crate) struct Arguments {
    /// Id of the token from `mizan token list`, or its first digits
    id: String,

    #[command(flatten)]
    tokens: Tokens,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let token = arguments
        .tokens
        .open()?
        .revoke(&arguments.id)
        .map_err(failure)?;
    Ok(output.either(
        || super::json(&token),
        || format!("revoked {}: {} {}\n", token.id, token.role, token.name),
    ))
}
