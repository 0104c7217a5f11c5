//! The log: its entries and their canonical bytes, the record that each request id leaves, and
//! the Merkle tree over the entries.

pub(crate) mod bytes;
mod decode;
mod entry;
pub(crate) mod ids;
pub(crate) mod merkle;
mod record;

pub use bytes::DecodeError;
pub use entry::{Body, Denial, Entry, VERSION};
pub use ids::{Digest, LedgerId, RequestId};
pub use merkle::{Frontier, Tree, leaf_hash};
pub use record::{Outcome, Record, Reservation, Status};
