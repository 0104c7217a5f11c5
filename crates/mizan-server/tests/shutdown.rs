//! A server that stops finishes the queries that are charged.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{World, wide};
use mizan_ledger::log::Status;
use mizan_ledger::{RequestId, Witnesses};
use mizan_server::identity::Role;
use mizan_test_support::http::Client;
use serde_json::json;

#[test]
fn every_charge_is_answered_and_every_answer_is_charged() {
    let mut world = World::new(wide());
    let runner = world.token(Role::Runner, "visits");
    let analyst = world.token(Role::Analyst, "visits");
    let address = world.address;
    let done = AtomicUsize::new(0);
    let spend = json!({"account": "visits", "event": "gaussian(1000)"});
    let question = json!({"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.01});
    let acknowledged = std::thread::scope(|scope| {
        let client = |number: usize| {
            let (runner, analyst, done) = (&runner, &analyst, &done);
            let (spend, question) = (&spend, &question);
            move || {
                let mut charges = Client::new(address, Some(runner));
                let mut asks = Client::new(address, Some(analyst));
                let mut acknowledged = Vec::new();
                for turn in 0..10_000 {
                    let key = format!("{:032x}", number * 1_000_000 + turn);
                    let key = [("Idempotency-Key", key.as_str())];
                    let (client, path, body) = match turn % 4 {
                        0 => (&mut asks, "/api/v1/queries", question),
                        _ => (&mut charges, "/api/v1/spends", spend),
                    };
                    // After the stop no connection is accepted.
                    let Ok(answer) = client.send("POST", path, &key, Some(body)) else {
                        break;
                    };
                    if answer.status == 503 {
                        break;
                    }
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    acknowledged.push(answer.json()["id"].as_str().unwrap().to_owned());
                    done.fetch_add(1, Ordering::Relaxed);
                }
                acknowledged
            }
        };
        let clients: Vec<_> = (0..8).map(|number| scope.spawn(client(number))).collect();
        while done.load(Ordering::Relaxed) < 50 {
            std::thread::yield_now();
        }
        world.stop();
        clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(acknowledged.len() >= 50);
    let ledger = world.ledger();
    for id in &acknowledged {
        let record = ledger
            .record(RequestId::from_hex(id).unwrap())
            .unwrap()
            .unwrap();
        assert!(
            matches!(record.status, Status::Released { .. }),
            "{id}: {record:?}"
        );
    }
    let witnesses = Witnesses {
        receipts: Vec::new(),
        checkpoints: Vec::new(),
        public_key: None,
    };
    let report = ledger.verify(&witnesses, |_, _| ()).unwrap();
    // No charge is left without an answer.
    assert_eq!(report.charges, report.committed + report.voided);
}
