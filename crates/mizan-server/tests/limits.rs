//! The limits of the server: bodies, headers, connections, rates, events.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::{World, wide};
use mizan_server::identity::Role;
use mizan_server::limits::Limits;
use mizan_server::serve::Listen;
use mizan_test_support::http::{Client, read};
use serde_json::json;

/// Sends text unchanged, and reads a response if there is one.
fn raw(world: &World, text: &str) -> Option<mizan_test_support::http::Response> {
    let mut stream = TcpStream::connect(world.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    // The server may close the connection before all is sent.
    let _ = stream.write_all(text.as_bytes());
    read(&mut BufReader::new(stream)).ok()
}

#[test]
fn bodies_have_a_size_limit() {
    let world = World::new(Limits {
        body_bytes: 1000,
        ..wide()
    });
    let mut client = world.client(Role::Analyst);
    let large = json!({"sql": "x".repeat(2000)});
    let answer = client.post("/api/v1/quotes", &large);
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (413, &"MZ2006".into())
    );
    // The same without a declared length.
    let token = client.token.clone().unwrap();
    let text = format!(
        "POST /api/v1/quotes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n{}\r\n0\r\n\r\n",
        "x".repeat(2000)
    );
    assert_eq!(raw(&world, &text).unwrap().status, 413);
    // A body without a media type, or with another one, is not read.
    for kind in ["", "Content-Type: text/plain\r\n"] {
        let text = format!(
            "POST /api/v1/quotes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{kind}Content-Length: 2\r\n\r\n{{}}"
        );
        assert_eq!(raw(&world, &text).unwrap().status, 415);
    }
}

#[test]
fn bodies_and_headers_have_a_time_limit() {
    let world = World::new(Limits {
        body_time: Duration::from_millis(100),
        header_time: Duration::from_millis(100),
        ..wide()
    });
    let token = world.token(Role::Analyst, "visits");
    let text = format!(
        "POST /api/v1/quotes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{\"sql\""
    );
    let answer = raw(&world, &text).unwrap();
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (408, &"MZ2007".into())
    );
    // Headers without an end: the server closes the connection.
    let mut stream = TcpStream::connect(world.address).unwrap();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        .unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("200"));
}

#[test]
fn a_connection_without_first_bytes_is_closed() {
    let world = World::new(Limits {
        header_time: Duration::from_millis(100),
        ..wide()
    });
    // Nothing, and prefixes of HTTP/1 and HTTP/2.
    for begun in ["", "P", "PRI * HTTP/2.0\r\n"] {
        let mut stream = TcpStream::connect(world.address).unwrap();
        stream.write_all(begun.as_bytes()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let waits = match stream.read(&mut [0; 64]) {
            Ok(bytes) => bytes > 0,
            Err(error) => error.kind() != std::io::ErrorKind::ConnectionReset,
        };
        assert!(!waits, "{begun:?}");
    }
}

#[test]
fn a_client_that_reads_nothing_is_disconnected() {
    let world = World::new(Limits {
        header_time: Duration::from_millis(200),
        connections: 1,
        ..wide()
    });
    // More than the buffers of a client that does not read.
    let mut deaf = TcpStream::connect(world.address).unwrap();
    let request = b"GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
    deaf.set_write_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let _ = deaf.write_all(&request.repeat(2000));
    // Then the only connection is free again.
    assert_eq!(world.anybody().get("/healthz").status, 200);
    drop(deaf);
}

#[test]
fn sampled_parts_of_an_event_are_limited() {
    let world = World::new(wide());
    let event = |parts: u32| {
        let parts = (1..=parts).map(|n| format!("{n} * poisson(0.{n:03}, gaussian({n}))"));
        parts.collect::<Vec<_>>().join(" + ")
    };
    let mut auditor = world.client(Role::Auditor);
    let mut ask = |parts| {
        let body = json!({"expression": event(parts), "delta": 1e-6, "method": "renyi"});
        auditor.post("/api/v1/account", &body)
    };
    assert_eq!(ask(32).status, 200);
    let refused = ask(33);
    assert_eq!(refused.status, 413, "{}", refused.text());
    // The same as JSON, with escaped names.
    let hidden = (1..=33).map(|n| {
        format!("{{\"event\":\"\\u0070oisson\",\"q\":0.{n:03}1,\"of\":{{\"event\":\"gaussian\",\"sigma\":{n}}}}}")
    });
    let hidden = hidden.collect::<Vec<_>>().join(",");
    let hidden = format!("{{\"event\":\"compose\",\"events\":[{hidden}]}}");
    let body = json!({"expression": hidden, "delta": 1e-6, "method": "renyi"});
    assert_eq!(auditor.post("/api/v1/account", &body).status, 413);
    let spend = json!({"account": "visits", "event": event(33)});
    let mut runner = world.client(Role::Runner);
    let refused = runner.post_with_key("/api/v1/spends", "many", &spend);
    assert_eq!(refused.status, 413, "{}", refused.text());
}

#[test]
fn clients_do_not_see_faults_of_the_catalogue() {
    let world = World::new(wide());
    let mut client = world.client(Role::Analyst);
    assert_eq!(client.get("/api/v1/datasets").status, 200);
    assert_eq!(client.get("/readyz").status, 200);
    let path = world.path("mizan.datasets.json");
    let good = std::fs::read_to_string(&path).unwrap();
    let bad = good.replace("\"south\"", "\"north\"");
    assert_ne!(bad, good);
    std::fs::write(&path, bad).unwrap();
    for address in ["/api/v1/datasets", "/api/v1/budgets"] {
        let answer = client.get(address);
        assert_eq!(answer.status, 500, "{}", answer.text());
        assert!(!answer.text().contains("ward"), "{}", answer.text());
    }
    assert_eq!(client.get("/readyz").status, 503);
    std::fs::write(&path, good).unwrap();
    assert_eq!(client.get("/api/v1/datasets").status, 200);
}

#[test]
fn the_rate_of_a_token_is_limited() {
    let world = World::new(Limits {
        rate: 1e-6,
        burst: 3.0,
        ..wide()
    });
    let mut client = world.client(Role::Auditor);
    let statuses: Vec<u16> = (0..5)
        .map(|_| client.get("/api/v1/budgets").status)
        .collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    let answer = client.get("/api/v1/budgets");
    assert_eq!(answer.json()["code"], "MZ2010");
    assert!(
        answer
            .header("retry-after")
            .unwrap()
            .parse::<u64>()
            .unwrap()
            >= 1
    );
    // Other tokens and public routes are not affected.
    assert_eq!(world.client(Role::Owner).get("/api/v1/budgets").status, 200);
    assert_eq!(world.anybody().get("/healthz").status, 200);
}

#[test]
fn the_streams_of_a_token_are_limited() {
    let world = World::new(Limits {
        streams: 2,
        ..wide()
    });
    let token = world.token(Role::Auditor, "visits");
    let listen = || {
        let mut stream = TcpStream::connect(world.address).unwrap();
        let text = format!(
            "GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let status = read(&mut stream).unwrap().status;
        (status, stream)
    };
    let held = [listen(), listen()];
    assert_eq!(held.each_ref().map(|(status, _)| *status), [200, 200]);
    assert_eq!(listen().0, 429);
}

#[test]
fn an_open_network_needs_tls() {
    let listen = |address: &str, tls: bool| Listen {
        address: address.parse().unwrap(),
        tls: tls.then(|| ("cert.pem".into(), "key.pem".into())),
    };
    assert!(listen("127.0.0.1:80", false).check().is_ok());
    assert!(listen("[::1]:80", false).check().is_ok());
    assert!(listen("0.0.0.0:80", true).check().is_ok());
    for address in ["0.0.0.0:80", "192.168.1.2:80", "[::]:80"] {
        assert_eq!(listen(address, false).check().unwrap_err().code, "MZ2040");
    }
}

#[test]
fn malformed_requests_do_no_harm() {
    let world = World::new(Limits {
        header_time: Duration::from_secs(2),
        ..wide()
    });
    for text in [
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "\u{16}\u{3}\u{1}hello",
        "GET /api/v1/datasets/%ff HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        let _ = raw(&world, text);
    }
    let mut client = world.client(Role::Owner);
    for path in [
        "/api/v1/datasets/%ff",
        "/api/v1/datasets/..%2f..%2fetc",
        "/api/v1/receipts/mizan1:x",
        "/api/v2/datasets",
        "/api/v1/datasets/",
    ] {
        let answer = client.get(path);
        assert!(
            (400..500).contains(&answer.status),
            "{path}: {}",
            answer.status
        );
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json"),
            "{path}"
        );
    }
    let answer = client.send("DELETE", "/api/v1/budgets", &[], None).unwrap();
    assert_eq!(answer.status, 405);
    let mut anybody = Client::new(world.address, None);
    assert_eq!(anybody.get("/readyz").status, 200);
}
