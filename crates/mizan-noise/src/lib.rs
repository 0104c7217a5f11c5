//! Exact noise: draws from the stated distribution, to the last bit.
//!
//! - [`DiscreteLaplace`] and [`DiscreteGaussian`]: noise on the integers, from
//!   scales that are exact fractions ([`ExactScale`]).
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
pub use exponential_mechanism::ExponentialMechanism;
pub use grid::Grid;
pub use mechanism::{GridMechanism, Mechanism, PreparedNoise};
pub use noise::Noise;
pub use permute_and_flip::PermuteAndFlip;
pub use randomized_response::RandomizedResponse;
pub use scale::ExactScale;
pub use truncated_geometric::TruncatedGeometric;
