//! A running server: the rows of one person decide nothing about whether there is an
//! answer, and no analyst's query ends the server.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Child;

use crate::common::lab::Lab;
use mizan_test_support::http::Client;
use serde_json::{Value, json};

fn add(lab: &Lab, name: &str, from: &Path, rest: &[&str]) {
    let from = from.to_str().unwrap();
    let add = ["dataset", "add", name, "--from", from];
    // A public dataset is added with a note.
    let run = lab.run(&[&add, rest].concat());
    assert_eq!(run.code, 0, "{run:?}");
}

fn add_private(lab: &Lab, name: &str, from: &Path) {
    let mut rest = vec!["--unit", "person", "--epsilon", "20", "--delta", "1e-6"];
    rest.extend(["--max-rows-per-unit", "1", "--max-groups-per-unit", "1"]);
    if from.extension().is_some_and(|extension| extension == "csv") {
        rest.extend(["--type", "person=integer"]);
    }
    add(lab, name, from, &rest);
}

/// A file of people with these notes.
fn notes(lab: &Lab, name: &str, notes: &[&str]) {
    let mut text = "person,note\n".to_owned();
    for (person, note) in notes.iter().enumerate() {
        writeln!(text, "{person},\"{note}\"").unwrap();
    }
    let path = lab.folder.join(format!("{name}.csv"));
    std::fs::write(&path, text).unwrap();
    add_private(lab, name, &path);
}

fn serve(lab: &Lab) -> (Child, SocketAddr, String) {
    let tokens = lab.folder.join("tokens.db");
    let tokens = ["--tokens", tokens.to_str().unwrap(), "--format", "json"];
    let mut create = vec!["token", "create", "amina", "--role", "analyst"];
    for dataset in ["fewer", "more", "clean", "broken", "absent", "present"] {
        create.extend(["--dataset", dataset]);
    }
    let made = lab.run(&[&create, &tokens[..]].concat());
    assert_eq!(made.code, 0, "{}", made.stderr);
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    let token = made["token"].as_str().unwrap().to_owned();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--rate", "100000"];
    let mut server = lab.start(&[&serve, &tokens[..]].concat());
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    let mut said = String::new();
    // The line is pretty: it ends with the brace.
    while !said.ends_with("}\n") {
        assert_ne!(stdout.read_line(&mut said).unwrap(), 0, "no server");
    }
    let said: Value = serde_json::from_str(&said).unwrap();
    let address = said["address"].as_str().unwrap().parse().unwrap();
    (server, address, token)
}

/// Status and code: what an analyst sees before looking at numbers.
fn outcome(address: SocketAddr, token: &str, sql: &str) -> (u16, Value) {
    let mut client = Client::new(address, Some(token));
    let reply = client.post("/api/v1/queries", &json!({"sql": sql, "epsilon": 0.1}));
    (reply.status, reply.json()["code"].clone())
}

#[test]
fn one_person_never_decides_the_kind_of_outcome() {
    let lab = Lab::new("one_outcome");
    notes(&lab, "fewer", &[""; 1000]);
    notes(&lab, "more", &[""; 1001]);
    notes(&lab, "absent", &["a", "b"]);
    notes(&lab, "present", &["a", "b", "match"]);
    // A text column, written by pyarrow. In one of the files the bytes of the last cell
    // were replaced by others that are not UTF-8.
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sql");
    add_private(&lab, "clean", &testdata.join("notes.parquet"));
    add_private(&lab, "broken", &testdata.join("notes-not-utf8.parquet"));
    let codes: String = (0..10_000).map(|code| format!("{code}\n")).collect();
    let path = lab.folder.join("codes.csv");
    std::fs::write(&path, format!("code\n{codes}")).unwrap();
    add(&lab, "codes", &path, &["--public"]);
    let (mut server, address, token) = serve(&lab);
    let literal = "x".repeat(16_767);
    let grown = |literal: &str| {
        let mut from = format!("(SELECT person, note || '{literal}' AS t FROM TABLE) s");
        for level in 0..7 {
            from = format!("(SELECT person, t || t AS t FROM {from}) s{level}");
        }
        format!(
            "SELECT COUNT(*) AS n FROM (SELECT person, MAX(t) AS m FROM {from} GROUP BY person) q \
             WHERE m >= 'x'"
        )
    };
    let joined = |joins: usize| {
        let codes: String = (0..joins)
            .map(|join| format!(" CROSS JOIN codes c{join}"))
            .collect();
        format!("SELECT COUNT(*) AS n FROM TABLE v{codes} WHERE v.note = 'match'")
    };
    let read = "SELECT COUNT(*) AS n FROM TABLE WHERE note LIKE 'a%'".to_owned();
    let queries = [
        ("fewer", "more", grown(&literal)),
        ("fewer", "more", grown("x")),
        ("clean", "broken", read),
        ("absent", "present", joined(1)),
        ("absent", "present", joined(2)),
        ("absent", "present", joined(3)),
    ];
    for (without, with, sql) in queries {
        let [without, with] = [without, with].map(|table| {
            let sql = sql.replace("TABLE", table);
            outcome(address, &token, &sql)
        });
        assert_eq!(without, with, "{}", &sql[sql.len() - 60..]);
        // A failure after the charge is a fault, on either side.
        assert!(without.0 < 500, "{without:?}");
    }
    let simple = "SELECT COUNT(*) AS n FROM present";
    assert_eq!(outcome(address, &token, simple).0, 200);
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Visits in which one person's first note is this, and all others' notes are short. There
/// are 1,000 public words.
fn long_text(lab: &Lab, name: &str, note: &str) {
    let mut text = "person,note\n".to_owned();
    // Enough of others that one long text does not change the size class.
    for row in 0..2_000 {
        writeln!(text, "{},{:060}", row % 700, row).unwrap();
    }
    writeln!(text, "9999,{note}").unwrap();
    for _ in 0..3_000 {
        writeln!(text, "9999,y").unwrap();
    }
    let path = lab.folder.join(format!("{name}.csv"));
    std::fs::write(&path, text).unwrap();
    add_private(lab, name, &path);
}

/// A long text that a join repeats: computed texts, the greatest text of a unit, groups of
/// computed texts and patterns have the same outcome as with a short one.
#[test]
fn a_long_text_after_a_join_decides_nothing() {
    let lab = Lab::new("long_text");
    long_text(&lab, "short", "z");
    long_text(&lab, "long", &"z".repeat(60_000));
    let words: String = (0..1_000)
        .map(|word| format!("{},w{word}\n", word % 5))
        .collect();
    let path = lab.folder.join("words.csv");
    std::fs::write(&path, format!("k,name\n{words}")).unwrap();
    add(&lab, "words", &path, &["--public", "--type", "k=integer"]);
    let greatest = |text: &str| {
        let texts: Vec<String> = (0..30)
            .map(|place| format!("{text} || '{place:02}'"))
            .collect();
        format!("char_length(GREATEST({})) > 1", texts.join(", "))
    };
    let of_person = "FROM TABLE v CROSS JOIN words w WHERE v.person = 9999 AND";
    let by_person = "FROM TABLE v JOIN (SELECT person, MAX(note) AS m FROM TABLE GROUP BY person) \
                     g ON v.person = g.person WHERE";
    let grouped = "(SELECT v.person AS person, v.note || w.name AS t, COUNT(*) AS n FROM TABLE v \
                   CROSS JOIN words w GROUP BY v.person, v.note || w.name) q WHERE t > 'a'";
    let pattern = "z".repeat(900);
    let memory = ["--query-memory", "1GiB"];
    let queries = [
        (
            format!("{of_person} {}", greatest("v.note || w.name")),
            memory,
            true,
        ),
        (
            format!("{by_person} {}", greatest("g.m || v.note")),
            memory,
            true,
        ),
        (
            format!("{of_person} NULLIF(upper(v.note), w.name) > 'a'"),
            memory,
            true,
        ),
        (format!("FROM {grouped}"), memory, false),
        (
            format!("{of_person} (v.note || w.name) LIKE '%{pattern}y'"),
            ["--query-timeout", "30"],
            false,
        ),
    ];
    for (from, limit, answered) in queries {
        let sql = format!("SELECT COUNT(*) AS n {from}");
        let [short, long] = ["short", "long"].map(|table| {
            let sql = sql.replace("TABLE", table);
            let query = ["query", sql.as_str(), "--epsilon", "1e-6"];
            let run = lab.run(&[&query[..], &limit].concat());
            let code = run
                .stderr
                .split("MZ")
                .nth(1)
                .map(|code| code[..4].to_owned());
            (run.code, code)
        });
        let shown = &sql[..sql.len().min(200)];
        assert_eq!(short, long, "{shown}");
        // Beyond its limits (MZ1961, MZ1962) it would have been charged.
        let refused = [Some("1965".to_owned()), Some("1966".to_owned())];
        assert!(
            short.0 == 0 || (!answered && refused.contains(&short.1)),
            "{short:?} {shown}"
        );
    }
}
