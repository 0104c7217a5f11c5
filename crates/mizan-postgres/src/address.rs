//! The address of a database, `postgres://user@host/database`, and its TLS policy.
//!
//! `sslmode` has the name of libpq's option, but a simpler meaning. Network connections use TLS and
//! verify the certificate and the host name; only `sslmode=disable` turns TLS off. Unix sockets and
//! loopback addresses use TLS only with `sslmode=require`.
//!
//! `tcp_user_timeout` is the number of seconds without data after which a connection is closed, 40
//! by default.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Unreachable, sentence};

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection without data and keep-alive responses for this long is closed: a cut network
/// reports no error.
const SILENCE: Duration = Duration::from_secs(40);

/// The default port, which is not displayed.
const USUAL_PORT: u16 = 5432;

/// A text is not a valid address. The text is not quoted, because it may contain a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadAddress {
    /// What is wrong with it.
    pub reason: &'static str,
}

/// The address and the user of a database. May contain a password.
#[derive(Clone)]
pub struct Address {
    config: Config,
    /// The address without the user.
    place: String,
}

// The password is not printed.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

impl Address {
    /// Parses an address. `program` becomes the application name, unless the address has one.
    ///
    /// # Errors
    ///
    /// The text is not a valid address. The message is not that of the parser, which repeats parts
    /// of the text and thereby perhaps of a password.
    pub fn parse(url: &str, program: &str) -> Result<Self, BadAddress> {
        let wrong = |reason| BadAddress { reason };
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(wrong("it does not begin with postgres://"));
        }
        // The parser ends the password at the first @: the rest would be parsed as the host, and be
        // displayed.
        if url.matches('@').count() > 1 {
            return Err(wrong("it has more than one @"));
        }
        let parsed = url.parse::<Config>();
        let mut config =
            parsed.map_err(|_| wrong("a part or an option of it is not understood"))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(wrong("it names no host"));
        }
        let Some(database) = config.get_dbname() else {
            return Err(wrong("it names no database"));
        };
        let place = format!("postgres://{}/{database}", shown_hosts(&config));
        let mode = match config.get_ssl_mode() {
            SslMode::Prefer if is_local(&config) => SslMode::Disable,
            SslMode::Prefer => SslMode::Require,
            mode => mode,
        };
        let silence = config.get_tcp_user_timeout().copied().unwrap_or(SILENCE);
        // In whole seconds, at least one.
        let part = |of: u32| (silence / of).max(Duration::from_secs(1));
        config
            .ssl_mode(mode)
            .connect_timeout(CONNECT_TIMEOUT)
            .keepalives(true)
            .keepalives_idle(part(2))
            .keepalives_interval(part(4))
            .keepalives_retries(3)
            .tcp_user_timeout(silence);
        if config.get_application_name().is_none() {
            config.application_name(program);
        }
        Ok(Self { config, place })
    }

    /// The address for messages, without secrets.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The name of the database.
    #[must_use]
    pub fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or_default()
    }

    /// Whether it contains a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// The same address with this password.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        self.config.password(password);
        self
    }

    /// Connects. `warned` receives the warnings of the server.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or refuses the connection.
    pub fn connect(
        &self,
        warned: impl Fn(String) + Send + Sync + 'static,
    ) -> Result<Client, Unreachable> {
        let mut config = self.config.clone();
        config.notice_callback(move |notice| {
            if notice.severity() != "NOTICE" {
                warned(notice.message().to_owned());
            }
        });
        let client = match config.get_ssl_mode() {
            SslMode::Disable => config.connect(NoTls),
            _ => config.connect(tls()?),
        };
        client.map_err(|error| Unreachable {
            reason: sentence(&error),
        })
    }
}

/// The hosts, each with its port unless it is the default. A single port applies to all hosts.
fn shown_hosts(config: &Config) -> String {
    let ports = config.get_ports();
    let shown = |(place, host): (usize, &Host)| {
        let (name, port) = (host_name(host), ports.get(place).or(ports.first()));
        match port {
            Some(port) if *port != USUAL_PORT && name.contains(':') => format!("[{name}]:{port}"),
            Some(port) if *port != USUAL_PORT => format!("{name}:{port}"),
            _ => name,
        }
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(shown).collect();
    hosts.join(",")
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}

/// Whether all hosts are Unix sockets or loopback addresses.
fn is_local(config: &Config) -> bool {
    let is_loopback = |name: &str| {
        let address = name.parse::<std::net::IpAddr>();
        name == "localhost" || address.is_ok_and(|address| address.is_loopback())
    };
    let local = |host: &Host| match host {
        Host::Tcp(name) => is_loopback(name),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    let mut addresses = config.get_hostaddrs().iter();
    // `hostaddr` overrides the host name.
    config.get_hosts().iter().all(local) && addresses.all(std::net::IpAddr::is_loopback)
}

/// TLS with the authorities that the system trusts.
fn tls() -> Result<MakeRustlsConnect, Unreachable> {
    let mut roots = RootCertStore::empty();
    // Certificates of the system that cannot be parsed are skipped.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Unreachable {
            reason: error.to_string(),
        })?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn a_network_means_tls_unless_the_address_says_no() {
        let mode = |url: &str| Address::parse(url, "mizan").unwrap().config.get_ssl_mode();
        for local in ["localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql"] {
            let url = format!("postgres://me@{local}/ledger");
            assert_eq!(mode(&url), SslMode::Disable, "{url}");
            let url = format!("{url}?sslmode=require");
            assert_eq!(mode(&url), SslMode::Require, "{url}");
        }
        for remote in ["db.example.org", "10.0.0.1", "localhost,db", "[fe80::1]"] {
            let url = format!("postgres://me@{remote}/ledger");
            assert_eq!(mode(&url), SslMode::Require, "{url}");
            let prefer = format!("{url}?sslmode=prefer");
            assert_eq!(mode(&prefer), SslMode::Require, "{prefer}");
            let disable = format!("{url}?sslmode=disable");
            assert_eq!(mode(&disable), SslMode::Disable, "{disable}");
        }
        let elsewhere = "postgres://me@localhost/ledger?hostaddr=10.0.0.1";
        assert_eq!(mode(elsewhere), SslMode::Require);
    }

    #[test]
    fn silence_ends_every_connection() {
        let config = |url: &str| Address::parse(url, "mizan").unwrap().config;
        let seconds = |url: &str| {
            let config = config(url);
            assert!(config.get_keepalives(), "{url}");
            let asked = config.get_keepalives_idle();
            let given_up = config.get_tcp_user_timeout().copied().unwrap();
            (asked.as_secs(), given_up.as_secs())
        };
        assert_eq!(seconds("postgres://me@db/ledger"), (20, 40));
        assert_eq!(seconds("postgres://me@db/ledger?keepalives=0"), (20, 40));
        assert_eq!(
            seconds("postgres://me@db/ledger?tcp_user_timeout=6"),
            (3, 6)
        );
        assert_eq!(
            seconds("postgres://me@db/ledger?tcp_user_timeout=1"),
            (1, 1)
        );
    }

    #[test]
    fn no_sentence_has_a_password() {
        for url in [
            "postgres://me:hunter2@host:port/ledger",
            "postgres://me:hunter2@host",
            "postgres://me:hunter2@/ledger",
            "hunter2",
            "postgres://me:hunter2@host/ledger?sslmode=hunter2",
            "postgres://me:un@hunter2@host/ledger",
        ] {
            let error = Address::parse(url, "mizan").unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{url}");
        }
        for url in [
            "postgres://me:hunter2@host/ledger",
            "postgres://me:hun?ter2=hunter2@host/ledger",
            "postgres://me@host:1/ledger?password=hunter2",
        ] {
            let address = Address::parse(url, "mizan").unwrap();
            let shown = format!("{address:?}").replace(":1/", "/");
            assert_eq!(shown, "postgres://host/ledger");
        }
    }

    #[test]
    fn a_port_is_shown_unless_it_is_the_usual_one() {
        for (url, shown) in [
            ("postgres://me@db/a", "postgres://db/a"),
            ("postgres://me@db:5432/a", "postgres://db/a"),
            ("postgres://me@db:5433/a", "postgres://db:5433/a"),
            ("postgres://me@[::1]:6/a", "postgres://[::1]:6/a"),
            ("postgres://me@db,eb:7/a", "postgres://db,eb:7/a"),
            ("postgres://me@%2Frun%2Fpg:8/a", "postgres:///run/pg:8/a"),
        ] {
            assert_eq!(Address::parse(url, "mizan").unwrap().place(), shown);
        }
    }
}
