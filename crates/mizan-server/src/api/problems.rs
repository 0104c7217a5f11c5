//! Problems in the OpenAPI document: one description for each status. Each route names the
//! sets of problems that it has.

use std::collections::BTreeMap;

use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema as _};

use crate::problem::ProblemJson;

type Responses = BTreeMap<String, RefOr<Response>>;

/// Responses in the form that all problems have.
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

/// Defines types that stand for sets of problems.
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
    /// Problems of routes that need a token.
    AccessProblems: [
        (401, "no valid token"),
        (403, "the role does not allow this"),
        (429, "the token exceeds its rate limit"),
        (500, "the server has a problem"),
        (503, "overloaded, or not ready"),
    ];
    /// Problems of request bodies.
    BodyProblems: [
        (400, "malformed"),
        (408, "the body did not arrive in time"),
        (413, "the body is too large"),
        (415, "the body is not declared as JSON"),
        (422, "not valid, or cannot be answered privately"),
    ];
    /// Problems of parameters.
    Malformed: [(400, "malformed")];
    /// Problems of resources with a name.
    NotFound: [(404, "does not exist, or the token may not see it")];
    /// Problems of values that parse and are not valid.
    Unprocessable: [(422, "not valid, or cannot be answered privately")];
}
