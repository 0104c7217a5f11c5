//! Answers private questions: quote, reserve, run, noise, commit, answer.

#[allow(dead_code, reason = "the pipeline is being built")]
mod exact;
#[allow(dead_code, unused_imports, reason = "the pipeline is being built")]
mod release;

pub use release::{Answer, AnswerCell, Predicted, ReleaseError, Request, Target};
