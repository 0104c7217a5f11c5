//! Pages: which role may see which, and how they answer requests that are not valid. The
//! tests in a browser are in `browser/`.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::{World, wide};
use mizan_server::identity::Role;
use mizan_server::limits::Limits;
use mizan_server::pages::ROUTES;
use mizan_server::routes::{Access, HttpMethod, Route};
use mizan_test_support::http::{Response, read};

const COUNT: &str = "SELECT+COUNT(*)+AS+n+FROM+visits";

/// A request as a browser sends it, with a token instead of a cookie.
fn browse(world: &World, token: Option<&str>, method: &str, path: &str, form: &str) -> Response {
    let token = token.map_or_else(String::new, |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    send(world, &token, method, path, form)
}

/// A request with this line among its headers.
fn send(world: &World, token: &str, method: &str, path: &str, form: &str) -> Response {
    let length = form.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n{token}\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
    );
    let mut stream = TcpStream::connect(world.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    // The server may respond before all is sent.
    let _ = stream.write_all(text.as_bytes());
    read(&mut BufReader::new(stream)).unwrap()
}

/// A request for each page that a role with access gets an answer to. A route without one
/// fails the test.
fn sample(route: &Route, receipt: &str) -> (String, String) {
    let form = match (route.method, route.path) {
        (HttpMethod::Post, "/ask" | "/ask/quote") => {
            format!("sql={COUNT}&spend_by=epsilon&epsilon=0.1")
        }
        _ => String::new(),
    };
    let path = match route.path {
        "/budgets/{name}" => "/budgets/visits".to_owned(),
        "/budgets/{name}/row" => "/budgets/visits/row".to_owned(),
        "/receipts/{id}" => format!("/receipts/{receipt}"),
        "/laboratory/{part}" => "/laboratory/summary?expression=gaussian(2)".to_owned(),
        "/laboratory/figures/{number}" => "/laboratory/figures/1".to_owned(),
        "/assets/{version}/{file}" => "/assets/x/page.css".to_owned(),
        plain if !plain.contains('{') => plain.to_owned(),
        other => panic!("there is no sample request for {other}"),
    };
    (path, form)
}

/// A charge by a role, so that there is a receipt it may see.
fn receipt_of(world: &World, role: Role) -> String {
    let (role, path, body) = match role {
        Role::Runner => (
            Role::Runner,
            "/api/v1/spends",
            serde_json::json!({"account": "visits", "event": "gaussian(900)"}),
        ),
        Role::Analyst => (
            Role::Analyst,
            "/api/v1/queries",
            serde_json::json!({"sql": COUNT.replace('+', " "), "epsilon": 0.1}),
        ),
        _ => (
            Role::Owner,
            "/api/v1/queries",
            serde_json::json!({"sql": COUNT.replace('+', " "), "epsilon": 0.1}),
        ),
    };
    let mut client = world.client(role);
    let answer = client.post_with_key(path, &format!("of {role}"), &body);
    answer.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_page_every_role() {
    let world = World::new(wide());
    let elsewhere = World::new(wide());
    let revoked = world.token(Role::Owner, "visits");
    let id = world.identity.list().unwrap().last().unwrap().id.clone();
    world.identity.revoke(&id).unwrap();
    let bad = [
        None,
        Some("mizan".to_owned()),
        Some(format!("mizan_owner_{}_00000000", "ab".repeat(32))),
        Some(elsewhere.token(Role::Owner, "visits")),
        Some(world.token_until(Role::Owner, "visits", Some(1))),
        Some(revoked),
    ];
    let receipts = Role::ALL.map(|role| receipt_of(&world, role));
    for route in ROUTES {
        let method = match route.method {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
        };
        let what = format!("{method} {}", route.path);
        let (path, form) = sample(route, &receipts[0]);
        let Access::Page(roles) = route.access else {
            let answer = browse(&world, None, method, &path, &form);
            assert!(answer.status < 500, "{what}");
            continue;
        };
        // A visitor without a valid token is redirected to the sign-in page.
        for token in &bad {
            let answer = browse(&world, token.as_deref(), method, &path, &form);
            // A query goes along, so that it is not lost by the sign-in.
            let expected = if what == "POST /ask" { 307 } else { 303 };
            assert_eq!(answer.status, expected, "{what}");
            let place = answer.header("location").unwrap();
            assert!(place.starts_with("/sign-in?next="), "{what}: {place}");
            assert_eq!(answer.body, b"", "{what}");
        }
        for (role, receipt) in Role::ALL.into_iter().zip(&receipts) {
            let (path, form) = sample(route, receipt);
            let token = world.token(role, "visits");
            let answer = browse(&world, Some(&token), method, &path, &form);
            let expected = match (roles.contains(&role), route.path) {
                (false, _) => 403,
                (true, "/sign-out") => 303,
                (true, _) => 200,
            };
            assert_eq!(
                answer.status,
                expected,
                "{what} as {role}: {}",
                answer.text()
            );
            if expected != 303 {
                let kind = answer.header("content-type").unwrap();
                assert_eq!(kind, "text/html; charset=utf-8", "{what}");
            }
        }
    }
}

/// The value of a hidden field.
fn field<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, after) = page.split_once(&format!("name=\"{name}\"")).unwrap();
    let (_, after) = after.split_once("value=\"").unwrap();
    after.split_once('"').unwrap().0
}

#[test]
fn a_form_of_another_session_comes_back_with_its_key_and_charges_nothing() {
    let world = World::new(wide());
    let token = world.token(Role::Analyst, "visits");
    let signed = world.service.sign_in(&token).unwrap();
    let cookie = format!("Cookie: {}\r\n", signed.cookie.split(';').next().unwrap());
    let key = "00112233445566778899aabbccddeeff";
    let asked = format!("key={key}&sql={COUNT}&spend_by=epsilon&epsilon=0.1");
    let size = || world.ledger().head().unwrap().size;
    let before = size();
    for csrf in ["", "&csrf=", "&csrf=0123"] {
        for act in ["", "&act=ask", "&act=quote"] {
            let form = format!("{asked}{csrf}{act}");
            let answer = send(&world, &cookie, "POST", "/ask", &form);
            let text = answer.text();
            assert_eq!(answer.status, 403, "{form}: {text}");
            assert_eq!(field(&text, "key"), key, "{form}");
            assert_eq!(field(&text, "csrf"), signed.csrf, "{form}");
            assert!(text.contains("COUNT(*) AS n FROM visits</textarea>"));
            assert!(text.contains("id=\"again\">"), "{form}");
        }
    }
    // A script gets the part alone, with the CSRF token of the session.
    let script = format!("{cookie}X-Fragment: 1\r\n");
    let part = send(&world, &script, "POST", "/ask", &asked).text();
    assert!(!part.contains("<html") && part.contains(&format!("data-key=\"{key}\"")));
    assert!(part.contains(&format!("data-csrf=\"{}\"", signed.csrf)));
    // Another site gets neither the key nor the CSRF token.
    let other = format!("{cookie}Sec-Fetch-Site: cross-site\r\n");
    let answer = send(&world, &other, "POST", "/ask", &asked);
    assert_eq!(answer.status, 403);
    assert!(!answer.text().contains(key) && !answer.text().contains(&signed.csrf));
    assert!(answer.text().contains("This form is from another session"));
    assert_eq!(size(), before, "nothing was charged");
    // The same form with the CSRF token of this session is charged once.
    let form = format!("{asked}&csrf={}", signed.csrf);
    let answer = send(&world, &cookie, "POST", "/ask", &form);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let paid = size();
    assert!(paid > before);
    let answer = send(&world, &cookie, "POST", "/ask", &form);
    assert!(answer.text().contains("answered before"));
    assert_eq!(size(), paid);
}

#[test]
fn a_query_is_kept_during_the_sign_in() {
    let world = World::new(wide());
    let token = world.token(Role::Analyst, "visits");
    let key = "00112233445566778899aabbccddeeff";
    let asked = format!("csrf=old&key={key}&sql={COUNT}&spend_by=epsilon&epsilon=0.1&act=ask");
    let page = send(&world, "", "POST", "/sign-in?next=/ask", &asked);
    assert_eq!(page.status, 200);
    let next = field(&page.text(), "next").replace("&#38;", "&");
    assert!(next.starts_with(&format!("/ask?key={key}")), "{next}");
    let mut form = form_urlencoded(&[("token", "mizan_wrong"), ("next", &next)]);
    let page = send(&world, "", "POST", "/sign-in", &form);
    assert_eq!(page.status, 401);
    assert_eq!(field(&page.text(), "next").replace("&#38;", "&"), next);
    form = form_urlencoded(&[("token", &token), ("next", &next)]);
    let answer = send(&world, "", "POST", "/sign-in", &form);
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some(next.as_str()))
    );
    let cookie = answer.header("set-cookie").unwrap();
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
    let text = send(&world, &cookie, "GET", &next, "").text();
    assert_eq!(field(&text, "key"), key);
    assert!(text.contains("COUNT(*) AS n FROM visits</textarea>"));
    assert!(text.contains("value=\"epsilon\" checked") && text.contains("value=\"0.1\""));
    assert!(text.contains("id=\"again\">"));
    // A visitor who is signed in meanwhile is redirected at once.
    let answer = send(&world, &cookie, "POST", "/sign-in", &asked);
    assert_eq!(answer.header("location"), Some(next.as_str()));
    // A link cannot set a key that this page did not draw.
    let text = send(&world, &cookie, "GET", "/ask?key=mine", "").text();
    assert!(field(&text, "key") != "mine" && !text.contains("id=\"again\">"));
}

/// Fields as a browser sends them.
fn form_urlencoded(fields: &[(&str, &str)]) -> String {
    let escaped = |text: &str| -> String {
        let escape = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        text.bytes().map(escape).collect()
    };
    let pairs = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

#[test]
fn pages_show_nothing_of_other_tenants() {
    let world = World::new(wide());
    let receipt = receipt_of(&world, Role::Analyst);
    for role in [Role::Analyst, Role::Runner] {
        let token = world.token(role, "payroll");
        let get = |path: &str| browse(&world, Some(&token), "GET", path, "");
        assert!(!get("/budgets").text().contains("visits"));
        for path in [
            "/budgets/visits".to_owned(),
            "/budgets/visits/row".to_owned(),
            format!("/receipts/{receipt}"),
        ] {
            let answer = get(&path);
            assert_eq!(answer.status, 404, "{path}");
            assert!(!answer.text().contains("COUNT"), "{path}");
        }
        if role == Role::Analyst {
            assert!(!get("/ask").text().contains("visits"));
            let form = format!("sql={COUNT}&spend_by=epsilon&epsilon=0.1");
            let answer = browse(&world, Some(&token), "POST", "/ask", &form);
            assert_eq!(answer.status, 422);
        }
    }
}

#[test]
fn requests_that_are_not_valid_get_a_page() {
    let world = World::new(wide());
    let token = world.token(Role::Owner, "visits");
    let long = "a".repeat(20_000);
    let huge = format!("sql={}", "x".repeat(2 << 20));
    let numbers = [
        "", "NaN", "inf", "-1", "0", "1e999", "-0.0", "%D9%A1", "1%2C5", "%00", "true", "1e-400",
    ];
    let mut asked: Vec<(&str, String, String)> = Vec::new();
    for number in numbers {
        for spend_by in ["epsilon", "accuracy"] {
            let form = format!("sql={COUNT}&spend_by={spend_by}&{spend_by}={number}");
            asked.push(("POST", "/ask/quote".into(), form.clone()));
            asked.push(("POST", "/ask".into(), form));
        }
        for field in ["delta", "baseline"] {
            let path = format!("/laboratory/summary?expression=gaussian(2)&{field}={number}");
            asked.push(("GET", path, String::new()));
        }
        for field in ["rr", "laplace", "gaussian"] {
            let path = format!("/laboratory/figures/1?{field}={number}");
            asked.push(("GET", path, String::new()));
        }
        asked.push(("GET", format!("/audit?from={number}"), String::new()));
    }
    for text in [
        "",
        "%00",
        "%F0%9F%92%A9",
        "%D9%85%D9%8A%D8%B2%D8%A7%D9%86",
        "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "SELECT",
        "DROP+TABLE+visits",
        "SELECT+*+FROM+visits",
        "%FF%FE",
    ] {
        asked.push(("POST", "/ask".into(), format!("sql={text}")));
        asked.push(("POST", "/ask/quote".into(), format!("sql={text}")));
        asked.push(("GET", format!("/ask?sql={text}"), String::new()));
        asked.push(("GET", format!("/receipts?receipt={text}"), String::new()));
        asked.push(("GET", format!("/receipts/{text}x"), String::new()));
        asked.push(("GET", format!("/budgets/{text}x"), String::new()));
        asked.push((
            "GET",
            format!("/laboratory?all=1&expression={text}"),
            String::new(),
        ));
        asked.push((
            "GET",
            format!("/laboratory/summary?expression={text}"),
            String::new(),
        ));
        asked.push(("GET", format!("/laboratory/figures/{text}9"), String::new()));
        asked.push((
            "GET",
            format!("/language?to={text}&next={text}"),
            String::new(),
        ));
        asked.push(("POST", "/sign-in".into(), format!("token={text}&next=//x")));
    }
    asked.push((
        "GET",
        format!("/laboratory?expression={long}"),
        String::new(),
    ));
    asked.push(("GET", format!("/receipts?receipt={long}"), String::new()));
    asked.push(("POST", "/ask".into(), huge.clone()));
    asked.push(("POST", "/sign-in".into(), huge));
    asked.push(("POST", "/audit/verify".into(), "csrf".into()));
    for (method, path, form) in asked {
        let answer = browse(&world, Some(&token), method, &path, &form);
        let short = path.get(..80).unwrap_or(&path);
        let form = form.get(..80).unwrap_or(&form);
        let what = format!("{method} {short} {form}: {}", answer.status);
        assert!(answer.status < 500, "{what}: {}", answer.text());
        let text = answer.text();
        assert!(!text.contains("<script>alert"), "{what}");
        if answer.status != 303 {
            let kind = answer.header("content-type").unwrap_or("none");
            assert_eq!(kind, "text/html; charset=utf-8", "{what}: {text}");
        }
    }
    // Only the valid queries were charged.
    let ledger = world.ledger();
    assert!(ledger.head().unwrap().size < 12);
}

#[test]
fn forms_have_limits_of_time_and_size() {
    let world = World::new(Limits {
        body_time: Duration::from_millis(100),
        ..wide()
    });
    // This needs no token, so the server must end it.
    let mut stream = TcpStream::connect(world.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream
        .write_all(
            b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\
              Content-Type: application/x-www-form-urlencoded\r\n\r\ntoken=",
        )
        .unwrap();
    let mut said = vec![0; 12];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(said, b"HTTP/1.1 408");
    let large = format!("token={}", "x".repeat(2 << 20));
    let answer = browse(&world, None, "POST", "/sign-in", &large);
    assert_eq!(answer.status, 413);
}

/// Charges without an answer are shown to the owner, with what to do about them. With
/// eight of them queries are refused, and counted.
#[test]
fn charges_without_an_answer_are_shown_to_the_owner() {
    use mizan_ledger::{AccountName, Charge, Ledger, Location, RequestId};

    let world = World::new(wide());
    let location = Location::from(world.path("mizan.db"));
    let ledger = Ledger::open(&location, &world.path("state")).unwrap();
    let name = AccountName::new("visits").unwrap();
    let account = ledger.account_named(&name).unwrap().unwrap().account;
    let mut ids = Vec::new();
    for number in 0..8 {
        let id = RequestId::from_text(&format!("failed {number}"));
        let charge = Charge::of(&"gaussian(2000)".parse().unwrap(), &account).unwrap();
        ledger.reserve(Some(id), charge).unwrap();
        ledger.start(id).unwrap();
        ids.push(id);
    }
    let mut analyst = world.client(Role::Analyst);
    let query = serde_json::json!({"sql": COUNT.replace('+', " "), "epsilon": 0.1});
    let refused = analyst.post("/api/v1/queries", &query);
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (409, &"MZ1795".into())
    );
    let budget = world
        .client(Role::Owner)
        .get("/api/v1/budgets/visits")
        .json();
    assert_eq!(budget["unanswered"]["count"], 8);
    assert_eq!(budget["unanswered"]["limit"], 8);
    let metrics = world.client(Role::Owner).get("/metrics").text();
    assert!(
        metrics.contains("mizan_problems_total{code=\"MZ1795\"} 1"),
        "{metrics}"
    );
    for (role, seen) in [(Role::Owner, true), (Role::Analyst, false)] {
        let token = world.token(role, "visits");
        let page = browse(&world, Some(&token), "GET", "/budgets/visits", "").text();
        assert_eq!(page.contains("mizan budget settle visits"), seen, "{page}");
        assert_eq!(page.contains(&ids[0].to_string()), seen);
    }
    ledger.settle(ids[0]).unwrap();
    assert_eq!(analyst.post("/api/v1/queries", &query).status, 200);
}
