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

mod batch;
mod bernoulli_exp;
mod coins;
mod decay;
mod discrete_gaussian;
mod discrete_laplace;
mod entropy;
mod envelope;
mod error;
mod error_bound;
mod exponential;
mod exponential_mechanism;
mod fixed;
mod geometric;
mod grid;
mod lazy;
mod mechanism;
mod noise;
mod permute_and_flip;
mod randomized_response;
mod rational;
#[cfg(test)]
mod reference_tests;
mod scale;
mod score_weights;
mod selection;
#[cfg(test)]
mod statistical_tests;
mod truncated_geometric;
mod uniform;

pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use entropy::Entropy;
pub use error::NoiseError;
pub use error_bound::Confidence;
pub use exponential_mechanism::ExponentialMechanism;
pub use grid::Grid;
pub use mechanism::{GridMechanism, Mechanism, PreparedNoise};
pub use noise::Noise;
pub use permute_and_flip::PermuteAndFlip;
pub use randomized_response::RandomizedResponse;
pub use scale::ExactScale;
pub use truncated_geometric::TruncatedGeometric;
