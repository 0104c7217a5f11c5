//! What every error looks like over HTTP: problem+json (RFC 9457) with the code,
//! the place and the next step that the command line has too.
//!
//! What goes wrong inside (a file that is gone, a database that is down) is told by
//! its code and a sentence without names: paths and addresses are for the log of
//! the server.

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
    /// The place in a question.
    pub position: Option<Position>,
    /// The charge that was durable before it happened.
    pub charged: Option<String>,
    /// What a budget says when it refuses.
    pub refusal: Option<Map<String, Value>>,
    /// After how many seconds to try again.
    pub retry_after: Option<u64>,
}

/// A place in a question, in characters from 1.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// How many characters are meant.
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
    /// The place in a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// The id of the charge that was durable before it happened. Asking again with
    /// the same key goes on for free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charged: Option<String>,
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

    /// No token, or none that is good for anything; which of these is not told.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(
            Code::MZ2001,
            "a token is needed that is known here, not expired and not revoked",
            "send `Authorization: Bearer mizan_...`; the owner makes one with `mizan token create`",
        )
    }

    /// A token that is good for other things.
    #[must_use]
    pub fn forbidden(role: &str) -> Self {
        Self::new(
            Code::MZ2002,
            format!("the role {role} may not do this"),
            "use a token of another role; docs/server.md has the table",
        )
    }

    /// Not there, or not for you.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        Self::new(
            Code::MZ2003,
            format!("{what} is not there, or not for this token"),
            "look at the list of what there is",
        )
    }

    /// No such method here.
    #[must_use]
    pub fn method_not_allowed() -> Self {
        Self::new(
            Code::MZ2004,
            "this address is not asked in this way",
            "see /api/reference",
        )
    }

    /// A cookie without the second secret.
    #[must_use]
    pub fn csrf() -> Self {
        Self::new(
            Code::MZ2005,
            "the form is not of this session",
            "load the page again and send it once more",
        )
    }

    /// A body that is too large.
    #[must_use]
    pub fn too_large(most: usize) -> Self {
        Self::new(
            Code::MZ2006,
            format!("a body has at most {most} bytes here"),
            "ask for less at once",
        )
    }

    /// A body that does not come.
    #[must_use]
    pub fn too_slow() -> Self {
        Self::new(
            Code::MZ2007,
            "the body did not come in time",
            "send it in one go",
        )
    }

    /// A body that is no JSON, or not the JSON that is asked for.
    #[must_use]
    pub fn malformed(reason: &str) -> Self {
        Self::new(
            Code::MZ2008,
            format!(
                "the request cannot be read: {}",
                mizan_api::words::shortened(reason, 300)
            ),
            "see /api/reference for what is asked",
        )
    }

    /// A computation beyond the bounds of the server.
    #[must_use]
    pub fn too_costly(reason: &str) -> Self {
        Self::new(
            Code::MZ2014,
            reason,
            "use the command line, which has no such bound",
        )
    }

    /// A body that says it is something else.
    #[must_use]
    pub fn media_type() -> Self {
        Self::new(
            Code::MZ2009,
            "the body must be JSON",
            "send `Content-Type: application/json`",
        )
    }

    /// Too many requests of one token.
    #[must_use]
    pub fn too_many(retry_after: u64) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(
                Code::MZ2010,
                "this token asks more than it may at once or in a second",
                "wait as long as Retry-After says",
            )
        }
    }

    /// Too much to do.
    #[must_use]
    pub fn busy() -> Self {
        Self::new(
            Code::MZ2011,
            "the server has too much to do just now",
            "try again as late as Retry-After says, with the same Idempotency-Key",
        )
    }

    /// A computation that takes longer than it may.
    #[must_use]
    pub fn too_long() -> Self {
        Self::new(
            Code::MZ2012,
            "this takes longer to compute than the server waits",
            "repeat a quote after a minute: the server goes on counting public rows. For an event, ask for one method, or use the command line",
        )
    }

    /// Something went wrong inside.
    #[must_use]
    pub fn internal(code: Code) -> Self {
        Self::new(
            code,
            "something is wrong on the side of the server",
            "tell who runs it; its log has more",
        )
    }

    /// A budget that refuses: nothing was charged. The members are those that the
    /// command line prints.
    #[must_use]
    pub fn refused(refusal: &impl Serialize) -> Self {
        let mut problem = Self::new(
            Code::MZ2020,
            "this does not fit into what is left of the budget; nothing was charged",
            "ask for less, or let the owner raise the budget; a new try needs a new key",
        );
        if let Value::Object(members) = json(refusal) {
            problem.refusal = Some(members);
        }
        problem
    }

    /// What is sent.
    #[must_use]
    pub fn json(&self) -> Value {
        let told = ProblemJson {
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
        };
        let mut told = json(&told);
        if let (Value::Object(told), Some(refusal)) = (&mut told, &self.refusal) {
            for (key, value) in refusal {
                told.insert(key.clone(), value.clone());
            }
        }
        told
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let charged = failure.charged.as_deref().map(str::to_owned);
        if failure.code.kind().is_server_side() {
            crate::log::failure(&failure);
            return Self {
                charged,
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
    fn what_is_wrong_inside_is_not_told() {
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
    fn a_refusal_has_the_members_of_the_command_line() {
        let problem = Problem::refused(&serde_json::json!({"accepted": false, "asked": {}}));
        let told = problem.json();
        assert_eq!(
            (&told["accepted"], &told["status"]),
            (&false.into(), &409.into())
        );
        assert_eq!(told["code"], "MZ2020");
    }
}
