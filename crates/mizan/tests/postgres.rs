//! Datasets that are tables of PostgreSQL, as people and programs use them. Skipped
//! without `MIZAN_TEST_POSTGRES`, which `scripts/test` sets.
#![cfg(all(unix, feature = "postgres"))]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod common;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use common::lab::Lab;
use postgres::{Client, NoTls};

/// A server that this test may break, gone with this process.
struct Server(String);

impl Server {
    fn own() -> Option<Self> {
        if std::env::var_os("MIZAN_TEST_POSTGRES").is_none() {
            eprintln!("skipped: no MIZAN_TEST_POSTGRES");
            return None;
        }
        Some(Self(script(&[
            "start",
            "--while",
            &std::process::id().to_string(),
        ])))
    }

    fn client(&self) -> Client {
        Client::connect(&self.0, NoTls).unwrap()
    }

    fn run(&self, sql: &str) {
        self.client().batch_execute(sql).unwrap();
    }

    fn source(&self, table: &str) -> String {
        format!("{}/{table}", self.0)
    }
}

fn script(arguments: &[&str]) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
    let output = Command::new(script).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "scripts/postgres: {said}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// 2,000 people in two cities with one to three rows each.
const VISITS: &str = "CREATE TABLE visits (person integer, city text, age integer, \
    paid double precision, price money, \"day\" date); INSERT INTO visits SELECT p, \
    CASE WHEN p % 4 = 0 THEN 'Aswan' ELSE 'Cairo' END, p % 90, 10 * v + p % 7, 1, DATE '2024-01-01' \
    FROM generate_series(0, 1999) p, generate_series(0, 2) v WHERE v <= p % 3";

const ADD: [&str; 16] = [
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

fn lab(name: &str, server: &Server) -> Lab {
    let lab = Lab::empty(name);
    lab.run(&["init"]).done();
    server.run(VISITS);
    let from = server.source("visits");
    let run = lab.run(&[&["dataset", "add", "visits", "--from", &from], &ADD[..]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stderr.contains("\"price\" is left out: money"),
        "{run:?}"
    );
    lab
}

fn value(answer: &serde_json::Value, row: usize, column: &str) -> f64 {
    answer["rows"][row][column]["value"].as_f64().unwrap()
}

#[test]
fn tables_are_asked_about_like_files() {
    let Some(server) = Server::own() else {
        return;
    };
    let lab = lab("postgres-like-files", &server);
    let list = lab.run(&["dataset", "list"]).done();
    assert!(list.contains("visits"), "{list}");
    assert!(
        list.lines().all(|line| line.chars().count() <= 80),
        "{list}"
    );
    lab.run(&["dataset", "show", "visits"]).done();
    let sql =
        "SELECT city, COUNT(*) AS n, SUM(paid) AS paid FROM visits GROUP BY city ORDER BY city";
    let quote = lab.json(&["quote", sql, "--epsilon", "2"]);
    assert_eq!(quote["fits"], true);
    let first = lab.json(&["query", sql, "--epsilon", "2"]);
    // Noise of Laplace is beyond 12 half-widths once in 20^12, of Gauss less often.
    // Who counted people, not rows, would be 500 off in Aswan.
    let wide = 12.0 * quote["predicted"]["n"]["half_width"].as_f64().unwrap();
    assert!(wide < 400.0, "{quote}");
    assert!((value(&first, 0, "n") - 1000.0).abs() < wide, "{first}");
    assert!((value(&first, 1, "n") - 2999.0).abs() < wide, "{first}");
    // Nothing was written: the same answer, for free.
    let again = lab.json(&["query", sql, "--epsilon", "2"]);
    assert_eq!(
        (&again["repeated"], &again["rows"]),
        (&true.into(), &first["rows"])
    );
    server.run("INSERT INTO visits VALUES (1, 'Cairo', 1, 1)");
    let new = lab.json(&["query", sql, "--epsilon", "2"]);
    assert_eq!(new["repeated"], false);
    // By its name an answer is found whatever was written since.
    let named = ["query", sql, "--epsilon", "1", "--id", "monday"];
    let first = lab.json(&named);
    server.run("INSERT INTO visits VALUES (1, 'Cairo', 1, 1)");
    let again = lab.json(&named);
    assert_eq!(
        (&again["repeated"], &again["rows"]),
        (&true.into(), &first["rows"])
    );
    // Bounds can be found there too.
    let bounds = lab.json(&["dataset", "bounds", "visits", "paid", "--epsilon", "0.5"]);
    assert!(bounds["high"].as_f64().unwrap() >= 20.0, "{bounds}");
}

#[test]
fn the_ledger_may_be_in_the_same_database() {
    let Some(server) = Server::own() else {
        return;
    };
    let lab = lab("postgres-same-database", &server);
    let run = |arguments: &[&str]| lab.run(&[arguments, &["--ledger", &server.0]].concat());
    run(&["init"]).done();
    let from = server.source("visits");
    // In a catalogue of its own.
    let other = lab.folder.join("other.json");
    let catalogue = ["--catalogue", other.to_str().unwrap()];
    let added = run(&[
        &["dataset", "add", "visits", "--from", &from],
        &ADD[..],
        &catalogue,
    ]
    .concat());
    assert_eq!(added.code, 0, "{added:?}");
    for _ in 0..2 {
        let sql = "SELECT COUNT(*) AS n FROM visits";
        let asked = run(&[&["query", sql, "--epsilon", "1"], &catalogue[..]].concat());
        assert_eq!(asked.code, 0, "{asked:?}");
    }
    run(&["ledger", "verify"]).done();
}

#[test]
fn what_cannot_be_is_said_before_it_is_charged() {
    let Some(server) = Server::own() else {
        return;
    };
    let lab = lab("postgres-bad", &server);
    let size = lab.size();
    let add = |name: &str, from: &str, code: &str| {
        lab.fails(
            &[&["dataset", "add", name, "--from", from], &ADD[..]].concat(),
            code,
        );
    };
    // Under another budget: the same rows by another way.
    let twice = format!("{}?connect_timeout=5", server.source("public.visits"));
    add("again", &twice, "MZ1876");
    server.run(
        "CREATE VIEW young AS SELECT * FROM visits WHERE age < 30; \
         CREATE ROLE alice LOGIN PASSWORD 'hunter2'; \
         CREATE TABLE odd (person money, city text, age integer, paid integer)",
    );
    add("young", &server.source("young"), "MZ1915");
    add("none", &server.source("none"), "MZ1914");
    add("odd", &server.source("odd"), "MZ1907");
    let alice = server.source("visits").replace("//postgres@", "//alice@");
    add("alice", &alice, "MZ1916");
    add(
        "secret",
        &alice.replace("alice@", "alice:hunter2@"),
        "MZ1912",
    );
    add("short", "postgres://host/visits", "MZ1912");
    let gone = "postgres://me@127.0.0.1:1/shop/visits";
    add("gone", gone, "MZ1913");
    // A file beside a table.
    let path = lab.folder.join("cities.csv");
    std::fs::write(&path, "city,country\nCairo,Egypt\n").unwrap();
    let public = [
        "dataset",
        "add",
        "cities",
        "--public",
        "--from",
        path.to_str().unwrap(),
    ];
    assert_eq!(lab.run(&public).code, 0);
    let both = "SELECT COUNT(*) FROM visits v JOIN cities c ON v.city = c.city";
    lab.fails(&["query", both, "--epsilon", "1"], "MZ1922");
    // Whose table is gone by the time of the question.
    server.run("DROP VIEW young");
    server.run("ALTER TABLE visits RENAME TO others");
    lab.fails(
        &["query", "SELECT COUNT(*) FROM visits", "--epsilon", "1"],
        "MZ1914",
    );
    server.run(
        "ALTER TABLE others RENAME TO visits; ALTER TABLE visits ALTER age TYPE money USING 1",
    );
    lab.fails(
        &["query", "SELECT COUNT(*) FROM visits", "--epsilon", "1"],
        "MZ1907",
    );
    assert_eq!(lab.size(), size, "nothing was charged");
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn passwords_and_tls_are_the_servers_to_demand() {
    let Some(server) = Server::own() else {
        return;
    };
    let lab = Lab::empty("postgres-password");
    lab.run(&["init"]).done();
    server.run(VISITS);
    server.run("CREATE ROLE alice LOGIN PASSWORD 'hunter2'; GRANT SELECT ON visits TO alice");
    let port = free_port();
    let data: String = server
        .client()
        .query_one("SHOW data_directory", &[])
        .unwrap()
        .get(0);
    // Alice needs her password, and over the network TLS, which the server has not.
    std::fs::write(
        format!("{data}/pg_hba.conf"),
        "local all alice scram-sha-256\nlocal all all trust\n\
         hostnossl all alice 127.0.0.1/32 scram-sha-256\nhostssl all all 127.0.0.1/32 trust\n",
    )
    .unwrap();
    let mut client = server.client();
    for setting in [
        format!("port = {port}"),
        "listen_addresses = '127.0.0.1'".to_owned(),
    ] {
        client
            .batch_execute(&format!("ALTER SYSTEM SET {setting}"))
            .unwrap();
    }
    drop(client);
    script(&["crash", &server.0]);
    let add = |from: &str, password: &str| {
        let arguments = [&["dataset", "add", "visits", "--from", from], &ADD[..]].concat();
        let output = common::program()
            .args(arguments)
            .env("MIZAN_LEDGER", lab.ledger())
            .env("MIZAN_STATE_DIR", lab.folder.join("state"))
            .env("MIZAN_CATALOGUE", lab.folder.join("books/datasets.json"))
            .env("PGPASSWORD", password)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !said.contains("hunter2") && !said.contains("panicked"),
            "{said}"
        );
        (output.status.code().unwrap(), said)
    };
    let refused = |from: &str, password: &str, why: &str| {
        let (code, said) = add(from, password);
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains("error[MZ1913]") && said.contains(why),
            "{said}"
        );
        assert!(said.contains("\nhelp: "), "{said}");
    };
    let address = |user: &str, mode: &str| {
        format!("postgres://{user}@127.0.0.1:{port}/postgres/visits?sslmode={mode}")
    };
    refused(&address("alice", "disable"), "hunter3", "password");
    refused(&address("alice", "disable"), "", "password");
    refused(&address("alice", "require"), "hunter2", "TLS");
    refused(&address("postgres", "disable"), "", "no encryption");
    let (code, said) = add(&address("alice", "disable"), "hunter2");
    assert_eq!(code, 0, "{said}");
    let books = std::fs::read_to_string(lab.folder.join("books/datasets.json")).unwrap();
    assert!(!books.contains("hunter2"), "{books}");
}

#[test]
fn a_server_that_dies_is_charged_for_and_asked_again_by_name() {
    let Some(server) = Server::own() else {
        return;
    };
    let lab = lab("postgres-crash", &server);
    // Of 4,000 rows and as many numbers as make a question last for minutes.
    server.run(
        "CREATE TABLE numbers (city text, n integer); \
                INSERT INTO numbers SELECT 'Cairo', n FROM generate_series(1, 500000) n",
    );
    let from = server.source("numbers");
    let public = ["dataset", "add", "numbers", "--public", "--from", &from];
    assert_eq!(lab.run(&public).code, 0);
    let sql = "SELECT COUNT(*) AS n FROM visits v JOIN numbers m ON v.city = m.city";
    let named = [
        "query",
        sql,
        "--epsilon",
        "1",
        "--id",
        "today",
        "--format",
        "json",
    ];
    let child = lab.start(&named);
    let mut client = server.client();
    let running = "SELECT count(*) FROM pg_stat_activity \
                   WHERE application_name = 'mizan' AND query LIKE 'SELECT o0%'";
    while client.query_one(running, &[]).unwrap().get::<_, i64>(0) == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(client);
    script(&["crash", &server.0]);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("MZ1921") && said.contains("stands"), "{said}");
    assert!(!said.contains("Cairo"), "{said}");
    let charged = lab.json(&["budget", "show", "visits"]);
    // Asked by its name, it goes on under the same charge, on what there is now.
    server.run("DELETE FROM numbers WHERE n > 3");
    let answer = lab.run(&named).json();
    assert_eq!(answer["repeated"], false);
    let answered = lab.json(&["budget", "show", "visits"]);
    assert_eq!(charged["remaining"], answered["remaining"]);
    let again = lab.run(&named).json();
    assert_eq!(
        (&again["repeated"], &again["rows"]),
        (&true.into(), &answer["rows"])
    );
}
