//! A client of a few lines: HTTP/1.1 over a socket, one request at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A response.
#[derive(Debug, Clone)]
pub struct Response {
    /// Its status code.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Response {
    /// The first value of a header, whose name is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A connection that is kept open.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
    /// The access token of its requests.
    pub token: Option<String>,
}

impl Client {
    /// A client that connects with its first request.
    #[must_use]
    pub fn new(address: SocketAddr, token: Option<&str>) -> Self {
        Self {
            address,
            stream: None,
            token: token.map(str::to_owned),
        }
    }

    /// The response to GET.
    pub fn get(&mut self, path: &str) -> Response {
        self.send("GET", path, &[], None).unwrap()
    }

    /// The response to POST with a body.
    pub fn post(&mut self, path: &str, body: &Value) -> Response {
        self.send("POST", path, &[], Some(body)).unwrap()
    }

    /// The response to POST with an idempotency key.
    pub fn post_with_key(&mut self, path: &str, key: &str, body: &Value) -> Response {
        self.send("POST", path, &[("Idempotency-Key", key)], Some(body))
            .unwrap()
    }

    /// Sends a request and reads the response.
    ///
    /// # Errors
    ///
    /// If the connection is closed.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> std::io::Result<Response> {
        let result = self.attempt(method, path, headers, body);
        match &result {
            Ok(answer) if answer.header("connection") != Some("close") => {}
            _ => self.stream = None,
        }
        result
    }

    fn attempt(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> std::io::Result<Response> {
        if self.stream.is_none() {
            let stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(10))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_secs(120)))?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
        if let Some(token) = &self.token {
            head.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            head.push_str("Content-Type: application/json\r\n");
        }
        if method == "POST" {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        head.push_str(&body);
        stream.get_mut().write_all(head.as_bytes())?;
        read(stream)
    }
}

/// Reads one response; of an event stream, the first chunk.
///
/// # Errors
///
/// If the connection is closed, or what it sends is not HTTP.
pub fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Response> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let bad = || std::io::Error::other("not HTTP");
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let status = status.ok_or_else(bad)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(bad)?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut answer = Response {
        status,
        headers,
        body: Vec::new(),
    };
    if answer.header("transfer-encoding") == Some("chunked") {
        let events = answer.header("content-type") == Some("text/event-stream");
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).map_err(|_| bad())?;
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk)?;
            chunk.truncate(size);
            answer.body.extend(chunk);
            if size == 0 || events {
                break;
            }
        }
        if events {
            answer.headers.push(("connection".into(), "close".into()));
        }
    } else if let Some(length) = answer.header("content-length") {
        let length = length.parse().map_err(|_| bad())?;
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        answer.body = body;
    }
    Ok(answer)
}
