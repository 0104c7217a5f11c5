//! The log, its proofs and its verification.

pub mod entry;
mod log;
mod proofs;
mod receipt;
mod verify;

pub use entry::{EntryCost, EntryJson};
pub use log::{LogAnswer, LogPage, LogQuestion};
pub use proofs::{CheckpointAnswer, ConsistencyAnswer, InclusionAnswer};
pub use receipt::{ChargeJson, Found, ReceiptAnswer, find};
pub use verify::VerifyAnswer;
