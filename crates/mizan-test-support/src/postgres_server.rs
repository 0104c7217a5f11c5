//! PostgreSQL servers that `scripts/postgres` starts, and databases in them. Databases are not
//! dropped, because that takes a second each: the whole server is deleted afterwards.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use postgres::{Client, NoTls};

/// The address of a server; `scripts/test` sets it.
const VARIABLE: &str = "MIZAN_TEST_POSTGRES";

/// The address of the server that tests share, if there is one.
#[must_use]
pub fn shared_address() -> Option<String> {
    let address = std::env::var(VARIABLE).ok();
    if address.is_none() {
        eprintln!("skipped: no {VARIABLE}");
    }
    address
}

/// A server.
#[derive(Clone, Debug)]
pub struct Server {
    /// The address at which `scripts/postgres` started it.
    name: String,
    address: String,
}

impl Server {
    /// The server that all tests share: that of the environment, or one that is started.
    #[must_use]
    pub fn shared() -> Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        let server = SERVER.get_or_init(|| match std::env::var(VARIABLE) {
            Ok(address) => Self {
                name: address.clone(),
                address,
            },
            Err(_) => Self::own(),
        });
        server.clone()
    }

    /// A server that ends with this process, which a test may break.
    #[must_use]
    pub fn own() -> Self {
        assert!(
            std::fs::read_dir("/usr/lib/postgresql")
                .is_ok_and(|mut versions| versions.next().is_some()),
            "PostgreSQL is missing: run scripts/test, which installs it, or set {VARIABLE} to the \
             address of a server"
        );
        let name = script(&["start", "--while", &std::process::id().to_string()]);
        let address = name.clone();
        Self { name, address }
    }

    /// Its address, of its socket.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// A connection.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::connect(&self.address, NoTls).unwrap()
    }

    /// Runs statements.
    pub fn run(&self, sql: &str) {
        self.client().batch_execute(sql).unwrap();
    }

    /// The address of a table.
    #[must_use]
    pub fn source(&self, table: &str) -> String {
        format!("{}/{table}", self.address)
    }

    /// The directory of its data.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        let row = self.client().query_one("SHOW data_directory", &[]);
        PathBuf::from(row.unwrap().get::<_, String>(0))
    }

    /// Kills it with all its processes, and starts it again.
    pub fn crash(&self) {
        script(&["crash", &self.name]);
    }

    /// Stops it at once.
    pub fn halt(&self) {
        script(&["halt", &self.name]);
    }

    /// Starts it again.
    pub fn resume(&self) {
        script(&["resume", &self.name]);
    }

    /// Accepts connections by TCP under these rules; returns the port.
    pub fn listen(&mut self, addresses: &str, rules: &str) -> u16 {
        let port = free_port();
        std::fs::write(self.data().join("pg_hba.conf"), rules).unwrap();
        let mut client = self.client();
        for setting in [
            format!("port = {port}"),
            format!("listen_addresses = '{addresses}'"),
        ] {
            let set = format!("ALTER SYSTEM SET {setting}");
            client.batch_execute(&set).unwrap();
        }
        drop(client);
        self.crash();
        // The name of the socket contains the port.
        let address = self.name.strip_suffix("/postgres").unwrap();
        self.address = format!("{address}:{port}/postgres");
        port
    }

    /// An empty database; `options` as CREATE DATABASE takes them.
    #[must_use]
    pub fn database(&self, options: &str) -> Database {
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

    /// An empty database, perhaps one that an earlier test is done with. Only stores of the
    /// ledger may have written to it.
    #[must_use]
    pub fn plain_database(&self) -> Database {
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

    /// Ends one of its processes.
    pub fn terminate(&self, process: i32) {
        let end = "SELECT pg_terminate_backend($1)";
        self.client().execute(end, &[&process]).unwrap();
    }
}

/// Plain databases that are not used any more.
static DONE: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A database of its own.
#[derive(Debug)]
pub struct Database {
    server: Server,
    /// Its name.
    pub name: String,
    is_plain: bool,
}

impl Database {
    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        let (server, options) = self
            .server
            .address
            .split_once('?')
            .unwrap_or((&self.server.address, ""));
        let (server, _) = server.rsplit_once('/').unwrap();
        format!("{server}/{}?{options}", self.name)
    }

    /// A connection.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::connect(&self.url(), NoTls).unwrap()
    }

    /// Runs statements.
    ///
    /// # Errors
    ///
    /// Those of the server.
    pub fn shell(&self, sql: &str) -> Result<(), postgres::Error> {
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

/// A port that was free a moment ago.
#[must_use]
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Calls `scripts/postgres`.
fn script(arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
    let output = Command::new(script).args(arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "scripts/postgres: {stderr}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
