//! Loss distributions on a lattice: what no closed form covers.
//!
//! A mechanism is replaced by one whose losses are multiples of a step h and
//! which it is a post-processing of: each loss is split between its neighbours
//! so that the mass under both inputs is kept. That bounds δ from above, in
//! second order of h. Rounding errors are bounded in advance and added.
//!
//! `grid.rs` is the lattice, `step.rs` has a mechanism on it, `lattice.rs`
//! composes them.

pub(crate) mod contour;
mod grid;
mod lattice;
pub(crate) mod mechanism;
pub(crate) mod pair;
mod step;
pub(crate) mod table;

pub(crate) use grid::Grid;
pub(crate) use lattice::{End, LossLattice};
pub(crate) use step::Step;
