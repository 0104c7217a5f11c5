//! From exact bounded integers to noisy answers.
//!
//! The steps are: a [`Request`] and a plan determine a noise plan ([`choose`]), which fixes the
//! cost and the predicted error ([`predicted`]). The exact integers and the noise plan
//! determine a release ([`release`]), which the ledger stores. An [`Answer`] is computed from
//! the release ([`answer`]), as often as needed. Only [`release`] reads private data, and only
//! [`choose`] determines the cost.

mod answer;
mod candidate;
mod choose;
mod effects;
mod error;
mod estimate;
mod group_size;
mod interval;
mod noise_plan;
mod predict;
mod price;
mod quantile_target;
mod reason;
mod recursive;
mod released;
mod request;
mod share;
mod store;
#[cfg(test)]
mod tests;
mod thresholded_count;
mod tree;
mod width;

pub use answer::{Answer, AnswerCell};
pub use error::ReleaseError;
pub use predict::{Predicted, RankError};
pub use reason::{Accuracy, ChoiceReason, NoiseKind};
pub(crate) use request::{NoiseTarget, Request};
pub(crate) use share::AccountClock;

pub(crate) use answer::answer;
pub(crate) use choose::choose;
pub(crate) use noise_plan::NoisePlan;
pub(crate) use predict::predicted;
pub(crate) use released::{Released, release};
