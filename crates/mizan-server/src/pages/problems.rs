//! Problems as pages.

use askama::Template;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use mizan_core::ErrorKind;

use super::frame::{Frame, page};
use super::visitor::Visitor;
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "problem.html")]
struct Page<'a> {
    frame: Frame,
    title: &'static str,
    problem: &'a Problem,
}

/// A problem as a page, when only the headers of the request are known.
#[must_use]
pub fn problem_page(problem: &Problem, headers: &HeaderMap) -> Response {
    shown(problem, &Visitor::stranger(headers))
}

/// A problem as a page for a visitor.
pub(super) fn shown(problem: &Problem, visitor: &Visitor) -> Response {
    let t = visitor.language.strings();
    let title = match problem.code.kind() {
        ErrorKind::StaleForm => t.problem_csrf,
        ErrorKind::NotFound => t.problem_not_found,
        ErrorKind::Forbidden => t.problem_forbidden,
        ErrorKind::RateLimited => t.problem_too_many,
        ErrorKind::Unavailable | ErrorKind::DeadlineExceeded | ErrorKind::Fatal => t.problem_busy,
        kind if kind.is_server_side() => t.problem_inside,
        _ => t.problem_other,
    };
    let made = page(&Page {
        frame: visitor.frame("problem"),
        title,
        problem,
    });
    let Ok(made) = made else {
        return problem.clone().into_response();
    };
    let mut response = (problem.status(), made).into_response();
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    response.extensions_mut().insert(problem.code);
    response
}

/// A page, or the page of its problem.
pub(super) fn or_problem(visitor: &Visitor, result: Result<Response, Problem>) -> Response {
    result.unwrap_or_else(|problem| shown(&problem, visitor))
}
