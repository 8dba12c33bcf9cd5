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
        let (server, url) = begin(&bench, &["--listen", "127.0.0.1:0"]);
        Self { bench, server: Some(server), url, door }
    }

    /// Over TLS, with a certificate for `localhost` in `cert.pem`.
    pub fn secured() -> Self {
        let bench = Bench::new();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
        bench.write("cert.pem", made.cert.pem());
        bench.write("key.pem", made.signing_key.serialize_pem());
        let tls = ["--tls-certificate", "cert.pem", "--tls-key", "key.pem"];
        let args: Vec<&str> = [&["--listen", "127.0.0.1:0"][..], &tls].concat();
        let (server, url) = begin(&bench, &args);
        let url = url.replace("http://127.0.0.1", "https://localhost");
        Self { bench, server: Some(server), url, door: Door::Address }
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
        done.is(0).json()["id"].as_str().expect("an id").to_owned()
    }

    pub fn kill(&mut self) {
        let server = self.server.take().expect("it runs");
        server.signal(Signal::KILL);
        assert!(server.done().was_killed());
    }

    /// At the same address as before.
    pub fn begin_again(&mut self) {
        let address = self.url.strip_prefix("http://").expect("an address").to_owned();
        self.server = Some(begin(&self.bench, &["--listen", &address]).0);
    }
}

fn begin(bench: &Bench, args: &[&str]) -> (Running, String) {
    let mut server = bench.start(&[&["server"], args].concat());
    let line = server.until("listening");
    let line: Value = serde_json::from_str(&line).expect("a line of JSON");
    let address = line["address"].as_str().expect("an address").to_owned();
    (server, format!("http://{address}"))
}
