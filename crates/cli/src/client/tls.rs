//! TLS as a client: the certificates that this machine trusts, or those of SSL_CERT_FILE.

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::io::{Error, Result};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub async fn secured(stream: TcpStream, host: &str) -> Result<TlsStream<TcpStream>> {
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(bare).map_err(Error::other)?;
    let connector = TlsConnector::from(Arc::new(config()?));
    connector.connect(name, stream).await
}

fn config() -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    // One that cannot be read is no reason to refuse the others.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(Error::other(
            "this machine has no certificates to trust: name a file of them in SSL_CERT_FILE",
        ));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(versions.map_err(Error::other)?.with_root_certificates(roots).with_no_client_auth())
}
