//! TLS to PostgreSQL: the certificate is checked, with the name of the host.

use std::path::Path;
use std::process::Command;

use crate::common::lab::Directory;
use mizan_ledger::store::{Postgres, Store};
use mizan_test_support::postgres_server::{Server, free_port};

/// Set for the process that connects: the address, because whom it trusts is
/// told by its environment.
const CHILD: &str = "MIZAN_TEST_TLS";

/// Not a test of its own: opens a ledger and says what comes of it.
#[test]
fn child() {
    if let Ok(url) = std::env::var(CHILD) {
        match Postgres::open(&url) {
            Ok(store) => println!("opened with {} entries", store.head().unwrap().size),
            Err(error) => println!("{} {error}", error.code()),
        }
    }
}

/// What a process says that trusts the authorities in this file.
fn open(url: &str, authorities: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tls::child", "--nocapture", "--test-threads=1"])
        .env(CHILD, url)
        .env("SSL_CERT_FILE", authorities)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {said}");
}

/// A certificate for localhost that vouches for itself, and its key.
fn certificate(certificate: &Path, key: &Path) {
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let arguments = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
                     -subj /CN=localhost -addext subjectAltName=DNS:localhost \
                     -addext basicConstraints=critical,CA:FALSE -out";
    let mut arguments: Vec<&str> = arguments.split_whitespace().collect();
    arguments.extend([certificate, "-keyout", key]);
    run("openssl", &arguments);
}

#[test]
fn the_certificate_is_checked() {
    let server = Server::own();
    let database = server.database("");
    drop(Postgres::create(&database.url()).unwrap());
    let port = free_port();
    let data = server.data();
    let [ours, key] = ["server.crt", "server.key"].map(|name| data.join(name));
    certificate(&ours, &key);
    // Of the same owner as the data, or the server does not read it.
    let reference = format!("--reference={}", data.display());
    run(
        "chown",
        &[&reference, ours.to_str().unwrap(), key.to_str().unwrap()],
    );
    let mut client = server.client();
    for setting in [
        format!("port = {port}"),
        "listen_addresses = '127.0.0.1'".to_owned(),
    ] {
        client
            .batch_execute(&format!("ALTER SYSTEM SET {setting}"))
            .unwrap();
    }
    server.crash();

    let address = |host: &str, mode: &str| {
        let name = &database.name;
        format!("postgres://postgres@{host}:{port}/{name}?sslmode={mode}")
    };
    let refused = |url: &str, authorities: &Path, why: &str| {
        let said = open(url, authorities);
        assert!(said.contains("MZ1772"), "{said}");
        assert!(said.contains(why), "{said}");
    };
    // The server has no TLS yet: nothing is said in the clear unless asked for.
    refused(&address("localhost", "require"), &ours, "TLS");
    let said = open(&address("localhost", "disable"), &ours);
    assert!(said.contains("opened with 0 entries"), "{said}");
    let mut client = postgres::Client::connect(&address("127.0.0.1", "disable"), postgres::NoTls);
    let client = client.as_mut().unwrap();
    client.batch_execute("ALTER SYSTEM SET ssl = on").unwrap();
    server.crash();

    let said = open(&address("localhost", "require"), &ours);
    assert!(said.contains("opened with 0 entries"), "{said}");
    // Another name than that in the certificate, and a certificate of an unknown authority.
    refused(&address("127.0.0.1", "require"), &ours, "certificate");
    let directory = Directory::new();
    let [other, key] = ["other.crt", "other.key"].map(|name| directory.path().join(name));
    certificate(&other, &key);
    refused(&address("localhost", "require"), &other, "certificate");
}
