//! PostgreSQL servers that a test can break, and analysts who query their tables.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use postgres::{Client, NoTls};

use super::lab::Lab;

/// A server of its own, gone with this process.
pub(crate) struct Server {
    /// What `scripts/postgres` calls it.
    name: String,
    address: String,
}

/// Calls `scripts/postgres`.
fn script(arguments: &[&str]) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
    let output = Command::new(script).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "scripts/postgres: {said}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Server {
    /// None without `MIZAN_TEST_POSTGRES`, which `scripts/test` sets.
    pub(crate) fn own() -> Option<Self> {
        if std::env::var_os("MIZAN_TEST_POSTGRES").is_none() {
            eprintln!("skipped: no MIZAN_TEST_POSTGRES");
            return None;
        }
        let name = script(&["start", "--while", &std::process::id().to_string()]);
        let address = name.clone();
        Some(Self { name, address })
    }

    /// Where it is, by its socket.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.address, NoTls).unwrap()
    }

    pub(crate) fn run(&self, sql: &str) {
        self.client().batch_execute(sql).unwrap();
    }

    pub(crate) fn source(&self, table: &str) -> String {
        format!("{}/{table}", self.address)
    }

    /// Kills it, and starts it again.
    pub(crate) fn crash(&self) {
        script(&["crash", &self.name]);
    }

    /// Stops it at once.
    pub(crate) fn halt(&self) {
        script(&["halt", &self.name]);
    }

    /// Starts it again.
    pub(crate) fn resume(&self) {
        script(&["resume", &self.name]);
    }

    /// Lets others in by TCP, under these rules; at which port.
    pub(crate) fn listen(&mut self, addresses: &str, rules: &str) -> u16 {
        let port = free_port();
        let mut client = self.client();
        let row = client.query_one("SHOW data_directory", &[]).unwrap();
        let data: String = row.get(0);
        std::fs::write(format!("{data}/pg_hba.conf"), rules).unwrap();
        for setting in [
            format!("port = {port}"),
            format!("listen_addresses = '{addresses}'"),
        ] {
            let set = format!("ALTER SYSTEM SET {setting}");
            client.batch_execute(&set).unwrap();
        }
        drop(client);
        self.crash();
        // The name of the socket has the port in it.
        let address = self.name.strip_suffix("/postgres").unwrap();
        self.address = format!("{address}:{port}/postgres");
        port
    }

    /// The process that answers a question, once there is one.
    pub(crate) fn answering(&self, child: &mut Child) -> i32 {
        let mut client = self.client();
        let running = "SELECT pid FROM pg_stat_activity WHERE application_name = 'mizan' \
                       AND state = 'active' AND query LIKE 'SELECT o0%' \
                       AND backend_type = 'client backend'";
        loop {
            if let Some(row) = client.query(running, &[]).unwrap().first() {
                return row.get(0);
            }
            if let Some(status) = child.try_wait().unwrap() {
                panic!("it is done already: {status}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends a process of it.
    pub(crate) fn terminate(&self, process: i32) {
        let end = "SELECT pg_terminate_backend($1)";
        self.client().execute(end, &[&process]).unwrap();
    }
}

/// Sends a signal to a process of a server.
pub(crate) fn signal(name: &str, process: i32) {
    let sent = Command::new("kill")
        .args(["-s", name, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// 2,000 people in two cities with one to three rows each.
pub(crate) const VISITS: &str = "CREATE TABLE visits (person integer, city text, age integer, \
    paid double precision, price money, \"day\" date); INSERT INTO visits SELECT p, \
    CASE WHEN p % 4 = 0 THEN 'Aswan' ELSE 'Cairo' END, p % 90, 10 * v + p % 7, 1, DATE '2024-01-01' \
    FROM generate_series(0, 1999) p, generate_series(0, 2) v WHERE v <= p % 3";

pub(crate) const ADD: [&str; 16] = [
    "--unit",
    "person",
    "--epsilon",
    "8",
    "--delta",
    "1e-6",
    "--bound",
    "age=0:100",
    "--bound",
    "paid=0:50",
    "--keys",
    "city=Aswan,Cairo",
    "--max-rows-per-unit",
    "3",
    "--max-groups-per-unit",
    "2",
];

/// An analyst with a ledger of their own who queries the visits.
pub(crate) fn lab(name: &str, server: &Server) -> Lab {
    let lab = Lab::empty(name);
    lab.run(&["init"]).done();
    server.run(VISITS);
    add_visits(&lab, &server.source("visits"));
    lab
}

/// Adds the visits to the catalogue of an analyst.
pub(crate) fn add_visits(lab: &Lab, from: &str) {
    let run = lab.run(&[&["dataset", "add", "visits", "--from", from], &ADD[..]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stderr.contains("\"price\" is left out: money"),
        "{run:?}"
    );
}

/// A query over 3,000 rows and as many numbers as make it last: each pair takes the
/// database a long comparison of texts, so that few numbers are enough.
pub(crate) const SLOW: &str = "SELECT COUNT(*) AS n FROM visits v JOIN numbers m \
    ON v.city = m.city WHERE m.label || v.city LIKE '%a%aCairo'";

/// That many numbers, in the catalogue as public. A fan-out of 1,000 is allowed.
pub(crate) fn add_numbers(lab: &Lab, server: &Server, from: &str, numbers: u32) {
    server.run(&format!(
        "CREATE TABLE numbers (city text, n integer, label text); \
         INSERT INTO numbers SELECT 'Cairo', n, repeat('a', 2000) \
         FROM generate_series(1, {numbers}) n; \
         ANALYZE numbers"
    ));
    let public = ["dataset", "add", "numbers", "--public", "--from", from];
    let run = lab.run(&public);
    assert_eq!(run.code, 0, "{run:?}");
}
