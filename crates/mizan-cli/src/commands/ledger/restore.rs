//! `mizan ledger restore`: continues from an older copy; the log records the gap.

use mizan_core::Code;
use mizan_ledger::{Ledger, default_state_dir};
use serde_json::json;

use crate::failure::Failure;
use crate::ledger_args::{LedgerArguments, log_json};
use crate::output::Output;

/// Continue from an older copy of the ledger
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The charges in the lost entries are spent, but this copy does not know them. The
log records the gap, and every statement about an account holds only since the
gap.

Examples:
  mizan ledger restore --i-know-that-charges-are-lost")]
pub(crate) struct Arguments {
    /// Confirm that charges are lost
    #[arg(long)]
    i_know_that_charges_are_lost: bool,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    if !arguments.i_know_that_charges_are_lost {
        return Err(Failure::new(
            Code::MZ1792,
            "an older copy lacks charges whose answers are released",
            "look for the newer copy first; to continue from this one add --i-know-that-charges-are-lost",
        ));
    }
    let location = arguments.ledger.existing()?;
    let (ledger, gap) = Ledger::restore(&location, &default_state_dir()?)?;
    let head = ledger.head()?;
    ledger.close()?;
    Ok(output.either(
        || {
            json!({
                "restored": gap.is_some(),
                "gap": gap.map(|gap| json!({
                    "position": gap.position,
                    "known_size": gap.known_size,
                    "known_root": gap.known_root.to_string(),
                })),
                "log": log_json(head),
            })
        },
        || match gap {
            Some(gap) => format!("{gap}\n"),
            None => "this is not an older copy: nothing was changed\n".to_owned(),
        },
    ))
}
