//! Every route with every kind of token: a role with access gets an answer, every other
//! token learns nothing.

use crate::common::{World, wide};
use mizan_server::identity::Role;
use mizan_server::routes::{self, Access, HttpMethod, Route};
use mizan_test_support::http::{Client, Response};
use serde_json::{Value, json};

const COUNT: &str = "SELECT COUNT(*) AS n FROM visits";

/// A request that a role with access gets an answer to. A route without one fails the test.
fn sample(route: &Route) -> (String, Option<Value>) {
    let question = json!({"sql": COUNT, "epsilon": 0.1});
    let event = |expression: &str| json!({"expression": expression, "delta": 1e-6});
    let (path, body) = match route.path {
        "/api/v1/datasets/{name}" => ("/api/v1/datasets/visits", None),
        "/api/v1/budgets/{name}" => ("/api/v1/budgets/visits", None),
        "/api/v1/quotes" | "/api/v1/queries" => (route.path, Some(question)),
        "/api/v1/spends" => (
            route.path,
            Some(json!({"account": "visits", "event": "gaussian(100)"})),
        ),
        "/api/v1/ledger/proofs/inclusion" => ("/api/v1/ledger/proofs/inclusion?position=1", None),
        "/api/v1/ledger/proofs/consistency" => ("/api/v1/ledger/proofs/consistency?before=1", None),
        "/api/v1/account" => (route.path, Some(event("gaussian(5)"))),
        "/api/v1/curve" => (route.path, Some(json!({"expression": "gaussian(5)"}))),
        "/api/v1/risk" => (
            route.path,
            Some(json!({"expression": "gaussian(5)", "baseline": 0.01})),
        ),
        "/api/v1/calibrate" => (
            route.path,
            Some(json!({"expression": "gaussian(?)", "epsilon": 1, "delta": 1e-6})),
        ),
        "/api/v1/group" => (
            route.path,
            Some(json!({"expression": "gaussian(5)", "size": 2})),
        ),
        "/api/v1/divergence" => (route.path, Some(json!({"p": "0.5,0.5", "q": "0.4,0.6"}))),
        "/healthz"
        | "/readyz"
        | "/metrics"
        | "/api/openapi.json"
        | "/api/reference"
        | "/api/v1/datasets"
        | "/api/v1/budgets"
        | "/api/v1/ledger/log"
        | "/api/v1/ledger/checkpoint"
        | "/api/v1/ledger/verify"
        | "/api/v1/events" => (route.path, None),
        other => panic!("say how {other} is asked, and by whom"),
    };
    (path.to_owned(), body)
}

fn ask(client: &mut Client, route: &Route, path: &str, body: Option<&Value>) -> Response {
    let method = match route.method {
        HttpMethod::Get => "GET",
        HttpMethod::Post => "POST",
    };
    // A query and a charge are different entries.
    let key = [("Idempotency-Key", route.path)];
    client.send(method, path, &key, body).unwrap()
}

#[test]
fn every_address_every_role() {
    let world = World::new(wide());
    let mut refused: Vec<(&str, Option<String>)> = vec![("no token", None)];
    let forged = format!("mizan_owner_{}", "ab".repeat(32));
    let revoked = world.token(Role::Owner, "visits");
    let id = world.identity.list().unwrap().last().unwrap().id.clone();
    world.identity.revoke(&id).unwrap();
    let elsewhere = World::new(wide());
    refused.extend([
        ("garbage", Some("mizan".to_owned())),
        ("without a checksum", Some(forged.clone())),
        ("with a bad checksum", Some(format!("{forged}_00000000"))),
        (
            "of another server",
            Some(elsewhere.token(Role::Owner, "visits")),
        ),
        (
            "expired",
            Some(world.token_until(Role::Owner, "visits", Some(1))),
        ),
        ("revoked", Some(revoked)),
    ]);
    for route in routes::API {
        let asked = if route.path == "/api/v1/receipts/{id}" {
            None
        } else {
            Some(sample(route))
        };
        let mut problems = Vec::new();
        for (what, token) in &refused {
            let mut client = Client::new(world.address, token.as_deref());
            let (path, body) = asked
                .clone()
                .unwrap_or_else(|| ("/api/v1/receipts/role-matrix".to_owned(), None));
            let answer = ask(&mut client, route, &path, body.as_ref());
            if route.access == Access::Public {
                assert_eq!(answer.status, 200, "{} with {what}", route.path);
                continue;
            }
            assert_eq!(answer.status, 401, "{} with {what}", route.path);
            problems.push(answer.text());
        }
        // The response does not say which of these it was.
        problems.dedup();
        assert!(problems.len() <= 1, "{}: {problems:?}", route.path);
        let Access::Roles(roles) = route.access else {
            continue;
        };
        for role in Role::ALL {
            let mut client = world.client(role);
            let (path, body) = match &asked {
                Some(asked) => asked.clone(),
                // A receipt of the role's own charge or query.
                None => (own_receipt(&world, role), None),
            };
            let answer = ask(&mut client, route, &path, body.as_ref());
            let expected = if roles.contains(&role) { 200 } else { 403 };
            assert_eq!(
                answer.status,
                expected,
                "{} with {role}: {}",
                route.path,
                answer.text()
            );
        }
    }
}

/// A receipt that a role may see.
fn own_receipt(world: &World, role: Role) -> String {
    let mut client = world.client(role);
    let answer = match role {
        Role::Analyst => client.post("/api/v1/queries", &json!({"sql": COUNT, "epsilon": 0.1})),
        Role::Runner => client.post_with_key(
            "/api/v1/spends",
            "own",
            &json!({"account": "visits", "event": "gaussian(100)"}),
        ),
        Role::Owner | Role::Auditor => {
            let mut owner = world.client(Role::Owner);
            owner.post("/api/v1/queries", &json!({"sql": COUNT, "epsilon": 0.1}))
        }
    };
    assert_eq!(answer.status, 200, "{}", answer.text());
    format!("/api/v1/receipts/{}", answer.json()["id"].as_str().unwrap())
}

#[test]
fn resources_of_others_look_like_missing_ones() {
    let world = World::new(wide());
    let mut ours = world.client(Role::Analyst);
    let mut theirs = Client::new(world.address, Some(&world.token(Role::Analyst, "payroll")));
    let mut runner = Client::new(world.address, Some(&world.token(Role::Runner, "payroll")));
    let asked = ours.post("/api/v1/queries", &json!({"sql": COUNT, "epsilon": 0.1}));
    assert_eq!(asked.status, 200, "{}", asked.text());
    let asked = asked.json();
    let same = |one: Response, other: Response| {
        assert_eq!(one.status, other.status);
        assert!(one.status == 404 || one.status == 422, "{}", one.text());
        let nameless = |answer: &Response| answer.text().replace("visits", "absent");
        assert_eq!(nameless(&one), nameless(&other));
    };
    for client in [&mut theirs, &mut runner] {
        let runner_asks = client.get("/api/v1/datasets").status == 403;
        if !runner_asks {
            same(
                client.get("/api/v1/datasets/visits"),
                client.get("/api/v1/datasets/absent"),
            );
            let sql = |table: &str| json!({"sql": format!("SELECT COUNT(*) FROM {table}"), "epsilon": 0.1});
            same(
                client.post("/api/v1/quotes", &sql("visits")),
                client.post("/api/v1/quotes", &sql("absent")),
            );
            same(
                client.post("/api/v1/queries", &sql("visits")),
                client.post("/api/v1/queries", &sql("absent")),
            );
            assert!(!client.get("/api/v1/datasets").text().contains("visits"));
        } else {
            let spend = |account: &str| json!({"account": account, "event": "gaussian(100)"});
            same(
                client.post_with_key("/api/v1/spends", "a", &spend("visits")),
                client.post_with_key("/api/v1/spends", "b", &spend("absent")),
            );
        }
        same(
            client.get("/api/v1/budgets/visits"),
            client.get("/api/v1/budgets/absent"),
        );
        let list = client.get("/api/v1/budgets");
        assert_eq!(list.status, 200);
        assert!(!list.text().contains("visits"), "{}", list.text());
        let unknown = client.get("/api/v1/receipts/00000000000000000000000000000000");
        for key in ["id", "receipt"] {
            let path = format!("/api/v1/receipts/{}", asked[key].as_str().unwrap());
            same(client.get(&path), unknown.clone());
        }
    }
    // Only the data owner sees the source of a dataset.
    assert!(
        !ours
            .get("/api/v1/datasets/visits")
            .text()
            .contains("visits.csv")
    );
    let mut owner = world.client(Role::Owner);
    assert!(
        owner
            .get("/api/v1/datasets/visits")
            .text()
            .contains("visits.csv")
    );
}

#[test]
fn revocation_works_at_once() {
    let world = World::new(wide());
    let mut client = world.client(Role::Auditor);
    assert_eq!(client.get("/api/v1/budgets").status, 200);
    let id = world.identity.list().unwrap().last().unwrap().id.clone();
    world.identity.revoke(&id[..6]).unwrap();
    assert_eq!(client.get("/api/v1/budgets").status, 401);
    let acts = world.identity.acts().unwrap();
    let acts: Vec<&str> = acts.iter().map(|act| act.act.as_str()).collect();
    assert_eq!(acts, ["create", "revoke"]);
}

#[test]
fn responses_have_security_headers() {
    let world = World::new(wide());
    for path in ["/healthz", "/api/reference", "/api/v1/budgets", "/nothing"] {
        let answer = world.anybody().get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
}

#[test]
fn a_session_needs_its_csrf_token_for_changes() {
    let world = World::new(wide());
    let token = world.token(Role::Analyst, "visits");
    let signed = world.service.sign_in(&token).unwrap();
    assert!(
        signed.cookie.contains("HttpOnly; SameSite=Strict"),
        "{}",
        signed.cookie
    );
    let cookie = signed.cookie.split(';').next().unwrap();
    let mut browser = world.anybody();
    let question = json!({"sql": COUNT, "epsilon": 0.1});
    let mut ask = |headers: &[(&str, &str)]| {
        let answer = browser.send("POST", "/api/v1/quotes", headers, Some(&question));
        answer.unwrap().status
    };
    let with = |csrf| [("Cookie", cookie), ("X-CSRF-Token", csrf)];
    assert_eq!(ask(&with(&signed.csrf)), 200);
    assert_eq!(ask(&with("x")), 403);
    assert_eq!(ask(&[("Cookie", cookie)]), 403);
    let other_site = [
        ("Cookie", cookie),
        ("X-CSRF-Token", &signed.csrf),
        ("Sec-Fetch-Site", "cross-site"),
    ];
    assert_eq!(ask(&other_site), 403);
    assert_eq!(ask(&[("Cookie", "mizan_session=0")]), 401);
    // The session ends with its token.
    let id = world.identity.list().unwrap().last().unwrap().id.clone();
    world.identity.revoke(&id).unwrap();
    assert_eq!(ask(&with(&signed.csrf)), 401);
    assert!(world.service.sign_in(&token).is_err());
}
