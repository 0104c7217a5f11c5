//! Queries and charges: a key has one charge and one answer, refusals say what would fit,
//! errors have a position.

use std::collections::BTreeSet;

use crate::common::{World, wide};
use mizan_ledger::{Body, Witnesses};
use mizan_server::identity::Role;
use mizan_test_support::http::Client;
use serde_json::{Value, json};

const COUNT: &str = "SELECT COUNT(*) AS n FROM visits";

fn reservations(world: &World) -> usize {
    let ledger = world.ledger();
    let (mut count, mut position) = (0, 0);
    loop {
        let page = ledger.entries(position).unwrap();
        if page.is_empty() {
            return count;
        }
        position += page.len() as u64;
        count += page
            .iter()
            .filter(|entry| matches!(entry.body, Body::Reserved { .. }))
            .count();
    }
}

#[test]
fn an_answer_has_what_the_command_line_prints() {
    let world = World::new(wide());
    let mut client = world.client(Role::Analyst);
    let question =
        json!({"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": 1});
    let quote = client.post("/api/v1/quotes", &question);
    assert_eq!(quote.status, 200, "{}", quote.text());
    let quote = quote.json();
    assert_eq!(
        (&quote["fits"], &quote["groups"]),
        (&true.into(), &3.into())
    );
    let half = quote["predicted"]["n"]["half_width"].as_f64().unwrap();
    assert!(half > 0.0);
    let answer = client.post("/api/v1/queries", &question);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = answer.json();
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let noisy = row["n"]["value"].as_f64().unwrap();
        assert!((noisy - 133.0).abs() < 20.0 * half, "{row}");
    }
    assert_eq!(quote["cost"]["epsilon"], answer["spent"]["epsilon"]);
    // The same query again has the same answer and is not charged.
    let again = client.post("/api/v1/queries", &question).json();
    assert_eq!(
        (&again["rows"], &again["repeated"]),
        (&answer["rows"], &true.into())
    );
    assert_eq!(again["spent"]["epsilon"], 0.0);
    // Its receipt has the query, and proves the entry.
    let path = format!("/api/v1/receipts/{}", answer["receipt"].as_str().unwrap());
    let receipt = client.get(&path);
    assert_eq!(receipt.status, 200, "{}", receipt.text());
    let receipt = receipt.json();
    assert_eq!(receipt["asked"]["by"], "analyst-visits");
    assert_eq!(receipt["asked"]["what"], question["sql"]);
    assert_eq!(receipt["entry"]["kind"], "committed");
    assert_eq!(receipt["charge"]["account"], "visits");
}

#[test]
fn the_same_key_is_the_same_answer_and_one_charge() {
    let world = World::new(wide());
    let mut client = world.client(Role::Analyst);
    let question = json!({"sql": COUNT, "epsilon": 0.5});
    let first = client
        .post_with_key("/api/v1/queries", "k1", &question)
        .json();
    for _ in 0..3 {
        let again = client
            .post_with_key("/api/v1/queries", "k1", &question)
            .json();
        assert_eq!(
            (&again["rows"], &again["id"]),
            (&first["rows"], &first["id"])
        );
        assert_eq!(again["repeated"], true);
    }
    assert_eq!(reservations(&world), 1);
    // Another key is another charge, with other noise.
    let other = client
        .post_with_key("/api/v1/queries", "k2", &question)
        .json();
    assert_ne!(other["id"], first["id"]);
    assert_eq!(reservations(&world), 2);
    // The same key with another query or another epsilon is a conflict.
    for body in [
        json!({"sql": "SELECT COUNT(*) AS n FROM visits WHERE ward = 'north'", "epsilon": 0.5}),
        json!({"sql": COUNT, "epsilon": 0.6}),
    ] {
        let reused = client.post_with_key("/api/v1/queries", "k1", &body);
        assert_eq!(reused.status, 409, "{}", reused.text());
        assert_eq!(reused.json()["code"], "MZ1732");
    }
    assert_eq!(reservations(&world), 2);
    // The k1 of another client is another key.
    let mut owner = world.client(Role::Owner);
    let theirs = owner
        .post_with_key("/api/v1/queries", "k1", &question)
        .json();
    assert_ne!(theirs["id"], first["id"]);
    // By the key each client finds its own receipt.
    for (client, answer) in [(&mut client, &first), (&mut owner, &theirs)] {
        let receipt = client.get("/api/v1/receipts/k1").json();
        assert_eq!(receipt["entry"]["id"], answer["id"]);
    }
    assert_eq!(
        world.client(Role::Runner).get("/api/v1/receipts/k1").status,
        404
    );
}

/// A key that is a UUID is the id of the entry, of charges and of queries: one id is one
/// release.
#[test]
fn a_key_is_the_id_of_the_entry() {
    let world = World::new(wide());
    let (mut analyst, mut runner) = (world.client(Role::Analyst), world.client(Role::Runner));
    let question = json!({"sql": COUNT, "epsilon": 0.5});
    let (asked, spent) = (
        "01020304-0506-0708-090a-0b0c0d0e0f10",
        "11121314151617181920212223242526",
    );
    let answer = analyst
        .post_with_key("/api/v1/queries", asked, &question)
        .json();
    assert_eq!(answer["id"], asked.replace('-', ""));
    let receipt = analyst.get(&format!("/api/v1/receipts/{asked}")).json();
    assert_eq!(receipt["entry"]["id"], answer["id"]);
    let spend = json!({"account": "visits", "event": answer["spent"]["event"]});
    let charged = runner.post_with_key("/api/v1/spends", spent, &spend);
    assert_eq!(charged.json()["id"], spent, "{}", charged.text());
    for (client, path, key, body) in [
        (&mut runner, "/api/v1/spends", asked, &spend),
        (&mut analyst, "/api/v1/queries", spent, &question),
    ] {
        let reused = client.post_with_key(path, key, body);
        assert_eq!(
            (reused.status, reused.json()["code"].as_str()),
            (409, Some("MZ1732")),
            "{}",
            reused.text()
        );
    }
    assert_eq!(reservations(&world), 2);
}

#[test]
fn many_at_once_with_one_key_are_one_charge() {
    let world = World::new(wide());
    let token = world.token(Role::Analyst, "visits");
    let runner = world.token(Role::Runner, "visits");
    let question = json!({"sql": COUNT, "epsilon": 0.5});
    let spend = json!({"account": "visits", "event": "gaussian(50)"});
    let answers: BTreeSet<String> = std::thread::scope(|scope| {
        let ask = || {
            let (mut client, mut runner) = (
                Client::new(world.address, Some(&token)),
                Client::new(world.address, Some(&runner)),
            );
            let spent = runner.post_with_key("/api/v1/spends", "one", &spend);
            assert_eq!(spent.status, 200, "{}", spent.text());
            let answer = client.post_with_key("/api/v1/queries", "one", &question);
            assert_eq!(answer.status, 200, "{}", answer.text());
            format!("{} {}", answer.json()["rows"], spent.json()["id"])
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(reservations(&world), 2);
    let witnesses = Witnesses {
        receipts: Vec::new(),
        checkpoints: Vec::new(),
        public_key: None,
    };
    world.ledger().verify(&witnesses, |_, _| ()).unwrap();
}

#[test]
fn a_budget_refuses_with_what_would_fit() {
    let world = World::new(wide());
    let mut runner = world.client(Role::Runner);
    let spend = json!({"account": "small", "event": "gaussian(1)"});
    let refused = runner.post_with_key("/api/v1/spends", "r1", &spend);
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert_eq!(
        refused.header("content-type"),
        Some("application/problem+json")
    );
    let problem = refused.json();
    assert_eq!(
        (&problem["code"], &problem["accepted"]),
        (&"MZ2020".into(), &false.into())
    );
    assert!(problem["largest_that_fits"]["share"].as_f64().unwrap() < 1.0);
    assert!(
        problem["largest_that_fits"]["noisier"].is_string(),
        "{problem}"
    );
    // A denied id stays denied; nothing was charged.
    let again = runner.post_with_key("/api/v1/spends", "r1", &spend);
    assert_eq!(
        (again.status, &again.json()["repeated"]),
        (409, &true.into())
    );
    assert_eq!(reservations(&world), 0);
    // A query that does not fit.
    let mut analyst = world.client(Role::Analyst);
    let question = json!({"sql": COUNT, "epsilon": 60});
    assert_eq!(
        analyst.post("/api/v1/quotes", &question).json()["fits"],
        false
    );
    let refused = analyst.post("/api/v1/queries", &question);
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert_eq!(refused.json()["accepted"], false);
    assert!(refused.json()["asked"]["epsilon"].as_f64().unwrap() > 50.0);
}

#[test]
fn a_refused_query_has_a_position() {
    let world = World::new(wide());
    let mut client = world.client(Role::Analyst);
    let problem = client.post(
        "/api/v1/quotes",
        &json!({"sql": "SELECT COUNT(*)\nFROM visits WHERE age > 3"}),
    );
    assert_eq!(problem.status, 422, "{}", problem.text());
    let problem = problem.json();
    assert_eq!(problem["code"], "MZ1809");
    assert_eq!(problem["type"], "urn:mizan:MZ1809");
    assert_eq!(
        problem["position"],
        json!({"line": 2, "column": 19, "length": 3})
    );
    assert!(problem["place"].as_str().unwrap().contains('^'));
    for (body, status) in [
        (json!({"sql": "SELECT person FROM visits"}), 422),
        (json!({"sql": COUNT, "epsilon": "much"}), 422),
        (json!({"sql": COUNT, "epsilon": 1, "accuracy": 5}), 422),
        (json!({"sql": COUNT, "unknown": 1}), 400),
        (json!({"epsilon": 1}), 400),
        (json!([]), 400),
    ] {
        for path in ["/api/v1/quotes", "/api/v1/queries"] {
            let answer = client.post(path, &body);
            assert_eq!(answer.status, status, "{body}: {}", answer.text());
            assert!(answer.json()["code"].as_str().unwrap().starts_with("MZ"));
        }
    }
    assert_eq!(reservations(&world), 0);
}

#[test]
fn a_cached_quote_follows_budget_and_catalogue() {
    let world = World::new(wide());
    let mut client = world.client(Role::Analyst);
    let total = json!({"sql": "SELECT SUM(cost) AS total FROM visits", "epsilon": 1});
    let usual = json!({"sql": COUNT});
    let first = client.post("/api/v1/quotes", &total).json();
    let share = |quote: &Value| quote["remaining"]["share"].as_f64().unwrap();
    let half = |quote: &Value| quote["predicted"]["total"]["half_width"].as_f64().unwrap();
    let about = client.post("/api/v1/quotes", &usual).json();
    // It sees what was spent since,
    let spend = json!({"account": "visits", "event": "gaussian(2)"});
    let mut runner = world.client(Role::Runner);
    assert_eq!(
        runner.post_with_key("/api/v1/spends", "a", &spend).status,
        200
    );
    let second = client.post("/api/v1/quotes", &total).json();
    assert_eq!(
        (&first["cost"], &first["event"]),
        (&second["cost"], &second["event"])
    );
    assert!(share(&second) < share(&first), "{second}");
    // another budget,
    let location = mizan_ledger::Location::from(world.path("mizan.db"));
    let ledger = mizan_ledger::Ledger::open(&location, &world.path("state")).unwrap();
    let name = mizan_ledger::AccountName::new("visits").unwrap();
    let account = ledger.account_named(&name).unwrap().unwrap().account;
    let target = mizan_ledger::Target::Approximate {
        epsilon: mizan_core::Epsilon::new(100.0).unwrap(),
        delta: mizan_core::Delta::new(1e-6).unwrap(),
    };
    let budget = account.budget();
    let raised = budget
        .raised(target, budget.reserved_delta(), account.orders())
        .unwrap();
    ledger.raise(None, account.number(), raised).unwrap();
    let more = client.post("/api/v1/quotes", &usual).json();
    let epsilon = |quote: &Value| quote["cost"]["epsilon"].as_f64().unwrap();
    assert!(epsilon(&more) > 1.5 * epsilon(&about), "{more}");
    // and another catalogue.
    let path = world.path("mizan.datasets.json");
    let wider = std::fs::read_to_string(&path)
        .unwrap()
        .replace("[0,100]", "[0,1000]");
    let draft = world.path("draft");
    std::fs::write(&draft, wider).unwrap();
    std::fs::rename(draft, path).unwrap();
    let third = client.post("/api/v1/quotes", &total).json();
    assert!(half(&third) > 5.0 * half(&first), "{third}");
}

#[test]
fn the_accountant_agrees_with_the_command_line() {
    let world = World::new(wide());
    let mut client = world.client(Role::Auditor);
    let ask = |client: &mut Client, path: &str, body: Value| {
        let answer = client.post(path, &body);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    };
    let request: mizan_api::account::AccountRequest = serde_json::from_value(
        json!({"expression": "100 * laplace(20)", "delta": 1e-6, "why": true}),
    )
    .unwrap();
    let told = ask(
        &mut client,
        "/api/v1/account",
        serde_json::to_value(&request).unwrap(),
    );
    let names = mizan_api::names::Names::CommandLine;
    let same = request
        .evaluate(&mizan_core::Definitions::default(), names)
        .unwrap();
    assert_eq!(told, mizan_api::number::json(&same.json()));
    let curve = ask(
        &mut client,
        "/api/v1/curve",
        json!({"expression": "gaussian(2)", "orders": "2,inf"}),
    );
    assert_eq!(
        curve["curve"][1],
        json!({"order": "inf", "epsilon": null, "lower": null})
    );
    let calibrated = ask(
        &mut client,
        "/api/v1/calibrate",
        json!({"expression": "gaussian(?)", "epsilon": "0.5", "delta": "1e-6"}),
    );
    assert!(calibrated["value"].as_f64().unwrap() > 1.0);
    let profile = ask(
        &mut client,
        "/api/v1/account",
        json!({"expression": "gaussian(2)", "profile": true}),
    );
    assert!(profile["profile"].as_array().unwrap().len() > 100);
    for bad in [
        json!({"expression": "gaussian(", "delta": 1e-6}),
        json!({"expression": "gaussian(1)"}),
        json!({"expression": "gaussian(1)", "delta": 1e-6, "epsilon": 1}),
        json!({"expression": "gaussian(1)", "delta": 2}),
        json!({"expression": "gaussian(1)", "delta": 1e-6, "method": "magic"}),
    ] {
        let answer = client.post("/api/v1/account", &bad);
        assert_eq!(answer.status, 422, "{}", answer.text());
        assert!(
            !answer.json()["detail"].as_str().unwrap().contains("--"),
            "{}",
            answer.text()
        );
    }
    // Files are for the command line.
    let answer = client.post(
        "/api/v1/account",
        &json!({"expression": "@/etc/passwd", "delta": 1e-6}),
    );
    assert_eq!(answer.status, 422);
    assert!(!answer.text().contains("root:"));
}

#[test]
fn proofs_hold() {
    let world = World::new(wide());
    let mut runner = world.client(Role::Runner);
    for key in ["a", "b", "c"] {
        let spend = json!({"account": "visits", "event": "gaussian(100)"});
        assert_eq!(
            runner.post_with_key("/api/v1/spends", key, &spend).status,
            200
        );
    }
    let mut auditor = world.client(Role::Auditor);
    let log = auditor.get("/api/v1/ledger/log?last=1000").json();
    let size = log["log"]["size"].as_u64().unwrap();
    assert_eq!(log["entries"].as_array().unwrap().len() as u64, size);
    let digest = |value: &Value| mizan_ledger::Digest::from_hex(value.as_str().unwrap()).unwrap();
    let path = |value: &Value| {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(digest)
            .collect::<Vec<_>>()
    };
    for position in 0..size {
        let address = format!("/api/v1/ledger/proofs/inclusion?position={position}");
        let proof = auditor.get(&address).json();
        let inclusion = mizan_ledger::evidence::InclusionProof {
            index: position,
            size,
            path: path(&proof["path"]),
        };
        assert!(inclusion.holds(digest(&proof["leaf"]), digest(&log["log"]["root"])));
        if position == 0 {
            continue;
        }
        let address = format!("/api/v1/ledger/proofs/consistency?before={position}&size={size}");
        let proof = auditor.get(&address).json();
        let consistency = mizan_ledger::evidence::ConsistencyProof {
            before: position,
            size,
            path: path(&proof["path"]),
        };
        assert!(consistency.holds(
            digest(&proof["before"]["root"]),
            digest(&proof["log"]["root"])
        ));
    }
    for address in [
        format!("/api/v1/ledger/proofs/inclusion?position={size}"),
        "/api/v1/ledger/proofs/inclusion?position=0&size=0".to_owned(),
        "/api/v1/ledger/proofs/consistency?before=0".to_owned(),
        format!("/api/v1/ledger/proofs/consistency?before={}", u64::MAX),
        "/api/v1/ledger/log?account=nothing".to_owned(),
    ] {
        assert_eq!(auditor.get(&address).status, 404, "{address}");
    }
    for address in [
        "/api/v1/ledger/proofs/inclusion",
        "/api/v1/ledger/log?last=0",
        "/api/v1/ledger/log?last=x",
        "/api/v1/ledger/log?unknown=1",
    ] {
        assert_eq!(auditor.get(address).status, 400, "{address}");
    }
    let checkpoint = auditor.get("/api/v1/ledger/checkpoint").json();
    let checkpoint: mizan_ledger::Checkpoint =
        checkpoint["checkpoint"].as_str().unwrap().parse().unwrap();
    assert_eq!(checkpoint.head.size, size);
    assert_eq!(
        auditor.post("/api/v1/ledger/verify", &Value::Null).json()["verified"],
        true
    );
}

#[test]
fn events_have_budgets_and_own_queries() {
    let world = World::new(wide());
    let mut listener = world.client(Role::Analyst);
    let first = listener.get("/api/v1/events");
    assert_eq!(first.status, 200);
    let text = first.text();
    assert!(
        text.contains("event: budget") && text.contains("\"account\":\"visits\""),
        "{text}"
    );
    assert!(!text.contains("payroll"), "{text}");
}
