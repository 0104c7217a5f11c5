//! PostgreSQL servers that a test can break, and analysts who query their tables.

use std::process::{Child, Command};
use std::time::Duration;

use mizan_test_support::postgres_server::{Server, shared_address};

use super::lab::Lab;

/// A server that ends with this process. None without `MIZAN_TEST_POSTGRES`, which `scripts/test`
/// sets.
pub(crate) fn own() -> Option<Server> {
    shared_address().map(|_| Server::own())
}

/// The process of a server that runs a query of the program `child`, once there is one.
pub(crate) fn answering(server: &Server, child: &mut Child) -> i32 {
    let mut client = server.client();
    let running = "SELECT pid FROM pg_stat_activity WHERE application_name = 'mizan' \
                   AND state = 'active' AND query LIKE 'SELECT o0%' \
                   AND backend_type = 'client backend'";
    loop {
        if let Some(row) = client.query(running, &[]).unwrap().first() {
            return row.get(0);
        }
        if let Some(status) = child.try_wait().unwrap() {
            panic!("the program has ended: {status}");
        }
        std::thread::sleep(Duration::from_millis(5));
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
