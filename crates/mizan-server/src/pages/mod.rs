//! Pages for people. This is a stub: the pages come with their own files.

use axum::Router;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::routes::Route;
use crate::service::Service;

/// The addresses of pages.
pub const ROUTES: &[Route] = &[];

/// What answers them.
pub fn router() -> Router<Service> {
    Router::new()
}

/// A problem as a page for people.
pub fn problem_page(problem: &Problem, _headers: &HeaderMap) -> Response {
    problem.clone().into_response()
}
