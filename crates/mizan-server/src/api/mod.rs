//! The JSON API: each handler reads a request, calls the service and writes its result. The
//! OpenAPI document is generated from these functions.

mod accountant;
mod budgets;
mod events;
mod health;
mod ledger;
mod openapi;
mod problems;
mod queries;
mod reference;

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use openapi::document;

use crate::access;
use crate::identity::Caller;
use crate::problem::Problem;
use crate::service::Service;

/// All routes, with authorization before each.
pub fn router(service: Service) -> Router {
    let (api, _) = documented().split_for_parts();
    api.merge(openapi::router())
        .merge(reference::router())
        .merge(crate::pages::router())
        .fallback(not_found)
        .method_not_allowed_fallback(|| async { Problem::method_not_allowed() })
        .layer(middleware::from_fn_with_state(
            service.clone(),
            access::authorize,
        ))
        .with_state(service)
}

/// An address that does not exist: a page for browsers, a problem for programs.
async fn not_found(headers: HeaderMap) -> Response {
    let problem = Problem::not_found("this address");
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    match accepts.is_some_and(|accepts| accepts.contains("text/html")) {
        true => crate::pages::problem_page(&problem, &headers),
        false => problem.into_response(),
    }
}

/// The routes of the OpenAPI document.
fn documented() -> OpenApiRouter<Service> {
    OpenApiRouter::new()
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(queries::datasets))
        .routes(routes!(queries::dataset))
        .routes(routes!(queries::quote))
        .routes(routes!(queries::query))
        .routes(routes!(budgets::budgets))
        .routes(routes!(budgets::budget))
        .routes(routes!(budgets::spend))
        .routes(routes!(budgets::receipt))
        .routes(routes!(ledger::log))
        .routes(routes!(ledger::checkpoint))
        .routes(routes!(ledger::inclusion))
        .routes(routes!(ledger::consistency))
        .routes(routes!(ledger::verify))
        .routes(routes!(accountant::account))
        .routes(routes!(accountant::curve))
        .routes(routes!(accountant::risk))
        .routes(routes!(accountant::calibrate))
        .routes(routes!(accountant::group))
        .routes(routes!(accountant::divergence))
        .routes(routes!(events::events))
}

/// The caller that `access.rs` authenticated.
pub(crate) struct Authenticated(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned();
        caller.map(Self).ok_or_else(Problem::unauthorized)
    }
}

/// The query of an address.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<S: Send + Sync, T: serde::de::DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Query::<T>::from_request_parts(parts, state).await {
            Ok(query) => Ok(Self(query.0)),
            Err(error) => Err(Problem::malformed(&error.body_text())),
        }
    }
}

/// The one name in an address.
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::<String>::from_request_parts(parts, state).await {
            Ok(name) => Ok(Self(name.0)),
            Err(_) => Err(Problem::not_found("this")),
        }
    }
}

/// The header `Idempotency-Key`.
pub(crate) struct Key(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut all = parts.headers.get_all("idempotency-key").iter();
        let Some(value) = all.next() else {
            return Ok(Self(None));
        };
        match (value.to_str(), all.next()) {
            (Ok(text), None) => Ok(Self(Some(text.trim().to_owned()))),
            _ => Err(Problem::malformed(
                "send one Idempotency-Key of visible ASCII characters",
            )),
        }
    }
}
