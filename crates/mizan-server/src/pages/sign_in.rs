//! Signing in with an access token, and signing out.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use mizan_core::Code;
use serde::Deserialize;

use super::ask;
use super::frame::{Frame, page};
use super::preferences::back;
use super::problems::or_problem;
use super::read::{Form, Query};
use super::visitor::Visitor;
use crate::problem::Problem;
use crate::service::Service;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct Page {
    frame: Frame,
    next: String,
    failed: bool,
}

/// The address to return to.
#[derive(Debug, Deserialize)]
pub(super) struct ReturnTo {
    #[serde(default)]
    next: String,
}

/// The fields of the form.
#[derive(Deserialize)]
pub(super) struct SignInForm {
    #[serde(default)]
    token: String,
    #[serde(default)]
    next: String,
    /// A query that was sent after the session ended.
    #[serde(flatten)]
    asked: ask::AskForm,
}

/// A form with the CSRF token alone.
#[derive(Debug, Deserialize)]
pub(super) struct CsrfForm {
    #[serde(default)]
    pub(super) csrf: String,
}

/// The form.
pub(super) async fn show(visitor: Visitor, Query(way): Query<ReturnTo>) -> Response {
    if visitor.is_signed_in() {
        return back(&way.next);
    }
    let shown = page(&Page {
        frame: visitor.frame("sign-in"),
        next: way.next,
        failed: false,
    });
    or_problem(&visitor, shown)
}

/// Starts a session.
pub(super) async fn sign_in(
    visitor: Visitor,
    State(service): State<Service>,
    headers: HeaderMap,
    Form(form): Form<SignInForm>,
) -> Response {
    or_problem(&visitor, begun(&visitor, &service, &headers, form))
}

fn begun(
    visitor: &Visitor,
    service: &Service,
    headers: &HeaderMap,
    form: SignInForm,
) -> Result<Response, Problem> {
    // A form on another site must not sign a browser in with its own token.
    let site = headers
        .get("sec-fetch-site")
        .and_then(|value| value.to_str().ok());
    if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return Err(Problem::csrf());
    }
    // The query waits in the form, so that it need not be typed or charged again.
    if let Some(next) = form.asked.address() {
        if visitor.is_signed_in() {
            return Ok(back(&next));
        }
        return page(&Page {
            frame: visitor.frame("sign-in"),
            next,
            failed: false,
        });
    }
    match service.sign_in(&form.token) {
        Ok(signed_in) => {
            let mut response = back(&form.next);
            let cookie = HeaderValue::from_str(&signed_in.cookie);
            let cookie = cookie.map_err(|_| Problem::internal(Code::MZ2050))?;
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(problem) if problem.status() == StatusCode::UNAUTHORIZED => {
            let shown = page(&Page {
                frame: visitor.frame("sign-in"),
                next: form.next,
                failed: true,
            })?;
            Ok((StatusCode::UNAUTHORIZED, shown).into_response())
        }
        Err(problem) => Err(problem),
    }
}

/// Ends the session.
pub(super) async fn sign_out(
    visitor: Visitor,
    State(service): State<Service>,
    Form(form): Form<CsrfForm>,
) -> Response {
    or_problem(&visitor, ended(&visitor, &service, &form))
}

fn ended(visitor: &Visitor, service: &Service, form: &CsrfForm) -> Result<Response, Problem> {
    visitor.check(&form.csrf)?;
    let mut response = Redirect::to("/sign-in").into_response();
    if let Some(session) = visitor.session() {
        let cookie = service.sign_out(session);
        let cookie = HeaderValue::from_str(&cookie).map_err(|_| Problem::internal(Code::MZ2050))?;
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}
