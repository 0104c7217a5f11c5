//! The way to a PostgreSQL server: its address, TLS, and what its errors mean.
//! The ledger and the engine both go it.

mod address;
mod error;

pub use address::{Address, BadAddress};
pub use error::{Unreachable, is_lost, sentence};
