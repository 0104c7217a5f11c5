//! What a page looks like when it cannot be shown.

use askama::Template;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use super::frame::{Frame, page};
use super::visitor::Visitor;
use crate::problem::{Code, Problem};

/// A form of another session: forbidden, but to nobody's role.
const CSRF: &str = "MZ2005";

#[derive(Template)]
#[template(path = "problem.html")]
struct Page<'a> {
    frame: Frame,
    title: &'static str,
    sentence: Option<&'static str>,
    problem: &'a Problem,
}

/// A problem for people, when only the headers of the request are known.
#[must_use]
pub fn problem_page(problem: &Problem, headers: &HeaderMap) -> Response {
    shown(problem, &Visitor::stranger(headers))
}

/// A problem for somebody.
pub(super) fn shown(problem: &Problem, visitor: &Visitor) -> Response {
    let t = visitor.language.strings();
    let (title, sentence) = match problem.status {
        StatusCode::FORBIDDEN if problem.code == CSRF => (t.problem_csrf, None),
        StatusCode::NOT_FOUND => (t.problem_not_found, Some(t.problem_not_found_help)),
        StatusCode::FORBIDDEN => (t.problem_forbidden, None),
        StatusCode::TOO_MANY_REQUESTS => (t.problem_too_many, None),
        StatusCode::SERVICE_UNAVAILABLE => (t.problem_busy, None),
        status if status.is_server_error() => (t.problem_inside, None),
        _ => (t.problem_other, None),
    };
    let made = page(&Page {
        frame: visitor.frame("problem"),
        title,
        sentence,
        problem,
    });
    let Ok(made) = made else {
        return problem.clone().into_response();
    };
    let mut response = (problem.status, made).into_response();
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    response.extensions_mut().insert(Code(problem.code));
    response
}

/// A page, or what is wrong with it.
pub(super) fn or_problem(visitor: &Visitor, result: Result<Response, Problem>) -> Response {
    result.unwrap_or_else(|problem| shown(&problem, visitor))
}
