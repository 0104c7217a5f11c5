//! The OpenAPI document, generated from the functions and types.

use std::sync::OnceLock;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use axum::routing::get;
use mizan_api::query::QueryRefused;
use mizan_api::spend::SpendRefused;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

use crate::problem::ProblemJson;
use crate::service::{QueryEvent, Service};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Mizan",
        description = "Differentially private SQL over HTTP: queries with confidence intervals and receipts, privacy budgets that cannot be overspent, a tamper-evident log, and the accountant. JSON has the keys of the command line; errors are problem+json with its codes."
    ),
    tags(
        (name = "questions", description = "Datasets, quotes and answers"),
        (name = "budgets", description = "Budgets, charges and receipts"),
        (name = "ledger", description = "The log and its proofs"),
        (name = "accountant", description = "Costs and guarantees of privacy events"),
        (name = "events", description = "Server-sent events"),
        (name = "health", description = "Health checks and metrics"),
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
        .description(Some("an access token from `mizan token create`"))
        .build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(bearer));
    document
}

/// The document as text.
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
