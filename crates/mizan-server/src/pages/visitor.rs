//! The visitor of a page: caller, session, language and theme.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use super::frame::{Frame, Theme, Who};
use crate::identity::{Caller, Role, Session};
use crate::locale::Language;
use crate::problem::Problem;
use crate::service::Service;

/// The cookie of the language.
pub(super) const LANGUAGE: &str = "mizan_language";

/// The cookie of the theme.
pub(super) const THEME: &str = "mizan_theme";

/// The visitor of a page.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    caller: Option<Caller>,
    session: Option<Session>,
    /// The language of the page.
    pub(super) language: Language,
    theme: Option<Theme>,
    /// The address of the page, to return to.
    here: String,
}

impl FromRequestParts<Service> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Service) -> Result<Self, Self::Rejection> {
        Ok(Self::of(parts))
    }
}

impl Visitor {
    /// The visitor of a request that `access.rs` authorized.
    pub(super) fn of(parts: &Parts) -> Self {
        let is_read = parts.method == axum::http::Method::GET;
        let here = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let here = match (is_read, parts.uri.path()) {
            (true, _) => here,
            // Only addresses of GET can be returned to.
            (false, "/audit/verify" | "/audit/self-tests") => "/audit",
            (false, "/ask/quote") => "/ask",
            (false, path) => path,
        };
        Self {
            caller: parts.extensions.get::<Caller>().cloned(),
            session: parts.extensions.get::<Session>().cloned(),
            here: here.to_owned(),
            ..Self::stranger(&parts.headers)
        }
    }

    /// A visitor of whom only the headers are known.
    pub(super) fn stranger(headers: &HeaderMap) -> Self {
        let cookie = |name| cookie(headers, name);
        let accepted = headers.get(header::ACCEPT_LANGUAGE);
        let accepted = accepted.and_then(|value| value.to_str().ok()).unwrap_or("");
        Self {
            caller: None,
            session: None,
            language: cookie(LANGUAGE)
                .and_then(Language::from_code)
                .unwrap_or_else(|| Language::accepted(accepted)),
            theme: cookie(THEME).and_then(Theme::from_name),
            here: "/".to_owned(),
        }
    }

    /// The caller; routes that need one have it.
    pub(super) fn caller(&self) -> Result<&Caller, Problem> {
        self.caller.as_ref().ok_or_else(Problem::unauthorized)
    }

    /// Whether the visitor is signed in.
    pub(super) fn is_signed_in(&self) -> bool {
        self.caller.is_some()
    }

    /// The session of a browser.
    pub(super) fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// The CSRF token for forms.
    pub(super) fn csrf(&self) -> String {
        self.session
            .as_ref()
            .map_or_else(String::new, |session| session.csrf().to_owned())
    }

    /// Checks that a form belongs to this session. A request with a token in its header
    /// cannot come from another site.
    pub(super) fn check(&self, csrf: &str) -> Result<(), Problem> {
        self.session
            .as_ref()
            .map_or(Ok(()), |session| session.check_csrf(csrf))
    }

    /// The layout of the page.
    pub(super) fn frame(&self, page: &'static str) -> Frame {
        let t = self.language.strings();
        let who = self.caller.as_ref().map(|caller| Who {
            name: caller.name.clone(),
            role: match caller.role {
                Role::Owner => t.role_owner,
                Role::Analyst => t.role_analyst,
                Role::Auditor => t.role_auditor,
                Role::Runner => t.role_runner,
            },
            asks: matches!(caller.role, Role::Owner | Role::Analyst),
            reads: matches!(caller.role, Role::Owner | Role::Auditor),
        });
        Frame {
            t,
            language: self.language,
            theme: self.theme,
            page,
            who,
            csrf: self
                .session
                .as_ref()
                .map(|session| session.csrf().to_owned()),
            here: self.here.clone(),
        }
    }
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter();
    let mut all = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    all.find_map(|one| one.trim().strip_prefix(name)?.strip_prefix('='))
}
