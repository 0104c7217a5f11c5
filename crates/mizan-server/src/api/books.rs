//! Budgets, charges and receipts.

use axum::extract::State;
use mizan_api::budget::{BudgetAnswer, BudgetsAnswer};
use mizan_api::spend::{SpendAnswer, SpendRequest};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Asker, Key, Name, Parameters};
use crate::body::Json;
use crate::problem::{Problem, ProblemJson};
use crate::service::{ReceiptShown, Service};

/// About which event.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct More {
    /// Say how many more of this event fit; the last one charged otherwise.
    event: Option<String>,
}

/// The budgets that this token may see.
#[utoipa::path(
    get,
    path = "/api/v1/budgets",
    tag = "budgets",
    responses(
        (status = 200, description = "the answer", body = BudgetsAnswer),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn budgets(
    State(service): State<Service>,
    Asker(caller): Asker,
) -> Result<axum::Json<BudgetsAnswer>, Problem> {
    Ok(axum::Json(service.budgets(&caller).await?))
}

/// One budget: what it promises, has spent and has left, order by order, and how it burned down.
#[utoipa::path(
    get,
    path = "/api/v1/budgets/{name}",
    tag = "budgets",
    params(("name" = String, Path, description = "the account"), More),
    responses(
        (status = 200, description = "the answer", body = BudgetAnswer),
        (status = 400, description = "malformed", body = ProblemJson, content_type = "application/problem+json"),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 404, description = "not there, or not for this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 422, description = "it makes no sense, or cannot be answered privately", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn budget(
    State(service): State<Service>,
    Asker(caller): Asker,
    Name(name): Name,
    Parameters(more): Parameters<More>,
) -> Result<axum::Json<BudgetAnswer>, Problem> {
    let shown = service.budget(&caller, &name, more.event).await?;
    Ok(axum::Json(shown.json()))
}

/// Charges an account for a release that is made elsewhere, after this has answered.
#[utoipa::path(
    post,
    path = "/api/v1/spends",
    tag = "budgets",
    params(("Idempotency-Key" = String, Header, description = "a UUID, or any text of your own: the same key and event is charged once", min_length = 1, max_length = 200)),
    request_body = SpendRequest,
    responses(
        (status = 200, description = "the answer", body = SpendAnswer),
        (status = 400, description = "malformed", body = ProblemJson, content_type = "application/problem+json"),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 404, description = "not there, or not for this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 408, description = "the body did not come in time", body = ProblemJson, content_type = "application/problem+json"),
        (status = 409, description = "the budget refuses it (with the members of SpendRefused), or the key stands for something else", body = ProblemJson, content_type = "application/problem+json"),
        (status = 413, description = "the body is too large", body = ProblemJson, content_type = "application/problem+json"),
        (status = 415, description = "the body is no JSON", body = ProblemJson, content_type = "application/problem+json"),
        (status = 422, description = "it makes no sense, or cannot be answered privately", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn spend(
    State(service): State<Service>,
    Asker(caller): Asker,
    Key(key): Key,
    Json(request): Json<SpendRequest>,
) -> Result<axum::Json<SpendAnswer>, Problem> {
    let missing = || Problem::malformed("a charge needs an Idempotency-Key");
    let key = key.ok_or_else(missing)?;
    Ok(axum::Json(service.spend(&caller, request, key).await?))
}

/// The entry of a receipt or of the id of a charge, with the proof that it is in the log. Analysts and runners see their own.
#[utoipa::path(
    get,
    path = "/api/v1/receipts/{id}",
    tag = "budgets",
    params(("id" = String, Path, description = "a receipt (mizan1:...), or the id of a charge")),
    responses(
        (status = 200, description = "the answer", body = ReceiptShown),
        (status = 401, description = "no good token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 403, description = "not for this role", body = ProblemJson, content_type = "application/problem+json"),
        (status = 404, description = "not there, or not for this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 409, description = "the log does not extend the receipt", body = ProblemJson, content_type = "application/problem+json"),
        (status = 422, description = "it makes no sense, or cannot be answered privately", body = ProblemJson, content_type = "application/problem+json"),
        (status = 429, description = "too many requests of this token", body = ProblemJson, content_type = "application/problem+json"),
        (status = 500, description = "something is wrong on the side of the server", body = ProblemJson, content_type = "application/problem+json"),
        (status = 503, description = "too busy, or not ready", body = ProblemJson, content_type = "application/problem+json"),
    ),
    security(("token" = [])),
)]
pub(crate) async fn receipt(
    State(service): State<Service>,
    Asker(caller): Asker,
    Name(id): Name,
) -> Result<axum::Json<ReceiptShown>, Problem> {
    Ok(axum::Json(service.receipt(&caller, &id).await?))
}
