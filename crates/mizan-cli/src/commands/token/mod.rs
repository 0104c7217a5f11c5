//! `mizan token`: the access tokens of the server.

mod create;
mod list;
mod revoke;

use mizan_server::identity::Token;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::Output;
use crate::times;

/// Create, list and revoke tokens for `mizan serve`
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Create(create::Arguments),
    List(list::Arguments),
    Revoke(revoke::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    match &arguments.command {
        Command::Create(arguments) => create::run(arguments, output),
        Command::List(arguments) => list::run(arguments, output),
        Command::Revoke(arguments) => revoke::run(arguments, output),
    }
}

/// A token, for programs; never its secret.
fn json(token: &Token) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "role": token.role.name(),
        "datasets": token.scope.datasets,
        "accounts": token.scope.accounts,
        "created": times::exact(token.created_ms),
        "expires": token.expires_ms.map(times::exact),
        "revoked": token.revoked_ms.map(times::exact),
    })
}
