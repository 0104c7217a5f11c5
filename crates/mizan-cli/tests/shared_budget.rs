//! Several machines, each with its own files, that keep their budgets in one
//! PostgreSQL: together they spend as much as one machine could, and no more.
//! Skipped without `MIZAN_TEST_POSTGRES`, which `scripts/test` sets.
#![cfg(all(unix, feature = "postgres"))]

use std::process::Child;

use crate::common::Run;
use crate::common::lab::Lab;
use crate::common::server::{VISITS, add_visits, lab, own};
use mizan_test_support::postgres_server::Server;
use serde_json::Value;

const MACHINES: usize = 5;

/// Machines that share a ledger. Each adds the dataset itself, on the same terms.
fn machines(name: &str, ledger: &Server, data: &Server) -> Vec<Lab> {
    data.run(VISITS);
    let machine = |number: usize| {
        let lab = Lab::sharing(&format!("{name}-{number}"), ledger.address());
        if number == 0 {
            lab.run(&["init"]).done();
        }
        add_visits(&lab, &data.source("visits"));
        lab
    };
    (0..MACHINES).map(machine).collect()
}

/// All of them, running at once.
fn at_once(asked: impl Iterator<Item = Child>) -> Vec<Run> {
    let asked: Vec<Child> = asked.collect();
    let ended = |child: Child| {
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code().expect("ended by a signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    };
    asked.into_iter().map(ended).collect()
}

fn answer(run: &Run) -> Value {
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

/// How many entries of a kind are in the log.
fn entries(lab: &Lab, kind: &str) -> usize {
    let log = lab.json(&["ledger", "log", "--last", "100000"]);
    let entries = log["entries"].as_array().unwrap();
    entries.iter().filter(|entry| entry["kind"] == kind).count()
}

const COUNT: &str = "SELECT COUNT(*) AS n FROM visits";

fn asking(id: &str) -> [&str; 8] {
    [
        "query",
        COUNT,
        "--epsilon",
        "1.1",
        "--id",
        id,
        "--format",
        "json",
    ]
}

#[test]
fn machines_that_query_at_once_cannot_overspend() {
    let (Some(ledger), Some(data)) = (own(), own()) else {
        return;
    };
    let machines = machines("shared-at-once", &ledger, &data);
    // What one machine could spend, one question after the other: all cost the same,
    // so the order makes no difference.
    let alone = lab("shared-alone", &ledger);
    let mut fit = 0;
    while alone.run(&asking(&fit.to_string())).code == 0 {
        fit += 1;
    }
    assert!(fit > 4, "{fit} questions fit");
    let rounds = fit / MACHINES + 2;
    let mut accepted = Vec::new();
    let mut refused = 0;
    for round in 0..rounds {
        let names: Vec<String> = (0..MACHINES).map(|m| format!("{round}-{m}")).collect();
        let asked = machines.iter().zip(&names);
        let asked = asked.map(|(machine, name)| machine.start(&asking(name)));
        for (name, run) in names.iter().zip(at_once(asked)) {
            match run.code {
                0 => accepted.push((name.clone(), answer(&run))),
                1 => refused += 1,
                _ => panic!("{name}: {run:?}"),
            }
        }
    }
    assert_eq!(accepted.len(), fit, "what one machine could spend");
    assert_eq!(refused, rounds * MACHINES - fit);
    // Every answer has a receipt that every machine can prove, of a charge of its own.
    let mut receipts = std::collections::BTreeSet::new();
    for (number, (name, answer)) in accepted.iter().enumerate() {
        let receipt = answer["receipt"].as_str().unwrap();
        assert!(receipts.insert(receipt.to_owned()), "{name} twice");
        let shown = machines[number % MACHINES].json(&["ledger", "show", receipt]);
        assert_eq!(shown["entry"]["kind"], "committed", "{name}");
        assert_eq!(shown["entry"]["id"], answer["id"], "{name}");
    }
    assert_eq!(entries(&machines[1], "reserved"), fit);
    assert_eq!(entries(&machines[1], "committed"), fit);
    for machine in &machines {
        let verified = machine.json(&["ledger", "verify"]);
        assert_eq!(verified["verified"], true);
        assert_eq!(verified["committed"], fit);
        assert_eq!(verified["pending"], 0);
    }
}

#[test]
fn the_same_query_at_once_is_one_charge_and_one_draw() {
    let (Some(ledger), Some(data)) = (own(), own()) else {
        return;
    };
    let machines = machines("shared-same", &ledger, &data);
    let before = entries(&machines[0], "reserved");
    for round in 0..3 {
        // By its name, and without one: nothing is written to the data.
        let named = format!("report-{round}");
        let epsilon = format!("0.{}", round + 1);
        let unnamed = ["query", COUNT, "--epsilon", &epsilon, "--format", "json"];
        for question in [&asking(&named)[..], &unnamed[..]] {
            let runs = at_once(machines.iter().map(|machine| machine.start(question)));
            let answers: Vec<Value> = runs.iter().map(answer).collect();
            for other in &answers[1..] {
                assert_eq!(other["rows"], answers[0]["rows"], "{question:?}");
                assert_eq!(other["id"], answers[0]["id"], "{question:?}");
            }
            let fresh = answers.iter().filter(|answer| answer["repeated"] == false);
            assert_eq!(fresh.count(), 1, "{question:?}");
        }
    }
    assert_eq!(entries(&machines[0], "reserved"), before + 6);
    assert_eq!(entries(&machines[0], "committed"), 6);
    machines[0].run(&["ledger", "verify"]).done();
}
