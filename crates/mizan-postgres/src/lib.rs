//! Connections to a PostgreSQL server, for the ledger and the engine: addresses, TLS and errors.

mod address;
mod error;

pub use address::{Address, BadAddress};
pub use error::{Unreachable, is_lost, sentence};
