//! What several releases cost together, one theorem per file.
//!
//! The composition of Rényi curves (Mironov 2017, Proposition 1) is the sum
//! inside [`RenyiCurve`](crate::RenyiCurve).

mod basic;

pub use basic::basic_composition;
