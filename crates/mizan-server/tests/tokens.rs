//! The token file: creation, authentication, revocation, permissions.

use mizan_server::identity::{Identity, IdentityError, NewToken, RequestRecord, Role, Scope};

fn new(name: &str, role: Role) -> NewToken {
    NewToken {
        name: name.to_owned(),
        role,
        scope: Scope::default(),
        expires_ms: None,
    }
}

#[test]
fn a_token_authenticates_until_it_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.db");
    let server = Identity::open(&path).unwrap();
    let command_line = Identity::open(&path).unwrap();
    let (token, secret) = command_line.create(new("amina", Role::Analyst)).unwrap();
    let caller = server.authenticate(secret.reveal()).unwrap().unwrap();
    assert_eq!(
        (caller.name.as_str(), caller.role, &caller.token),
        ("amina", Role::Analyst, &token.id)
    );
    assert!(server.is_token_valid(&token.id).unwrap());
    command_line.revoke(&token.id).unwrap();
    assert!(server.authenticate(secret.reveal()).unwrap().is_none());
    assert!(!server.is_token_valid(&token.id).unwrap());
    // A second revocation changes nothing and adds no act.
    command_line.revoke(&token.id).unwrap();
    assert_eq!(server.acts().unwrap().len(), 2);
    // The secret is not in the file.
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let digits = secret.reveal().split('_').nth(2).unwrap().as_bytes();
        assert!(!bytes.windows(digits.len()).any(|window| window == digits));
    }
}

#[test]
fn a_token_expires() {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity::open(&folder.path().join("tokens.db")).unwrap();
    for (expires_ms, good) in [(Some(1), false), (Some(u64::MAX >> 1), true), (None, true)] {
        let token = NewToken {
            expires_ms,
            ..new("amina", Role::Owner)
        };
        let (_, secret) = identity.create(token).unwrap();
        let caller = identity.authenticate(secret.reveal()).unwrap();
        assert_eq!(caller.is_some(), good, "{expires_ms:?}");
    }
}

#[test]
fn bad_names_and_scopes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity::open(&folder.path().join("tokens.db")).unwrap();
    for name in ["", "a b", "x\n", &"x".repeat(101)] {
        let made = identity.create(new(name, Role::Owner));
        assert!(matches!(made, Err(IdentityError::Name { .. })), "{name:?}");
    }
    for role in [Role::Analyst, Role::Runner] {
        let nothing = Scope {
            datasets: Some(Vec::new()),
            accounts: Some(Vec::new()),
        };
        let token = NewToken {
            scope: nothing,
            ..new("amina", role)
        };
        assert!(matches!(
            identity.create(token),
            Err(IdentityError::Scope(_))
        ));
    }
    for id in ["", "nothing"] {
        assert!(matches!(
            identity.revoke(id),
            Err(IdentityError::Unknown { .. })
        ));
    }
    assert!(identity.list().unwrap().is_empty());
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.db");
    drop(Identity::open(&path).unwrap());
    let rights = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    rights(0o640).unwrap();
    assert!(matches!(
        Identity::open(&path),
        Err(IdentityError::Shared { .. })
    ));
    rights(0o600).unwrap();
    // The rows of acts cannot be changed.
    let identity = Identity::open(&path).unwrap();
    identity.create(new("amina", Role::Owner)).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    for change in ["UPDATE acts SET about = ''", "DELETE FROM acts"] {
        assert!(database.execute(change, []).is_err(), "{change}");
    }
    // Another database is not accepted as a token file.
    let other = folder.path().join("other.db");
    let database = rusqlite::Connection::open(&other).unwrap();
    database.execute_batch("CREATE TABLE t (x)").unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(
        Identity::open(&other),
        Err(IdentityError::Format { .. })
    ));
}

#[test]
fn the_first_request_under_an_id_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let identity = Identity::open(&folder.path().join("tokens.db")).unwrap();
    let amina = RequestRecord::now("amina", "SELECT 1", Some("0.1".to_owned()), None);
    identity.record_request("id", &amina).unwrap();
    let again = RequestRecord::now("amina", "SELECT 2", None, None);
    identity.record_request("id", &again).unwrap();
    let asked = identity.request_records("id").unwrap();
    assert_eq!(asked, [amina]);
    assert!(identity.request_records("other").unwrap().is_empty());
}
