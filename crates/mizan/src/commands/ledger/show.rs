//! `mizan ledger show`: one entry, with the proof that it is in the log.

use mizan_api::ledger::{Found, entry, find};
use mizan_ledger::AccountNumber;
use mizan_ledger::ledger::ReceiptProof;
use mizan_ledger::log::leaf_hash;

use crate::books::{self, Books};
use crate::failure::Failure;
use crate::output::Output;
use crate::times;

/// Show the entry of a receipt or an id, and prove it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A receipt says how long the log was and what its root was. This proves that the
log still begins with all of that, and that the entry is in it.

Examples:
  mizan ledger show mizan1:...
  mizan ledger show report-2026-11 --format json")]
pub(crate) struct Arguments {
    /// A receipt, or the id of a charge
    receipt: String,

    #[command(flatten)]
    books: Books,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let ledger = arguments.books.look_into()?;
    let found = find(&ledger, &arguments.receipt)?;
    let name = |number: AccountNumber| books::name_of(&ledger, number);
    let Found { receipt, shown } = &found;
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
                "entry {} of {}, {}\n\n  what     {}\n",
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
                text.push_str(&format!("  about    {about}\n"));
            }
            text.push_str(&format!(
                "  id       {}\n  leaf     {leaf}\n\nin the log: proven by {} hashes\nthe log extends the {} entries of the receipt: proven by {} hashes\nroot {}\n",
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
