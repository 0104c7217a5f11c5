//! Answers private questions: quote, reserve, run, noise, commit, answer.

mod exact;
