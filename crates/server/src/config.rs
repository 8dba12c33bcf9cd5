//! What a server is told: where to listen, and whom to trust.

use mainspring_core::ids::RunId;
use mainspring_core::time::Span;
use mainspring_engine::logs::LogPlaces;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// One place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    Tcp(SocketAddr),
    /// A socket in the file system that only its owner can open: no token is asked for.
    Unix(PathBuf),
}

/// What may be changed here. Everything may be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Everything,
    /// The engine carries on this run and no other, and ends with it.
    OneRun(RunId),
}

#[derive(Clone, Debug)]
pub struct Config {
    pub listen: Vec<Listen>,
    /// Listen beyond this machine although no token is asked for.
    pub insecure: bool,
    /// Names beside its addresses that the server answers to while no token is asked for.
    pub hosts: Vec<String>,
    pub tls: Option<TlsFiles>,
    /// Where the processes of runs triggered over HTTP start.
    pub workdir: PathBuf,
    /// The head of a request and then its body have to arrive within this time each.
    pub read_time_max: Duration,
    pub logs: LogPlaces,
    pub scope: Scope,
    /// Final runs are kept for so long.
    pub retention: Span,
    /// Requests under way may end within this time.
    pub drain: Duration,
    /// Open connections at once at each door; more wait to be accepted. Each door has its own
    /// number: strangers who take all places at one do not keep the owner from the socket.
    pub connections: u32,
}

/// More connections than this at one door are of no use to anybody.
pub const CONNECTIONS_MAX: u32 = 4_096;

impl Config {
    /// Other machines can reach it, and nobody said that this is fine without tokens.
    pub fn is_exposed(&self) -> bool {
        let is_beyond = |place: &Listen| match place {
            Listen::Tcp(address) => !address.ip().is_loopback(),
            Listen::Unix(_) => false,
        };
        !self.insecure && self.listen.iter().any(is_beyond)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}
