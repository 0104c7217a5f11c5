//! `mizan token list`: all tokens, or the log of changes to them.

use std::time::{SystemTime, UNIX_EPOCH};

use mizan_report::{Column, Table};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Output, shortened};
use crate::times;
use crate::tokens::{Tokens, failure};

/// List tokens, or with --acts the changes to them
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mizan token list\n  mizan token list --acts")]
pub(crate) struct Arguments {
    /// Show the changes to tokens, oldest first
    #[arg(long)]
    acts: bool,

    #[command(flatten)]
    tokens: Tokens,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let identity = arguments.tokens.open()?;
    if arguments.acts {
        let acts = identity.acts().map_err(failure)?;
        return Ok(output.either(
            || {
                let act = |act: &mizan_server::identity::Act| {
                    json!({
                        "time": times::exact(act.unix_ms),
                        "act": act.act,
                        "token": act.token,
                        "about": act.about,
                    })
                };
                json!({"acts": acts.iter().map(act).collect::<Vec<_>>()})
            },
            || {
                let line = |act: &mizan_server::identity::Act| {
                    let time = times::text(act.unix_ms);
                    format!("{time}  {} {}  {}\n", act.act, act.token, act.about)
                };
                acts.iter().map(line).collect()
            },
        ));
    }
    let tokens = identity.list().map_err(failure)?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0));
    Ok(output.either(
        || json!({"tokens": tokens.iter().map(super::json).collect::<Vec<_>>()}),
        || {
            if tokens.is_empty() {
                return "no tokens; make one with `mizan token create`\n".to_owned();
            }
            let mut table = Table::new([
                Column::text("token"),
                Column::text("name"),
                Column::text("role"),
                Column::text("scope"),
                Column::text("valid until"),
            ])
            .ascii(output.terminal.ascii);
            for token in &tokens {
                let listed = |list: &Option<Vec<String>>| list.as_ref().map(|list| list.join(", "));
                let scope = match token.role {
                    mizan_server::identity::Role::Runner => listed(&token.scope.accounts),
                    _ => listed(&token.scope.datasets),
                };
                let until = match (token.revoked_ms, token.expires_ms) {
                    (Some(_), _) => "revoked".to_owned(),
                    (None, Some(end)) if end <= now => "expired".to_owned(),
                    (None, Some(end)) => times::text(end),
                    (None, None) => "no expiry".to_owned(),
                };
                table.row([
                    token.id.clone(),
                    shortened(&token.name, 20),
                    token.role.name().to_owned(),
                    shortened(&scope.unwrap_or_else(|| "all".to_owned()), 24),
                    until,
                ]);
            }
            format!("{table}\n")
        },
    ))
}
