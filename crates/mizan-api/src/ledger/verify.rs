//! Everything again from the log.

use mizan_ledger::VerifyReport;
use serde::Serialize;
use utoipa::ToSchema;

use crate::budget::view::{LogJson, log_json};
use crate::messages::{AsJson, MessageJson, VerifyWarning, data, english};

/// What was found when everything was computed again from the log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VerifyAnswer {
    /// True; what is not as the log says is an error.
    pub verified: bool,
    /// How many entries.
    pub entries: u64,
    /// How many accounts.
    pub accounts: u64,
    /// How many charges,
    pub charges: u64,
    /// of which so many were committed.
    pub committed: u64,
    /// How many were refused.
    pub denied: u64,
    /// How many were given back.
    pub voided: u64,
    /// How many are neither committed nor given back.
    pub pending: u64,
    /// How many events were priced again.
    pub priced: u64,
    /// How many charges name no event.
    pub unpriced: u64,
    /// How many answers are kept.
    pub answers: u64,
    /// How many gaps the log has.
    pub gaps: u64,
    /// How many receipts and checkpoints it extends.
    pub witnesses: u64,
    /// The log.
    pub log: LogJson,
    /// What should be looked at, in English.
    pub warnings: Vec<String>,
    /// The same as data.
    #[schema(value_type = Vec<MessageJson>)]
    pub warnings_data: Vec<AsJson<VerifyWarning>>,
}

impl VerifyAnswer {
    /// Of a report.
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
