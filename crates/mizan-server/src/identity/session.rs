//! Sessions of browsers: a cookie that scripts cannot read and other sites cannot send, and
//! a CSRF token for every request that changes something.
//!
//! Sessions are in memory: a restart ends all of them. A session has the id of its access
//! token, not the token itself, and ends when that token expires or is revoked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq;

use super::store::held;
use super::token::hex;
use super::{Caller, IdentityError};
use crate::problem::Problem;

/// The name of the cookie.
pub const COOKIE: &str = "mizan_session";

/// How long a session lasts.
const LASTS: Duration = Duration::from_secs(12 * 3600);

/// The most sessions, and the most of one token; the oldest are removed first.
const MOST: usize = 10_000;
const MOST_OF_A_TOKEN: usize = 20;

/// The session of a browser.
#[derive(Clone, Debug)]
pub struct Session(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    key: String,
    csrf: String,
    caller: Caller,
    until: Instant,
}

/// What a browser gets when it signs in.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// The value of `Set-Cookie`.
    pub cookie: String,
    /// The CSRF token.
    pub csrf: String,
    /// Who signed in.
    pub caller: Caller,
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    all: Mutex<HashMap<String, Session>>,
}

impl Session {
    /// The CSRF token: forms send it as `csrf`, scripts as `X-CSRF-Token`.
    #[must_use]
    pub fn csrf(&self) -> &str {
        &self.0.csrf
    }

    /// The caller.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// Checks that a form belongs to this session.
    ///
    /// # Errors
    ///
    /// It does not.
    pub fn check_csrf(&self, field: &str) -> Result<(), Problem> {
        if self.0.csrf.as_bytes().ct_eq(field.as_bytes()).into() {
            Ok(())
        } else {
            Err(Problem::csrf())
        }
    }
}

impl Sessions {
    /// Begins a session.
    ///
    /// # Errors
    ///
    /// The operating system provides no random numbers.
    pub fn begin(&self, caller: Caller, secure: bool) -> Result<SignedIn, IdentityError> {
        let (key, csrf) = (draw()?, draw()?);
        let session = Session(Arc::new(Inner {
            key: key.clone(),
            csrf: csrf.clone(),
            caller: caller.clone(),
            until: Instant::now() + LASTS,
        }));
        let mut all = held(&self.all);
        if all.len() >= MOST {
            let now = Instant::now();
            all.retain(|_, session| session.0.until > now);
        }
        // A token that signs in again and again ends its own sessions only.
        let own = |session: &&Session| session.0.caller.token == caller.token;
        let full = all.values().filter(own).count() >= MOST_OF_A_TOKEN;
        if full || all.len() >= MOST {
            let goes = all.values().filter(|session| !full || own(session));
            let oldest = goes.min_by_key(|session| session.0.until);
            if let Some(key) = oldest.map(|session| session.0.key.clone()) {
                all.remove(&key);
            }
        }
        all.insert(key.clone(), session);
        let secure = if secure { "; Secure" } else { "" };
        let seconds = LASTS.as_secs();
        Ok(SignedIn {
            cookie: format!(
                "{COOKIE}={key}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}"
            ),
            csrf,
            caller,
        })
    }

    /// The session of a `Cookie` header.
    #[must_use]
    pub fn find(&self, header: &str) -> Option<Session> {
        let mut cookies = header
            .split(';')
            .filter_map(|one| one.trim().split_once('='));
        let (_, key) = cookies.find(|(name, _)| *name == COOKIE)?;
        let all = held(&self.all);
        let session = all.get(key)?;
        (session.0.until > Instant::now()).then(|| session.clone())
    }

    /// Ends a session; the `Set-Cookie` that removes its cookie.
    pub fn end(&self, session: &Session) -> String {
        held(&self.all).remove(&session.0.key);
        format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
    }
}

fn draw() -> Result<String, IdentityError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| IdentityError::NoRandomness)?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Role, Scope};

    fn caller(token: &str) -> Caller {
        Caller {
            name: "amina".to_owned(),
            role: Role::Analyst,
            token: token.to_owned(),
            scope: Scope::default(),
        }
    }

    #[test]
    fn a_token_that_signs_in_often_ends_its_own_sessions_only() -> Result<(), IdentityError> {
        let sessions = Sessions::default();
        let other = sessions.begin(caller("other"), false)?;
        let first = sessions.begin(caller("greedy"), false)?;
        for _ in 0..MOST_OF_A_TOKEN {
            sessions.begin(caller("greedy"), false)?;
        }
        assert_eq!(held(&sessions.all).len(), 1 + MOST_OF_A_TOKEN);
        let found = |signed_in: &SignedIn| {
            let cookie = signed_in.cookie.split(';').next().unwrap_or_default();
            sessions.find(cookie).is_some()
        };
        assert!(found(&other) && !found(&first));
        Ok(())
    }
}
