//! Exact noise: samplers that draw from the stated distribution without rounding, and the mechanisms
//! that release with them.
//!
//! - [`DiscreteLaplace`] and [`DiscreteGaussian`]: noise on the integers, with scales that are exact
//!   fractions ([`ExactScale`]).
//! - [`Noise`]: either of them, with certified error bounds ([`Confidence`]).
//! - [`Mechanism`] and [`GridMechanism`]: additive noise on integers and reals, with the privacy
//!   event that a release costs.
//! - [`RandomizedResponse`]; [`ExponentialMechanism`] and [`PermuteAndFlip`] for selection;
//!   [`TruncatedGeometric`] for partition selection.
//! - [`Entropy`]: ChaCha20 under keys from the operating system.
//!
//! No floating-point number decides a draw. Each distribution has a reference sampler, straight
//! from its theorem, and where speed matters a fast one with the same output distribution.

mod entropy;
mod error;
mod error_bound;
mod exact;
mod mechanisms;
mod noise;
mod samplers;

pub use entropy::Entropy;
pub use error::NoiseError;
pub use error_bound::Confidence;
pub use exact::ExactScale;
pub use mechanisms::{
    ExponentialMechanism, Grid, GridMechanism, Mechanism, PermuteAndFlip, PreparedNoise,
    RandomizedResponse, TruncatedGeometric,
};
pub use noise::Noise;
pub use samplers::{DiscreteGaussian, DiscreteLaplace};
