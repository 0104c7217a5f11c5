//! Worker processes of queries: killed, stopped, short of memory, with invalid input.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::common::lab::Lab;
use crate::common::run_with;
use crate::common::visits;
use mizan_test_support::http::Client;
use serde_json::{Value, json};

const SQL: &str = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY city";

/// Enough visits that a worker is met while it runs.
fn many_visits() -> String {
    let mut csv = String::from("person,city,age,paid\n");
    for row in 0..400_000 {
        let city = if row % 4 == 0 { "Aswan" } else { "Cairo" };
        writeln!(csv, "{},{city},{},{}", row % 50_000, row % 90, row % 50).unwrap();
    }
    csv
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill")
        .args([name, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// The worker of a program, once there is one; None if the program ended before.
fn worker_of(program: &mut Child) -> Option<u32> {
    let parent = format!("PPid:\t{}\n", program.id());
    loop {
        for entry in std::fs::read_dir("/proc").unwrap() {
            let path = entry.unwrap().path();
            let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
            let words = std::fs::read(path.join("cmdline")).unwrap_or_default();
            if status.contains(&parent) && words.ends_with(b"\0run-plan\0") {
                let name = path.file_name().unwrap().to_str().unwrap();
                return name.parse().ok();
            }
        }
        if program.try_wait().unwrap().is_some() {
            return None;
        }
    }
}

/// Starts a query until its worker is stopped in the middle.
fn stopped(lab: &Lab, options: &[&str]) -> (Child, u32, String) {
    for round in 0..50 {
        let id = format!("round {round}");
        let query = ["query", SQL, "--epsilon", "0.02", "--id", &id];
        let mut child = lab.start(&[&query[..], options].concat());
        let Some(worker) = worker_of(&mut child) else {
            continue;
        };
        let sent = Command::new("kill")
            .args(["-STOP", &worker.to_string()])
            .stderr(std::process::Stdio::null())
            .status();
        if sent.unwrap().success() && child.try_wait().unwrap().is_none() {
            return (child, worker, id);
        }
        child.wait().unwrap();
    }
    panic!("no worker was met");
}

fn ended(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn unanswered(lab: &Lab) -> u64 {
    let shown = lab.json(&["budget", "show", "visits"]);
    shown["unanswered"]["count"].as_u64().unwrap()
}

/// A worker that is killed is an error after the charge, which is counted; asking again
/// continues at no cost. A worker that hangs is ended at its deadline.
#[test]
fn a_worker_that_is_killed_or_hangs_is_an_error_after_the_charge() {
    let mut lab = visits::lab("workers-killed", &many_visits());
    lab.within = vec!["env".into(), "PGPASSWORD=a secret of the parent".into()];
    let cases: [(&[&str], &str); 2] = [(&[], "MZ1961"), (&["--query-timeout", "2"], "MZ1962")];
    for (options, code) in cases {
        let (child, worker, id) = stopped(&lab, options);
        let environment = std::fs::read(format!("/proc/{worker}/environ")).unwrap();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(!environment.contains("secret"), "{environment}");
        let limits = std::fs::read_to_string(format!("/proc/{worker}/limits")).unwrap();
        assert!(limits.contains("Max core file size"), "{limits}");
        if code == "MZ1961" {
            signal("-KILL", worker);
        }
        let (status, words) = ended(child);
        assert_eq!(status, Some(2), "{words}");
        assert!(words.contains(&format!("error[{code}]")), "{words}");
        assert!(words.contains("continue at no cost"), "{words}");
        assert_eq!(unanswered(&lab), 1);
        let shown = lab.run(&["budget", "show", "visits"]);
        assert!(
            shown
                .stdout
                .contains("failed after their charge, or run now: 1 ")
        );
        assert!(shown.stdout.contains("mizan budget settle visits"));
        let size = lab.size();
        let again = lab.json(&["query", SQL, "--epsilon", "0.02", "--id", &id]);
        assert_eq!(again["rows"].as_array().unwrap().len(), 2);
        // Its commit is all that is new. It counts as a failure until it is settled.
        assert_eq!((unanswered(&lab), lab.size()), (1, size + 1));
        let shown = lab.run(&["budget", "show", "visits"]);
        assert!(shown.stdout.contains("answered later"), "{}", shown.stdout);
        let settled = lab.json(&["budget", "settle", "visits"]);
        assert_eq!(settled["settled"][0]["answered"], true);
        assert_eq!((unanswered(&lab), lab.size()), (0, size + 1));
    }
    lab.run(&["ledger", "verify"]).done();
}

/// A worker ends with its parent, whatever ends that.
#[test]
fn a_worker_ends_with_its_parent() {
    let lab = visits::lab("workers-orphan", &many_visits());
    let (mut child, worker, _) = stopped(&lab, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    signal("-CONT", worker);
    let begun = Instant::now();
    while std::fs::read(format!("/proc/{worker}/cmdline")).is_ok_and(|words| !words.is_empty()) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What is not exactly a request of this program ends with 2, without a word.
#[test]
fn invalid_input_of_a_worker_is_a_silent_error() {
    let mut header = b"mizan run-plan 1".to_vec();
    header.extend(u64::MAX.to_le_bytes());
    header.extend([0; 32]);
    let mut random = 1_u64;
    let noise: Vec<u8> = (0..200_000)
        .map(|_| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            random.to_be_bytes()[0]
        })
        .collect();
    let mut small = header.clone();
    small[16..24].copy_from_slice(&100_000_u64.to_le_bytes());
    small.extend(&noise);
    let inputs = [
        b"".as_slice(),
        b"{}",
        &header[..30],
        &header,
        &small,
        &noise,
    ];
    for input in inputs {
        let run = run_with(&["run-plan"], input);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert_eq!(run.stderr, "");
    }
    // It is not a command for people.
    assert!(!run_with(&["--help"], b"").stdout.contains("run-plan"));
    assert_eq!(run_with(&["run-plan", "x"], b"").code, 2);
}

/// Limits that cannot be read are an error before anything is charged.
#[test]
fn limits_are_checked() {
    let lab = visits::lab("workers-limits", &visits::people());
    let size = lab.size();
    for (option, value) in [
        ("--query-memory", "4GB"),
        ("--query-memory", "1MiB"),
        ("--query-memory", "-1GiB"),
        ("--query-memory", "-1"),
        ("--query-timeout", "0"),
        ("--query-timeout", "-5"),
        ("--query-timeout", "31622401"),
        ("--query-timeout", "soon"),
    ] {
        let given = format!("{option}={value}");
        lab.fails(&["query", SQL, &given], "MZ0010");
    }
    assert_eq!(lab.size(), size);
    lab.fails(&["query", SQL, "--query-timeout", "-5"], "MZ0010");
    let why = ["quote", SQL, "--why", "--query-memory", "2gib"];
    let quote = lab.run(&why).done();
    assert!(
        quote.contains("at most 2 GiB of memory and 600 s"),
        "{quote}"
    );
}

/// A server over a lab.
struct Server<'a> {
    lab: &'a Lab,
    tokens: String,
    child: Child,
    address: SocketAddr,
}

impl<'a> Server<'a> {
    fn start(lab: &'a Lab, memory: &str) -> Self {
        let tokens = lab.folder.join("tokens.db").to_str().unwrap().to_owned();
        let serve = ["serve", "--listen", "127.0.0.1:0", "--query-memory", memory];
        let rest = ["--tokens", &tokens, "--format", "json"];
        let mut child = lab.start(&[&serve[..], &rest].concat());
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.ends_with("}\n") {
            assert_ne!(stdout.read_line(&mut said).unwrap(), 0, "{said}");
        }
        let said: Value = serde_json::from_str(&said).unwrap();
        let address = said["address"].as_str().unwrap().parse().unwrap();
        Self {
            lab,
            tokens,
            child,
            address,
        }
    }

    /// A client with a token of its own.
    fn client(&self, name: &str) -> Client {
        let create = ["token", "create", name, "--role", "owner", "--tokens"];
        let made = self.lab.json(&[&create[..], &[&self.tokens]].concat());
        Client::new(self.address, made["token"].as_str())
    }

    fn stop(&mut self) {
        signal("-TERM", self.child.id());
        assert!(self.child.wait().unwrap().success());
    }
}

/// A query that may need more memory than it may have is refused before the charge, by a
/// quote too. A worker that is killed is an error, and the server answers the next query.
#[test]
fn a_server_refuses_what_may_not_fit_and_outlives_its_workers() {
    let mut csv = String::from("person,note,age\n");
    let long = "x".repeat(200);
    for row in 0..500_000 {
        writeln!(csv, "{row},{long}{row},{}", row % 90).unwrap();
    }
    let lab = Lab::empty("workers-memory");
    lab.run(&["init"]).done();
    let path = lab.folder.join("visits.csv");
    std::fs::write(&path, csv).unwrap();
    let path = path.to_str().unwrap();
    let add = ["dataset", "add", "visits", "--from", path, "--unit"];
    let budget = ["person", "--epsilon", "4", "--delta", "1e-6"];
    let limits = ["--max-rows-per-unit", "1", "--max-groups-per-unit", "1"];
    let types = ["--type", "person=integer", "--type", "age=integer"];
    let added = lab.run(&[&add[..], &budget, &limits, &types].concat());
    assert_eq!(added.code, 0, "{added:?}");
    let mut server = Server::start(&lab, "512MiB");
    let mut client = server.client("amina");
    // Half a million groups, found in the data, of 200 bytes may not fit; one group does.
    let heavy = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note";
    let heavy = json!({"sql": heavy, "epsilon": 0.1});
    for address in ["/api/v1/quotes", "/api/v1/queries"] {
        let refused = client.post(address, &heavy);
        let text = refused.text();
        let code = &refused.json()["code"];
        assert_eq!((refused.status, code), (422, &json!("MZ1965")), "{text}");
        assert!(text.contains("512 MiB"), "{text}");
    }
    assert!(
        !client
            .get("/metrics")
            .text()
            .contains("mizan_failures_after_charge_total{")
    );
    let light = json!({"sql": "SELECT COUNT(*) AS n FROM visits WHERE age < 10", "epsilon": 0.1});
    let failed = std::thread::scope(|scope| {
        let asked = scope.spawn(|| client.post("/api/v1/queries", &light));
        let worker = worker_of(&mut server.child).unwrap();
        signal("-KILL", worker);
        asked.join().unwrap()
    });
    let text = failed.text();
    let code = &failed.json()["code"];
    assert_eq!((failed.status, code), (500, &json!("MZ1961")), "{text}");
    let metrics = client.get("/metrics").text();
    assert!(
        metrics.contains("mizan_failures_after_charge_total{code=\"MZ1961\"} 1"),
        "{metrics}"
    );
    let budget = client.get("/api/v1/budgets/visits").json();
    assert_eq!(budget["unanswered"]["count"], 1);
    let answer = client.post("/api/v1/queries", &light);
    assert_eq!(answer.status, 200, "{}", answer.text());
    server.stop();
}

/// Padded texts would make "out of memory or not" a comparison of an exact count with a
/// number of the analyst's choice. Both neighbours are refused alike, and nothing is
/// charged; without the padding there is an answer.
#[test]
fn padded_texts_are_refused_before_the_charge() {
    let note = "x".repeat(2_000);
    let sql = |pad: &str| {
        format!(
            "SELECT COUNT(*) AS n FROM (SELECT person, MAX(city || '{pad}') AS m FROM visits \
             GROUP BY person) t WHERE m > 'A'"
        )
    };
    let memory = ["--query-memory", "256MiB", "--epsilon", "0.1"];
    let mut outcomes = Vec::new();
    for people in [50_000, 50_001] {
        let mut csv = String::from("person,city,age,paid\n");
        for person in 0..people {
            writeln!(csv, "{person},Cairo,30,5").unwrap();
        }
        let lab = visits::lab(&format!("workers-padded-{people}"), &csv);
        let size = lab.size();
        for command in ["quote", "query"] {
            let padded = sql(&note);
            let run = lab.run(&[&[command, &padded][..], &memory].concat());
            assert_eq!(run.code, 2, "{run:?}");
            assert!(run.stderr.contains("error[MZ1965]"), "{run:?}");
            outcomes.push(run.stderr);
        }
        assert_eq!(lab.size(), size);
        let answered = lab.run(&[&["query", &sql("")][..], &memory].concat());
        assert_eq!(answered.code, 0, "{answered:?}");
    }
    assert!(
        outcomes.iter().all(|words| *words == outcomes[0]),
        "{outcomes:?}"
    );
}

/// The most memory that a process, or a worker of it, had until now, in MiB.
fn peak(process: u32) -> u64 {
    let mut most = 0;
    let parent = format!("PPid:\t{process}\n");
    for entry in std::fs::read_dir("/proc").unwrap() {
        let path = entry.unwrap().path();
        let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
        let own = path.file_name().unwrap().to_str() == Some(&process.to_string());
        if own || status.contains(&parent) {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB"));
            let kibibytes = kibibytes.and_then(|text| text.trim().parse::<u64>().ok());
            most = most.max(kibibytes.unwrap_or(0) >> 10);
        }
    }
    most
}

/// Keys of public tables are counted in a worker: whatever their expressions allocate, a
/// quote ends in a refusal, the server goes on, and other requests are answered meanwhile.
#[test]
fn hostile_public_keys_are_refused_and_the_server_goes_on() {
    let lab = visits::lab("workers-hostile", &visits::people());
    let mut texts = String::from("code,note\n");
    for code in 0..3_000 {
        writeln!(texts, "{code},{}", format!("{code:04}").repeat(1_000)).unwrap();
    }
    let path = lab.folder.join("texts.csv");
    std::fs::write(&path, texts).unwrap();
    let path = path.to_str().unwrap();
    let add = ["dataset", "add", "texts", "--from", path, "--public"];
    let added = lab.run(&add);
    assert_eq!(added.code, 0, "{added:?}");
    let hostile = |key: &str| {
        format!(
            "SELECT COUNT(*) AS n FROM visits v JOIN (SELECT {key} AS k FROM texts a CROSS JOIN \
             texts b) t ON v.city = t.k"
        )
    };
    let keys = [
        hostile("a.note || b.note"),
        hostile("'x' || upper(a.note || b.note) || a.code || b.code"),
        hostile("substring(a.note || b.note, 1, 4100)"),
    ];
    let size = lab.size();
    let limit = ["--query-memory", "256MiB"];
    for (command, sql) in [("quote", &keys[0]), ("query", &keys[1])] {
        lab.fails(&[&[command, sql.as_str()], &limit[..]].concat(), "MZ1942");
    }
    let mut server = Server::start(&lab, "256MiB");
    let simple = json!({"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.1});
    let (mut attacker, mut other) = (server.client("amina"), server.client("omar"));
    let (mut most, mut meanwhile) = (0, 0);
    for sql in &keys {
        for address in ["/api/v1/quotes", "/api/v1/queries"] {
            let body = json!({"sql": sql, "epsilon": 0.1});
            let refused = std::thread::scope(|scope| {
                let asked = scope.spawn(|| attacker.post(address, &body));
                while !asked.is_finished() {
                    let quote = other.post("/api/v1/quotes", &simple);
                    assert_eq!(quote.status, 200, "{}", quote.text());
                    meanwhile += 1;
                    most = most.max(peak(server.child.id()));
                    std::thread::sleep(Duration::from_millis(20));
                }
                asked.join().unwrap()
            });
            let text = refused.text();
            let code = &refused.json()["code"];
            assert_eq!(
                (refused.status, code),
                (422, &json!("MZ1942")),
                "{sql}: {text}"
            );
        }
    }
    println!("{meanwhile} quotes meanwhile; at most {most} MiB in a process");
    assert!(most < 1_024, "{most} MiB");
    assert_eq!(other.post("/api/v1/queries", &simple).status, 200);
    server.stop();
    // The query that was answered is all that was charged.
    assert_eq!(lab.size(), size + 3);
}

/// Charges of queries that run in other processes do not count, however many there are. When
/// these end without an answer, they do.
#[test]
fn many_processes_at_once_are_answered() {
    use mizan_ledger::{AccountNumber, Charge, Ledger, Location, RequestId};

    let lab = visits::lab("workers-at-once", &visits::people());
    let location = Location::from(lab.ledger());
    let ledger = Ledger::open(&location, &lab.folder.join("state")).unwrap();
    let account = ledger.account(AccountNumber::new(0)).unwrap().account;
    let running = (0..8).map(|number| {
        let id = RequestId::from_text(&format!("running {number}"));
        let running = ledger.running(id).unwrap();
        let charge = Charge::of(&"gaussian(200)".parse().unwrap(), &account).unwrap();
        ledger.reserve(Some(id), charge).unwrap();
        ledger.start(id).unwrap();
        running
    });
    let running: Vec<_> = running.collect();
    let sql = |age: usize| format!("SELECT COUNT(*) AS n FROM visits WHERE age > {age}");
    let children = (0..20).map(|age| lab.start(&["query", &sql(age), "--epsilon", "0.01"]));
    let children: Vec<Child> = children.collect();
    for child in children {
        let (code, stderr) = ended(child);
        assert_eq!(code, Some(0), "{stderr}");
    }
    let query = sql(30);
    let quote = ["quote", &query, "--epsilon", "0.01"];
    let shown = lab.run(&quote).done();
    assert!(!shown.contains("failed after"), "{shown}");
    drop(running);
    let shown = lab.run(&quote).done();
    assert!(shown.contains("8 queries failed after"), "{shown}");
    lab.fails(&["query", &query, "--epsilon", "0.01"], "MZ1795");
}

/// With eight charges without an answer an account refuses queries, until its owner has
/// settled them. A query that failed goes on all the same.
#[test]
fn charges_without_an_answer_are_limited_and_settled() {
    use mizan_ledger::{AccountNumber, Charge, Ledger, Location, RequestId};

    let lab = visits::lab("workers-unanswered", &visits::people());
    let quote = lab.run(&["quote", SQL, "--epsilon", "0.02"]).done();
    assert!(!quote.contains("failed after"), "{quote}");
    {
        let location = Location::from(lab.ledger());
        let ledger = Ledger::open(&location, &lab.folder.join("state")).unwrap();
        let account = ledger.account(AccountNumber::new(0)).unwrap().account;
        for number in 0..8 {
            let id = RequestId::from_text(&format!("failed {number}"));
            let charge = Charge::of(&"gaussian(200)".parse().unwrap(), &account).unwrap();
            ledger.reserve(Some(id), charge).unwrap();
            ledger.start(id).unwrap();
        }
        ledger.close().unwrap();
    }
    let size = lab.size();
    let query = ["query", SQL, "--epsilon", "0.02"];
    lab.fails(&query, "MZ1795");
    assert_eq!(lab.size(), size);
    let quote = lab.run(&["quote", SQL, "--epsilon", "0.02"]).done();
    assert!(quote.contains("8 queries failed after"), "{quote}");
    let shown = lab.json(&["budget", "show", "visits"]);
    let open = &shown["unanswered"];
    assert_eq!((&open["count"], &open["limit"]), (&json!(8), &json!(8)));
    // Charges of one millisecond are listed by their ids.
    let listed = open["newest"].as_array().unwrap().iter();
    let mut listed: Vec<&str> = listed.map(|one| one["id"].as_str().unwrap()).collect();
    let one = listed[7];
    let mut failed: Vec<String> = (0..8)
        .map(|number| RequestId::from_text(&format!("failed {number}")).to_string())
        .collect();
    listed.sort_unstable();
    failed.sort_unstable();
    assert_eq!(listed, failed);
    let text = lab.run(&["budget", "show", "visits"]).done();
    assert!(text.contains(one) && text.contains("mizan budget settle visits"));
    lab.fails(&["budget", "settle", "visits", "--id", "other"], "MZ1791");
    lab.fails(&["budget", "settle", "unknown"], "MZ1735");
    let settled = lab.json(&["budget", "settle", "visits", "--id", one]);
    assert_eq!(settled["settled"].as_array().unwrap().len(), 1);
    assert_eq!(settled["settled"][0]["id"], one);
    assert_eq!(lab.run(&query).code, 0);
    let settled = lab.run(&["budget", "settle", "visits"]).done();
    assert_eq!(settled.matches("settled ").count(), 7, "{settled}");
    assert_eq!(unanswered(&lab), 0);
    let again = lab.run(&["budget", "settle", "visits"]).done();
    assert!(
        again.contains("no query that failed or runs now"),
        "{again}"
    );
    lab.run(&["ledger", "verify"]).done();
}
