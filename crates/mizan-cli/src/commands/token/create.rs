//! `mizan token create`: creates a token and shows its secret once.

use std::time::{SystemTime, UNIX_EPOCH};

use mizan_core::Code;
use mizan_server::identity::{NewToken, Role, Scope};
use serde_json::Value;

use crate::failure::Failure;
use crate::output::Output;
use crate::times;
use crate::tokens::{Tokens, failure};

/// Create a token; its secret is shown only once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Roles: owner (everything), analyst (queries its datasets), auditor (reads the
log and all budgets), runner (charges its accounts for releases made elsewhere).

Examples:
  mizan token create amina --role analyst --dataset visits
  mizan token create training --role runner --account census --days 7
  mizan token create court --role auditor --expires 2027-01-01")]
pub(crate) struct Arguments {
    /// Holder of the token; tokens of one name belong to one holder
    #[arg(value_name = "NAME")]
    name: String,

    /// Role: owner, analyst, auditor or runner
    #[arg(long, value_name = "ROLE")]
    role: String,

    /// Dataset that an analyst may query (repeatable)
    #[arg(long, value_name = "NAME", conflicts_with = "all_datasets")]
    dataset: Vec<String>,

    /// All datasets, including later ones
    #[arg(long)]
    all_datasets: bool,

    /// Account that a runner may charge (repeatable)
    #[arg(long, value_name = "NAME", conflicts_with = "all_accounts")]
    account: Vec<String>,

    /// All accounts, including later ones
    #[arg(long)]
    all_accounts: bool,

    /// Days until the token expires [default: 90]
    #[arg(long, value_name = "N", conflicts_with = "expires")]
    days: Option<u32>,

    /// Date at the end of which the token expires, or `never`
    #[arg(long, value_name = "DATE")]
    expires: Option<String>,

    #[command(flatten)]
    tokens: Tokens,
}

/// The default lifetime of a token, in days.
const DAYS: u32 = 90;

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let role = Role::from_name(&arguments.role).ok_or_else(|| {
        Failure::new(
            Code::MZ0010,
            format!("--role: {:?} is not a role", arguments.role),
            "the roles are owner, analyst, auditor, runner",
        )
    })?;
    let listed =
        |list: &[String], all: bool| match all || !matches!(role, Role::Analyst | Role::Runner) {
            true => None,
            false => Some(list.to_vec()),
        };
    let scope = Scope {
        datasets: listed(&arguments.dataset, arguments.all_datasets),
        accounts: listed(&arguments.account, arguments.all_accounts),
    };
    let new = NewToken {
        name: arguments.name.clone(),
        role,
        scope,
        expires_ms: expires(arguments)?,
    };
    let (token, secret) = arguments.tokens.open()?.create(new).map_err(failure)?;
    Ok(output.either(
        || {
            let mut shown = super::json(&token);
            if let Value::Object(shown) = &mut shown {
                shown.insert("token".to_owned(), secret.reveal().into());
            }
            shown
        },
        || {
            let until = token.expires_ms.map_or_else(
                || "until it is revoked".to_owned(),
                |end| format!("until {}", times::text(end)),
            );
            format!(
                "{}\n\nThe secret is shown only once.\nHolder: {} ({}), valid {until}\nRevoke it with: mizan token revoke {}\n",
                secret.reveal(),
                token.name,
                token.role,
                token.id
            )
        },
    ))
}

fn expires(arguments: &Arguments) -> Result<Option<u64>, Failure> {
    match arguments.expires.as_deref() {
        Some("never") => Ok(None),
        Some(date) => times::end_of(date).map(Some),
        None => {
            let days = u64::from(arguments.days.unwrap_or(DAYS));
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            let now = since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0));
            Ok(Some(now.saturating_add(days.saturating_mul(86_400_000))))
        }
    }
}
