//! `mizan ledger export`: the whole log, one entry per line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use mizan_api::ledger::entry;
use mizan_ledger::AccountNumber;
use mizan_ledger::log::leaf_hash;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::ledger_args::{self, LedgerArguments, log_json};
use crate::output::{self, Output, Progress};

/// Write the whole log as JSON, one entry per line
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line has the entry and its canonical bytes, from which an auditor can
rebuild the Merkle tree (docs/ledger-format.md).

Examples:
  mizan ledger export --out log.jsonl
  mizan ledger export | wc -l")]
pub(crate) struct Arguments {
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    if let Some(path) = &arguments.out {
        arguments.ledger.may_write(path)?;
    }
    let ledger = arguments.ledger.look_into()?;
    let head = ledger.head()?;
    let progress = Progress::of(head.size);
    let names: std::cell::RefCell<HashMap<AccountNumber, String>> = Default::default();
    let name = |number: AccountNumber| {
        let mut names = names.borrow_mut();
        let named = names.entry(number);
        named
            .or_insert_with(|| ledger_args::name_of(&ledger, number))
            .clone()
    };
    let path = arguments.out.as_ref();
    let shown = path.map_or_else(|| "standard output".to_owned(), |p| p.display().to_string());
    let failed = |error: std::io::Error| Failure::file("write", &shown, &error);
    let mut file = match path {
        Some(path) => Some(BufWriter::new(File::create(path).map_err(failed)?)),
        None => None,
    };
    let mut position = 0;
    while position < head.size {
        let page = ledger.entries(position)?;
        if page.is_empty() {
            break;
        }
        let mut lines = String::new();
        let most = usize::try_from(head.size - position).unwrap_or(usize::MAX);
        for entry in page.iter().take(most) {
            let bytes = entry.encode();
            let mut value = mizan_api::number::json(&entry::json(position, entry, &name));
            if let Value::Object(all) = &mut value {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                all.insert("leaf".to_owned(), leaf_hash(&bytes).to_string().into());
                all.insert("bytes".to_owned(), hex.into());
            }
            lines.push_str(&format!("{value}\n"));
            position += 1;
        }
        progress.advance(page.len() as u64);
        match &mut file {
            Some(file) => file.write_all(lines.as_bytes()).map_err(failed)?,
            None => output::print(&lines)?,
        }
    }
    let Some(file) = file else {
        return Ok(String::new());
    };
    // The export is complete when it is durable.
    let file = file
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    Ok(output.either(
        || json!({"out": shown, "entries": position, "log": log_json(head)}),
        || format!("wrote {position} entries to {shown}, root {}\n", head.root),
    ))
}
