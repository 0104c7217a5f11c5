//! What a guarantee means for a person, and for a group of people.

mod bad_outcome;
mod baseline;
mod bayes;
mod group_privacy;
mod group_report;

pub use bad_outcome::BadOutcome;
pub use baseline::{ExactIncrease, Increase};
pub use bayes::{BayesFactor, posterior};
pub use group_privacy::group_privacy;
pub(crate) use group_privacy::groups_are_exact;
