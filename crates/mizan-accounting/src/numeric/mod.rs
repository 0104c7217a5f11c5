//! The numerical accountant: the loss of a whole composition, bracketed.
//!
//! The way of an event: `mechanism.rs` finds the pairs of distributions that
//! dominate it, in the words of `pair.rs`
//! (`shuffle.rs` has that of shuffling); `profile.rs` picks an engine and
//! intersects what they say.
//!
//! - `single.rs`: closed forms, where one mechanism ran once;
//! - `contour/`: an integral along a line, for any number of compositions, on
//!   `table/`s of the pairs;
//! - `lattice/`: losses on a lattice, for few compositions with atoms;
//! - `rounds/`: the same one round after the other, for optimal composition.

pub(crate) mod contour;
mod lattice;
pub(crate) mod mechanism;
pub(crate) mod pair;
mod profile;
mod rounds;
mod shuffle;
mod single;
mod sweep;
pub(crate) mod table;

pub(crate) use lattice::{LatticeProfile, LatticeTarget};
pub use profile::{Engine, PrivacyProfile};
pub(crate) use rounds::{Grid, LossLattice, Step};
pub(crate) use shuffle::local_epsilon;

/// The records of testdata/golden/`file`, under `list`.
#[cfg(test)]
pub(crate) fn golden(file: &str, list: &str) -> Vec<serde_json::Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden");
    let text = std::fs::read_to_string(format!("{folder}/{file}")).expect("golden values");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    json[list].as_array().expect("a list").clone()
}
