//! The log, its proofs and its verification.

pub mod entry;
mod log;
mod proofs;
mod receipt;
mod verify;

pub use entry::{EntryCost, EntryJson};
pub use log::{LogAnswer, LogPage, LogRequest};
pub use proofs::{CheckpointAnswer, ConsistencyAnswer, InclusionAnswer};
pub use receipt::{ChargeJson, ReceiptAnswer, ReceiptDetails, find};
pub use verify::VerifyAnswer;
