//! From one notion of privacy to another.

mod renyi_to_dp;

pub(crate) use renyi_to_dp::LnDelta;
pub use renyi_to_dp::RenyiConversion;
