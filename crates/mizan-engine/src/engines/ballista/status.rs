//! The status of a scheduler and its executors, which clients request before they send work:
//! one page over HTTP, so that `curl` can read it too.

use std::io::{Error, ErrorKind, Read as _, Result as Done, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::VERSION;
use super::address::Address;
use crate::engine::EngineError;

/// The path of the page.
pub(super) const PAGE: &str = "/mizan";

/// The time limit for the connection, the request and the response together.
const STATUS_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest page that is read.
const LONGEST: usize = 1 << 20;

/// The executors of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterStatus {
    /// For each executor, how many tasks it runs concurrently.
    pub executors: Vec<u32>,
}

impl ClusterStatus {
    /// How many tasks the cluster runs concurrently.
    #[must_use]
    pub fn cores(&self) -> usize {
        let cores = self.executors.iter().map(|cores| *cores as usize);
        cores.fold(0, usize::saturating_add)
    }

    /// The page as JSON.
    pub(super) fn to_json(&self) -> Value {
        json!({"mizan": VERSION, "executors": self.executors})
    }
}

/// Requests the status of a scheduler.
///
/// # Errors
///
/// The scheduler cannot be reached, is another kind of server, or has another version.
pub fn cluster_status(scheduler: &Address) -> Result<ClusterStatus, EngineError> {
    let none = |reason: String| EngineError::NoScheduler {
        place: scheduler.to_string(),
        reason,
    };
    let page = get(scheduler, STATUS_TIMEOUT).map_err(|error| none(said(error.kind())))?;
    let strange = || none("the server there is not a scheduler of mizan".to_owned());
    let (head, body) = page.split_once("\r\n\r\n").ok_or_else(strange)?;
    if head.split_ascii_whitespace().nth(1) != Some("200") {
        return Err(strange());
    }
    let page: Value = serde_json::from_str(body).map_err(|_| strange())?;
    let version = page
        .get("mizan")
        .and_then(Value::as_str)
        .ok_or_else(strange)?;
    if version != VERSION {
        return Err(EngineError::OtherVersion {
            place: scheduler.to_string(),
            found: version
                .chars()
                .filter(|c| !c.is_control())
                .take(40)
                .collect(),
        });
    }
    let cores = |cores: &Value| u32::try_from(cores.as_u64()?).ok();
    let executors = page.get("executors").and_then(Value::as_array);
    let executors = executors.and_then(|all| all.iter().map(cores).collect());
    Ok(ClusterStatus {
        executors: executors.ok_or_else(strange)?,
    })
}

fn said(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "it does not answer".to_owned(),
        ErrorKind::NotFound => "there is no such host".to_owned(),
        ErrorKind::InvalidData => "the server there is not a scheduler of mizan".to_owned(),
        other => other.to_string(),
    }
}

/// The page with its headers, within a time limit.
fn get(scheduler: &Address, most: Duration) -> Done<String> {
    let end = Instant::now() + most;
    let left = || match end.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(Error::from(ErrorKind::TimedOut)),
        left => Ok(left),
    };
    // Operating systems have different messages for it, and the library has none.
    let no_host = |_| Error::from(ErrorKind::NotFound);
    let mut found = Err(ErrorKind::NotFound.into());
    let addresses = (scheduler.host(), scheduler.port()).to_socket_addrs();
    for address in addresses.map_err(no_host)? {
        found = TcpStream::connect_timeout(&address, left()?);
        if found.is_ok() {
            break;
        }
    }
    let mut stream = found?;
    stream.set_write_timeout(Some(left()?))?;
    let request = format!("GET {PAGE} HTTP/1.0\r\nHost: {scheduler}\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let (mut page, mut part) = (Vec::new(), [0; 4096]);
    while page.len() < LONGEST {
        // The time limit also applies to a response that arrives byte by byte.
        stream.set_read_timeout(Some(left()?))?;
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(length) => page.extend_from_slice(part.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    String::from_utf8(page).map_err(|_| ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that answers once with this text.
    fn says(words: &'static str) -> Address {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(words.as_bytes()).unwrap();
        });
        Address::new(address.ip().to_string(), address.port())
    }

    #[test]
    fn other_servers_are_distinguished() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = closed.local_addr().unwrap().port();
        drop(closed);
        let error = cluster_status(&Address::new("127.0.0.1", port)).unwrap_err();
        assert_eq!(error.code(), "MZ1925");
        for strange in [
            "",
            "220 mail.example.org ESMTP\r\n",
            "HTTP/1.1 404 Not Found\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\n\r\n{\"mizan\": 1}",
            "\u{0}\u{1}\u{2}",
        ] {
            let error = cluster_status(&says(strange)).unwrap_err();
            assert_eq!(error.code(), "MZ1925", "{strange}");
        }
        let error = cluster_status(&says(
            "HTTP/1.1 200 OK\r\n\r\n{\"mizan\": \"9.9.9\", \"executors\": [4]}",
        ));
        let error = error.unwrap_err();
        assert_eq!(error.code(), "MZ1926");
        assert!(error.to_string().contains("9.9.9"), "{error}");
        assert!(error.to_string().contains(VERSION), "{error}");
    }

    #[test]
    fn a_missing_host_is_an_error() {
        let error = cluster_status(&Address::new("nohost.invalid", 50)).unwrap_err();
        assert_eq!(error.code(), "MZ1925");
        assert!(error.to_string().contains("no such host"), "{error}");
    }

    /// A server that sends a few bytes, again and again.
    #[test]
    fn a_slow_response_times_out() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let (start, most) = (Instant::now(), Duration::from_millis(200));
        let address = Address::new(address.ip().to_string(), address.port());
        let error = get(&address, most).unwrap_err();
        assert_eq!(said(error.kind()), "it does not answer");
        assert!(start.elapsed() >= most && start.elapsed() < STATUS_TIMEOUT);
    }

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let status = ClusterStatus {
            executors: vec![2, 4],
        };
        let page = status.to_json();
        assert_eq!(page.get("mizan").and_then(Value::as_str), Some(VERSION));
        let words = format!("HTTP/1.1 200 OK\r\n\r\n{page}");
        let found = cluster_status(&says(words.leak())).unwrap();
        assert_eq!(found, status);
        assert_eq!(found.cores(), 6);
    }
}
