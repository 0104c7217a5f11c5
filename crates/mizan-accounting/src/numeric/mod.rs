//! The numerical accountant: certified brackets of the privacy profile of a whole composition, from
//! its privacy loss distribution.
//!
//! The path of an event: `mechanism.rs` finds the pairs of distributions that dominate it, in the
//! types of `pair.rs` (`shuffle.rs` has the pair of shuffling); `profile.rs` picks engines and
//! intersects their brackets.
//!
//! - `single.rs`: closed forms for one mechanism that runs once;
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
