//! Composition theorems, one per file: the cost of several releases together.
//!
//! The composition of Rényi curves (Mironov 2017, Proposition 1) is the sum
//! inside [`RenyiCurve`](crate::RenyiCurve).

pub(crate) mod advanced;
mod basic;
pub(crate) mod concentrated;
pub(crate) mod mironov;
pub(crate) mod optimal;
pub(crate) mod parts;
pub(crate) mod subgaussian;

pub use basic::basic_composition;
