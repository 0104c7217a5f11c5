//! The address of a scheduler.

use std::fmt;
use std::str::FromStr;

use crate::engine::EngineError;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// The address of a host and a port.
    pub(super) fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
        }
    }

    /// The host, without the brackets of IPv6.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_matches(['[', ']'])
    }

    /// The port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The host as it is written in URLs.
    pub(super) fn url_host(&self) -> String {
        match self.host().contains(':') {
            true => format!("[{}]", self.host()),
            false => self.host().to_owned(),
        }
    }

    /// The URL for gRPC.
    pub(super) fn url(&self) -> String {
        format!("http://{self}")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.url_host(), self.port)
    }
}

impl FromStr for Address {
    type Err = EngineError;

    fn from_str(text: &str) -> Result<Self, EngineError> {
        let bad = |reason| EngineError::BadScheduler { reason };
        let text = text.trim();
        if text.contains('/') {
            return Err(bad("it contains a slash"));
        }
        let (host, port) = text.rsplit_once(':').ok_or(bad("it has no port"))?;
        let port = port.parse().map_err(|_| bad("the port is not a number"))?;
        let address = Self::new(host, port);
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        if address.host().is_empty() || !address.host().chars().all(allowed) {
            return Err(bad("the host is not a name"));
        }
        let bracketed = host.starts_with('[') && host.ends_with(']');
        if address.host().contains(':') != bracketed {
            return Err(bad("an IPv6 address must be in brackets"));
        }
        Ok(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for text in [
            "localhost:50050",
            "10.0.0.1:1",
            "[::1]:80",
            "a-b.example.org:65535",
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
        }
        let address: Address = "[::1]:80".parse().unwrap();
        assert_eq!(address.host(), "::1");
        for text in [
            "",
            "localhost",
            ":1",
            "a:b",
            "a:65536",
            "a b:1",
            "::1:80",
            "http://a:1",
            "a/b:1",
            "[]:1",
            "é:1",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error.code(), "MZ1924", "{text}");
        }
    }
}
