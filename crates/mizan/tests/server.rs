//! The server as people start it: tokens, a question, a signal, and kill -9 under
//! load.

#[path = "../../mizan-server/tests/common/client.rs"]
#[allow(dead_code, reason = "each test uses its own part")]
mod client;
mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command};
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use client::Client;
use common::lab::Lab;
use serde_json::{Value, json};

/// A ledger, a dataset and tokens, made by the program.
fn furnished(name: &str) -> Lab {
    let lab = Lab::new(name);
    let mut rows = "person,ward\n".to_owned();
    for person in 0..200 {
        rows.push_str(&format!("{person},{}\n", person % 3));
    }
    let file = lab.folder.join("visits.csv");
    std::fs::write(&file, rows).unwrap();
    lab.run(&[
        "dataset",
        "add",
        "visits",
        "--from",
        file.to_str().unwrap(),
        "--unit",
        "person",
        "--epsilon",
        "20",
        "--delta",
        "1e-6",
        "--max-rows-per-unit",
        "1",
        "--max-groups-per-unit",
        "1",
        "--type",
        "person=integer",
        "--type",
        "ward=integer",
    ])
    .done();
    lab
}

fn token(lab: &Lab, name: &str, rest: &[&str]) -> String {
    let tokens = lab.folder.join("tokens.db");
    let made = lab.run(
        &[
            &[
                "token",
                "create",
                name,
                "--tokens",
                tokens.to_str().unwrap(),
                "--format",
                "json",
            ],
            rest,
        ]
        .concat(),
    );
    assert_eq!(made.code, 0, "{}", made.stderr);
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    made["token"].as_str().unwrap().to_owned()
}

fn start(lab: &Lab) -> (Child, SocketAddr) {
    let tokens = lab.folder.join("tokens.db");
    let mut server = lab.start(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--rate",
        "100000",
        "--tokens",
        tokens.to_str().unwrap(),
        "--format",
        "json",
    ]);
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    let mut said = String::new();
    // The line is pretty: it ends with the brace.
    while !said.ends_with("}\n") {
        if stdout.read_line(&mut said).unwrap() == 0 {
            let stderr = std::io::read_to_string(server.stderr.take().unwrap()).unwrap();
            panic!("the server did not start: {stderr}");
        }
    }
    let said: Value = serde_json::from_str(&said).unwrap();
    (server, said["address"].as_str().unwrap().parse().unwrap())
}

#[test]
fn a_server_is_started_asked_and_stopped() {
    let lab = furnished("server_story");
    let analyst = token(&lab, "amina", &["--role", "analyst", "--dataset", "visits"]);
    let (mut server, address) = start(&lab);
    let mut client = Client::new(address, Some(&analyst));
    let question = json!({"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1});
    let answer = client.post("/api/v1/queries", &question);
    assert_eq!(answer.status, 200, "{}", answer.text());
    // The command line finds what the server was asked, at the same time.
    let again = lab.run(&[
        "query",
        question["sql"].as_str().unwrap(),
        "--epsilon",
        "1",
        "--format",
        "json",
    ]);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(
        (&again["repeated"], &again["rows"]),
        (&true.into(), &answer.json()["rows"])
    );
    // A token that is revoked by the command line is good for nothing.
    let tokens = lab.folder.join("tokens.db");
    let listed = lab.run(&[
        "token",
        "list",
        "--tokens",
        tokens.to_str().unwrap(),
        "--format",
        "json",
    ]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let id = listed["tokens"][0]["id"].as_str().unwrap();
    assert!(!listed.to_string().contains(&analyst));
    lab.run(&["token", "revoke", id, "--tokens", tokens.to_str().unwrap()])
        .done();
    assert_eq!(client.post("/api/v1/quotes", &question).status, 401);
    Command::new("kill")
        .arg(server.id().to_string())
        .status()
        .unwrap();
    assert!(server.wait().unwrap().success());
    // Beyond this machine there is no serving without TLS.
    let refused = lab.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("MZ2040"), "{}", refused.stderr);
}

/// So many times the server is killed: more if there is time.
fn kills() -> usize {
    match std::env::var("PROPTEST_CASES").map(|cases| cases.parse::<u32>()) {
        Ok(Ok(cases)) if cases > 1000 => 10,
        _ => 2,
    }
}

/// Asks until there is an answer: whoever is not answered asks again with the same
/// key.
fn insist(
    address: &RwLock<SocketAddr>,
    token: &str,
    path: &str,
    key: &str,
    body: &Value,
) -> (u16, Value) {
    loop {
        let place = *address.read().unwrap();
        let mut client = Client::new(place, Some(token));
        let sent = client.send("POST", path, &[("Idempotency-Key", key)], Some(body));
        match sent {
            Ok(answer) if matches!(answer.status, 200 | 409) => {
                return (answer.status, answer.json());
            }
            Ok(answer) => assert!(matches!(answer.status, 429 | 503), "{}", answer.text()),
            Err(_) => {}
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn killed_under_load_every_key_has_one_answer_and_one_charge() {
    const CLIENTS: usize = 8;
    let lab = furnished("server_killed");
    let analyst = token(&lab, "amina", &["--role", "analyst", "--dataset", "visits"]);
    let runner = token(
        &lab,
        "training",
        &["--role", "runner", "--account", "census"],
    );
    let (server, place) = start(&lab);
    let address = RwLock::new(place);
    let (done, enough) = (AtomicUsize::new(0), AtomicBool::new(false));
    let spend = json!({"account": "census", "event": "gaussian(400)"});
    let question = json!({"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.05});
    let kept: Vec<BTreeMap<String, (u16, Value)>> = std::thread::scope(|scope| {
        let client = |number: usize| {
            let (address, done, enough) = (&address, &done, &enough);
            let (analyst, runner, spend, question) = (&analyst, &runner, &spend, &question);
            move || {
                let mut kept = BTreeMap::new();
                let mut turn = 0;
                while !enough.load(Ordering::Relaxed) {
                    turn += 1;
                    let key = format!("{number:016x}{turn:016x}");
                    let (token, path, body) = match turn % 5 {
                        0 => (analyst, "/api/v1/queries", question),
                        _ => (runner, "/api/v1/spends", spend),
                    };
                    let answer = insist(address, token, path, &key, body);
                    kept.insert(key, answer);
                    done.fetch_add(1, Ordering::Relaxed);
                }
                kept
            }
        };
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| scope.spawn(client(number)))
            .collect();
        let mut server = server;
        for kill in 1..=kills() {
            while done.load(Ordering::Relaxed) < 40 * kill {
                std::thread::sleep(Duration::from_millis(5));
            }
            server.kill().unwrap();
            server.wait().unwrap();
            let (again, place) = start(&lab);
            server = again;
            *address.write().unwrap() = place;
        }
        while done.load(Ordering::Relaxed) < 40 * (kills() + 1) {
            std::thread::sleep(Duration::from_millis(5));
        }
        enough.store(true, Ordering::Relaxed);
        let kept = clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect();
        // Every key has for ever the answer that was told first.
        let kept: Vec<BTreeMap<String, (u16, Value)>> = kept;
        for (key, (status, first)) in kept.iter().flatten() {
            let question_key = first.get("rows").is_some();
            let (token, path, body) = match question_key {
                true => (&analyst, "/api/v1/queries", &question),
                false => (&runner, "/api/v1/spends", &spend),
            };
            let (again, told) = insist(&address, token, path, key, body);
            assert_eq!(
                (again, &told["id"], &told["rows"]),
                (*status, &first["id"], &first["rows"])
            );
        }
        Command::new("kill")
            .arg(server.id().to_string())
            .status()
            .unwrap();
        assert!(server.wait().unwrap().success());
        kept
    });
    let verified = lab.run(&["ledger", "verify", "--format", "json"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
    // One charge for each key that was accepted, none for those refused, and none
    // for anything else.
    let all = || kept.iter().flatten();
    let accepted = all().filter(|(_, (status, _))| *status == 200).count();
    assert_eq!(verified["charges"], accepted, "{verified}");
    assert_eq!(verified["committed"], accepted, "{verified}");
    assert_eq!(verified["denied"], all().count() - accepted, "{verified}");
    let receipts: Vec<&str> = all()
        .map(|(_, (_, told))| told["receipt"].as_str().unwrap())
        .collect();
    let mut arguments = vec!["ledger", "verify"];
    for receipt in &receipts {
        arguments.extend(["--receipt", receipt]);
    }
    lab.run(&arguments).done();
}
