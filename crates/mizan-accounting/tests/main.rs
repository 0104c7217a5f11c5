//! Tests of the accountants. One binary, because linking one takes longer than most of the tests.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod calibration;
mod common;
mod conversion_properties;
mod corrected_statements;
mod curve_properties;
mod divergence_properties;
mod exact_never_below;
mod golden_composition;
mod golden_conversions;
mod golden_curves;
mod golden_divergence;
mod golden_guarantees;
mod golden_sampled;
mod group_events;
mod group_properties;
mod numeric_truth;
mod odometer;
mod oracle;
mod shuffle;
