//! Mechanisms: what releases an output and names the privacy event that it costs.
//!
//! [`additive`] adds discrete Laplace or Gaussian noise to integers, and to reals on a [`Grid`];
//! the other files are one mechanism each.

pub(crate) mod additive;
mod exponential_mechanism;
mod grid;
mod permute_and_flip;
mod randomized_response;
pub(crate) mod score_weights;
pub(crate) mod selection;
mod truncated_geometric;

pub use additive::{GridMechanism, Mechanism, PreparedNoise};
pub use exponential_mechanism::ExponentialMechanism;
pub use grid::Grid;
pub use permute_and_flip::PermuteAndFlip;
pub use randomized_response::RandomizedResponse;
pub use truncated_geometric::TruncatedGeometric;
