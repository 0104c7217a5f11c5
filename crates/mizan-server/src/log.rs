//! The log of the server: one line of JSON on standard error for what its owner
//! should know. No question, answer or token is ever in it.

use mizan_api::failure::Failure;
use mizan_api::times;
use mizan_core::Code;
use serde_json::json;

use crate::identity::now;

/// Something that went wrong inside.
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

/// Something worth knowing.
pub(crate) fn note(what: &str) {
    line("note", "", what);
}

fn line(level: &str, code: &str, message: &str) {
    let time = times::exact(now());
    let line = json!({"time": time, "level": level, "code": code, "message": message});
    // If nobody reads standard error there is nobody to tell.
    let _ = std::io::Write::write_all(
        &mut std::io::stderr().lock(),
        format!("{line}\n").as_bytes(),
    );
}
