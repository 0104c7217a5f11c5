//! Guards against a rolled-back or forged ledger, and against ids that leak.
//!
//! The high-water mark detects an old copy of a log, the signing key signs checkpoints, and files
//! name the queries that run and those that failed. These are files of the state directory, outside
//! of the database. The id key is a secret in the database, from which ids of unnamed queries and
//! the salts of charges are derived.

pub(crate) mod high_water_mark;
mod id_key;
pub(crate) mod key;
pub(crate) mod running_queries;
pub(crate) mod state_dir;

pub use id_key::IdKey;
pub use key::PublicKey;
pub use running_queries::MAX_RUNNING;
pub use state_dir::default_state_dir;
