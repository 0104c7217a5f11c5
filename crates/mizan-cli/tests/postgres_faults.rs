//! Servers and networks that fail during a query: the answer comes or a clear error, the
//! charge stays, and a retry with the same id is charged once and gets one draw of noise.
//! Skipped without `MIZAN_TEST_POSTGRES`, which `scripts/test` sets.
#![cfg(all(unix, feature = "postgres"))]

use std::process::Child;
use std::time::{Duration, Instant};

use crate::common::Run;
use crate::common::lab::Lab;
use crate::common::network::{Cable, Loses, Relay};
use crate::common::server::{SLOW, VISITS, add_numbers, add_visits, answering, lab, own, signal};
use mizan_test_support::postgres_server::Server;
use serde_json::Value;

/// As many numbers as make a question last for minutes.
const FOR_MINUTES: u32 = 1_000;

/// As many as make it last long enough to be caught at it.
const FOR_SECONDS: u32 = 100;

const TODAY: [&str; 8] = [
    "query",
    SLOW,
    "--epsilon",
    "1",
    "--id",
    "today",
    "--format",
    "json",
];

/// How a program ended; one that does not end fails the test.
fn ended(mut child: Child) -> Run {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("still running");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().expect("ended by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// An error of a question that was charged, which tells nothing of rows.
fn fails_after_charge(run: &Run, code: &str) {
    assert_eq!(run.code, 2, "{run:?}");
    let says = |text: &str| run.stderr.contains(text);
    assert!(says(&format!("\"code\":\"{code}\"")), "{run:?}");
    assert!(says("stands") && !says("nothing was charged"), "{run:?}");
    assert!(!says("Cairo") && !says("panicked"), "{run:?}");
}

/// How many entries of a kind are in the log.
fn entries(lab: &Lab, kind: &str) -> usize {
    let log = lab.json(&["ledger", "log", "--last", "100000"]);
    let entries = log["entries"].as_array().unwrap();
    entries.iter().filter(|entry| entry["kind"] == kind).count()
}

/// Sent again with its id, the query continues under the same charge and has one answer.
fn goes_on(lab: &Lab) -> Value {
    assert_eq!(entries(lab, "reserved"), 1);
    let charged = lab.json(&["budget", "show", "visits"]);
    let answer = lab.run(&TODAY).json();
    let answered = lab.json(&["budget", "show", "visits"]);
    assert_eq!(charged["remaining"], answered["remaining"]);
    let again = lab.run(&TODAY).json();
    assert_eq!(again["repeated"], true);
    assert_eq!(again["rows"], answer["rows"]);
    assert_eq!(
        (entries(lab, "reserved"), entries(lab, "committed")),
        (1, 1)
    );
    lab.run(&["ledger", "verify"]).done();
    answer
}

/// The data's server fails while it answers.
fn fails_while_answering(name: &str, fail: impl FnOnce(&Server, i32)) {
    let Some(server) = own() else {
        return;
    };
    let lab = lab(name, &server);
    add_numbers(&lab, &server, &server.source("numbers"), FOR_MINUTES);
    let mut child = lab.start(&TODAY);
    let process = answering(&server, &mut child);
    fail(&server, process);
    fails_after_charge(&ended(child), "MZ1921");
    // On what there is now.
    server.run("DELETE FROM numbers WHERE n > 3");
    assert_eq!(goes_on(&lab)["repeated"], false);
}

#[test]
fn a_server_that_is_killed() {
    fails_while_answering("faults-killed", |server, _| server.crash());
}

#[test]
fn a_server_that_is_restarted() {
    fails_while_answering("faults-restarted", |server, _| {
        server.halt();
        server.resume();
    });
}

#[test]
fn a_process_of_the_server_that_is_ended() {
    fails_while_answering("faults-ended", Server::terminate);
}

#[test]
fn a_server_that_hangs_is_not_waited_for() {
    let Some(server) = own() else {
        return;
    };
    let lab = Lab::empty("faults-hangs");
    lab.run(&["init"]).done();
    server.run(VISITS);
    // Its own timeout it cannot keep.
    add_visits(&lab, &format!("{}?timeout=1", server.source("visits")));
    add_numbers(&lab, &server, &server.source("numbers"), FOR_MINUTES);
    let mut child = lab.start(&TODAY);
    let process = answering(&server, &mut child);
    signal("STOP", process);
    let run = ended(child);
    signal("CONT", process);
    fails_after_charge(&run, "MZ1921");
    server.run("DELETE FROM numbers WHERE n > 3");
    assert_eq!(goes_on(&lab)["repeated"], false);
}

#[test]
fn a_network_that_is_cut_between_us_and_the_data() {
    let (Some(mut server), Some(cable)) = (own(), Cable::new()) else {
        return;
    };
    let rules = format!("local all all trust\nhost all all {}/32 trust\n", cable.far);
    let port = server.listen(&cable.near, &rules);
    let source = |table: &str| {
        let near = &cable.near;
        format!(
            "postgres://postgres@{near}:{port}/postgres/{table}?sslmode=disable&tcp_user_timeout=3"
        )
    };
    let mut lab = Lab::empty("faults-cut-data");
    lab.within = cable.within();
    lab.run(&["init"]).done();
    server.run(VISITS);
    add_visits(&lab, &source("visits"));
    add_numbers(&lab, &server, &source("numbers"), FOR_MINUTES);
    let mut child = lab.start(&TODAY);
    let process = answering(&server, &mut child);
    cable.cut();
    fails_after_charge(&ended(child), "MZ1921");
    // As long as it is cut nothing more is charged.
    let run = lab.run(&TODAY);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("MZ1913"), "{run:?}");
    cable.mend();
    // The server may not have noticed.
    server.terminate(process);
    server.run("DELETE FROM numbers WHERE n > 3");
    assert_eq!(goes_on(&lab)["repeated"], false);
}

/// Data here and a ledger elsewhere, which fails while the data are read. Then the
/// process that reads them goes on; how the program ends.
fn ledger_fails(lab: &Lab, data: &Server, fail: impl FnOnce()) -> Run {
    lab.run(&["init"]).done();
    data.run(VISITS);
    add_visits(lab, &data.source("visits"));
    add_numbers(lab, data, &data.source("numbers"), FOR_SECONDS);
    let mut child = lab.start(&TODAY);
    let process = answering(&data, &mut child);
    signal("STOP", process);
    fail();
    signal("CONT", process);
    let run = ended(child);
    // Quicker from now on.
    data.run("DELETE FROM numbers WHERE n > 3");
    run
}

#[test]
fn a_ledger_that_is_restarted_meanwhile_takes_the_answer() {
    let (Some(ledger), Some(data)) = (own(), own()) else {
        return;
    };
    let lab = Lab::sharing("faults-ledger-restarted", ledger.address());
    let run = ledger_fails(&lab, &data, || {
        ledger.halt();
        ledger.resume();
    });
    let first = run.json();
    assert_eq!(first["repeated"], false);
    let again = goes_on(&lab);
    assert_eq!(again["repeated"], true);
    assert_eq!(again["rows"], first["rows"]);
}

#[test]
fn a_ledger_that_is_gone_meanwhile() {
    let (Some(ledger), Some(data)) = (own(), own()) else {
        return;
    };
    let lab = Lab::sharing("faults-ledger-gone", ledger.address());
    let run = ledger_fails(&lab, &data, || ledger.halt());
    fails_after_charge(&run, "MZ1772");
    ledger.resume();
    // That answer was never shown.
    assert_eq!(goes_on(&lab)["repeated"], false);
}

#[test]
fn a_network_that_is_cut_between_us_and_the_ledger() {
    let (Some(mut ledger), Some(data), Some(cable)) = (own(), own(), Cable::new()) else {
        return;
    };
    let rules = format!("local all all trust\nhost all all {}/32 trust\n", cable.far);
    let port = ledger.listen(&cable.near, &rules);
    let near = &cable.near;
    let address =
        format!("postgres://postgres@{near}:{port}/postgres?sslmode=disable&tcp_user_timeout=3");
    let mut lab = Lab::sharing("faults-cut-ledger", &address);
    lab.within = cable.within();
    let run = ledger_fails(&lab, &data, || cable.cut());
    fails_after_charge(&run, "MZ1772");
    cable.mend();
    assert_eq!(goes_on(&lab)["repeated"], false);
}

/// Every message that makes something durable, lost before it arrives, and its
/// acknowledgement, lost on the way back.
#[test]
fn commits_that_are_lost_or_whose_reply_is() {
    let (Some(ledger), Some(data)) = (own(), own()) else {
        return;
    };
    data.run(VISITS);
    let relay = Relay::to(ledger.address());
    let address = format!("postgres://postgres@127.0.0.1:{}/postgres", relay.port);
    let lab = Lab::sharing("faults-lost", &address);
    lab.run(&["init"]).done();
    add_visits(&lab, &data.source("visits"));
    let count = "SELECT COUNT(*) AS n FROM visits";
    // Reserved, started, committed.
    for commit in 1..=3 {
        for loses in [Loses::Message, Loses::Reply] {
            let id = format!("{commit} {loses:?}");
            let query = [
                "query",
                count,
                "--epsilon",
                "0.5",
                "--id",
                &id,
                "--format",
                "json",
            ];
            let before = ["reserved", "committed"].map(|kind| entries(&lab, kind));
            relay.lose(commit, loses);
            let run = lab.run(&query);
            assert!(relay.has_lost(), "{id}");
            assert_eq!(run.code, 2, "{id}: {run:?}");
            assert!(run.stdout.is_empty(), "{id}: {run:?}");
            assert!(run.stderr.contains("MZ1766"), "{id}: {run:?}");
            // What is not known is not said, what stands is.
            let stands = run.stderr.contains("stands");
            assert_eq!(stands, commit > 1, "{id}: {run:?}");
            assert!(!run.stderr.contains("nothing was charged"), "{id}: {run:?}");
            let answer = lab.run(&query).json();
            let was_committed = commit == 3 && loses == Loses::Reply;
            assert_eq!(answer["repeated"], was_committed, "{id}");
            let again = lab.run(&query).json();
            assert_eq!(again["repeated"], true, "{id}");
            assert_eq!(again["rows"], answer["rows"], "{id}");
            let after = ["reserved", "committed"].map(|kind| entries(&lab, kind));
            assert_eq!(after, before.map(|entries| entries + 1), "{id}");
        }
    }
    lab.run(&["ledger", "verify"]).done();
}
