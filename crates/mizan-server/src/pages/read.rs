//! Extractors of pages: fields of forms, queries and segments of addresses. Their problems
//! are pages too.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::response::Response;
use serde::de::DeserializeOwned;

use super::problems::shown;
use super::visitor::Visitor;
use crate::body;
use crate::problem::Problem;
use crate::service::Service;

/// The fields of a form, within the limits of request bodies.
pub(super) struct Form<T>(pub(super) T);

/// The query of the address.
pub(super) struct Query<T>(pub(super) T);

/// A segment of the address.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Service> for Form<T> {
    type Rejection = Response;

    async fn from_request(request: Request, service: &Service) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let visitor = Visitor::of(&parts);
        let read = fields(parts, body, service).await;
        read.map(Self).map_err(|problem| shown(&problem, &visitor))
    }
}

async fn fields<T: DeserializeOwned>(
    parts: Parts,
    body: Body,
    service: &Service,
) -> Result<T, Problem> {
    if !body::is(&parts.headers, "application/x-www-form-urlencoded") {
        return Err(Problem::malformed("a form is expected"));
    }
    let bytes = body::read(Request::from_parts(parts.clone(), body), service).await?;
    let request = Request::from_parts(parts, Body::from(bytes));
    let form = axum::Form::<T>::from_request(request, service).await;
    form.map(|form| form.0)
        .map_err(|error| Problem::malformed(&error.body_text()))
}

impl<T: DeserializeOwned> FromRequestParts<Service> for Query<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Response> {
        match axum::extract::Query::<T>::from_request_parts(parts, service).await {
            Ok(query) => Ok(Self(query.0)),
            Err(error) => {
                let problem = Problem::malformed(&error.body_text());
                Err(shown(&problem, &Visitor::of(parts)))
            }
        }
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<Service> for Path<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Response> {
        match axum::extract::Path::<T>::from_request_parts(parts, service).await {
            Ok(name) => Ok(Self(name.0)),
            Err(_) => {
                let problem = Problem::not_found("this address");
                Err(shown(&problem, &Visitor::of(parts)))
            }
        }
    }
}
