//! From exact bounded integers to noisy answers.
//!
//! In this order: a [`Request`] and a plan make a recipe ([`choose`]), which says
//! what a release will cost and how far off it will be ([`predicted`]); exact
//! integers and the recipe make a release ([`release`]), which is what the ledger
//! keeps; a release makes an [`Answer`] ([`answer`]), as often as it is wanted.
//! Only [`release`] sees private data, and only [`choose`] decides what it costs.

mod aim;
mod answer;
mod band;
mod choose;
mod clamping;
mod error;
mod estimate;
mod group_size;
mod predict;
mod price;
mod reason;
mod recipe;
mod recursive;
mod released;
mod request;
mod shown;
mod store;
#[cfg(test)]
mod tests;
mod tree;
mod width;

pub use answer::{Answer, AnswerCell};
pub use error::ReleaseError;
pub use predict::{Predicted, RankError};
pub use reason::{Accuracy, ChoiceReason, NoiseKind};
pub(crate) use request::{Request, Target};

pub(crate) use answer::answer;
pub(crate) use choose::choose;
pub(crate) use predict::predicted;
pub(crate) use recipe::Recipe;
pub(crate) use released::{Released, release};
