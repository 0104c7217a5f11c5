//! Composition one round after the other, by direct convolution: for curves
//! over the number of rounds, where every round is looked at.
//!
//! `grid.rs` is the lattice, `step.rs` has a mechanism on it, `losses.rs`
//! composes them.

mod grid;
mod losses;
mod step;

pub(crate) use grid::Grid;
pub(crate) use losses::LossLattice;
pub(crate) use step::Step;
