//! `mizan serve` as a process: tokens, a query, SIGTERM, and kill -9 under load.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::lab::Lab;
use mizan_test_support::http::Client;
use mizan_test_support::long_run;
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

fn start(lab: &Lab, listen: &str) -> (Child, SocketAddr) {
    let tokens = lab.folder.join("tokens.db");
    let mut server = lab.start(&[
        "serve",
        "--listen",
        listen,
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
fn a_server_is_started_queried_and_stopped() {
    let lab = furnished("server_story");
    let analyst = token(&lab, "amina", &["--role", "analyst", "--dataset", "visits"]);
    let (mut server, address) = start(&lab, "127.0.0.1:0");
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

/// Joins that would make 10^8 or 10^12 rows of one private row are refused before the
/// charge, whether or not a row matches, and the server goes on.
#[test]
fn a_server_outlives_joins_that_multiply() {
    let lab = furnished("server_fan_out");
    let mut rows = "k,label\n".to_owned();
    for key in 0..10_000 {
        rows.push_str(&format!("{key},{}\n", key % 7));
    }
    let file = lab.folder.join("labels.csv");
    std::fs::write(&file, rows).unwrap();
    let from = file.to_str().unwrap();
    let types = ["--type", "k=integer", "--type", "label=integer"];
    let add = ["dataset", "add", "labels", "--from", from, "--public"];
    let run = lab.run(&[&add, types.as_slice()].concat());
    assert_eq!(run.code, 0, "{run:?}");
    let analyst = token(&lab, "amina", &["--role", "analyst", "--all-datasets"]);
    let (mut server, address) = start(&lab, "127.0.0.1:0");
    let mut client = Client::new(address, Some(&analyst));
    let before = client.get("/api/v1/budgets/visits").json()["spent"].clone();
    let mut told = Vec::new();
    // Ward 2 has people, ward 7 has none.
    for ward in [2, 7] {
        for joins in 2..=3 {
            let joins =
                ["a", "b", "c"].map(|name| format!("CROSS JOIN labels {name} "))[..joins].concat();
            let sql = format!("SELECT COUNT(*) AS n FROM visits v {joins}WHERE v.ward = {ward}");
            let question = json!({"sql": sql, "epsilon": 1e-6});
            for path in ["/api/v1/quotes", "/api/v1/queries"] {
                let refused = client.post(path, &question);
                assert_eq!(refused.status, 422, "{sql}: {}", refused.text());
                let refused = refused.json();
                assert_eq!(refused["code"], "MZ1940", "{sql}");
                told.push((ward, refused["detail"].clone()));
            }
        }
    }
    let of = |ward: i32| -> Vec<&Value> {
        let told = told.iter().filter(|(of, _)| *of == ward);
        told.map(|(_, detail)| detail).collect()
    };
    assert_eq!(of(2), of(7));
    assert_eq!(client.get("/api/v1/budgets/visits").json()["spent"], before);
    let sql = "SELECT COUNT(*) AS n FROM visits v JOIN labels l ON v.person = l.k";
    let answer = client.post("/api/v1/queries", &json!({"sql": sql, "epsilon": 1}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    Command::new("kill")
        .arg(server.id().to_string())
        .status()
        .unwrap();
    assert!(server.wait().unwrap().success());
}

/// How hard the server is tried: the whole load if there is time.
struct Trial {
    clients: usize,
    kills: usize,
    /// Between kills, at least.
    calm: Duration,
}

impl Trial {
    fn new() -> Self {
        if long_run() {
            Self {
                clients: 200,
                kills: 10,
                calm: Duration::from_secs(4),
            }
        } else {
            Self {
                clients: 16,
                kills: 3,
                calm: Duration::from_millis(200),
            }
        }
    }
}

/// What a client does, by turns: charges, one that no budget holds, a question with
/// fresh noise; and in between what costs nothing.
#[derive(Clone, Copy)]
enum Act {
    Charge,
    TooMuch,
    Question,
    Quote,
    Answered,
    Read,
}

impl Act {
    const TURNS: [Self; 8] = [
        Self::Charge,
        Self::Quote,
        Self::Question,
        Self::Answered,
        Self::Charge,
        Self::Quote,
        Self::TooMuch,
        Self::Read,
    ];

    /// Where it is asked and with what; what is paid for has a key.
    fn request(self) -> (&'static str, Value) {
        let sql = "SELECT COUNT(*) AS n FROM visits";
        match self {
            Self::Charge => (
                "/api/v1/spends",
                json!({"account": "census", "event": "gaussian(4000)"}),
            ),
            Self::TooMuch => (
                "/api/v1/spends",
                json!({"account": "census", "event": "gaussian(0.01)"}),
            ),
            Self::Question => ("/api/v1/queries", json!({"sql": sql, "epsilon": 0.001})),
            Self::Quote => ("/api/v1/quotes", json!({"sql": sql, "epsilon": 0.01})),
            Self::Answered => ("/api/v1/queries", json!({"sql": sql, "epsilon": 0.01})),
            Self::Read => ("/api/v1/budgets", Value::Null),
        }
    }

    const fn is_kept(self) -> bool {
        matches!(self, Self::Charge | Self::TooMuch | Self::Question)
    }
}

/// Asks until there is an answer: a client without a response retries with the same
/// key.
fn insist(client: &mut Client, act: Act, key: &str) -> (u16, Value) {
    let (path, body) = act.request();
    let key = [("Idempotency-Key", key)];
    let (method, headers, body) = match act {
        Act::Read => ("GET", &[][..], None),
        act if act.is_kept() => ("POST", &key[..], Some(&body)),
        _ => ("POST", &[][..], Some(&body)),
    };
    loop {
        match client.send(method, path, headers, body) {
            Ok(answer) if matches!(answer.status, 200 | 409) => {
                return (answer.status, answer.json());
            }
            Ok(answer) => assert!(matches!(answer.status, 429 | 503), "{}", answer.text()),
            // Killed; it will be back.
            Err(_) => {}
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The keys of one client, what they stood for and what was told first.
type Kept = BTreeMap<String, (usize, u16, Value)>;

/// I1 to I8 of the ledger's promises, seen from outside.
#[test]
fn killed_under_load_every_key_has_one_answer_and_one_charge() {
    let trial = Trial::new();
    let lab = furnished("server_killed");
    // A token is for eight clients: none asks more at once than it may.
    let pairs: Vec<(String, String)> = (0..trial.clients.div_ceil(8))
        .map(|_| {
            let analyst = ["--role", "analyst", "--dataset", "visits"];
            let runner = ["--role", "runner", "--account", "census"];
            (
                token(&lab, "amina", &analyst),
                token(&lab, "training", &runner),
            )
        })
        .collect();
    let (mut server, address) = start(&lab, "127.0.0.1:0");
    let clients = |number: usize| {
        let (analyst, runner) = &pairs[number / 8];
        let of = |token: &str| Client::new(address, Some(token));
        (of(analyst), of(runner))
    };
    let act = |(analyst, runner): &mut (Client, Client), turn: usize, key: &str| {
        let act = Act::TURNS[turn % Act::TURNS.len()];
        let client = match act {
            Act::Charge | Act::TooMuch => runner,
            _ => analyst,
        };
        insist(client, act, key)
    };
    let (done, enough) = (AtomicUsize::new(0), AtomicBool::new(false));
    let kept: Vec<Kept> = std::thread::scope(|scope| {
        let one = |number: usize| {
            let (done, enough, clients) = (&done, &enough, &clients);
            move || {
                let (mut clients, mut kept) = (clients(number), Kept::new());
                let mut turn = number;
                while !enough.load(Ordering::Relaxed) {
                    turn += 1;
                    let key = format!("{number:016x}{turn:016x}");
                    let (status, told) = act(&mut clients, turn, &key);
                    if Act::TURNS[turn % Act::TURNS.len()].is_kept() {
                        kept.insert(key, (turn, status, told));
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(5));
                }
                kept
            }
        };
        let all: Vec<_> = (0..trial.clients)
            .map(|number| scope.spawn(one(number)))
            .collect();
        for kill in 0..=trial.kills {
            let (begun, before) = (Instant::now(), done.load(Ordering::Relaxed));
            // All clients have open requests again.
            while done.load(Ordering::Relaxed) < before + 3 * trial.clients
                || begun.elapsed() < trial.calm
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            if kill < trial.kills {
                server.kill().unwrap();
                server.wait().unwrap();
                server = start(&lab, &address.to_string()).0;
            }
        }
        enough.store(true, Ordering::Relaxed);
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    // Every key keeps its first outcome forever: an answer or a refusal.
    let all = || kept.iter().flatten();
    let mut again = clients(0);
    for (key, (turn, status, first)) in all() {
        let (now, told) = act(&mut again, *turn, key);
        assert_eq!(
            (now, &told["id"], &told["rows"]),
            (*status, &first["id"], &first["rows"])
        );
    }
    Command::new("kill")
        .arg(server.id().to_string())
        .status()
        .unwrap();
    assert!(server.wait().unwrap().success());
    // The tree, the totals and the filter from the log alone, and every receipt.
    let receipts = all().map(|(_, (_, _, told))| told["receipt"].as_str().unwrap());
    let receipts: Vec<&str> = receipts.collect();
    let mut verified = Value::Null;
    for some in receipts.chunks(2000) {
        let mut arguments = vec!["ledger", "verify", "--format", "json"];
        arguments.extend(some.iter().flat_map(|receipt| ["--receipt", receipt]));
        let run = lab.run(&arguments);
        assert_eq!(run.code, 0, "{}", run.stderr);
        verified = serde_json::from_str(&run.stdout).unwrap();
    }
    // One charge for each key that was accepted, one for the question without a key,
    // none for those refused, and none for anything else.
    let accepted = all().filter(|(_, (_, status, _))| *status == 200).count();
    let refused = all().count() - accepted;
    assert!(
        accepted > trial.clients && refused > 0,
        "{accepted} {refused}"
    );
    assert_eq!(verified["charges"], accepted + 1, "{verified}");
    assert_eq!(verified["committed"], accepted + 1, "{verified}");
    assert_eq!(verified["denied"], refused, "{verified}");
    println!(
        "{accepted} charges, {refused} refusals, {} kills",
        trial.kills
    );
}

/// A disk that fills up: from some write on, all fail. No client is told of a charge that
/// is not durable, the server says so, and when there is room again every key has its
/// one answer.
#[test]
fn a_full_disk_loses_no_reported_charge() {
    let lab = furnished("server_full");
    let runner = ["--role", "runner", "--account", "census"];
    let runner = token(&lab, "training", &runner);
    let inject = "inject=pwrite64:error=ENOSPC:when=200+";
    let full = Lab {
        folder: lab.folder.clone(),
        shared: None,
        within: [
            "strace",
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=pwrite64",
            "-e",
            inject,
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    let (mut strace, address) = start(&full, "127.0.0.1:0");
    let mut client = Client::new(address, Some(&runner));
    let spend = Act::Charge.request().1;
    let mut told = Vec::new();
    let mut asked = 0;
    let failed = loop {
        asked += 1;
        assert!(asked < 2000, "the disk never filled up");
        let key = format!("full-{asked}");
        let answer = client.send(
            "POST",
            "/api/v1/spends",
            &[("Idempotency-Key", &key)],
            Some(&spend),
        );
        match answer {
            Ok(answer) if answer.status == 200 => {
                told.push((key, answer.json()["id"].as_str().unwrap().to_owned()));
            }
            Ok(answer) => {
                assert!(matches!(answer.status, 500 | 503), "{}", answer.text());
                let code = answer.json()["code"].as_str().unwrap().to_owned();
                // MZ2032: the first write that fails is that of the token file, before the charge.
                assert!(
                    matches!(code.as_str(), "MZ1760" | "MZ1766" | "MZ1774" | "MZ2032"),
                    "{code}"
                );
                // Where files are is not told.
                assert!(!answer.text().contains(lab.folder.to_str().unwrap()));
                break key;
            }
            // It may stop before it could say so.
            Err(_) => break key,
        }
    };
    assert!(!told.is_empty());
    let _ = strace.kill();
    strace.wait().unwrap();
    // There is room again.
    let (mut server, address) = start(&lab, "127.0.0.1:0");
    let mut client = Client::new(address, Some(&runner));
    let mut again = |key: &str| {
        let answer = client.post_with_key("/api/v1/spends", key, &spend);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    };
    for (key, id) in &told {
        assert_eq!(&again(key), id);
    }
    again(&failed);
    Command::new("kill")
        .arg(server.id().to_string())
        .status()
        .unwrap();
    assert!(server.wait().unwrap().success());
    let verified = lab.run(&["ledger", "verify", "--format", "json"]);
    let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(verified["charges"], told.len() + 1, "{verified}");
}
