//! Answers private questions: quote, reserve, run, noise, commit, answer.

mod engine;
mod engines;
mod exact;
#[cfg(test)]
mod oracle;
mod order;
mod version;

pub use engine::EngineError;
pub use engines::datafusion::{DataFusion, inspect};
pub use version::Version;
