//! Asks a Mizan server over HTTP, with nothing but the standard library.
//!
//! Start a server and create a token, as the chapter *A team server* of the book shows; then
//! `MIZAN_TOKEN=... cargo run --release -p mizan --example http_client -- 127.0.0.1:8917
//! 'SELECT COUNT(*) AS n FROM visits'`.
//!
//! A real client uses an HTTP library with TLS and a JSON library. What matters is the same: the
//! token, the key that makes a repetition free, and the status.

use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The status and the body of a response.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// Sends one query. If there is no response, the caller may send it again with the same `key`: it is
/// charged once.
pub(crate) fn query(
    server: &str,
    token: &str,
    key: &str,
    sql: &str,
) -> Result<Response, Box<dyn Error>> {
    let body = format!(r#"{{"sql": {}, "epsilon": 0.1}}"#, json_text(sql));
    let mut connection = TcpStream::connect(server)?;
    connection.set_read_timeout(Some(Duration::from_secs(60)))?;
    write!(
        connection,
        "POST /api/v1/queries HTTP/1.1\r\n\
         Host: {server}\r\n\
         Authorization: Bearer {token}\r\n\
         Idempotency-Key: {key}\r\n\
         Content-Type: application/json\r\n\
         Content-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len(),
    )?;
    let mut response = String::new();
    connection.read_to_string(&mut response)?;
    let (head, body) = response
        .split_once("\r\n\r\n")
        .ok_or("no end of the headers")?;
    let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
    Ok(Response {
        status,
        body: body.to_owned(),
    })
}

/// A text as JSON.
fn json_text(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' | '\\' => format!("\\{character}"),
        control if control.is_control() => format!("\\u{:04x}", u32::from(control)),
        other => other.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// A new key: 128 random bits, the id itself. The number of a process would repeat, in containers for
/// example. A system without `/dev/urandom` needs a crate for random UUIDs.
fn random_key() -> Result<String, Box<dyn Error>> {
    let mut bits = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bits)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bits)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(server), Some(sql)) = (arguments.next(), arguments.next()) else {
        return Err("usage: http_client HOST:PORT SQL".into());
    };
    let token = std::env::var("MIZAN_TOKEN")?;
    // A new key is a new charge with fresh noise.
    let key = random_key()?;
    let response = query(&server, &token, &key, &sql)?;
    match response.status {
        // The answer, its intervals, and a receipt that proves the charge.
        200 => println!("{}", response.body),
        // The charge does not fit into the budget: nothing was charged.
        status => println!("refused with status {status}: {}", response.body),
    }
    Ok(())
}
