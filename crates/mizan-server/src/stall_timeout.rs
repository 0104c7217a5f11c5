//! Closes connections that stall: those that send no first bytes, and those whose client
//! stops reading the response.
//!
//! hyper waits without a limit for the bytes that tell HTTP/1.1 from HTTP/2; its own
//! timeouts begin after them. It also waits without a limit for a client that sends a
//! request and does not read the response.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// The length of the HTTP/2 connection preface; a request of HTTP/1.1 is longer.
const PREFACE: usize = 24;

/// A stream whose first bytes must arrive in time, and whose client must read some of what
/// is written in time.
pub(crate) struct StallTimeout<S> {
    stream: S,
    preface_missing: usize,
    preface_timer: Pin<Box<Sleep>>,
    timeout: Duration,
    /// Runs while the client reads nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> StallTimeout<S> {
    /// Closes a stream that stalls for longer than `timeout`.
    pub(crate) fn new(stream: S, timeout: Duration) -> Self {
        Self {
            stream,
            preface_missing: PREFACE,
            preface_timer: Box::pin(tokio::time::sleep(timeout)),
            timeout,
            stalled: None,
        }
    }

    /// The result of a write, or an error if the client has read nothing for too long.
    fn check_stall<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let timeout = self.timeout;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let arrived = buffer.filled().len().saturating_sub(before);
        self.preface_missing = self.preface_missing.saturating_sub(arrived);
        if read.is_pending()
            && self.preface_missing > 0
            && self.preface_timer.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_stall(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.check_stall(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.check_stall(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.check_stall(context, shut)
    }
}
