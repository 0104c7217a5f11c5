//! Errors over HTTP: problem+json (RFC 9457) with the code, the position and the next step
//! of the command line.
//!
//! Errors of the server itself (a missing file, a database that is down) are sent as a code
//! and a sentence without names; paths and addresses go to the log of the server.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mizan_api::failure::Failure;
use mizan_api::number::json;
use mizan_core::Code;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::identity::IdentityError;

/// An error on its way to a client.
#[derive(Clone, Debug)]
pub struct Problem {
    /// A stable code; the status follows from its kind.
    pub code: Code,
    /// What is wrong.
    pub detail: String,
    /// What to do.
    pub help: String,
    /// The place, as two lines with a caret.
    pub place: Option<String>,
    /// The position in a query.
    pub position: Option<Position>,
    /// The id of the charge that was durable before the error.
    pub charged: Option<String>,
    /// The id of a charge that was voided before the error, while the Gaussian clock keeps what it
    /// took.
    pub clock_keeps: Option<String>,
    /// The figures of a refusal by a budget.
    pub refusal: Option<Map<String, Value>>,
    /// After how many seconds to retry.
    pub retry_after: Option<u64>,
}

/// A position in a query, in characters from 1.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// The number of characters.
    pub length: usize,
}

/// An error as it is sent. A refusal by a budget has more members: those of
/// `SpendRefused` or `QueryRefused`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProblemJson {
    /// What kind of problem: `urn:mizan:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The status of the response.
    pub status: u16,
    /// What is wrong.
    pub detail: String,
    /// A stable code, the same as on the command line.
    pub code: String,
    /// What to do.
    pub help: String,
    /// The place, as two lines with a caret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The position in a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// The id of the charge that was durable before the error. A retry with the same key is
    /// not charged again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charged: Option<String>,
    /// The id of a charge that was voided before the error, while the Gaussian clock keeps what it
    /// took. A retry needs another key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_keeps: Option<String>,
}

impl Problem {
    /// A problem without a place.
    pub fn new(code: Code, detail: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            help: help.into(),
            place: None,
            position: None,
            charged: None,
            clock_keeps: None,
            refusal: None,
            retry_after: code.kind().retry_after(),
        }
    }

    /// The status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        let status = StatusCode::from_u16(self.code.kind().http_status());
        status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// No valid token; the response does not say whether it is unknown, expired or revoked.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(
            Code::MZ2001,
            "the request has no valid token",
            "send `Authorization: Bearer mizan_...`; the data owner creates tokens with `mizan token create`",
        )
    }

    /// A token whose role does not allow the request.
    #[must_use]
    pub fn forbidden(role: &str) -> Self {
        Self::new(
            Code::MZ2002,
            format!("the role {role} does not allow this"),
            "use a token of another role; docs/server.md has the table",
        )
    }

    /// A resource that does not exist, or that the token may not see.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        Self::new(
            Code::MZ2003,
            format!("{what} does not exist, or this token may not see it"),
            "list what this token may see",
        )
    }

    /// A method that the route does not have.
    #[must_use]
    pub fn method_not_allowed() -> Self {
        Self::new(Code::MZ2004, "method not allowed", "see /api/reference")
    }

    /// A session cookie without the CSRF token of the session.
    #[must_use]
    pub fn csrf() -> Self {
        Self::new(
            Code::MZ2005,
            "the form belongs to another session",
            "reload the page and send the form again",
        )
    }

    /// A request body that is too large.
    #[must_use]
    pub fn too_large(most: usize) -> Self {
        Self::new(
            Code::MZ2006,
            format!("a request body may have at most {most} bytes"),
            "send less per request",
        )
    }

    /// A request body that does not arrive.
    #[must_use]
    pub fn too_slow() -> Self {
        Self::new(
            Code::MZ2007,
            "the request body did not arrive in time",
            "send the body without pauses",
        )
    }

    /// A body or parameters that cannot be read.
    #[must_use]
    pub fn malformed(reason: &str) -> Self {
        Self::new(
            Code::MZ2008,
            format!(
                "the request cannot be read: {}",
                mizan_api::words::shortened(reason, 300)
            ),
            "see /api/reference for the expected form",
        )
    }

    /// A computation that is larger than the server accepts.
    #[must_use]
    pub fn too_costly(reason: &str) -> Self {
        Self::new(
            Code::MZ2014,
            reason,
            "use the command line, which has no such limit",
        )
    }

    /// A body that is not declared as JSON.
    #[must_use]
    pub fn media_type() -> Self {
        Self::new(
            Code::MZ2009,
            "the request body is not declared as JSON",
            "send `Content-Type: application/json`",
        )
    }

    /// A token that exceeds its rate limit.
    #[must_use]
    pub fn too_many(retry_after: u64) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(
                Code::MZ2010,
                "the token exceeds its rate limit or its concurrent requests",
                "wait as long as Retry-After says",
            )
        }
    }

    /// A server that is overloaded.
    #[must_use]
    pub fn busy() -> Self {
        Self::new(
            Code::MZ2011,
            "the server is overloaded",
            "retry after Retry-After with the same Idempotency-Key",
        )
    }

    /// A computation that takes too long.
    #[must_use]
    pub fn too_long() -> Self {
        Self::new(
            Code::MZ2012,
            "this takes longer to compute than the server waits",
            "repeat a quote after a minute: the server goes on counting public rows. For an event, ask for one method, or use the command line",
        )
    }

    /// An error of the server.
    #[must_use]
    pub fn internal(code: Code) -> Self {
        Self::new(
            code,
            "the server has a problem",
            "tell the operator; the log of the server has the details",
        )
    }

    /// A refusal by a budget: nothing was charged. The members are those that the command
    /// line prints.
    #[must_use]
    pub fn refused(refusal: &impl Serialize) -> Self {
        let mut problem = Self::new(
            Code::MZ2020,
            "the remaining budget does not cover this charge; nothing was charged",
            "ask for less, or ask the data owner for a larger budget; a new attempt needs a new key",
        );
        if let Value::Object(members) = json(refusal) {
            problem.refusal = Some(members);
        }
        problem
    }

    /// The JSON that is sent.
    #[must_use]
    pub fn json(&self) -> Value {
        let problem = ProblemJson {
            kind: format!("urn:mizan:{}", self.code),
            title: self
                .status()
                .canonical_reason()
                .unwrap_or("error")
                .to_owned(),
            status: self.status().as_u16(),
            detail: self.detail.clone(),
            code: self.code.to_string(),
            help: self.help.clone(),
            place: self.place.clone(),
            position: self.position,
            charged: self.charged.clone(),
            clock_keeps: self.clock_keeps.clone(),
        };
        let mut problem = json(&problem);
        if let (Value::Object(members), Some(refusal)) = (&mut problem, &self.refusal) {
            for (key, value) in refusal {
                members.insert(key.clone(), value.clone());
            }
        }
        problem
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let charged = failure.charged.as_deref().map(str::to_owned);
        let clock_keeps = failure.clock_keeps.as_deref().map(str::to_owned);
        if failure.code.kind().is_server_side() {
            crate::log::failure(&failure);
            return Self {
                charged,
                clock_keeps,
                ..Self::internal(failure.code)
            };
        }
        Self {
            place: failure.place,
            position: failure.position.map(|place| Position {
                line: place.line,
                column: place.column,
                length: place.length,
            }),
            charged,
            clock_keeps,
            ..Self::new(failure.code, failure.message, failure.help)
        }
    }
}

impl From<mizan_ledger::LedgerError> for Problem {
    fn from(error: mizan_ledger::LedgerError) -> Self {
        Failure::from(error).into()
    }
}

impl From<IdentityError> for Problem {
    fn from(error: IdentityError) -> Self {
        crate::log::failure(&Failure::new(error.code(), &error, error.help()));
        Self::internal(error.code())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = self.json().to_string();
        let kind = HeaderValue::from_static("application/problem+json");
        let status = self.status();
        let mut response = (status, [(header::CONTENT_TYPE, kind)], body).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        // For the metrics.
        response.extensions_mut().insert(self.code);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_server_name_no_paths() {
        let failure = Failure::new(
            Code::MZ1901,
            "/srv/secret/visits.csv cannot be read",
            "look",
        );
        let problem = Problem::from(failure);
        assert_eq!(problem.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!problem.json().to_string().contains("secret"));
    }

    #[test]
    fn a_charge_that_the_clock_keeps_is_named() {
        let mut failure = Failure::new(Code::MZ1908, "the data changed", "send it again");
        assert_eq!(
            Problem::from(failure.clone()).json().get("clock_keeps"),
            None
        );
        failure.clock_keeps = Some("7".into());
        assert_eq!(Problem::from(failure).json()["clock_keeps"], "7");
    }

    #[test]
    fn a_refusal_has_the_members_of_the_command_line() {
        let problem = Problem::refused(&serde_json::json!({"accepted": false, "asked": {}}));
        let json = problem.json();
        assert_eq!(
            (&json["accepted"], &json["status"]),
            (&false.into(), &409.into())
        );
        assert_eq!(json["code"], "MZ2020");
    }
}
