//! Conversions between notions of privacy.

mod gaussian;
mod mills;
mod notions;
mod odometer;
mod renyi_to_dp;

pub use gaussian::GaussianProfile;
pub(crate) use mills::mills;
pub use notions::{to_cdp, to_gdp, to_zcdp};
pub use odometer::RenyiOdometer;
pub use renyi_to_dp::RenyiConversion;
pub(crate) use renyi_to_dp::{Effort, LnDelta};
