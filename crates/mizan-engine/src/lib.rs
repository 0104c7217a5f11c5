//! Answers private questions: quote, reserve, run, noise, commit, answer.

mod engine;
mod engines;
mod exact;
#[cfg(test)]
mod oracle;
mod order;
mod version;

#[doc(hidden)]
pub use engine::measure;
pub use engine::{EngineError, Version};
pub use engines::datafusion::{DataFusion, inspect};
