//! The log, its proofs and its verification.

use axum::extract::State;
use mizan_api::ledger::{
    CheckpointAnswer, ConsistencyAnswer, InclusionAnswer, LogAnswer, VerifyAnswer,
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::problems::{AccessProblems, Malformed, NotFound};
use super::{Authenticated, Parameters};
use crate::problem::Problem;
use crate::service::{LogParameters, Service};

/// Parameters of an inclusion proof.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct InclusionQuery {
    /// The position of the entry, from 0.
    position: u64,
    /// The size of the log; by default its size now.
    size: Option<u64>,
}

/// Parameters of a consistency proof.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConsistencyQuery {
    /// The size of the earlier log.
    before: u64,
    /// The size of the later log; by default its size now.
    size: Option<u64>,
}

/// A part of the log.
#[utoipa::path(
    get,
    path = "/api/v1/ledger/log",
    tag = "ledger",
    params(LogParameters),
    responses(
        (status = 200, description = "the answer", body = LogAnswer),
        AccessProblems, Malformed, NotFound,
    ),
    security(("token" = [])),
)]
pub(crate) async fn log(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Parameters(page): Parameters<LogParameters>,
) -> Result<axum::Json<LogAnswer>, Problem> {
    Ok(axum::Json(service.log(&caller, page).await?))
}

/// A signed checkpoint: the size and root of the log. Keep it, or give it to an auditor.
#[utoipa::path(
    get,
    path = "/api/v1/ledger/checkpoint",
    tag = "ledger",
    responses(
        (status = 200, description = "the answer", body = CheckpointAnswer),
        AccessProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn checkpoint(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
) -> Result<axum::Json<CheckpointAnswer>, Problem> {
    Ok(axum::Json(service.checkpoint(&caller).await?))
}

/// The proof that an entry is in the log (RFC 9162).
#[utoipa::path(
    get,
    path = "/api/v1/ledger/proofs/inclusion",
    tag = "ledger",
    params(InclusionQuery),
    responses(
        (status = 200, description = "the answer", body = InclusionAnswer),
        AccessProblems, Malformed, NotFound,
    ),
    security(("token" = [])),
)]
pub(crate) async fn inclusion(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Parameters(of): Parameters<InclusionQuery>,
) -> Result<axum::Json<InclusionAnswer>, Problem> {
    let proof = service.inclusion(&caller, of.position, of.size).await?;
    Ok(axum::Json(proof))
}

/// The proof that the log extends an earlier one (RFC 9162).
#[utoipa::path(
    get,
    path = "/api/v1/ledger/proofs/consistency",
    tag = "ledger",
    params(ConsistencyQuery),
    responses(
        (status = 200, description = "the answer", body = ConsistencyAnswer),
        AccessProblems, Malformed, NotFound,
    ),
    security(("token" = [])),
)]
pub(crate) async fn consistency(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Parameters(of): Parameters<ConsistencyQuery>,
) -> Result<axum::Json<ConsistencyAnswer>, Problem> {
    let proof = service.consistency(&caller, of.before, of.size).await?;
    Ok(axum::Json(proof))
}

/// Verifies the whole log: recomputes its tree and applies the privacy filter to every entry again. One verification runs at a time; it takes time in proportion to the log.
#[utoipa::path(
    post,
    path = "/api/v1/ledger/verify",
    tag = "ledger",
    responses(
        (status = 200, description = "the answer", body = VerifyAnswer),
        AccessProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn verify(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
) -> Result<axum::Json<VerifyAnswer>, Problem> {
    Ok(axum::Json(service.verify(&caller).await?))
}
