//! The result of a verification of the log.

use mizan_ledger::evidence::VerifyReport;
use serde::Serialize;
use utoipa::ToSchema;

use crate::budget::view::{LogJson, log_json};
use crate::messages::{AsJson, MessageJson, VerifyWarning, data, english};

/// The result of recomputing everything from the log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VerifyAnswer {
    /// Always true; a log that does not verify is an error.
    pub verified: bool,
    /// The number of entries.
    pub entries: u64,
    /// The number of accounts.
    pub accounts: u64,
    /// The number of charges.
    pub charges: u64,
    /// The number of committed charges.
    pub committed: u64,
    /// The number of denied charges.
    pub denied: u64,
    /// The number of voided charges.
    pub voided: u64,
    /// The number of charges that are neither committed nor voided.
    pub pending: u64,
    /// The number of events whose cost was computed again.
    pub priced: u64,
    /// The number of charges without an event.
    pub unpriced: u64,
    /// The number of stored answers.
    pub answers: u64,
    /// The number of gaps in the log.
    pub gaps: u64,
    /// The number of receipts and checkpoints that the log was checked against.
    pub witnesses: u64,
    /// Size and root of the log.
    pub log: LogJson,
    /// Warnings in English.
    pub warnings: Vec<String>,
    /// The warnings as data.
    #[schema(value_type = Vec<MessageJson>)]
    pub warnings_data: Vec<AsJson<VerifyWarning>>,
}

impl VerifyAnswer {
    /// The JSON form of a report.
    #[must_use]
    pub fn of(report: &VerifyReport, warnings: &[VerifyWarning]) -> Self {
        Self {
            verified: true,
            entries: report.head.size,
            accounts: u64::from(report.accounts),
            charges: report.charges,
            committed: report.committed,
            denied: report.denied,
            voided: report.voided,
            pending: (report.charges)
                .saturating_sub(report.committed.saturating_add(report.voided)),
            priced: report.priced,
            unpriced: report.unpriced,
            answers: report.answers,
            gaps: report.gaps,
            witnesses: report.witnesses,
            log: log_json(report.head),
            warnings: english(warnings),
            warnings_data: data(warnings),
        }
    }
}
