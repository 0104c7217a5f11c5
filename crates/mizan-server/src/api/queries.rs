//! Datasets, quotes and queries.

use axum::extract::State;
use mizan_api::dataset::{DatasetJson, DatasetsAnswer};
use mizan_api::query::{QueryAnswer, QueryRequest, QuoteAnswer};

use super::problems::{AccessProblems, BodyProblems, NotFound};
use super::{Authenticated, Key, Name};
use crate::body::Json;
use crate::problem::{Problem, ProblemJson};
use crate::service::Service;

/// The datasets that this token may query.
#[utoipa::path(
    get,
    path = "/api/v1/datasets",
    tag = "questions",
    responses(
        (status = 200, description = "the answer", body = DatasetsAnswer),
        AccessProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn datasets(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
) -> Result<axum::Json<DatasetsAnswer>, Problem> {
    Ok(axum::Json(service.datasets(&caller).await?))
}

/// One dataset: its columns, bounds, keys and limits.
#[utoipa::path(
    get,
    path = "/api/v1/datasets/{name}",
    tag = "questions",
    params(("name" = String, Path, description = "the dataset")),
    responses(
        (status = 200, description = "the answer", body = DatasetJson),
        AccessProblems, NotFound,
    ),
    security(("token" = [])),
)]
pub(crate) async fn dataset(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Name(name): Name,
) -> Result<axum::Json<DatasetJson>, Problem> {
    Ok(axum::Json(service.dataset(&caller, &name).await?))
}

/// The cost and the predicted error of a query. Reads no private data and charges nothing; a query that the budget does not cover has `fits: false`.
#[utoipa::path(
    post,
    path = "/api/v1/quotes",
    tag = "questions",
    request_body = QueryRequest,
    responses(
        (status = 200, description = "the answer", body = QuoteAnswer),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn quote(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Json(request): Json<QueryRequest>,
) -> Result<axum::Json<QuoteAnswer>, Problem> {
    Ok(axum::Json(service.quote(&caller, request).await?))
}

/// Runs a query: it is charged first, then answered with intervals and a receipt. Without a key, the same query over the same data has the stored answer and is not charged again. A key makes it a charge of its own with fresh noise; the same key again has the same answer.
#[utoipa::path(
    post,
    path = "/api/v1/queries",
    tag = "questions",
    params(("Idempotency-Key" = Option<String>, Header, description = "the id of the entry: a UUID, or any text of your own. The same key and query are charged once", max_length = 200)),
    request_body = QueryRequest,
    responses(
        (status = 200, description = "the answer", body = QueryAnswer),
        (status = 409, description = "the budget refuses the charge (with the members of QueryRefused), or the key was used for another request", body = ProblemJson, content_type = "application/problem+json"),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn query(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Key(key): Key,
    Json(request): Json<QueryRequest>,
) -> Result<axum::Json<QueryAnswer>, Problem> {
    Ok(axum::Json(
        service.query(&caller, request, key).await?.answer,
    ))
}
