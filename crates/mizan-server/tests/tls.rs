//! TLS: a certificate made here, a client that trusts it, and clients that stall, send
//! plain text, trust another certificate or have the wrong key.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{World, wide};
use mizan_server::Listen;
use mizan_server::identity::Role;
use mizan_server::limits::Limits;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A certificate for this machine and its key, as files.
struct Papers {
    directory: tempfile::TempDir,
    certificate: String,
}

impl Papers {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let names = vec!["localhost".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let certificate = made.cert.pem();
        std::fs::write(directory.path().join("cert.pem"), &certificate).unwrap();
        let key = made.signing_key.serialize_pem();
        std::fs::write(directory.path().join("key.pem"), key).unwrap();
        Self {
            directory,
            certificate,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn listen(&self, address: IpAddr) -> Listen {
        Listen {
            address: SocketAddr::new(address, 0),
            tls: Some((self.file("cert.pem"), self.file("key.pem"))),
        }
    }

    fn world(&self, limits: Limits) -> World {
        let listen = self.listen(Ipv4Addr::LOCALHOST.into());
        World::over(limits, listen.acceptor().unwrap())
    }

    /// A client that trusts this certificate alone.
    fn client(&self, address: SocketAddr, protocols: &[&str]) -> Secured {
        let mut trusted = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap();
        trusted.add(certificate).unwrap();
        connect(address, trusted, protocols)
    }
}

type Secured = StreamOwned<ClientConnection, TcpStream>;

fn connect(address: SocketAddr, trusted: RootCertStore, protocols: &[&str]) -> Secured {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let protocols = protocols.iter().map(|name| name.as_bytes().to_vec());
    config.alpn_protocols = protocols.collect();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    StreamOwned::new(client, stream)
}

/// One request, and all that comes back.
fn ask(stream: &mut Secured, head: &str, body: &str) -> String {
    let length = body.len();
    let request = format!(
        "{head} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut said = Vec::new();
    // A server may close without close_notify; what arrived counts.
    let _ = stream.read_to_end(&mut said);
    String::from_utf8(said).unwrap()
}

#[test]
fn a_client_that_trusts_the_certificate_is_answered() {
    let papers = Papers::new();
    let world = papers.world(wide());
    let mut client = papers.client(world.address, &["http/1.1"]);
    let said = ask(&mut client, "GET /healthz", "");
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    let lower = said.to_ascii_lowercase();
    assert!(
        lower.contains("strict-transport-security: max-age="),
        "{said}"
    );
    // A session cookie over TLS is marked Secure.
    let token = world.token(Role::Analyst, "visits");
    let mut client = papers.client(world.address, &["http/1.1"]);
    let said = ask(&mut client, "POST /sign-in", &format!("token={token}"));
    let cookies: Vec<_> = said
        .lines()
        .filter(|line| line.to_ascii_lowercase().starts_with("set-cookie:"))
        .collect();
    assert!(!cookies.is_empty(), "{said}");
    for cookie in cookies {
        for word in ["; Secure", "; HttpOnly", "; SameSite=Strict"] {
            assert!(cookie.contains(word), "{cookie}");
        }
    }
}

#[test]
fn http_2_and_1_are_both_spoken() {
    let papers = Papers::new();
    let world = papers.world(wide());
    for protocol in ["h2", "http/1.1"] {
        let mut client = papers.client(world.address, &[protocol]);
        client.conn.complete_io(&mut client.sock).unwrap();
        assert_eq!(client.conn.alpn_protocol(), Some(protocol.as_bytes()));
        let version = client.conn.protocol_version().unwrap();
        assert_eq!(version, rustls::ProtocolVersion::TLSv1_3);
    }
}

#[test]
fn plain_text_and_untrusting_clients_are_not_answered() {
    let papers = Papers::new();
    let world = papers.world(wide());
    // Plain text gets no answer.
    let mut open = TcpStream::connect(world.address).unwrap();
    open.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut said = Vec::new();
    let _ = open.read_to_end(&mut said);
    assert!(!said.starts_with(b"HTTP/"), "{said:?}");
    // Noise.
    let mut noise = TcpStream::connect(world.address).unwrap();
    noise.write_all(&[0xff; 4096]).unwrap();
    let _ = noise.read_to_end(&mut Vec::new());
    // A client that trusts another certificate closes the connection.
    let mut other = Papers::new().client(world.address, &["http/1.1"]);
    assert!(other.conn.complete_io(&mut other.sock).is_err());
    // The server still answers others.
    let mut client = papers.client(world.address, &["http/1.1"]);
    assert!(ask(&mut client, "GET /healthz", "").starts_with("HTTP/1.1 200"));
}

#[test]
fn stalled_handshakes_are_ended_and_do_not_block_others() {
    let papers = Papers::new();
    let world = papers.world(Limits {
        header_time: Duration::from_secs(2),
        ..wide()
    });
    let begun = Instant::now();
    // Half of them send nothing, half begin a handshake and stop.
    let mut stalled: Vec<_> = (0..100)
        .map(|number| {
            let mut stream = TcpStream::connect(world.address).unwrap();
            if number % 2 == 0 {
                stream.write_all(&[0x16, 0x03, 0x01, 0x02]).unwrap();
            }
            stream
        })
        .collect();
    let mut client = papers.client(world.address, &["http/1.1"]);
    assert!(ask(&mut client, "GET /healthz", "").starts_with("HTTP/1.1 200"));
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    for stream in &mut stalled {
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut said = Vec::new();
        let ended = stream.read_to_end(&mut said);
        let reset = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionReset;
        assert!(ended.as_ref().map_or_else(reset, |_| true), "{ended:?}");
    }
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn an_open_network_without_tls_is_refused() {
    let papers = Papers::new();
    let open = |address: &str| Listen {
        address: address.parse().unwrap(),
        tls: None,
    };
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8917", "[2001:db8::1]:1"] {
        let refused = open(address).check().unwrap_err();
        assert_eq!(refused.code, "MZ2040", "{address}");
        let secured = Listen {
            tls: Some((papers.file("cert.pem"), papers.file("key.pem"))),
            ..open(address)
        };
        secured.check().unwrap();
    }
    for address in ["127.0.0.1:0", "127.8.9.10:0", "[::1]:0"] {
        open(address).check().unwrap();
    }
}

#[test]
fn bad_certificates_and_keys_are_reported() {
    let (papers, other) = (Papers::new(), Papers::new());
    let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
    std::fs::write(papers.file("empty.pem"), "").unwrap();
    std::fs::write(papers.file("text.pem"), "no certificate\n").unwrap();
    std::fs::write(
        papers.file("damaged.pem"),
        "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
    )
    .unwrap();
    let good = papers.file("cert.pem");
    for (certificate, key, about) in [
        (good.clone(), other.file("key.pem"), "key.pem"),
        (good.clone(), good.clone(), "cert.pem"),
        (good.clone(), papers.file("missing.pem"), "missing.pem"),
        (
            papers.file("missing.pem"),
            papers.file("key.pem"),
            "missing.pem",
        ),
        (
            papers.file("empty.pem"),
            papers.file("key.pem"),
            "empty.pem",
        ),
        (papers.file("text.pem"), papers.file("key.pem"), "text.pem"),
        (
            papers.file("damaged.pem"),
            papers.file("key.pem"),
            "damaged.pem",
        ),
        (
            papers.directory.path().to_owned(),
            papers.file("key.pem"),
            "",
        ),
    ] {
        let listen = Listen {
            address,
            tls: Some((certificate, key)),
        };
        let Err(failure) = listen.acceptor() else {
            panic!("{about} was accepted");
        };
        assert_eq!(failure.code, "MZ2042");
        assert!(failure.message.contains(about), "{}", failure.message);
        assert!(failure.help.contains("--cert"), "{}", failure.help);
    }
}
