//! The chosen language and theme, and the start page.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::frame::Theme;
use super::read::Query;
use super::visitor::{LANGUAGE, THEME, Visitor};
use crate::locale::Language;

/// A choice, and the address to return to.
#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    to: String,
    #[serde(default)]
    next: String,
}

/// The start page.
pub(super) async fn home(visitor: Visitor) -> Redirect {
    Redirect::to(if visitor.is_signed_in() {
        "/budgets"
    } else {
        "/sign-in"
    })
}

/// Stores the language in a cookie.
pub(super) async fn language(Query(choice): Query<Choice>) -> Response {
    let language = Language::from_code(&choice.to);
    remember(LANGUAGE, language.map(Language::code), &choice.next)
}

/// Stores the theme in a cookie.
pub(super) async fn theme(Query(choice): Query<Choice>) -> Response {
    let theme = Theme::from_name(&choice.to);
    remember(THEME, theme.map(Theme::name), &choice.next)
}

fn remember(cookie: &str, value: Option<&'static str>, next: &str) -> Response {
    let cookie = match value {
        Some(value) => format!("{cookie}={value}; Path=/; SameSite=Lax; Max-Age=31536000"),
        None => format!("{cookie}=; Path=/; SameSite=Lax; Max-Age=0"),
    };
    let mut response = back(next);
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// A redirect to the address of the visitor.
pub(super) fn back(next: &str) -> Response {
    let place = HeaderValue::from_str(own(next));
    let place = place.unwrap_or_else(|_| HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

/// An address of this server, or the start page: a link cannot redirect to another site.
fn own(next: &str) -> &str {
    let plain = next
        .bytes()
        .all(|byte| (0x21..0x7f).contains(&byte) && byte != b'\\');
    let own = next.starts_with('/') && !next.starts_with("//");
    if plain && own { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn redirects_stay_on_this_server() {
        assert_eq!(own("/ask?sql=SELECT%201"), "/ask?sql=SELECT%201");
        for bad in [
            "",
            "//evil.example",
            "https://evil.example",
            "/\\evil",
            "/a\r\nb",
            "ask",
        ] {
            assert_eq!(own(bad), "/", "{bad}");
        }
    }
}
