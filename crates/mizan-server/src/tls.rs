//! TLS: a certificate chain and its key, read once.

use std::path::Path;
use std::sync::Arc;

use mizan_api::failure::Failure;
use mizan_core::Code;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// An acceptor for TLS 1.2 and 1.3.
///
/// # Errors
///
/// A file cannot be read or has no certificate or key, or the key does not belong to the
/// certificate.
pub(crate) fn acceptor(certificates: &Path, key: &Path) -> Result<TlsAcceptor, Failure> {
    let failed = |path: &Path, reason: &dyn std::fmt::Display| {
        Failure::new(
            Code::MZ2042,
            format!("{}: {reason}", path.display()),
            "give --cert a PEM file with the chain and --key one with its private key",
        )
    };
    let chain = CertificateDer::pem_file_iter(certificates)
        .map_err(|error| failed(certificates, &error))?
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| failed(certificates, &error))?;
    if chain.is_empty() {
        return Err(failed(certificates, &"the file has no certificate"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(certificates, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| failed(key, &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
