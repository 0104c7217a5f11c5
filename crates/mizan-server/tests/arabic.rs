//! Arabic pages have the sentences of the libraries in Arabic, for many queries and events.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod common;

use common::{World, wide};
use mizan_server::identity::Role;
use mizan_server::locale::Language;
use serde_json::{Value, json};

fn lines(answer: &Value, lists: &[&str]) -> Vec<String> {
    let all = lists.iter().filter_map(|list| answer[*list].as_array());
    let text = |line: &Value| line.as_str().map(str::to_owned);
    all.flatten().filter_map(text).collect()
}

fn unknown(lines: Vec<String>) -> Vec<String> {
    let foreign = |line: &String| Language::Arabic.line(line).foreign;
    lines.into_iter().filter(foreign).collect()
}

#[test]
fn sentences_of_queries_are_translated() {
    let world = World::new(wide());
    let mut client = world.client(Role::Analyst);
    let mut seen = 0;
    for sql in [
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS a FROM visits GROUP BY ward",
        "SELECT AVG(cost) AS a, STDDEV(cost) AS d FROM visits WHERE cost > 10",
        "SELECT MEDIAN(cost) AS m, MIN(cost) AS low, MAX(cost) AS high FROM visits",
        "SELECT quantile(cost, 0.25) AS q, quantile(cost, 0.75) AS p FROM visits",
        "SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost",
        "SELECT COUNT(DISTINCT ward) AS n, COUNT(DISTINCT person) AS p FROM visits",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 5 ORDER BY n DESC LIMIT 2",
    ] {
        for (path, epsilon) in [
            ("/api/v1/quotes", 0.05),
            ("/api/v1/quotes", 3.0),
            ("/api/v1/queries", 0.5),
        ] {
            let told = client.post(path, &json!({"sql": sql, "epsilon": epsilon}));
            if told.status != 200 {
                // Not every spelling is supported; a refusal is translated by its code.
                let code = told.json()["code"].as_str().unwrap().to_owned();
                assert!(told.status == 422, "{sql}: {}", told.text());
                assert!(code.starts_with("MZ18"), "{sql}: {}", told.text());
                continue;
            }
            let told = lines(&told.json(), &["why", "clamping", "notes"]);
            seen += told.len();
            assert_eq!(unknown(told), Vec::<String>::new(), "{sql}");
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn reasons_of_methods_are_translated() {
    let world = World::new(wide());
    let mut client = world.client(Role::Analyst);
    let mut seen = 0;
    for expression in [
        "gaussian(2)",
        "100 * laplace(20)",
        "1000 * poisson(0.01, gaussian(1.1))",
        "20 * rr(0.6)",
        "approximate(0.1, 1e-9)",
        "rdp(2:0.1, 4:0.2)",
        "zcdp(0.01) + pure(0.1)",
        "cdp(0.01, 0.1)",
        "gdp(0.3)",
        "without-replacement(1000, 10, gaussian(2))",
        "group(3, gaussian(5))",
        "exponential(0.1) + discrete-laplace(4)",
    ] {
        let asked = json!({"expression": expression, "delta": 1e-6});
        let told = client.post("/api/v1/account", &asked);
        assert_eq!(told.status, 200, "{expression}: {}", told.text());
        let told = told.json();
        let refused = told["refused"].as_array().cloned().unwrap_or_default();
        let reasons = refused.iter().map(|one| one["reason"].as_str().unwrap());
        let reasons: Vec<String> = reasons.map(str::to_owned).collect();
        seen += reasons.len();
        assert_eq!(unknown(reasons), Vec::<String>::new(), "{expression}");
        assert_eq!(unknown(lines(&told, &["warnings"])), Vec::<String>::new());
    }
    assert!(seen > 20, "{seen}");
}
