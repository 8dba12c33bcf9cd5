//! A server at work on either kind of database, and the two doors that lead to it.

use crate::rig::{Bench, Done, Running};
use mainspring_throwaway::{Database, database};
use rustix::process::{Pid, Signal};
use serde_json::Value;

/// By which way a command gets to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `--server URL`
    Address,
    /// The socket in the data folder.
    Socket,
}

/// Where the server keeps what it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The file in its data folder.
    Sqlite,
    /// A PostgreSQL database, made for this test.
    Postgres,
}

impl Base {
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];
}

/// A door, and what is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub door: Door,
    pub base: Base,
}

impl Way {
    pub const ALL: [Self; 4] = [
        Self { door: Door::Address, base: Base::Sqlite },
        Self { door: Door::Socket, base: Base::Sqlite },
        Self { door: Door::Address, base: Base::Postgres },
        Self { door: Door::Socket, base: Base::Postgres },
    ];
}

/// Where it makes no difference, the file.
impl From<Door> for Way {
    fn from(door: Door) -> Self {
        Self { door, base: Base::Sqlite }
    }
}

pub struct Served {
    pub bench: Bench,
    server: Option<Running>,
    pub url: String,
    door: Door,
    /// Dropped after the server that uses it.
    pub database: Option<Database>,
}

impl Served {
    pub fn new(way: impl Into<Way>) -> Self {
        let Way { door, base } = way.into();
        let database = (base == Base::Postgres).then(database);
        Self::started(door, database, &[])
    }

    /// With more arguments for the server.
    pub fn started_with(args: &[&str]) -> Self {
        Self::started(Door::Address, None, args)
    }

    fn started(door: Door, database: Option<Database>, args: &[&str]) -> Self {
        let bench = Bench::new();
        let args = [&["--listen", "127.0.0.1:0"], args].concat();
        let (server, url) = begin_on(&bench, database.as_ref(), &args);
        Self { bench, server: Some(server), url, door, database }
    }

    /// Over TLS, with a certificate for `localhost` in `cert.pem`.
    pub fn secured() -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
        Self::secured_by(&made.cert.pem(), &made.signing_key.serialize_pem())
    }

    /// Over TLS, with this certificate and key.
    pub fn secured_by(certificate: &str, key: &str) -> Self {
        let bench = Bench::new();
        bench.write("cert.pem", certificate);
        bench.write("key.pem", key);
        let tls = ["--tls-certificate", "cert.pem", "--tls-key", "key.pem"];
        let args: Vec<&str> = [&["--listen", "127.0.0.1:0"][..], &tls].concat();
        let (server, url) = begin_on(&bench, None, &args);
        let url = url.replace("http://127.0.0.1", "https://localhost");
        Self { bench, server: Some(server), url, door: Door::Address, database: None }
    }

    /// With one workflow deployed from `w.yaml`.
    pub fn with(way: impl Into<Way>, workflow: &str) -> Self {
        let served = Self::new(way);
        served.bench.write("w.yaml", workflow);
        served.run(&["apply", "w.yaml"]).is(0);
        served
    }

    pub fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let mut args = args.to_vec();
        if self.door == Door::Address {
            args.extend(["--server", &self.url]);
        }
        args
    }

    pub fn run(&self, args: &[&str]) -> Done {
        self.bench.run(&self.args(args))
    }

    pub fn start(&self, args: &[&str]) -> Running {
        self.bench.start(&self.args(args))
    }

    /// Starts a run; its id.
    pub fn trigger(&self, args: &[&str]) -> String {
        let args: Vec<&str> = [&["trigger", "w", "-o", "json"], args].concat();
        let done = self.run(&args);
        done.is(0).json()["id"].as_str().expect("an id").to_owned()
    }

    pub fn pid(&self) -> Pid {
        self.server.as_ref().expect("it runs").pid()
    }

    pub fn kill(&mut self) {
        let server = self.server.take().expect("it runs");
        server.signal(Signal::KILL);
        assert!(server.done().was_killed());
    }

    /// At the same address as before.
    pub fn begin_again(&mut self) {
        let address = self.url.strip_prefix("http://").expect("an address").to_owned();
        let args = ["--listen", &address];
        self.server = Some(begin_on(&self.bench, self.database.as_ref(), &args).0);
    }

    /// Memory the server has in use, as the kernel counts it.
    pub fn memory_mib(&self) -> u64 {
        let path = format!("/proc/{}/status", self.pid().as_raw_nonzero());
        let status = std::fs::read_to_string(path).expect("/proc");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib / 1_024
    }
}

fn begin_on(bench: &Bench, database: Option<&Database>, args: &[&str]) -> (Running, String) {
    let url = database.map(Database::url);
    let database: Vec<&str> = url.iter().flat_map(|url| ["--database", url]).collect();
    begin(bench, &[args, &database].concat())
}

/// A server on this bench, and its address.
pub fn begin(bench: &Bench, args: &[&str]) -> (Running, String) {
    let mut server = bench.start(&[&["server"], args].concat());
    let line = server.until("listening");
    let line: Value = serde_json::from_str(&line).expect("a line of JSON");
    let address = line["address"].as_str().expect("an address").to_owned();
    (server, format!("http://{address}"))
}
