//! Guards: what is kept outside of the database. The high-water mark detects a rolled-back log,
//! the signing key signs checkpoints, the id key derives ids that reveal nothing; all are files
//! of the state directory.

pub(crate) mod high_water_mark;
mod id_key;
pub(crate) mod key;
pub(crate) mod state_dir;

pub use id_key::IdKey;
pub use key::PublicKey;
pub use state_dir::default_state_dir;
