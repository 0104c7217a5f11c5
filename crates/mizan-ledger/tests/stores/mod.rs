//! Tests that run on every store.

mod conformance;
mod histories;
