//! Exact noise: draws from the stated distribution, to the last bit.
//!
//! - [`DiscreteLaplace`] and [`DiscreteGaussian`]: noise on the integers, from
//!   scales that are exact fractions ([`ExactScale`]).
//! - [`Noise`]: either of them, and how far an answer with it may be off.
//! - [`Mechanism`] and [`GridMechanism`]: what adds noise to integers and reals,
//!   and the event that this costs.
//! - [`RandomizedResponse`], [`ExponentialMechanism`], [`PermuteAndFlip`],
//!   [`TruncatedGeometric`]: responses, selections and keys.
//! - [`Entropy`]: ChaCha20 under keys of the operating system.
//!
//! No floating-point number decides a draw. Each distribution has a reference
//! sampler, straight from its theorem, and where it pays a fast one with the
//! same distribution.

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
