//! An entry of the log with the proof that the log contains it.

use mizan_core::Code;
use mizan_ledger::ledger::ReceiptProof;
use mizan_ledger::log::leaf_hash;
use mizan_ledger::{AccountNumber, Digest, Ledger, ReceiptText, RequestId};
use serde::Serialize;
use utoipa::ToSchema;

use super::entry::{self, EntryJson, EntryPrices};
use crate::budget::view::{LogJson, log_json};
use crate::failure::Failure;
use crate::lookup;

/// An entry and its proof.
#[derive(Debug)]
pub struct ReceiptDetails {
    /// The receipt of the entry.
    pub receipt: ReceiptText,
    /// The entry and the proofs.
    pub shown: ReceiptProof,
}

/// An entry and its proof, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ReceiptAnswer {
    /// The receipt.
    pub receipt: String,
    /// The entry.
    pub entry: EntryJson,
    /// The charge that the entry belongs to, if the entry does not repeat it.
    pub charge: Option<ChargeJson>,
    /// The hash of the entry's canonical bytes, as a leaf of the tree.
    pub leaf: String,
    /// The inclusion proof: the hashes from the leaf to the root of the log.
    pub inclusion: Vec<String>,
    /// The consistency proof: the hashes from the root of the receipt to that of the log.
    pub consistency: Vec<String>,
    /// Size and root of the log in the receipt.
    pub then: LogJson,
    /// Size and root of the log now.
    pub log: LogJson,
}

/// A charge.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChargeJson {
    /// The account.
    pub account: String,
    /// Its event.
    pub event: String,
    /// What it takes from Gaussian clocks.
    #[serde(flatten)]
    pub prices: EntryPrices,
}

/// The entry of a receipt, or of the id of a charge.
///
/// # Errors
///
/// The receipt or id is unknown, or the log does not extend the log of the receipt.
pub fn find(ledger: &Ledger, typed: &str) -> Result<ReceiptDetails, Failure> {
    let typed = typed.trim();
    let receipt = if typed.starts_with("mizan1:") {
        typed.parse()?
    } else {
        ledger.find(RequestId::from_text(typed))?.ok_or_else(|| {
            Failure::new(
                Code::MZ1791,
                format!("no receipt or charge id {typed:?}; entry numbers are not accepted"),
                "give a receipt (mizan1:...) or the --id of a charge; see `mizan ledger log`",
            )
        })?
    };
    Ok(ReceiptDetails {
        shown: ledger.show(&receipt)?,
        receipt,
    })
}

impl ReceiptDetails {
    /// The JSON form.
    #[must_use]
    pub fn json(&self, ledger: &Ledger) -> ReceiptAnswer {
        let ReceiptProof {
            entry,
            head,
            proof,
            extends,
        } = &self.shown;
        let name = |number: AccountNumber| lookup::name_of(ledger, number);
        let hashes = |hashes: &[Digest]| hashes.iter().map(ToString::to_string).collect();
        ReceiptAnswer {
            receipt: self.receipt.to_string(),
            entry: entry::json(self.receipt.position, entry, &name),
            charge: entry::charge(ledger, entry).map(|(charge, clock)| ChargeJson {
                account: name(charge.account),
                prices: entry::prices(&charge, &clock),
                event: charge.event,
            }),
            leaf: leaf_hash(&entry.encode()).to_string(),
            inclusion: hashes(&proof.path),
            consistency: hashes(&extends.path),
            then: log_json(self.receipt.head),
            log: log_json(*head),
        }
    }
}
