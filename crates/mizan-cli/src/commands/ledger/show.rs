//! `mizan ledger show`: one entry with its inclusion and consistency proofs.

use mizan_api::ledger::{ReceiptDetails, entry, find};
use mizan_ledger::AccountNumber;
use mizan_ledger::ledger::ReceiptProof;
use mizan_ledger::log::leaf_hash;

use crate::failure::Failure;
use crate::ledger_args::{self, LedgerArguments};
use crate::output::Output;
use crate::times;

/// Show the entry of a receipt or an id, with its proofs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A receipt has the size and the root of the log when it was issued. The proofs
show that the log still starts with those entries and contains this one.

Examples:
  mizan ledger show mizan1:...
  mizan ledger show report-2026-11 --format json")]
pub(crate) struct Arguments {
    /// Receipt, or id of a charge
    receipt: String,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let ledger = arguments.ledger.look_into()?;
    let found = find(&ledger, &arguments.receipt)?;
    let name = |number: AccountNumber| ledger_args::name_of(&ledger, number);
    let ReceiptDetails { receipt, shown } = &found;
    let ReceiptProof {
        entry,
        head,
        proof,
        extends,
    } = shown;
    let leaf = leaf_hash(&entry.encode());
    Ok(output.either(
        || found.json(&ledger),
        || {
            let charge = entry::charge(&ledger, entry);
            let account = entry::account(&entry.body);
            let account = account.or(charge.as_ref().map(|charge| charge.account));
            let account = account.map(name);
            let mut text = format!(
                "entry {} of {}, {}\n\n  kind     {}\n",
                receipt.position,
                head.size,
                times::text(entry.unix_ms),
                entry::kind(&entry.body)
            );
            if let Some(account) = account {
                text.push_str(&format!("  account  {account}\n"));
            }
            let about = charge.map_or_else(|| entry::about(&entry.body), |charge| charge.event);
            if !about.is_empty() {
                text.push_str(&format!("  details  {about}\n"));
            }
            text.push_str(&format!(
                "  id       {}\n  leaf     {leaf}\n\ninclusion proof: {} hashes\nconsistency proof from the {} entries of the receipt: {} hashes\nroot {}\n",
                entry.id,
                proof.path.len(),
                receipt.head.size,
                extends.path.len(),
                head.root
            ));
            text
        },
    ))
}
