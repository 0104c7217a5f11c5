//! Budgets, charges and receipts.

use axum::extract::State;
use mizan_api::budget::{BudgetAnswer, BudgetsAnswer};
use mizan_api::spend::{SpendAnswer, SpendRequest};
use serde::Deserialize;
use utoipa::IntoParams;

use super::problems::{AccessProblems, BodyProblems, Malformed, NotFound, Unprocessable};
use super::{Authenticated, Key, Name, Parameters};
use crate::body::Json;
use crate::problem::{Problem, ProblemJson};
use crate::service::{ReceiptView, Service};

/// Parameters of a budget.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct BudgetQuery {
    /// The event whose remaining number is asked for; by default the last one that was charged.
    event: Option<String>,
}

/// The budgets that this token may see.
#[utoipa::path(
    get,
    path = "/api/v1/budgets",
    tag = "budgets",
    responses(
        (status = 200, description = "the answer", body = BudgetsAnswer),
        AccessProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn budgets(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
) -> Result<axum::Json<BudgetsAnswer>, Problem> {
    Ok(axum::Json(service.budgets(&caller).await?))
}

/// One budget: its total, what is spent and left at each order, and its past.
#[utoipa::path(
    get,
    path = "/api/v1/budgets/{name}",
    tag = "budgets",
    params(("name" = String, Path, description = "the account"), BudgetQuery),
    responses(
        (status = 200, description = "the answer", body = BudgetAnswer),
        AccessProblems, Malformed, NotFound, Unprocessable,
    ),
    security(("token" = [])),
)]
pub(crate) async fn budget(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Name(name): Name,
    Parameters(query): Parameters<BudgetQuery>,
) -> Result<axum::Json<BudgetAnswer>, Problem> {
    let shown = service.budget(&caller, &name, query.event).await?;
    Ok(axum::Json(shown.json()))
}

/// Charges an account for a release that is made elsewhere, after the response.
#[utoipa::path(
    post,
    path = "/api/v1/spends",
    tag = "budgets",
    params(("Idempotency-Key" = String, Header, description = "the id of the entry: a UUID, or any text of your own. The same key and event are charged once", min_length = 1, max_length = 200)),
    request_body = SpendRequest,
    responses(
        (status = 200, description = "the answer", body = SpendAnswer),
        (status = 409, description = "the budget refuses the charge (with the members of SpendRefused), or the key was used for another request", body = ProblemJson, content_type = "application/problem+json"),
        AccessProblems, BodyProblems, NotFound,
    ),
    security(("token" = [])),
)]
pub(crate) async fn spend(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Key(key): Key,
    Json(request): Json<SpendRequest>,
) -> Result<axum::Json<SpendAnswer>, Problem> {
    let missing = || Problem::malformed("a charge needs an Idempotency-Key");
    let key = key.ok_or_else(missing)?;
    Ok(axum::Json(service.spend(&caller, request, key).await?))
}

/// The entry of a receipt, of an id, or of a key of the caller, with the proof that it is in the log. Analysts and runners see their own entries.
#[utoipa::path(
    get,
    path = "/api/v1/receipts/{id}",
    tag = "budgets",
    params(("id" = String, Path, description = "a receipt (mizan1:...), the id of an entry, or the key of a request of the caller")),
    responses(
        (status = 200, description = "the answer", body = ReceiptView),
        (status = 409, description = "the log does not extend the receipt", body = ProblemJson, content_type = "application/problem+json"),
        AccessProblems, NotFound, Unprocessable,
    ),
    security(("token" = [])),
)]
pub(crate) async fn receipt(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Name(id): Name,
) -> Result<axum::Json<ReceiptView>, Problem> {
    Ok(axum::Json(service.receipt(&caller, &id).await?))
}
