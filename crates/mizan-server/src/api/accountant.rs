//! The accountant.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use mizan_api::account::{AccountAnswer, AccountRequest};
use mizan_api::calibrate::{CalibrateAnswer, CalibrateRequest};
use mizan_api::curve::{CurveAnswer, CurveRequest};
use mizan_api::divergence::{DivergenceAnswer, DivergenceRequest};
use mizan_api::group::{GroupAnswer, GroupRequest};
use mizan_api::risk::{RiskAnswer, RiskRequest};

use mizan_api::number::json;
use serde::Serialize;

use super::Authenticated;
use super::problems::{AccessProblems, BodyProblems};
use crate::body::Json;
use crate::problem::Problem;
use crate::service::Service;

/// The answer to a request, from the cache if it is there. Without a name nothing is cached.
async fn cached<R: Serialize, A: Serialize>(
    service: &Service,
    name: Option<&str>,
    request: R,
    ask: impl AsyncFnOnce(R) -> Result<A, Problem>,
) -> Result<Response, Problem> {
    let key = name.map(|name| format!("{name} {}", json(&request)));
    let known = key.as_deref().and_then(|key| service.cached_answer(key));
    let answer = match known {
        Some(answer) => answer,
        None => {
            let answer: Arc<str> = json(&ask(request).await?).to_string().into();
            if let Some(key) = key {
                service.cache_answer(key, &answer);
            }
            answer
        }
    };
    let kind = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, kind)], answer.to_string()).into_response())
}

/// The cost of an event: epsilon at a delta, or delta at an epsilon, by every method.
#[utoipa::path(
    post,
    path = "/api/v1/account",
    tag = "accountant",
    request_body = AccountRequest,
    responses(
        (status = 200, description = "the answer", body = AccountAnswer),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn account(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Json(request): Json<AccountRequest>,
) -> Result<Response, Problem> {
    let kept = (!request.profile).then_some("account");
    cached(&service, kept, request, async |request| {
        Ok(service.account(&caller, request).await?.json())
    })
    .await
}

/// The Rényi curve: the cost of an event at every order.
#[utoipa::path(
    post,
    path = "/api/v1/curve",
    tag = "accountant",
    request_body = CurveRequest,
    responses(
        (status = 200, description = "the answer", body = CurveAnswer),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn curve(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Json(request): Json<CurveRequest>,
) -> Result<Response, Problem> {
    let kept = Some("curve");
    cached(&service, kept, request, async |request| {
        Ok(service.curve(&caller, request).await?.json())
    })
    .await
}

/// What an event means for a person: bad outcomes and beliefs.
#[utoipa::path(
    post,
    path = "/api/v1/risk",
    tag = "accountant",
    request_body = RiskRequest,
    responses(
        (status = 200, description = "the answer", body = RiskAnswer),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn risk(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Json(request): Json<RiskRequest>,
) -> Result<Response, Problem> {
    let kept = Some("risk");
    cached(&service, kept, request, async |request| {
        Ok(service.risk(&caller, request).await?.json())
    })
    .await
}

/// Calibration: solves for the `?` in an event, the smallest noise or the largest value of another parameter.
#[utoipa::path(
    post,
    path = "/api/v1/calibrate",
    tag = "accountant",
    request_body = CalibrateRequest,
    responses(
        (status = 200, description = "the answer", body = CalibrateAnswer),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn calibrate(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Json(request): Json<CalibrateRequest>,
) -> Result<Response, Problem> {
    let kept = Some("calibrate");
    cached(&service, kept, request, async |request| {
        Ok(service.calibrate(&caller, request).await?.json())
    })
    .await
}

/// The cost of an event for a group of people (group privacy).
#[utoipa::path(
    post,
    path = "/api/v1/group",
    tag = "accountant",
    request_body = GroupRequest,
    responses(
        (status = 200, description = "the answer", body = GroupAnswer),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn group(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Json(request): Json<GroupRequest>,
) -> Result<Response, Problem> {
    let kept = Some("group");
    cached(&service, kept, request, async |request| {
        Ok(service.group(&caller, request).await?.json())
    })
    .await
}

/// The Rényi divergence of two finite distributions.
#[utoipa::path(
    post,
    path = "/api/v1/divergence",
    tag = "accountant",
    request_body = DivergenceRequest,
    responses(
        (status = 200, description = "the answer", body = DivergenceAnswer),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn divergence(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Json(request): Json<DivergenceRequest>,
) -> Result<Response, Problem> {
    let kept = Some("divergence");
    cached(&service, kept, request, async |request| {
        Ok(service.divergence(&caller, request).await?.json())
    })
    .await
}
