//! Which language, which light, and where one begins.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::frame::Theme;
use super::read::Query;
use super::visitor::{LANGUAGE, THEME, Visitor};
use crate::locale::Language;

/// A choice and the way back.
#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    to: String,
    #[serde(default)]
    next: String,
}

/// Where everybody begins.
pub(super) async fn home(visitor: Visitor) -> Redirect {
    Redirect::to(if visitor.is_signed_in() {
        "/budgets"
    } else {
        "/sign-in"
    })
}

/// Remembers a language.
pub(super) async fn language(Query(choice): Query<Choice>) -> Response {
    let language = Language::from_code(&choice.to);
    remember(LANGUAGE, language.map(Language::code), &choice.next)
}

/// Remembers a light.
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

/// Back to where somebody was.
pub(super) fn back(next: &str) -> Response {
    let place = HeaderValue::from_str(own(next));
    let place = place.unwrap_or_else(|_| HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

/// An address of this server, or the beginning: nobody is sent elsewhere by a link.
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
    fn nobody_is_sent_elsewhere() {
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
