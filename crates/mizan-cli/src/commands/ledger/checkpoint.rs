//! `mizan ledger checkpoint`: signs the size and the root of the log.

use std::path::PathBuf;

use mizan_api::ledger::CheckpointAnswer;

use crate::failure::Failure;
use crate::ledger_args::LedgerArguments;
use crate::output::{self, Output};

/// Sign the size and the root of the log
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Give checkpoints to an auditor: `mizan ledger verify --checkpoint FILE` then
detects a log that was changed or truncated.

Examples:
  mizan ledger checkpoint
  mizan ledger checkpoint --out kept.txt")]
pub(crate) struct Arguments {
    /// Write the checkpoint to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    if let Some(path) = &arguments.out {
        arguments.ledger.may_write(path)?;
    }
    let ledger = arguments.ledger.open()?;
    let checkpoint = ledger.checkpoint()?;
    let key = ledger.public_key();
    ledger.close()?;
    if let Some(path) = &arguments.out {
        output::write_file(path, &format!("{checkpoint}\n"))?;
    }
    Ok(output.either(
        || CheckpointAnswer::of(&checkpoint, key),
        || {
            format!(
                "{checkpoint}\n\nsigned: {} entries, root {}\npublic key {}\n",
                checkpoint.head.size,
                checkpoint.head.root,
                key.map_or_else(|| "unknown".to_owned(), |key| key.to_string())
            )
        },
    ))
}
