//! What can go wrong at an address, for the document: one line for each status, in
//! one place. Which of these an address has is said beside it.

use std::collections::BTreeMap;

use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema as _};

use crate::problem::ProblemJson;

type Responses = BTreeMap<String, RefOr<Response>>;

/// Problems in the one form that all of them have.
fn problems<const N: usize>(all: [(u16, &str); N]) -> Responses {
    let schema = format!("#/components/schemas/{}", ProblemJson::name());
    let response = |what: &str| {
        let content = Content::new(Some(Ref::new(schema.as_str())));
        ResponseBuilder::new()
            .description(what)
            .content("application/problem+json", content)
            .build()
    };
    all.into_iter()
        .map(|(status, what)| (status.to_string(), RefOr::T(response(what))))
        .collect()
}

/// Writes types that stand for problems.
macro_rules! problems {
    ($($(#[$doc:meta])* $Type:ident: $all:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $Type;

        impl IntoResponses for $Type {
            fn responses() -> Responses {
                problems($all)
            }
        }
    )*};
}

problems! {
    /// Whoever comes through the door may be told this.
    AccessProblems: [
        (401, "no good token"),
        (403, "not for this role"),
        (429, "too many requests of this token"),
        (500, "something is wrong on the side of the server"),
        (503, "too busy, or not ready"),
    ];
    /// Where a body is sent.
    BodyProblems: [
        (400, "malformed"),
        (408, "the body did not come in time"),
        (413, "the body is too large"),
        (415, "the body is no JSON"),
        (422, "it makes no sense, or cannot be answered privately"),
    ];
    /// Where the address has parameters.
    Malformed: [(400, "malformed")];
    /// Where something is looked for.
    NotFound: [(404, "not there, or not for this token")];
    /// Where what is asked for can be nonsense.
    Unprocessable: [(422, "it makes no sense, or cannot be answered privately")];
}
