//! Datasets, quotes and questions.

use axum::extract::State;
use mizan_api::dataset::{DatasetJson, DatasetsAnswer};
use mizan_api::question::{QueryAnswer, QuestionRequest, QuoteAnswer};

use super::problems::{AccessProblems, BodyProblems, NotFound};
use super::{Authenticated, Key, Name};
use crate::body::Json;
use crate::problem::{Problem, ProblemJson};
use crate::service::Service;

/// The datasets that this token may ask about.
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

/// What a question would cost and how good its answer would be. Nothing is read from data, nothing is charged; one that does not fit has `fits: false`.
#[utoipa::path(
    post,
    path = "/api/v1/quotes",
    tag = "questions",
    request_body = QuestionRequest,
    responses(
        (status = 200, description = "the answer", body = QuoteAnswer),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn quote(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Json(request): Json<QuestionRequest>,
) -> Result<axum::Json<QuoteAnswer>, Problem> {
    Ok(axum::Json(service.quote(&caller, request).await?))
}

/// Asks a question: charged first, answered with error bars and a receipt. Without a key the same question about the same data is answered as before, for free. A key makes it a charge of its own with fresh noise, and the same key again has the same answer.
#[utoipa::path(
    post,
    path = "/api/v1/queries",
    tag = "questions",
    params(("Idempotency-Key" = Option<String>, Header, description = "the id of the entry: a UUID, or any text of your own. The same key and question is charged once", max_length = 200)),
    request_body = QuestionRequest,
    responses(
        (status = 200, description = "the answer", body = QueryAnswer),
        (status = 409, description = "the budget refuses it (with the members of QueryRefused), or the key stands for something else", body = ProblemJson, content_type = "application/problem+json"),
        AccessProblems, BodyProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn query(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
    Key(key): Key,
    Json(request): Json<QuestionRequest>,
) -> Result<axum::Json<QueryAnswer>, Problem> {
    Ok(axum::Json(
        service.query(&caller, request, key).await?.answer,
    ))
}
