//! The numerical engines: what no closed form covers.
//!
//! `pair.rs` is what they compose; `lattice/` composes on a lattice of losses,
//! certified from both sides; `rounds/` does so one round after the other.

mod lattice;
#[allow(
    dead_code,
    reason = "the methods that need every kind of pair come next"
)]
pub(crate) mod pair;
mod rounds;

pub(crate) use lattice::{Aim, LatticeProfile};
pub(crate) use rounds::{Grid, LossLattice, Step};
