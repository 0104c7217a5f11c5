//! Exact arithmetic: fractions, scales that are fractions, and e^-x to any number of bits.

pub(crate) mod exponential;
pub(crate) mod fixed;
pub(crate) mod lazy;
pub(crate) mod rational;
pub(crate) mod scale;

pub use scale::ExactScale;
