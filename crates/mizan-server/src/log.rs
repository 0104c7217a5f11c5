//! The log of the server: one line of JSON on standard error for each event that its
//! operator should know. It never contains queries, answers or tokens.

use mizan_api::failure::Failure;
use mizan_api::times;
use mizan_core::Code;
use serde_json::json;

use crate::identity::now;

/// An error of the server.
pub(crate) fn failure(failure: &Failure) {
    line("error", failure.code.as_str(), &failure.message);
}

/// A query that failed after its charge: the charge stands.
pub(crate) fn failed_after_charge(code: Code, id: &str) {
    line(
        "error",
        code.as_str(),
        &format!("a query failed after its charge {id}, which stands without an answer"),
    );
}

/// A note for the operator.
pub(crate) fn note(what: &str) {
    line("note", "", what);
}

fn line(level: &str, code: &str, message: &str) {
    let time = times::exact(now());
    let line = json!({"time": time, "level": level, "code": code, "message": message});
    // Without a reader of standard error there is nowhere to log.
    let _ = std::io::Write::write_all(
        &mut std::io::stderr().lock(),
        format!("{line}\n").as_bytes(),
    );
}
