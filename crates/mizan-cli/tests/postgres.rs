//! Datasets that are PostgreSQL tables, through the command line. Skipped
//! without `MIZAN_TEST_POSTGRES`, which `scripts/test` sets.
#![cfg(all(unix, feature = "postgres"))]

use std::time::{Duration, Instant};

use crate::common::lab::Lab;
use crate::common::server::{ADD, SLOW, VISITS, add_numbers, add_visits, lab, own, signal};
use postgres::{Client, NoTls};

fn value(answer: &serde_json::Value, row: usize, column: &str) -> f64 {
    answer["rows"][row][column]["value"].as_f64().unwrap()
}

#[test]
fn tables_are_queried_like_files() {
    let Some(server) = own() else {
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
    let Some(server) = own() else {
        return;
    };
    let lab = lab("postgres-same-database", &server);
    let run = |arguments: &[&str]| lab.run(&[arguments, &["--ledger", server.address()]].concat());
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
fn impossible_queries_fail_before_the_charge() {
    let Some(server) = own() else {
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

#[test]
fn passwords_and_tls_are_the_servers_to_demand() {
    let Some(mut server) = own() else {
        return;
    };
    let lab = Lab::empty("postgres-password");
    lab.run(&["init"]).done();
    server.run(VISITS);
    server.run("CREATE ROLE alice LOGIN PASSWORD 'hunter2'; GRANT SELECT ON visits TO alice");
    // Alice needs her password, and over the network TLS, which the server has not.
    let port = server.listen(
        "127.0.0.1",
        "local all alice scram-sha-256\nlocal all all trust\n\
         hostnossl all alice 127.0.0.1/32 scram-sha-256\nhostssl all all 127.0.0.1/32 trust\n",
    );
    let add = |from: &str, password: &str| {
        let arguments = [&["dataset", "add", "visits", "--from", from], &ADD[..]].concat();
        let output = crate::common::program()
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
        assert!(said.contains(&format!("127.0.0.1:{port}/")), "{said}");
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
    // Who is let in by another way, and cannot look as Alice does, finds the same rows.
    let again = ["dataset", "add", "again", "--from"];
    let from = server.source("visits");
    lab.fails(&[&again[..], &[&from], &ADD].concat(), "MZ1876");
    lab.fails(&[&again[..], &[&from, "--public"]].concat(), "MZ1876");
}

/// A process of the server is killed: the server recovers, and was never stopped.
#[test]
fn a_server_that_recovered_has_other_rows_for_all_that_is_known() {
    let Some(server) = own() else {
        return;
    };
    let lab = lab("postgres-recovered", &server);
    let asked = || {
        let sql = "SELECT COUNT(*) AS n FROM visits";
        lab.json(&["query", sql, "--epsilon", "1"])["repeated"].clone()
    };
    assert_eq!((asked(), asked()), (false.into(), true.into()));
    let mut client = server.client();
    let process = client.query_one("SELECT pg_backend_pid()", &[]).unwrap();
    signal("KILL", process.get(0));
    let start = Instant::now();
    // It may take a moment to notice, and then to recover.
    while !client.is_closed() || Client::connect(server.address(), NoTls).is_err() {
        let _ = client.simple_query("");
        assert!(start.elapsed() < Duration::from_secs(60), "no server");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!((asked(), asked()), (false.into(), true.into()));
}

#[test]
fn a_query_over_its_time_limit_is_charged_and_reveals_no_row() {
    let Some(server) = own() else {
        return;
    };
    let lab = Lab::empty("postgres-timeout");
    lab.run(&["init"]).done();
    server.run(VISITS);
    add_visits(&lab, &format!("{}?timeout=1", server.source("visits")));
    add_numbers(&lab, &server, &server.source("numbers"), 1_000);
    let named = ["query", SLOW, "--epsilon", "1", "--id", "today"];
    let said = lab.run(&named);
    assert_eq!(said.code, 2, "{said:?}");
    // The limit and the id of the charge are public; there is nothing else in it.
    let mut lines = said.stderr.lines();
    assert_eq!(
        lines.next(),
        Some("error[MZ1920]: the question was given up after 1 s")
    );
    let help = lines.next().unwrap();
    assert!(help.starts_with("help: ask for less, or let the owner add ?timeout=SECONDS"));
    assert!(
        help.contains("the charge") && help.contains("stands"),
        "{help}"
    );
    assert_eq!((lines.next(), said.stdout.as_str()), (None, ""));
    let charged = lab.json(&["budget", "show", "visits"]);
    assert!(
        charged["remaining"]["share"].as_f64().unwrap() < 1.0,
        "{charged}"
    );
    // Other rows that take too long, and the same words.
    server.run("UPDATE visits SET city = 'Cairo', paid = paid + 1");
    assert_eq!(lab.run(&named).stderr, said.stderr);
    // Under the same charge it is answered when it is quick enough.
    server.run("DELETE FROM numbers WHERE n > 3");
    let answer = lab.json(&named);
    assert_eq!(answer["repeated"], false);
    let answered = lab.json(&["budget", "show", "visits"]);
    assert_eq!(charged["remaining"], answered["remaining"]);
}

#[test]
fn partitioned_tables_are_queried_as_one() {
    let Some(server) = own() else {
        return;
    };
    let lab = Lab::empty("postgres-partitioned");
    lab.run(&["init"]).done();
    server.run(&format!(
        "{VISITS}; ALTER TABLE visits RENAME TO rows; \
         CREATE TABLE visits (LIKE rows) PARTITION BY LIST (city); \
         CREATE TABLE of_cairo PARTITION OF visits FOR VALUES IN ('Cairo'); \
         CREATE TABLE of_others PARTITION OF visits DEFAULT; \
         INSERT INTO visits TABLE rows"
    ));
    add_visits(&lab, &server.source("visits"));
    let sql = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY city";
    let answer = lab.json(&["query", sql, "--epsilon", "4"]);
    // Half-widths are below 20: an answer without a part would be 1,000 off.
    assert!((value(&answer, 0, "n") - 1000.0).abs() < 400.0, "{answer}");
    assert!((value(&answer, 1, "n") - 2999.0).abs() < 400.0, "{answer}");
    // A part has rows of the whole: it is not to be had on other terms.
    let part = server.source("of_cairo");
    let add = [&["dataset", "add", "cairo", "--from", &part], &ADD[..]].concat();
    lab.fails(&add, "MZ1876");
}

#[test]
fn unusual_types_and_values_are_read() {
    let Some(server) = own() else {
        return;
    };
    let lab = Lab::empty("postgres-odd");
    lab.run(&["init"]).done();
    server.run(
        "CREATE TABLE odd (person integer, price money, tags text[], bag jsonb, \
         at timestamptz, due date, paid numeric, city text); \
         INSERT INTO odd SELECT p, 1, '{a,b}', '{}', \
         (ARRAY['infinity', '-infinity', '2024-02-03 04:05:06+07'])[1 + p % 3]::timestamptz, \
         (ARRAY['infinity', '2024-02-03'])[1 + p % 2]::date, \
         (ARRAY['NaN', 'Infinity', '-Infinity', '10'])[1 + p % 4]::numeric, 'Cairo' \
         FROM generate_series(1, 1200) p",
    );
    let from = server.source("odd");
    let add = |options: &[&str]| {
        let add = ["dataset", "add", "odd", "--from", &from, "--unit", "person"];
        let terms = [
            "--epsilon",
            "50",
            "--delta",
            "1e-6",
            "--max-rows-per-unit",
            "1",
        ];
        lab.run(&[&add[..], &terms, options].concat())
    };
    // What cannot be read is refused where it is named, with its name and type.
    for (option, named, kind) in [
        (["--bound", "price=0:10"], "\"price\"", "money"),
        (["--keys", "tags=a,b"], "\"tags\"", "text[]"),
        (["--type", "bag=text"], "\"bag\"", "jsonb"),
    ] {
        let run = add(&option);
        assert_eq!(run.code, 2, "{run:?}");
        for text in ["error[MZ1907]", named, kind, "\nhelp: "] {
            assert!(run.stderr.contains(text), "{text}: {run:?}");
        }
    }
    // And left out with a note where it is not.
    let run = add(&["--bound", "paid=0:50"]);
    assert_eq!(run.code, 0, "{run:?}");
    for (column, kind) in [("price", "money"), ("tags", "text[]"), ("bag", "jsonb")] {
        let note = format!("\"{column}\" is left out: {kind}");
        assert!(run.stderr.contains(&note), "{note}: {run:?}");
    }
    lab.fails(&["query", "SELECT SUM(price) FROM odd"], "MZ1809");
    // Infinite times and numbers that are none are nothing; infinite numbers are clamped.
    let sql = "SELECT COUNT(at) AS at, COUNT(due) AS due, COUNT(paid) AS paid, \
               SUM(paid) AS sum FROM odd";
    let answer = lab.json(&["query", sql, "--epsilon", "40"]);
    for (column, exact, near) in [
        ("at", 400.0, 50.0),
        ("due", 600.0, 50.0),
        ("paid", 900.0, 50.0),
        ("sum", 18_000.0, 2_000.0),
    ] {
        let found = value(&answer, 0, column);
        assert!((found - exact).abs() < near, "{column}: {answer}");
    }
}
