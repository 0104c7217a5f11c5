//! Listening: connections with limits on number and time, and a graceful shutdown.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use mizan_api::failure::Failure;
use mizan_core::Code;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

use crate::limits::Limits;
use crate::service::{Options, Service};
use crate::stall_timeout::StallTimeout;
use crate::{api, tls};

/// The pause after a failed accept, most often for lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// The stack size of threads that plan and compute.
const STACK: usize = 16 << 20;

/// The send buffer of a socket. The system reports room again when a third of the buffer is
/// sent; with its default of several megabytes a slow client does not get there before the
/// stall timeout.
const SEND_BUFFER: u32 = 128 << 10;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;

/// Where to listen.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The address.
    pub address: SocketAddr,
    /// A certificate chain and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
}

impl Listen {
    /// Checks that the address is safe: one that other machines can reach needs TLS.
    ///
    /// # Errors
    ///
    /// The address needs TLS and has no certificate.
    pub fn check(&self) -> Result<(), Failure> {
        if self.tls.is_some() || self.address.ip().is_loopback() {
            return Ok(());
        }
        Err(Failure::new(
            Code::MZ2040,
            format!(
                "{} can be reached from other machines, and tokens would be sent without encryption",
                self.address
            ),
            "give --cert and --key, or listen on 127.0.0.1",
        ))
    }

    /// The TLS acceptor, if there is a certificate.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the key does not belong to the certificate.
    pub fn acceptor(&self) -> Result<Option<TlsAcceptor>, Failure> {
        let files = self.tls.as_ref();
        files
            .map(|(certificates, key)| tls::acceptor(certificates, key))
            .transpose()
    }
}

/// Serves until the process gets SIGTERM or SIGINT. `ready` is called with the address.
///
/// # Errors
///
/// The ledger, the tokens, the certificate or the address cannot be used; or the server
/// stopped because the ledger must be opened again.
pub fn serve(
    listen: &Listen,
    options: Options,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), Failure> {
    listen.check()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .build()
        .map_err(|error| Failure::file("start", "the runtime", &error))?;
    let result = runtime.block_on(async {
        let acceptor = listen.acceptor()?;
        let listener = bound(listen.address);
        let failed = |error: std::io::Error| {
            Failure::new(
                Code::MZ2041,
                format!("cannot listen on {}: {error}", listen.address),
                "choose another address with --listen",
            )
        };
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let service = Service::open(options)?;
        tokio::spawn(stop_on_signal(service.clone()));
        ready(address);
        accept(listener, acceptor, service.clone()).await;
        service.finish().await;
        match service.is_broken() {
            true => Err(Failure::new(
                Code::MZ1766,
                "the ledger does not know whether a charge is durable",
                "start the server again: the ledger finds out, and clients retry with the same keys",
            )),
            false => Ok(()),
        }
    });
    // Event streams and idle connections are not waited for.
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

/// A listener. Accepted connections inherit its buffer sizes.
fn bound(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Stops the service on SIGTERM or SIGINT.
async fn stop_on_signal(service: Service) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        ) else {
            return;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    service.stop();
}

/// Accepts connections until the service stops, then waits for the requests that are being
/// answered.
pub async fn accept(listener: TcpListener, acceptor: Option<TlsAcceptor>, service: Service) {
    let router = api::router(service.clone());
    let permits = Arc::new(Semaphore::new(service.limits().connections.max(1)));
    let graceful = GracefulShutdown::new();
    let mut stopped = std::pin::pin!(service.stopped());
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&permits).acquire_owned() => permit,
            () = &mut stopped => break,
        };
        let Ok(permit) = permit else { break };
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            },
            () = &mut stopped => break,
        };
        let connection = Connection {
            router: router.clone(),
            limits: service.limits().clone(),
            watcher: graceful.watcher(),
            _permit: permit,
        };
        tokio::spawn(connection.serve(stream, acceptor.clone()));
    }
    drop(listener);
    // Idle connections close at once, others after their response.
    let _ = tokio::time::timeout(service.limits().shutdown_time, graceful.shutdown()).await;
}

/// One connection.
struct Connection {
    router: Router,
    limits: Limits,
    watcher: Watcher,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    async fn serve(self, stream: TcpStream, acceptor: Option<TlsAcceptor>) {
        // Responses are small, and a client waits for them.
        let _ = stream.set_nodelay(true);
        match acceptor {
            None => self.answer(stream).await,
            Some(acceptor) => {
                let handshake = acceptor.accept(stream);
                let timeout = self.limits.header_time;
                if let Ok(Ok(stream)) = tokio::time::timeout(timeout, handshake).await {
                    self.answer(stream).await;
                }
            }
        }
    }

    async fn answer(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_time)
            .max_buf_size(64 << 10);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(Duration::from_secs(30))
            .max_concurrent_streams(64)
            .max_header_list_size(64 << 10);
        let stream = StallTimeout::new(stream, self.limits.header_time);
        let service = TowerToHyperService::new(self.router);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let connection = self.watcher.watch(connection.into_owned());
        // An error here means that the client closed the connection.
        let _ = connection.await;
    }
}
