//! Arabic pages have the messages of the libraries in Arabic: those of quotes, answers and
//! the accountant. Programs read the same messages as data.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::{World, wide};
use mizan_server::identity::Role;
use mizan_test_support::http::read;
use serde_json::{Value, json};

const QUERIES: [&str; 9] = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS a FROM visits GROUP BY ward",
    "SELECT AVG(cost) AS a, STDDEV(cost) AS d FROM visits WHERE cost > 10",
    "SELECT MEDIAN(cost) AS m, MIN(cost) AS low, MAX(cost) AS high FROM visits",
    "SELECT quantile(cost, 0.25) AS q, quantile(cost, 0.75) AS p FROM visits",
    "SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost",
    "SELECT COUNT(DISTINCT ward) AS n, COUNT(DISTINCT person) AS p FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 5 ORDER BY n DESC LIMIT 2",
];

/// A page in Arabic.
fn arabic(world: &World, token: &str, method: &str, path: &str, form: &str) -> String {
    let length = form.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\
         Accept-Language: ar\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
    );
    let mut stream = TcpStream::connect(world.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let answer = read(&mut BufReader::new(stream)).unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.text()
}

fn typed(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// What stands in the list items of a page, without markup.
fn items(html: &str) -> Vec<String> {
    let items = html.split("<li>").skip(1);
    let item = |item: &str| {
        let item = item.split("</li>").next().unwrap_or_default();
        let mut text = String::new();
        let mut inside = false;
        for c in item.chars() {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                c if !inside => text.push(c),
                _ => {}
            }
        }
        text
    };
    items.map(item).collect()
}

/// A sentence in Arabic: Latin words are names and formulas only.
fn assert_arabic(text: &str) {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (arabic, other): (Vec<char>, Vec<char>) =
        letters.partition(|c| ('\u{600}'..='\u{6ff}').contains(c));
    assert!(arabic.len() > other.len(), "{text}");
    let filled = !text.contains('{') && !text.contains("[[") && !text.contains("]]");
    assert!(filled, "{text}");
}

#[test]
fn messages_of_queries_are_arabic() {
    let world = World::new(wide());
    let token = world.token(Role::Analyst, "visits");
    let mut seen = 0;
    for sql in QUERIES {
        for epsilon in ["0.05", "3"] {
            let form = format!("sql={}&spend_by=epsilon&epsilon={epsilon}", typed(sql));
            let page = arabic(&world, &token, "POST", "/ask/quote", &form);
            let items = items(&page);
            items.iter().for_each(|item| assert_arabic(item));
            seen += items.len();
        }
    }
    assert!(seen > 50, "{seen}");
}

/// Every sentence is also a kind with fields, in the same order.
#[test]
fn messages_of_queries_are_data() {
    let world = World::new(wide());
    let mut client = world.client(Role::Analyst);
    let mut kinds = std::collections::BTreeSet::new();
    for sql in QUERIES {
        for path in ["/api/v1/quotes", "/api/v1/queries"] {
            let told = client.post(path, &json!({"sql": sql, "epsilon": 0.5}));
            if told.status != 200 {
                // Not every spelling is one of ours; a refusal is identified by its code.
                let code = told.json()["code"].as_str().unwrap().to_owned();
                assert!(told.status == 422, "{sql}: {}", told.text());
                assert!(code.starts_with("MZ18"), "{sql}: {}", told.text());
                continue;
            }
            let told = told.json();
            for list in ["why", "clamping", "notes"] {
                let data = told[format!("{list}_data")].as_array().unwrap().clone();
                let texts: Vec<Value> = data.iter().map(|one| one["text"].clone()).collect();
                assert_eq!(told[list], Value::from(texts), "{sql}");
                for one in data {
                    assert!(one["fields"].is_object(), "{one}");
                    kinds.insert(one["kind"].as_str().unwrap().to_owned());
                }
            }
        }
    }
    for kind in [
        "chosen_noise",
        "clamped",
        "declared_groups",
        "grid",
        "other_noise",
        "quantile_rank",
        "rows_per_group",
        "selected_by_noise",
        "share_of_account",
    ] {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
}

#[test]
fn reasons_of_methods_are_arabic() {
    let world = World::new(wide());
    let token = world.token(Role::Analyst, "visits");
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
        let path = format!(
            "/laboratory/summary?expression={}&delta=1e-6&baseline=0.1",
            typed(expression)
        );
        let page = arabic(&world, &token, "GET", &path, "");
        let shown = page.matches("<li><code dir=\"ltr\">").count();
        assert_eq!(shown, refused.len(), "{expression}");
        for one in &refused {
            let reason = one["reason"].as_str().unwrap();
            assert!(!page.contains(reason), "{expression}: {reason}");
            assert_eq!(one["event"].is_string(), one["path"].is_string(), "{one}");
        }
        seen += refused.len();
    }
    assert!(seen > 20, "{seen}");
}
