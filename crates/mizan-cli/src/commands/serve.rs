//! `mizan serve`: the HTTP server.

use std::net::SocketAddr;
use std::path::PathBuf;

use mizan_engine::this_program;
use mizan_ledger::default_state_dir;
use mizan_server::limits::{Limits, QueryWorkers};
use mizan_server::{Listen, Options, serve};

use crate::catalogue_file::CatalogueFile;
use crate::failure::Failure;
use crate::ledger_args::LedgerArguments;
use crate::output::{Output, print, stop_spinner};
use crate::query_limits::QueryLimitArguments;
use crate::tokens::Tokens;

/// Serve queries, budgets and proofs over HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A loopback address needs no TLS; any other address needs a certificate. On
SIGTERM the server answers the queries that are charged, and stops.

Examples:
  mizan serve
  mizan serve --listen 127.0.0.1:8080
  mizan serve --listen 0.0.0.0:443 --cert chain.pem --key key.pem")]
pub(crate) struct Arguments {
    /// Address to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8917")]
    listen: SocketAddr,

    /// Certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// Requests per second that one token may send
    #[arg(long, value_name = "N", default_value_t = 50)]
    rate: u32,

    /// Queries that run over data at once [default: one more than processors, at least 3]
    #[arg(long, value_name = "N")]
    queries: Option<usize>,

    #[command(flatten)]
    query_limits: QueryLimitArguments,

    #[command(flatten)]
    tokens: Tokens,

    #[command(flatten)]
    catalogue: CatalogueFile,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let listen = Listen {
        address: arguments.listen,
        tls: arguments.cert.clone().zip(arguments.key.clone()),
    };
    let mut limits = Limits::default();
    limits.rate = f64::from(arguments.rate.max(1));
    limits.burst = 2.0 * limits.rate;
    limits.queries = arguments.queries.unwrap_or(limits.queries);
    limits.query_workers = Some(QueryWorkers {
        program: this_program()?,
        limits: arguments.query_limits.limits(limits.queries)?,
    });
    let secure = listen.tls.is_some();
    let options = Options {
        ledger: arguments.ledger.existing()?,
        state_dir: default_state_dir()?,
        catalogue: arguments.catalogue.path(),
        tokens: arguments.tokens.path(),
        limits,
        secure,
    };
    let scheme = if secure { "https" } else { "http" };
    stop_spinner();
    serve(&listen, options, |address| {
        let line = output.either(
            || serde_json::json!({"address": address.to_string(), "url": format!("{scheme}://{address}")}),
            || format!("listening on {scheme}://{address}\n"),
        );
        // The server runs even if standard output is closed.
        let _ = print(&line);
    })?;
    Ok(String::new())
}
