//! TLS from certificate files.

use crate::config::TlsFiles;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{} cannot be read as PEM: {source}", path.display())]
    Pem { path: PathBuf, source: rustls::pki_types::pem::Error },
    #[error("{} holds no certificate", path.display())]
    Empty { path: PathBuf },
    #[error("certificate and key cannot be used together: {0}")]
    Unusable(#[from] rustls::Error),
}

pub fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let pem = |path: &PathBuf| {
        let path = path.clone();
        move |source| TlsError::Pem { path, source }
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(pem(&files.certificate))?;
    if chain.is_empty() {
        return Err(TlsError::Empty { path: files.certificate.clone() });
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(pem(&files.key))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
