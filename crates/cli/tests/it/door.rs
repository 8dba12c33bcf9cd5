//! A server at work, and the two doors that lead to it.

use crate::rig::{Bench, Done, Running};
use rustix::process::Signal;
use serde_json::Value;

/// By which way a command gets to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `--server URL`
    Address,
    /// The socket in the data folder.
    Socket,
}

impl Door {
    pub const ALL: [Self; 2] = [Self::Address, Self::Socket];
}

pub struct Served {
    pub bench: Bench,
    server: Option<Running>,
    pub url: String,
    door: Door,
}

impl Served {
    pub fn new(door: Door) -> Self {
        let bench = Bench::new();
        let (server, url) = begin(&bench, "127.0.0.1:0");
        Self { bench, server: Some(server), url, door }
    }

    /// With one workflow deployed from `w.yaml`.
    pub fn with(door: Door, workflow: &str) -> Self {
        let served = Self::new(door);
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
        let id = done.is(0).json()["id"].as_str().expect("an id").to_owned();
        id
    }

    pub fn kill(&mut self) {
        let server = self.server.take().expect("it runs");
        server.signal(Signal::KILL);
        assert!(server.done().was_killed());
    }

    /// At the same address as before.
    pub fn begin_again(&mut self) {
        let address = self.url.strip_prefix("http://").expect("an address").to_owned();
        self.server = Some(begin(&self.bench, &address).0);
    }
}

fn begin(bench: &Bench, address: &str) -> (Running, String) {
    let mut server = bench.start(&["server", "--listen", address]);
    let line = server.until("listening");
    let line: Value = serde_json::from_str(&line).expect("a line of JSON");
    let address = line["address"].as_str().expect("an address").to_owned();
    (server, format!("http://{address}"))
}
