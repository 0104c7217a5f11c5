//! The audit page: the state of the log, its verification, and self-tests of the noise and
//! the accountant.

mod self_tests;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use mizan_api::ledger::{EntryJson, VerifyAnswer};
use mizan_api::messages::AsJson;
use mizan_core::ErrorKind;
use serde::Deserialize;

use super::frame::{Frame, page};
use super::numbers;
use super::problems::or_problem;
use super::read::{Form, Query};
use super::receipts::kind;
use super::sign_in::CsrfForm;
use super::visitor::Visitor;
use crate::locale::{Markup, Strings};
use crate::problem::Problem;
use crate::service::{LogParameters, Service};
use self_tests::SelfTest;

/// Entries per page of the log.
const PAGE: u64 = 25;

#[derive(Template)]
#[template(path = "audit.html")]
struct Page {
    frame: Frame,
    csrf: String,
    size: String,
    root: String,
    checkpoint: String,
    key: Option<String>,
    verified: Option<VerifyOutcome>,
    tests: Option<Vec<SelfTest>>,
    entries: Vec<Entry>,
    older: Option<u64>,
    newer: Option<u64>,
}

/// The outcome of a verification.
enum VerifyOutcome {
    Good(VerifyReport),
    Failed(Problem),
}

struct VerifyReport {
    counts: Vec<Count>,
    warnings: Vec<Markup>,
}

struct Count {
    name: &'static str,
    value: String,
}

/// An entry of the log in one line.
struct Entry {
    position: u64,
    time: String,
    time_text: String,
    kind: String,
    kind_text: &'static str,
    account: String,
    about: String,
    linked: bool,
    id: String,
}

/// The part of the log that is shown.
#[derive(Debug, Default, Deserialize)]
pub(super) struct LogRange {
    from: Option<u64>,
}

/// The page.
pub(super) async fn show(
    visitor: Visitor,
    State(service): State<Service>,
    Query(range): Query<LogRange>,
) -> Response {
    or_problem(
        &visitor,
        shown(&visitor, &service, range.from, None, None).await,
    )
}

/// Verifies the whole log.
pub(super) async fn verify(
    visitor: Visitor,
    State(service): State<Service>,
    Form(form): Form<CsrfForm>,
) -> Response {
    let made = async {
        visitor.check(&form.csrf)?;
        let verified = match service.verify(visitor.caller()?).await {
            Ok(found) => VerifyOutcome::Good(verify_report(visitor.language.strings(), &found)),
            // An overloaded server says nothing about the log.
            Err(problem) if problem.retry_after.is_some() => return Err(problem),
            Err(problem) => VerifyOutcome::Failed(problem),
        };
        shown(&visitor, &service, None, Some(verified), None).await
    };
    or_problem(&visitor, made.await)
}

/// Runs the self-tests.
pub(super) async fn self_tests(
    visitor: Visitor,
    State(service): State<Service>,
    Form(form): Form<CsrfForm>,
) -> Response {
    let made = async {
        visitor.check(&form.csrf)?;
        let tests = self_tests::run(visitor.language.strings(), &service).await?;
        shown(&visitor, &service, None, None, Some(tests)).await
    };
    or_problem(&visitor, made.await)
}

async fn shown(
    visitor: &Visitor,
    service: &Service,
    from: Option<u64>,
    verified: Option<VerifyOutcome>,
    tests: Option<Vec<SelfTest>>,
) -> Result<Response, Problem> {
    let caller = visitor.caller()?;
    let t = visitor.language.strings();
    let checkpoint = service.checkpoint(caller).await?;
    let parameters = LogParameters {
        last: PAGE,
        from,
        account: None,
    };
    let log = service.log(caller, parameters).await?;
    let size = log.log.size;
    let first = log.entries.first().map_or(size, |entry| entry.position);
    let last = log.entries.last().map_or(size, |entry| entry.position);
    // The newest first.
    let entries = log
        .entries
        .into_iter()
        .rev()
        .map(|entry| entry_of(t, entry));
    page(&Page {
        frame: visitor.frame("audit"),
        csrf: visitor.csrf(),
        size: numbers::count(checkpoint.log.size),
        root: checkpoint.log.root,
        checkpoint: checkpoint.checkpoint,
        key: checkpoint.public_key,
        verified,
        tests,
        entries: entries.collect(),
        older: (first > 0).then(|| first.saturating_sub(PAGE)),
        newer: (last.saturating_add(1) < size).then(|| last.saturating_add(1)),
    })
}

fn entry_of(t: &'static Strings, entry: EntryJson) -> Entry {
    let target = entry.target.as_ref().map(numbers::promise);
    let about = entry
        .event
        .or(target)
        .or(entry.answer)
        .unwrap_or_else(|| entry.id.clone());
    Entry {
        position: entry.position,
        time_text: numbers::time(&entry.time),
        kind_text: kind(t, &entry.kind),
        linked: matches!(
            entry.kind.as_str(),
            "reserved" | "denied" | "committed" | "started" | "voided"
        ),
        kind: entry.kind,
        account: entry.account.unwrap_or_default(),
        about: mizan_api::words::shortened(&about, 80),
        time: entry.time,
        id: entry.id,
    }
}

fn verify_report(t: &'static Strings, found: &VerifyAnswer) -> VerifyReport {
    let all = [
        (t.audit_size, found.entries),
        (t.audit_accounts, found.accounts),
        (t.audit_charges, found.charges),
        (t.audit_committed, found.committed),
        (t.audit_denied, found.denied),
        (t.audit_voided, found.voided),
        (t.audit_pending, found.pending),
        (t.audit_priced, found.priced),
        (t.audit_answers, found.answers),
        (t.audit_gaps, found.gaps),
    ];
    let count = |(name, value)| Count {
        name,
        value: numbers::count(value),
    };
    VerifyReport {
        counts: all.into_iter().map(count).collect(),
        warnings: found
            .warnings_data
            .iter()
            .map(|AsJson(warning)| t.language.say(warning))
            .collect(),
    }
}
