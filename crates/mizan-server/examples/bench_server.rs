//! Load on loopback: 200 clients for 60 seconds, then it stops by itself.
//!
//!     cargo run --release -p mizan-server --example bench_server [SECONDS] [CLIENTS] [PAUSE_MS]
//!
//! A server in a process of its own, with a ledger on the disk of the target
//! directory. Each client sends a request, waits a random pause, and sends the next: quotes,
//! queries that were answered before, charges, reads, and the accountant; a quarter of the
//! quotes and of the events are new. Prints the durations of each kind, the errors, and the
//! memory of the server.
//!
//! The ledger has old charges, and the caches of the server are full before the clients
//! start: the memory of a fresh server says nothing about a long run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mizan_ledger::{Ledger, Location, Witnesses};
use mizan_server::identity::{Identity, NewToken, Role, Scope};
use mizan_server::limits::Limits;
use mizan_server::{Listen, serve};
use mizan_test_support::http::Client;
use serde_json::{Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("serve") {
        return serve_in(Path::new(&arguments.next().unwrap()));
    }
    let number =
        |text: Option<String>, usual: u64| text.map_or(usual, |text| text.parse().unwrap());
    let seconds = number(first, 60);
    let clients = number(arguments.next(), 200);
    let pause = number(arguments.next(), 500);
    let directory = tempfile::tempdir_in("target")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    common::furnish(directory.path());
    past(directory.path());
    let tokens: Vec<[String; 3]> = {
        let identity = Identity::open(&directory.path().join("mizan.tokens.db")).unwrap();
        let token = |role: Role, client: u64| {
            let new = NewToken {
                name: format!("{role}-{client}"),
                role,
                scope: Scope::default(),
                expires_ms: None,
            };
            identity.create(new).unwrap().1.reveal().to_owned()
        };
        (0..clients)
            .map(|client| {
                [Role::Analyst, Role::Runner, Role::Auditor].map(|role| token(role, client))
            })
            .collect()
    };
    let (mut server, address) = start(directory.path());
    warm(address, &tokens);
    let mut memories = vec![memory(&server)];
    let times: Mutex<BTreeMap<&str, Vec<Duration>>> = Mutex::default();
    let wrong: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let end = Instant::now() + Duration::from_secs(seconds);
    std::thread::scope(|scope| {
        for (client, tokens) in tokens.iter().enumerate() {
            let (times, wrong) = (&times, &wrong);
            scope.spawn(move || one(client as u64, address, tokens, end, pause, times, wrong));
        }
        for _ in 0..6 {
            std::thread::sleep(Duration::from_secs(seconds) / 6);
            memories.push(memory(&server));
        }
    });
    println!("{clients} clients, {seconds} s, pauses of {pause} ms on average\n");
    println!(
        "{:<16} {:>8} {:>9} {:>9} {:>9}",
        "kind", "answers", "p50 ms", "p99 ms", "most ms"
    );
    let mut total = 0;
    for (kind, mut times) in times.into_inner().unwrap() {
        times.sort();
        total += times.len();
        let at = |percent: usize| {
            let place = (times.len() - 1) * percent / 100;
            times[place].as_secs_f64() * 1e3
        };
        let (p50, p99, most) = (at(50), at(99), at(100));
        println!(
            "{kind:<16} {:>8} {p50:>9.2} {p99:>9.2} {most:>9.2}",
            times.len()
        );
    }
    println!("\n{:.0} answers a second", total as f64 / seconds as f64);
    println!("memory of the server, MB, from the start to the end: {memories:?}");
    let wrong = wrong.into_inner().unwrap();
    println!(
        "other than 200: {}",
        if wrong.is_empty() {
            "nothing".to_owned()
        } else {
            format!("{wrong:?}")
        }
    );
    // Stopped as by a supervisor; then the ledger is verified.
    Command::new("kill")
        .arg(server.id().to_string())
        .status()
        .unwrap();
    assert!(server.wait().unwrap().success());
    let ledger = Ledger::read(&Location::from(directory.path().join("mizan.db"))).unwrap();
    let witnesses = Witnesses {
        receipts: Vec::new(),
        checkpoints: Vec::new(),
        public_key: None,
    };
    let report = ledger.verify(&witnesses, |_, _| ()).unwrap();
    println!(
        "verified: {} entries, {} charges, none beyond its budget",
        report.head.size, report.charges
    );
}

fn serve_in(directory: &Path) {
    let limits = Limits {
        rate: 100.0,
        burst: 200.0,
        ..Limits::default()
    };
    let listen = Listen {
        address: SocketAddr::from(([127, 0, 0, 1], 0)),
        tls: None,
    };
    serve(&listen, common::options(directory, limits), |address| {
        println!("{address}")
    })
    .unwrap();
}

fn start(directory: &Path) -> (Child, SocketAddr) {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["serve".as_ref(), directory.as_os_str()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    (server, line.trim().parse().unwrap())
}

/// The resident memory of the server, in megabytes.
fn memory(server: &Child) -> u64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap_or("");
    let kilobytes: u64 = line
        .split_whitespace()
        .nth(1)
        .map_or(0, |n| n.parse().unwrap());
    kilobytes / 1024
}

const QUESTIONS: [&str; 5] = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT AVG(cost) AS mean FROM visits",
    "SELECT ward, SUM(cost) AS total FROM visits WHERE cost > 10 GROUP BY ward",
    "SELECT COUNT(*) AS n, SUM(cost) AS total FROM visits WHERE ward = 'north'",
];

const EVENTS: [&str; 4] = [
    "100 * gaussian(10)",
    "100 * (rr(0.52) + laplace(20) + gaussian(10))",
    "10000 * poisson(0.01, gaussian(1.1))",
    "1000 * rr(0.6)",
];

fn question(place: u64) -> Value {
    let sql = QUESTIONS[(place % 5) as usize];
    json!({"sql": sql, "epsilon": 0.05 * (1 + place % 7) as f64})
}

/// A new query: its quote is not cached.
fn new_question(place: u64) -> Value {
    let (over, below) = (place % 90, place / 90 % 1_000_003);
    let sql =
        format!("SELECT ward, COUNT(*) AS n FROM visits WHERE cost > {over}.{below} GROUP BY ward");
    json!({"sql": sql, "epsilon": 0.05 * (1 + place % 7) as f64})
}

/// A new event.
fn new_event(place: u64) -> String {
    let part = place % 1_000_003;
    match place % 3 {
        0 => format!("100 * gaussian(10.{part})"),
        1 => format!("100 * (rr(0.52) + laplace(20.{part}) + gaussian(10))"),
        _ => format!("10000 * poisson(0.01, gaussian(1.{part}))"),
    }
}

/// Charges of earlier days: more than a ledger keeps in memory.
fn past(directory: &Path) {
    let location = Location::from(directory.join("mizan.db"));
    let ledger = Ledger::open(&location, &directory.join("state")).unwrap();
    let accounts = ledger.accounts().unwrap();
    let visits = accounts
        .iter()
        .find(|view| view.account.name().as_str() == "visits");
    let visits = visits.unwrap().account.number();
    let event = "gaussian(3000)".parse().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..CROWD {
            scope.spawn(|| {
                for _ in 0..CHARGES / CROWD {
                    ledger.spend(None, visits, &event).unwrap();
                }
            });
        }
    });
    ledger.close().unwrap();
}

/// How many charges are of earlier days, and how many threads make the past.
const CHARGES: u64 = 40_000;
const CROWD: u64 = 100;

/// What fills the caches: more new queries and events than the server caches, and charges
/// until it has as much of the ledger in memory as it keeps.
const NEW: usize = 3000;
const CHARGED: usize = 15_000;

/// Sends the requests that are repeated later, and enough others to fill the caches.
fn warm(address: SocketAddr, tokens: &[[String; 3]]) {
    let mut client = Client::new(address, Some(&tokens[0][0]));
    for place in 0..35 {
        let answer = client.post("/api/v1/queries", &question(place));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let crowd = tokens.len();
    std::thread::scope(|scope| {
        for (from, tokens) in (0..crowd).zip(tokens) {
            scope.spawn(move || {
                let [mut analyst, mut runner, mut auditor] = tokens
                    .each_ref()
                    .map(|token| Client::new(address, Some(token)));
                // The rate limiter says when to retry.
                let patiently = |mut ask: Box<dyn FnMut() -> u16 + '_>| {
                    while ask() != 200 {
                        std::thread::sleep(Duration::from_millis(50));
                    }
                };
                for place in (from..NEW).step_by(crowd) {
                    // Different from the requests of the clients.
                    let place = u64::MAX / 2 - place as u64 * 97;
                    let (question, event) = (new_question(place), about(&new_event(place)));
                    patiently(Box::new(|| {
                        analyst.post("/api/v1/quotes", &question).status
                    }));
                    patiently(Box::new(|| auditor.post("/api/v1/account", &event).status));
                }
                for place in (from..CHARGED).step_by(crowd) {
                    let key = format!("warm-{place}");
                    patiently(Box::new(|| {
                        runner
                            .post_with_key("/api/v1/spends", &key, &charge())
                            .status
                    }));
                }
            });
        }
    });
}

fn charge() -> Value {
    json!({"account": "visits", "event": "gaussian(3000)"})
}

fn about(event: &str) -> Value {
    json!({"expression": event, "delta": 1e-6, "method": "renyi"})
}

fn one(
    client: u64,
    address: SocketAddr,
    tokens: &[String; 3],
    end: Instant,
    pause: u64,
    times: &Mutex<BTreeMap<&'static str, Vec<Duration>>>,
    wrong: &Mutex<BTreeMap<String, u64>>,
) {
    let mut seed = client.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed >> 11
    };
    let mut clients = tokens
        .each_ref()
        .map(|token| Client::new(address, Some(token)));
    let mut turn = 0;
    std::thread::sleep(Duration::from_millis(random() % (pause + 1)));
    while Instant::now() < end {
        turn += 1;
        let place = random();
        let key = format!("{client:016x}{turn:016x}");
        let key = [("Idempotency-Key", key.as_str())];
        let [analyst, runner, auditor] = &mut clients;
        let begun = Instant::now();
        let (kind, answer) = match random() % 20 {
            0..6 => (
                "quote",
                analyst.send("POST", "/api/v1/quotes", &[], Some(&question(place))),
            ),
            6..8 => (
                "quote, new",
                analyst.send("POST", "/api/v1/quotes", &[], Some(&new_question(place))),
            ),
            8..12 => (
                "answered",
                analyst.send("POST", "/api/v1/queries", &[], Some(&question(place))),
            ),
            12..16 => (
                "spend",
                runner.send("POST", "/api/v1/spends", &key, Some(&charge())),
            ),
            16 => ("budgets", auditor.send("GET", "/api/v1/budgets", &[], None)),
            17 => (
                "log",
                auditor.send("GET", "/api/v1/ledger/log?last=20", &[], None),
            ),
            18 => (
                "datasets",
                analyst.send("GET", "/api/v1/datasets", &[], None),
            ),
            _ => {
                let (kind, event) = match turn % 4 {
                    0 => ("accountant, new", new_event(place)),
                    _ => ("accountant", EVENTS[(place % 4) as usize].to_owned()),
                };
                (
                    kind,
                    auditor.send("POST", "/api/v1/account", &[], Some(&about(&event))),
                )
            }
        };
        let took = begun.elapsed();
        match answer {
            Ok(answer) if answer.status == 200 => {
                times.lock().unwrap().entry(kind).or_default().push(took);
            }
            Ok(answer) => {
                let code = answer.json()["code"].as_str().unwrap_or("").to_owned();
                *wrong
                    .lock()
                    .unwrap()
                    .entry(format!("{kind} {} {code}", answer.status))
                    .or_default() += 1;
            }
            Err(error) => {
                *wrong
                    .lock()
                    .unwrap()
                    .entry(format!("{kind} {error}"))
                    .or_default() += 1;
            }
        }
        std::thread::sleep(Duration::from_millis(random() % (2 * pause + 1)));
    }
}
