//! PostgreSQL against the oracle. Skipped unless `MIZAN_TEST_POSTGRES` has the address of a
//! server, which `scripts/test` sets.

mod failure;
mod fan_out;
mod parity;
mod planning;
mod refused;
mod server;
mod snapshot;
mod texts;
mod types;
mod values;
