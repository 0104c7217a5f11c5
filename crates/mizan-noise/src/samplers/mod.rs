//! Samplers: draws from a stated distribution on the integers, without rounding.
//!
//! Each distribution has a reference sampler, straight from its theorem. [`envelope`] is the fast
//! sampler of the discrete Laplace and Gaussian distributions, with the same output distribution.

pub(crate) mod batch;
pub(crate) mod bernoulli_exp;
pub(crate) mod coins;
pub(crate) mod decay;
pub(crate) mod discrete_gaussian;
pub(crate) mod discrete_laplace;
pub(crate) mod envelope;
pub(crate) mod geometric;
pub(crate) mod integer_noise;
#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod statistical_tests;
pub(crate) mod uniform;

pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
