//! PostgreSQL against the oracle. Skipped without the address of a server in
//! `MIZAN_TEST_POSTGRES`, which `scripts/test` sets.

mod failure;
mod fan_out;
mod parity;
mod planning;
mod queries;
mod refused;
mod server;
mod snapshot;
mod texts;
mod types;
mod values;
