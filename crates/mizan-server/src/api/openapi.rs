//! The OpenAPI document, made from the functions and types themselves.

use std::sync::OnceLock;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use axum::routing::get;
use mizan_api::question::QueryRefused;
use mizan_api::spend::SpendRefused;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

use crate::problem::ProblemJson;
use crate::service::{QueryEvent, Service};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Mizan",
        description = "Differential privacy over HTTP: questions in SQL with error bars and receipts, budgets that cannot be overspent, a log that proves itself, and the accountant. JSON has the keys of the command line; errors are problem+json with its codes."
    ),
    tags(
        (name = "questions", description = "Datasets, quotes and answers"),
        (name = "budgets", description = "Budgets, charges and receipts"),
        (name = "ledger", description = "The log and its proofs"),
        (name = "accountant", description = "What events cost and mean"),
        (name = "events", description = "What happens, as it happens"),
        (name = "health", description = "For who runs the server"),
    ),
    components(schemas(ProblemJson, SpendRefused, QueryRefused, QueryEvent)),
)]
struct Frame;

/// The document.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    let (_, paths) = super::documented().split_for_parts();
    let mut document = Frame::openapi();
    document.merge(paths);
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("a token that `mizan token create` made"))
        .build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(bearer));
    document
}

/// The document as it is sent.
pub(super) fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| document().to_json().unwrap_or_else(|_| "{}".to_owned()))
}

pub(super) fn router() -> Router<Service> {
    Router::new().route("/api/openapi.json", get(openapi))
}

async fn openapi() -> impl IntoResponse {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], text())
}
