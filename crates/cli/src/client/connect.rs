//! One connection to a server, whatever way leads there.

use super::error::ClientError;
use super::target::{Scheme, Target};
use super::tls;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use mainspring_server::socket::Address;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

/// A server that is there takes a connection at once; this leaves room for far ones.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

pub type Line = SendRequest<Full<Bytes>>;

pub async fn connect(target: &Target) -> Result<Line, ClientError> {
    let opened = tokio::time::timeout(CONNECT_TIME_MAX, open(target)).await;
    let place = || target.to_string();
    match opened {
        Ok(Ok(line)) => Ok(line),
        Ok(Err(source)) if is_certificate(&source) => {
            let hint = hint(&source);
            Err(ClientError::Untrusted { place: place(), hint, source: source.into() })
        }
        Ok(Err(source)) => Err(ClientError::Unreachable { place: place(), source: source.into() }),
        Err(_) => Err(ClientError::Silent { place: place(), after: CONNECT_TIME_MAX }),
    }
}

/// Whether somebody answered whose certificate was refused.
fn is_certificate(error: &io::Error) -> bool {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    matches!(cause, Some(rustls::Error::InvalidCertificate(_)))
}

/// What `openssl req -x509` makes is marked as an issuer's, which nobody else would notice.
fn hint(error: &io::Error) -> &'static str {
    match error.to_string().contains("CaUsedAsEndEntity") {
        true => {
            ". It is marked as an issuer's own: make it with `-addext basicConstraints=CA:FALSE`"
        }
        false => "",
    }
}

async fn open(target: &Target) -> io::Result<Line> {
    match target {
        Target::Socket(path) => talk(socket(path).await?).await,
        Target::Address { scheme, host, port, .. } => {
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            let stream = TcpStream::connect((bare, *port)).await?;
            stream.set_nodelay(true)?;
            match scheme {
                Scheme::Http => talk(stream).await,
                Scheme::Https => talk(tls::secured(stream, host).await?).await,
            }
        }
    }
}

pub async fn socket(path: &Path) -> io::Result<UnixStream> {
    let address = Address::of(path)?;
    UnixStream::connect(address.path()).await
}

async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> io::Result<Line> {
    let (line, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // Whatever ends it is told to the request that is under way.
    tokio::spawn(async move { drop(connection.await) });
    Ok(line)
}
