//! The accountant.

use axum::extract::State;
use mizan_api::account::{AccountAnswer, AccountRequest};
use mizan_api::calibrate::{CalibrateAnswer, CalibrateRequest};
use mizan_api::curve::{CurveAnswer, CurveRequest};
use mizan_api::divergence::{DivergenceAnswer, DivergenceRequest};
use mizan_api::group::{GroupAnswer, GroupRequest};
use mizan_api::risk::{RiskAnswer, RiskRequest};

use super::Asker;
use crate::body::Json;
use crate::problem::{Problem, ProblemJson};
use crate::service::Service;

/// What an event costs: epsilon at a delta, or delta at an epsilon, by every method.
#[utoipa::path(
    post,
    path = "/api/v1/account",
    tag = "accountant",
    request_body = AccountRequest,
    responses(
        (status = 200, description = "the answer", body = AccountAnswer),
        (status = 400, description = "malformed", body = ProblemJson, content_type = "application/problem+json"),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 408, description = "the body did not come in time", body = ProblemJson, content_type = "application/problem+json"),
        (status = 413, description = "the body is too large", body = ProblemJson, content_type = "application/problem+json"),
        (status = 415, description = "the body is no JSON", body = ProblemJson, content_type = "application/problem+json"),
        (status = 422, description = "it makes no sense, or cannot be answered privately", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn account(
    State(service): State<Service>,
    Asker(caller): Asker,
    Json(request): Json<AccountRequest>,
) -> Result<axum::Json<AccountAnswer>, Problem> {
    Ok(axum::Json(service.account(&caller, request).await?.json()))
}

/// The Rényi budget curve: what an event costs at every order.
#[utoipa::path(
    post,
    path = "/api/v1/curve",
    tag = "accountant",
    request_body = CurveRequest,
    responses(
        (status = 200, description = "the answer", body = CurveAnswer),
        (status = 400, description = "malformed", body = ProblemJson, content_type = "application/problem+json"),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 408, description = "the body did not come in time", body = ProblemJson, content_type = "application/problem+json"),
        (status = 413, description = "the body is too large", body = ProblemJson, content_type = "application/problem+json"),
        (status = 415, description = "the body is no JSON", body = ProblemJson, content_type = "application/problem+json"),
        (status = 422, description = "it makes no sense, or cannot be answered privately", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn curve(
    State(service): State<Service>,
    Asker(caller): Asker,
    Json(request): Json<CurveRequest>,
) -> Result<axum::Json<CurveAnswer>, Problem> {
    Ok(axum::Json(service.curve(&caller, request).await?.json()))
}

/// What an event means for a person: bad outcomes and beliefs.
#[utoipa::path(
    post,
    path = "/api/v1/risk",
    tag = "accountant",
    request_body = RiskRequest,
    responses(
        (status = 200, description = "the answer", body = RiskAnswer),
        (status = 400, description = "malformed", body = ProblemJson, content_type = "application/problem+json"),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 408, description = "the body did not come in time", body = ProblemJson, content_type = "application/problem+json"),
        (status = 413, description = "the body is too large", body = ProblemJson, content_type = "application/problem+json"),
        (status = 415, description = "the body is no JSON", body = ProblemJson, content_type = "application/problem+json"),
        (status = 422, description = "it makes no sense, or cannot be answered privately", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn risk(
    State(service): State<Service>,
    Asker(caller): Asker,
    Json(request): Json<RiskRequest>,
) -> Result<axum::Json<RiskAnswer>, Problem> {
    Ok(axum::Json(service.risk(&caller, request).await?.json()))
}

/// Solves for the `?` in an event: the least noise, or the most of anything else.
#[utoipa::path(
    post,
    path = "/api/v1/calibrate",
    tag = "accountant",
    request_body = CalibrateRequest,
    responses(
        (status = 200, description = "the answer", body = CalibrateAnswer),
        (status = 400, description = "malformed", body = ProblemJson, content_type = "application/problem+json"),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 408, description = "the body did not come in time", body = ProblemJson, content_type = "application/problem+json"),
        (status = 413, description = "the body is too large", body = ProblemJson, content_type = "application/problem+json"),
        (status = 415, description = "the body is no JSON", body = ProblemJson, content_type = "application/problem+json"),
        (status = 422, description = "it makes no sense, or cannot be answered privately", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn calibrate(
    State(service): State<Service>,
    Asker(caller): Asker,
    Json(request): Json<CalibrateRequest>,
) -> Result<axum::Json<CalibrateAnswer>, Problem> {
    Ok(axum::Json(service.calibrate(&caller, request).await?.json()))
}

/// What an event costs a group of people who stand together.
#[utoipa::path(
    post,
    path = "/api/v1/group",
    tag = "accountant",
    request_body = GroupRequest,
    responses(
        (status = 200, description = "the answer", body = GroupAnswer),
        (status = 400, description = "malformed", body = ProblemJson, content_type = "application/problem+json"),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 408, description = "the body did not come in time", body = ProblemJson, content_type = "application/problem+json"),
        (status = 413, description = "the body is too large", body = ProblemJson, content_type = "application/problem+json"),
        (status = 415, description = "the body is no JSON", body = ProblemJson, content_type = "application/problem+json"),
        (status = 422, description = "it makes no sense, or cannot be answered privately", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn group(
    State(service): State<Service>,
    Asker(caller): Asker,
    Json(request): Json<GroupRequest>,
) -> Result<axum::Json<GroupAnswer>, Problem> {
    Ok(axum::Json(service.group(&caller, request).await?.json()))
}

/// The Rényi divergence of two finite distributions.
#[utoipa::path(
    post,
    path = "/api/v1/divergence",
    tag = "accountant",
    request_body = DivergenceRequest,
    responses(
        (status = 200, description = "the answer", body = DivergenceAnswer),
        (status = 400, description = "malformed", body = ProblemJson, content_type = "application/problem+json"),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 408, description = "the body did not come in time", body = ProblemJson, content_type = "application/problem+json"),
        (status = 413, description = "the body is too large", body = ProblemJson, content_type = "application/problem+json"),
        (status = 415, description = "the body is no JSON", body = ProblemJson, content_type = "application/problem+json"),
        (status = 422, description = "it makes no sense, or cannot be answered privately", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn divergence(
    State(service): State<Service>,
    Asker(caller): Asker,
    Json(request): Json<DivergenceRequest>,
) -> Result<axum::Json<DivergenceAnswer>, Problem> {
    Ok(axum::Json(service.divergence(&caller, request).await?.json()))
}
