//! The layout of every page: language, theme and navigation.

use askama::Template;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use mizan_core::Code;

use super::assets;
use crate::locale::{Language, Strings};
use crate::problem::Problem;

/// A theme that the visitor chose; the system decides without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "light" => Some(Self::Light),
            "dark" => Some(Self::Dark),
            _ => None,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// The caller who is signed in.
#[derive(Clone, Debug)]
pub(super) struct Who {
    pub(super) name: String,
    pub(super) role: &'static str,
    pub(super) asks: bool,
    pub(super) reads: bool,
}

/// The layout, which every template has as `frame`.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) t: &'static Strings,
    pub(super) language: Language,
    pub(super) theme: Option<Theme>,
    pub(super) page: &'static str,
    pub(super) who: Option<Who>,
    pub(super) csrf: Option<String>,
    pub(super) here: String,
}

impl Frame {
    pub(super) fn asset(&self, file: &str) -> String {
        assets::address(file)
    }

    pub(super) fn switch_language(&self) -> String {
        link(
            "/language",
            &[("to", self.language.other().code()), ("next", &self.here)],
        )
    }

    pub(super) fn switch_theme(&self, to: &str) -> String {
        link("/theme", &[("to", to), ("next", &self.here)])
    }
}

/// An address with parameters.
pub(super) fn link(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("{path}?{}", query.finish())
}

/// A segment of an address, escaped.
pub(super) fn segment(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// A page as a response.
pub(super) fn page(template: &impl Template) -> Result<Response, Problem> {
    // Templates write to memory; only the Display of a value could fail.
    let html = template
        .render()
        .map_err(|_| Problem::internal(Code::MZ2050))?;
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], html).into_response())
}

/// A part of a page as HTML.
pub(super) fn part(template: &impl Template) -> Result<String, Problem> {
    template
        .render()
        .map_err(|_| Problem::internal(Code::MZ2050))
}
