//! A PostgreSQL server for tests, and databases in it. Databases are not dropped, because that takes
//! a second each: the whole server is deleted afterwards.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use postgres::{Client, NoTls};

/// Set by `scripts/test`: the address of a server.
const VARIABLE: &str = "MIZAN_TEST_POSTGRES";

fn script(arguments: &[&str]) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
    let output = Command::new(script).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "scripts/postgres: {said}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Starts a server that ends with this process.
fn start() -> String {
    assert!(
        std::fs::read_dir("/usr/lib/postgresql")
            .is_ok_and(|mut versions| versions.next().is_some()),
        "PostgreSQL is missing: run scripts/test, which installs it, or give the address of a \
         server in {VARIABLE}"
    );
    script(&["start", "--while", &std::process::id().to_string()])
}

/// A server.
#[derive(Clone, Debug)]
pub(crate) struct Server(String);

impl Server {
    /// The one that all tests share.
    pub(crate) fn shared() -> Self {
        static SERVER: OnceLock<String> = OnceLock::new();
        let address = SERVER.get_or_init(|| std::env::var(VARIABLE).unwrap_or_else(|_| start()));
        Self(address.clone())
    }

    /// One that this test may break.
    pub(crate) fn own() -> Self {
        Self(start())
    }

    /// Kills it with all its processes, and starts it again.
    pub(crate) fn crash(&self) {
        script(&["crash", &self.0]);
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.0, NoTls).unwrap()
    }

    /// The directory of its data.
    pub(crate) fn data(&self) -> PathBuf {
        let rows = self.client().query_one("SHOW data_directory", &[]);
        PathBuf::from(rows.unwrap().get::<_, String>(0))
    }

    /// An empty database; `options` as CREATE DATABASE takes them.
    pub(crate) fn database(&self, options: &str) -> Database {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("mizan_test_{}_{number}", std::process::id());
        let sql = format!("CREATE DATABASE {name} {options}");
        self.client().batch_execute(&sql).unwrap();
        Database {
            server: self.clone(),
            name,
            is_plain: false,
        }
    }

    /// An empty database, perhaps one that an earlier test is done with. Only
    /// stores may have written to it.
    pub(crate) fn plain_database(&self) -> Database {
        let done = DONE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut database = match done {
            None => self.database(""),
            Some(name) => {
                let server = self.clone();
                let database = Database {
                    server,
                    name,
                    is_plain: false,
                };
                database.shell("DROP SCHEMA mizan CASCADE").unwrap();
                database
            }
        };
        database.is_plain = true;
        database
    }
}

/// Plain databases that are not used any more.
static DONE: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A database of its own.
#[derive(Debug)]
pub(crate) struct Database {
    server: Server,
    pub(crate) name: String,
    is_plain: bool,
}

impl Database {
    pub(crate) fn url(&self) -> String {
        let (server, options) = self
            .server
            .0
            .split_once('?')
            .unwrap_or((&self.server.0, ""));
        let (server, _) = server.rsplit_once('/').unwrap();
        format!("{server}/{}?{options}", self.name)
    }

    /// A client as someone with a shell has.
    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.url(), NoTls).unwrap()
    }

    /// Runs statements as someone with a shell would.
    pub(crate) fn shell(&self, sql: &str) -> Result<(), postgres::Error> {
        self.client().batch_execute(sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.is_plain {
            let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
            done.push(std::mem::take(&mut self.name));
        }
    }
}
