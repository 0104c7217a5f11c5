//! The tokens of a server: creation, revocation and authentication.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, Row, TransactionBehavior, params};

use super::schema;
use super::{Caller, IdentityError, Role, Scope, Secret, TokenHash};

/// A token, without its secret.
#[derive(Clone, Debug)]
pub struct Token {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The datasets and accounts that it covers.
    pub scope: Scope,
    /// When it was created.
    pub created_ms: u64,
    /// When it expires.
    pub expires_ms: Option<u64>,
    /// When it was revoked.
    pub revoked_ms: Option<u64>,
    hash: TokenHash,
}

impl Token {
    /// Whether it is valid at a time.
    #[must_use]
    pub fn is_valid(&self, unix_ms: u64) -> bool {
        self.revoked_ms.is_none() && self.expires_ms.is_none_or(|end| unix_ms < end)
    }
}

/// A token to create.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The datasets and accounts that it covers.
    pub scope: Scope,
    /// When it expires.
    pub expires_ms: Option<u64>,
}

/// A creation or revocation of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// When.
    pub unix_ms: u64,
    /// `create` or `revoke`.
    pub act: String,
    /// The id of the token.
    pub token: String,
    /// Its role, name and scope.
    pub about: String,
}

/// The token file. Threads share it.
pub struct Identity {
    connection: Mutex<Connection>,
    /// Records of requests, on a connection that need not sync: a lost record is made again
    /// by a retry.
    pub(super) records: Mutex<Connection>,
    cache: Mutex<TokenCache>,
}

/// The tokens as of a generation of the file, by the first half of their hash.
#[derive(Default)]
struct TokenCache {
    generation: i64,
    tokens: HashMap<[u8; 16], Arc<Token>>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}

impl Identity {
    /// Opens a token file, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be used, other users can read it, or it is not a token file.
    pub fn open(path: &Path) -> Result<Self, IdentityError> {
        let connection = schema::open(path)?;
        let records = schema::open(path)?;
        records.pragma_update(None, "synchronous", "NORMAL")?;
        Ok(Self {
            connection: Mutex::new(connection),
            records: Mutex::new(records),
            cache: Mutex::default(),
        })
    }

    /// Creates a token. Its secret is shown here and never again.
    ///
    /// # Errors
    ///
    /// The name or the scope is not valid; the file cannot be written.
    pub fn create(&self, new: NewToken) -> Result<(Token, Secret), IdentityError> {
        check(&new)?;
        let secret = Secret::draw(new.role)?;
        let hash = secret.hash();
        let NewToken {
            name,
            role,
            scope,
            expires_ms,
        } = new;
        let token = Token {
            id: hash.id(),
            name,
            role,
            scope,
            created_ms: now(),
            expires_ms,
            revoked_ms: None,
            hash,
        };
        let mut connection = held(&self.connection);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(
            "INSERT INTO tokens VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL)",
            params![
                token.id,
                token.hash.as_bytes(),
                token.name,
                role.name(),
                list_text(token.scope.datasets.as_deref()),
                list_text(token.scope.accounts.as_deref()),
                signed(token.created_ms),
                token.expires_ms.map(signed),
            ],
        )?;
        record(&transaction, token.created_ms, "create", &token)?;
        transaction.commit()?;
        Ok((token, secret))
    }

    /// All tokens, oldest first.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn list(&self) -> Result<Vec<Token>, IdentityError> {
        tokens(&held(&self.connection))
    }

    /// Revokes a token, at once and forever. `id` may be its first digits.
    ///
    /// # Errors
    ///
    /// No token has this id, or several begin with it.
    pub fn revoke(&self, id: &str) -> Result<Token, IdentityError> {
        let mut connection = held(&self.connection);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let all = tokens(&transaction)?;
        let mut found = all.into_iter().filter(|token| token.id.starts_with(id));
        let id = || id.to_owned();
        let mut token = match (found.next(), found.next()) {
            _ if id().is_empty() => return Err(IdentityError::Unknown { id: id() }),
            (None, _) => return Err(IdentityError::Unknown { id: id() }),
            (Some(_), Some(_)) => return Err(IdentityError::Several { id: id() }),
            (Some(token), None) => token,
        };
        if token.revoked_ms.is_none() {
            let time = now();
            token.revoked_ms = Some(time);
            transaction.execute(
                "UPDATE tokens SET revoked_ms = ?1 WHERE id = ?2",
                params![signed(time), token.id],
            )?;
            record(&transaction, time, "revoke", &token)?;
        }
        transaction.commit()?;
        Ok(token)
    }

    /// Creations and revocations, the oldest first.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn acts(&self) -> Result<Vec<Act>, IdentityError> {
        let connection = held(&self.connection);
        let mut query =
            connection.prepare("SELECT unix_ms, act, token, about FROM acts ORDER BY number")?;
        let act = |row: &Row<'_>| {
            Ok(Act {
                unix_ms: unsigned(row.get(0)?),
                act: row.get(1)?,
                token: row.get(2)?,
                about: row.get(3)?,
            })
        };
        let acts = query.query_map([], act)?.collect::<Result<_, _>>()?;
        Ok(acts)
    }

    /// The caller who presents this text. None if the text is not a token, or the token is
    /// unknown, expired or revoked: clients cannot tell these apart.
    ///
    /// # Errors
    ///
    /// The file cannot be read; the clock is before 1970.
    pub fn authenticate(&self, presented: &str) -> Result<Option<Caller>, IdentityError> {
        let Some(hash) = TokenHash::presented(presented) else {
            return Ok(None);
        };
        let found = self.find(&hash)?;
        let time = clock()?;
        let good = found.filter(|token| token.hash.is(&hash) && token.is_valid(time));
        Ok(good.map(|token| Caller {
            name: token.name.clone(),
            role: token.role,
            token: token.id.clone(),
            scope: token.scope.clone(),
        }))
    }

    /// Whether a token is still valid, by its id.
    ///
    /// # Errors
    ///
    /// The file cannot be read; the clock is before 1970.
    pub fn is_token_valid(&self, id: &str) -> Result<bool, IdentityError> {
        self.refresh()?;
        let cache = held(&self.cache);
        let mut tokens = cache.tokens.values();
        let time = clock()?;
        Ok(tokens.any(|token| token.id == id && token.is_valid(time)))
    }

    fn find(&self, hash: &TokenHash) -> Result<Option<Arc<Token>>, IdentityError> {
        self.refresh()?;
        let cache = held(&self.cache);
        Ok(cache.tokens.get(half(hash)).cloned())
    }

    /// Reads the tokens again if the file has changed.
    fn refresh(&self) -> Result<(), IdentityError> {
        let connection = held(&self.connection);
        let mut query = connection.prepare_cached("SELECT number FROM generation")?;
        let generation: i64 = query.query_row([], |row| row.get(0))?;
        let mut cache = held(&self.cache);
        if cache.generation != generation {
            let all = tokens(&connection)?.into_iter();
            cache.tokens = all
                .map(|token| (*half(&token.hash), Arc::new(token)))
                .collect();
            cache.generation = generation;
        }
        Ok(())
    }
}

fn half(hash: &TokenHash) -> &[u8; 16] {
    hash.as_bytes().first_chunk().unwrap_or(&[0; 16])
}

/// Checks the name and the scope of a token.
fn check(new: &NewToken) -> Result<(), IdentityError> {
    let allowed = |c: char| c.is_alphanumeric() || ".-_@".contains(c);
    let length = new.name.chars().count();
    if !(1..=100).contains(&length) || !new.name.chars().all(allowed) {
        return Err(IdentityError::Name {
            name: new.name.chars().take(100).collect(),
        });
    }
    let empty = |list: &Option<Vec<String>>| list.as_ref().is_some_and(Vec::is_empty);
    match new.role {
        Role::Analyst if empty(&new.scope.datasets) => {
            Err(IdentityError::Scope("an analyst needs a dataset to query"))
        }
        Role::Runner if empty(&new.scope.accounts) => {
            Err(IdentityError::Scope("a runner needs an account to charge"))
        }
        _ => Ok(()),
    }
}

fn record(
    connection: &Connection,
    unix_ms: u64,
    act: &str,
    token: &Token,
) -> Result<(), IdentityError> {
    let all = |list: &Option<Vec<String>>| match list {
        None => "all".to_owned(),
        Some(list) => list.join(" "),
    };
    let about = format!(
        "{} {}; datasets: {}; accounts: {}",
        token.role,
        token.name,
        all(&token.scope.datasets),
        all(&token.scope.accounts)
    );
    connection.execute(
        "INSERT INTO acts (unix_ms, act, token, about) VALUES (?1, ?2, ?3, ?4)",
        params![signed(unix_ms), act, token.id, about],
    )?;
    connection.execute("UPDATE generation SET number = number + 1", [])?;
    Ok(())
}

fn tokens(connection: &Connection) -> Result<Vec<Token>, IdentityError> {
    let mut query = connection.prepare_cached(
        "SELECT id, hash, name, role, datasets, accounts, created_ms, expires_ms, revoked_ms
         FROM tokens ORDER BY created_ms, id",
    )?;
    let token = |row: &Row<'_>| {
        let role: String = row.get(3)?;
        let Some(role) = Role::from_name(&role) else {
            return Ok(None);
        };
        Ok(Some(Token {
            id: row.get(0)?,
            hash: TokenHash::from_bytes(row.get(1)?),
            name: row.get(2)?,
            role,
            scope: Scope {
                datasets: list(row.get::<_, Option<String>>(4)?.as_deref()),
                accounts: list(row.get::<_, Option<String>>(5)?.as_deref()),
            },
            created_ms: unsigned(row.get(6)?),
            expires_ms: row.get::<_, Option<i64>>(7)?.map(unsigned),
            revoked_ms: row.get::<_, Option<i64>>(8)?.map(unsigned),
        }))
    };
    let all = query.query_map([], token)?.collect::<Result<Vec<_>, _>>()?;
    Ok(all.into_iter().flatten().collect())
}

/// A list as JSON, so that names may have any characters.
fn list_text(list: Option<&[String]>) -> Option<String> {
    list.map(|list| serde_json::Value::from(list.to_vec()).to_string())
}

/// A list that cannot be read allows nothing.
fn list(text: Option<&str>) -> Option<Vec<String>> {
    text.map(|text| serde_json::from_str(text).unwrap_or_default())
}

pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time in milliseconds since 1970.
///
/// # Errors
///
/// The clock of the machine is before 1970. No token would have expired by such a clock.
pub fn clock() -> Result<u64, IdentityError> {
    since_1970(SystemTime::now())
}

fn since_1970(time: SystemTime) -> Result<u64, IdentityError> {
    let since = time.duration_since(UNIX_EPOCH).ok();
    let milliseconds = since.and_then(|since| u64::try_from(since.as_millis()).ok());
    milliseconds.ok_or(IdentityError::Clock)
}

/// The same for records and log lines, which decide nothing; zero before 1970.
pub(crate) fn now() -> u64 {
    clock().unwrap_or(0)
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_before_1970_decides_nothing() {
        let time = |milliseconds| UNIX_EPOCH + Duration::from_millis(milliseconds);
        assert_eq!(since_1970(time(1500)).unwrap(), 1500);
        let error = since_1970(UNIX_EPOCH - Duration::from_millis(1)).unwrap_err();
        assert_eq!(error.code(), "MZ2039");
    }
}
