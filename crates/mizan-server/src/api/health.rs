//! Health checks and metrics, for the operator.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Authenticated;
use super::problems::AccessProblems;
use crate::problem::Problem;
use crate::service::Service;

/// Whether the server is alive.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "health",
    responses((status = 200, description = "alive", body = String, content_type = "text/plain")),
)]
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// Whether the server is ready: the ledger and the tokens can be read, and it is not stopping.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "health",
    responses(
        (status = 200, description = "ready", body = String, content_type = "text/plain"),
        (status = 503, description = "not ready", body = String, content_type = "text/plain"),
    ),
)]
pub(crate) async fn ready(State(service): State<Service>) -> (StatusCode, &'static str) {
    if service.ready().await {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    }
}

/// Metrics in the text format of Prometheus.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "health",
    responses(
        (status = 200, description = "metrics", body = String, content_type = "text/plain"),
        AccessProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn metrics(
    State(service): State<Service>,
    Authenticated(_caller): Authenticated,
) -> Result<Response, Problem> {
    let text = service.metrics_text().await?;
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
