//! Connections: accepted, served within limits, drained at the end.

use crate::app::App;
use crate::auth::sessions;
use crate::auth::who::Peer;
use crate::config::{Config, Listen};
use crate::events::reader::ends;
use crate::routes::router::router;
use crate::socket::Address;
use crate::stall::Stalling;
use crate::tls::{self, TlsError};
use axum::Router;
use axum::extract::ConnectInfo;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use mainspring_core::kernel::record::TokenKind;
use mainspring_store::{ReadError, Store};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

/// A head is small: however long a body may take, this is enough for it.
const HEADER_TIME_MAX: Duration = Duration::from_secs(10);
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
const HEADER_BYTES_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 100;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(
        "{0} can be reached from other machines and no token is asked for: make one with \
         `mainspring tokens create`, or say --insecure"
    )]
    Unprotected(SocketAddr),
    #[error("cannot listen at {place}: {source}")]
    Bind { place: String, source: std::io::Error },
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("who may ask cannot be read: {0}")]
    Tokens(#[from] ReadError),
}

/// Bound to its doors, and not serving yet.
#[derive(Debug)]
pub struct Server {
    app: App,
    doors: Doors,
}

/// The places of a server, taken before there is anything to serve: whoever comes early waits,
/// and a place that cannot be had is known before any work was touched.
#[derive(Debug)]
pub struct Doors {
    doors: Vec<Door>,
    tls: Option<Acceptor>,
}

#[derive(Clone)]
struct Acceptor(TlsAcceptor);

impl std::fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Acceptor").finish_non_exhaustive()
    }
}

#[derive(Debug)]
enum Door {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Doors {
    /// Takes the places, unless one would let strangers in without a token.
    pub async fn bind(config: &Config, store: &dyn Store) -> Result<Self, ServeError> {
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?.map(Acceptor);
        let tokens = store.tokens().await?;
        let has_tokens = tokens.iter().any(|row| row.kind == TokenKind::Bearer);
        let mut doors = Vec::new();
        for place in &config.listen {
            doors.push(match place {
                Listen::Tcp(address) => {
                    let is_protected = has_tokens || config.insecure;
                    if !address.ip().is_loopback() && !is_protected {
                        return Err(ServeError::Unprotected(*address));
                    }
                    let bound = TcpListener::bind(address).await;
                    Door::Tcp(bound.map_err(|source| ServeError::Bind {
                        place: address.to_string(),
                        source,
                    })?)
                }
                Listen::Unix(path) => Door::Unix(bind_unix(path)?, path.clone()),
            });
        }
        Ok(Self { doors, tls })
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        let tcp = self.doors.iter().filter_map(|door| match door {
            Door::Tcp(listener) => listener.local_addr().ok(),
            Door::Unix(..) => None,
        });
        tcp.collect()
    }
}

impl Server {
    pub fn new(app: App, doors: Doors) -> Self {
        Self { app, doors }
    }

    /// Where it listens, with the port that was found if none was asked for.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.doors.addresses()
    }

    /// Serves until told to stop, then lets requests under way end.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let routes = Arc::new(Routes { app: self.app.clone(), router: OnceLock::new() });
        let (closing, closed) = watch::channel(false);
        let mut rooms = Vec::new();
        let mut accepting = tokio::task::JoinSet::new();
        let connections = self.app.config.connections;
        for door in self.doors.doors {
            let house = House {
                routes: Arc::clone(&routes),
                tls: self.doors.tls.clone(),
                head_time_max: self.app.config.read_time_max.min(HEADER_TIME_MAX),
                closed: closed.clone(),
            };
            let room = Arc::new(Semaphore::new(connections as usize));
            let keeper = Keeper { house, room: Arc::clone(&room) };
            rooms.push(room);
            accepting.spawn(keeper.keep(door));
        }
        accepting.spawn(sessions::keep(self.app.clone()));
        stop.await;
        self.app.is_ready.store(false, Ordering::Relaxed);
        self.app.draining.send_replace(true);
        let _ = closing.send(true);
        let drained = async {
            for room in rooms {
                drop(room.acquire_many(connections).await);
            }
        };
        // Whoever takes longer is left.
        let _ = tokio::time::timeout(self.app.config.drain, drained).await;
        accepting.shutdown().await;
    }
}

fn bind_unix(path: &std::path::Path) -> Result<UnixListener, ServeError> {
    let error = |source| ServeError::Bind { place: path.display().to_string(), source };
    // Whoever holds the data folder owns the socket in it: one from a former life is stale.
    match std::fs::remove_file(path) {
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {}
        other => other.map_err(error)?,
    }
    let address = Address::of(path).map_err(error)?;
    let listener = UnixListener::bind(address.path()).map_err(error)?;
    let owner_only = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, owner_only).map_err(error)?;
    Ok(listener)
}

/// Made for the first who comes: a run of `mainspring run` that nobody asks after has no use
/// for them.
struct Routes {
    app: App,
    router: OnceLock<Router>,
}

impl Routes {
    fn get(&self) -> Router {
        self.router.get_or_init(|| router(self.app.clone())).clone()
    }
}

/// What every connection is served with.
#[derive(Clone)]
struct House {
    routes: Arc<Routes>,
    tls: Option<Acceptor>,
    head_time_max: Duration,
    closed: watch::Receiver<bool>,
}

/// Keeps one door.
struct Keeper {
    house: House,
    room: Arc<Semaphore>,
}

impl Keeper {
    async fn keep(self, door: Door) {
        let mut closing = self.house.closed.clone();
        loop {
            let Ok(room) = Arc::clone(&self.room).acquire_owned().await else { return };
            tokio::select! {
                () = ends(&mut closing) => break,
                accepted = door.accept() => {
                    let Ok(accepted) = accepted else {
                        // Out of descriptors, most likely: others have to end first.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    };
                    let house = self.house.clone();
                    tokio::spawn(async move {
                        let _room = room;
                        welcome(accepted, house).await;
                    });
                }
            }
        }
        if let Door::Unix(_, path) = &door {
            let _ = std::fs::remove_file(path);
        }
    }
}

enum Accepted {
    Tcp(tokio::net::TcpStream, SocketAddr),
    Unix(tokio::net::UnixStream),
}

impl Door {
    async fn accept(&self) -> std::io::Result<Accepted> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Accepted::Tcp(stream, address))
            }
            Self::Unix(listener, _) => Ok(Accepted::Unix(listener.accept().await?.0)),
        }
    }
}

async fn welcome(accepted: Accepted, house: House) {
    match accepted {
        Accepted::Unix(stream) => {
            let peer = Peer { address: "socket".into(), is_owner: true };
            converse(stream, peer, house).await;
        }
        Accepted::Tcp(stream, address) => {
            let peer = Peer { address: address.ip().to_string().into(), is_owner: false };
            match house.tls.clone() {
                None => converse(stream, peer, house).await,
                Some(Acceptor(tls)) => {
                    let shaken = tokio::time::timeout(HANDSHAKE_TIME_MAX, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        converse(stream, peer, house).await;
                    }
                }
            }
        }
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    house: House,
) {
    let House { routes, head_time_max, mut closed, .. } = house;
    let router = routes.get();
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer.clone()));
        router.clone().oneshot(request.map(axum::body::Body::new) as Request)
    });
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time_max)
        .max_buf_size(HEADER_BYTES_MAX)
        .max_headers(HEADERS_MAX);
    let connection = builder.serve_connection(TokioIo::new(Stalling::new(stream)), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // Whatever ends a connection early is the other side's doing.
        _ = connection.as_mut() => return,
        () = ends(&mut closed) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}
