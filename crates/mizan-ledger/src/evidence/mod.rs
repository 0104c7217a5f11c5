//! Evidence: what a log proves about itself. Proofs, signed checkpoints and receipts; the
//! verification of a whole ledger; the odometer and the charges without an answer.

mod checkpoint;
pub(crate) mod checksummed_line;
pub(crate) mod history;
mod odometer;
mod proof;
mod receipt_text;
pub(crate) mod unanswered;
mod verify;

pub use checkpoint::{Checkpoint, CheckpointKey, TreeHead};
pub use checksummed_line::TextError;
pub use odometer::{Odometer, Remaining, Room};
pub use proof::{ConsistencyProof, InclusionProof};
pub use receipt_text::ReceiptText;
pub use unanswered::{MAX_UNANSWERED, SETTLED, UnansweredCharge};
pub use verify::{VerifyError, VerifyReport, Witnesses, verify};
