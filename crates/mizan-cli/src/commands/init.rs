//! `mizan init`: creates a ledger.

use mizan_core::Code;
use mizan_ledger::{Ledger, LedgerError, Location, default_state_dir};
use serde_json::json;

use crate::failure::Failure;
use crate::ledger_args::{LedgerArguments, log_json};
use crate::output::Output;

/// Create a ledger of privacy budgets
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The ledger is one file, or a PostgreSQL database. Its signing key and its
high-water mark, which detects an older copy, are kept elsewhere: in
MIZAN_STATE_DIR, else XDG_STATE_HOME/mizan, else ~/.local/state/mizan. Back that
folder up, and do not keep it next to the ledger.

Examples:
  mizan init
  mizan init --ledger /var/lib/mizan/budget.db
  mizan init --upgrade")]
pub(crate) struct Arguments {
    #[command(flatten)]
    ledger: LedgerArguments,

    /// Upgrade a ledger of an older format
    #[arg(long)]
    upgrade: bool,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    if arguments.upgrade {
        let location = arguments.ledger.existing()?;
        let before = location.upgrade()?;
        return Ok(output.either(
            || json!({"ledger": location.to_string(), "format_before": before}),
            || format!("{location} is up to date (it had format {before})\n"),
        ));
    }
    let location = arguments.ledger.location();
    let state = default_state_dir()?;
    let ledger =
        Ledger::init(&location, &state).map_err(|error| already_there(&location, error))?;
    let head = ledger.head()?;
    let key = ledger.public_key();
    let notes: Vec<String> = ledger.notes().iter().map(ToString::to_string).collect();
    ledger.close()?;
    let key = key.map(|key| key.to_string());
    Ok(output.either(
        || {
            json!({
                "ledger": location.to_string(),
                "id": head.ledger.to_string(),
                "public_key": key,
                "state": state.display().to_string(),
                "log": log_json(head),
                "notes": notes,
            })
        },
        || {
            let mut text = format!(
                "created the ledger {location}\n\n  id          {}\n  public key  {}\n\n\
                 Signing key and rollback guard: {}\n\
                 (back this folder up; do not keep it next to the ledger)\n",
                head.ledger,
                key.as_deref().unwrap_or("none"),
                state.display()
            );
            for note in &notes {
                text.push_str(&format!("\nnote: {note}\n"));
            }
            text.push_str(
                "\nnext: mizan dataset add --help (to answer queries)\n      \
                 mizan budget create census --epsilon 1 --delta 1e-6 (to record charges)\n",
            );
            text
        },
    ))
}

/// The error if a ledger exists already.
fn already_there(location: &Location, error: LedgerError) -> Failure {
    match Ledger::read(location) {
        Ok(ledger) => Failure::new(
            Code::MZ1773,
            format!("{location} is a ledger already, {}", ledger.id()),
            "use it as it is, or name another with --ledger",
        ),
        Err(_) => error.into(),
    }
}
