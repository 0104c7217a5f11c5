//! Authorization of every request, before any handler sees it.
//!
//! In this order: route, authentication, role, rate limit. Handlers find the caller in the
//! extensions of the request.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mizan_core::Code;

use crate::identity::{Caller, Session};
use crate::limits::REQUEST_PERMIT;
use crate::pages;
use crate::problem::Problem;
use crate::routes::{self, Access, Route};
use crate::service::Service;

/// The content security policy of pages: scripts, styles and connections of this server
/// only, and no page of another site may frame them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";

/// Authorizes a request and passes it on, or answers it with a problem.
pub(crate) async fn authorize(
    State(service): State<Service>,
    mut request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let path = request.extensions().get::<MatchedPath>();
    let path = path.map(|path| path.as_str().to_owned());
    let method = request.method().clone();
    let route = path.as_deref().and_then(|path| routes::find(&method, path));
    let admitted = match route {
        Some(route) => check_access(&service, route, &mut request).await,
        // The router answers addresses that do not exist.
        None if path.is_none() => Ok(None),
        None => Err(Problem::method_not_allowed()),
    };
    let mut response = match admitted {
        Ok(Some(permit)) => {
            REQUEST_PERMIT
                .scope(Arc::new(permit), next.run(request))
                .await
        }
        Ok(None) => next.run(request).await,
        Err(problem) => match (route.map(|route| route.access), problem.status()) {
            (Some(Access::Page(_)), StatusCode::UNAUTHORIZED) => to_sign_in(&request),
            (Some(Access::Page(_)), _) => pages::problem_page(&problem, request.headers()),
            _ => problem.into_response(),
        },
    };
    let code = response.extensions().get::<Code>().copied();
    let path = route.map_or("other", |route| route.path);
    let status = response.status();
    service
        .metrics()
        .request(path, &method, status, code, start);
    headers(response.headers_mut(), service.is_secure());
    response
}

/// Authenticates the caller and checks role and rate limit; the permit of the request.
async fn check_access(
    service: &Service,
    route: &Route,
    request: &mut Request,
) -> Result<Option<crate::limits::RequestPermit>, Problem> {
    let roles = match route.access {
        Access::Public => {
            // A public page shows who is signed in.
            if let Some(session) = session(service, request.headers())? {
                request.extensions_mut().insert(session.caller().clone());
                request.extensions_mut().insert(session);
            }
            return Ok(None);
        }
        Access::Roles(roles) | Access::Page(roles) => roles,
    };
    let caller = match bearer(request.headers())? {
        Some(text) => service
            .authenticate(text)?
            .ok_or_else(Problem::unauthorized)?,
        None => {
            let found = session(service, request.headers())?;
            let session = found.ok_or_else(Problem::unauthorized)?;
            check_same_site(route, request, &session)?;
            let caller = session.caller().clone();
            request.extensions_mut().insert(session);
            caller
        }
    };
    if !roles.contains(&caller.role) {
        return Err(Problem::forbidden(caller.role.name()));
    }
    let permit = service.permit(&caller.token)?;
    request.extensions_mut().insert::<Caller>(caller);
    Ok(Some(permit))
}

/// The access token of a request. Two headers, or one with another scheme, are an error.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = all.next() else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|_| all.next().is_none());
    let (scheme, token) = text
        .and_then(|text| text.split_once(' '))
        .ok_or_else(Problem::unauthorized)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Problem::unauthorized());
    }
    Ok(Some(token.trim()))
}

/// The session of a request, if its token is still valid.
fn session(service: &Service, headers: &HeaderMap) -> Result<Option<Session>, Problem> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let mut found = cookies
        .filter_map(|value| value.to_str().ok())
        .filter_map(|text| service.sessions().find(text));
    match found.next() {
        Some(session) if service.is_token_valid(&session.caller().token)? => Ok(Some(session)),
        _ => Ok(None),
    }
}

/// Protects against cross-site request forgery: a cookie alone changes nothing. Scripts
/// send the CSRF token in a header, forms of pages in a field that the page checks.
fn check_same_site(route: &Route, request: &Request, session: &Session) -> Result<(), Problem> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    let headers = request.headers();
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let other_site =
        text("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"));
    if other_site {
        return Err(Problem::csrf());
    }
    match route.access {
        Access::Page(_) => Ok(()),
        _ => session.check_csrf(text("x-csrf-token").unwrap_or_default()),
    }
}

/// A redirect to the sign-in page, which returns to this address.
fn to_sign_in(request: &Request) -> Response {
    let next: String = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .bytes()
        .flat_map(|byte| {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                    char::from(byte).to_string()
                }
                byte => format!("%{byte:02X}"),
            }
            .chars()
            .collect::<Vec<_>>()
        })
        .collect();
    let place = format!("/sign-in?next={next}");
    let place = HeaderValue::from_str(&place);
    let place = place.unwrap_or_else(|_| HeaderValue::from_static("/sign-in"));
    // A query that was typed goes along, with its key.
    let asks = request.method() == Method::POST && request.uri().path() == "/ask";
    let status = match asks {
        true => StatusCode::TEMPORARY_REDIRECT,
        false => StatusCode::SEE_OTHER,
    };
    (status, [(header::LOCATION, place)]).into_response()
}

fn headers(headers: &mut HeaderMap, secure: bool) {
    // A handler may have set a stricter policy.
    headers
        .entry("content-security-policy")
        .or_insert(HeaderValue::from_static(POLICY));
    let mut set = |name: &'static str, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set("x-content-type-options", "nosniff");
    set("x-frame-options", "DENY");
    set("referrer-policy", "no-referrer");
    set("cross-origin-opener-policy", "same-origin");
    set("cross-origin-resource-policy", "same-origin");
    set(
        "permissions-policy",
        "camera=(), geolocation=(), microphone=()",
    );
    if secure {
        set("strict-transport-security", "max-age=31536000");
    }
    // Responses are private; those that may be cached say so themselves.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}
