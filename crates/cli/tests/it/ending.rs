//! The end of a server: what no longer starts, what is waited for, which signals are heard.

use crate::door::begin;
use crate::http::connect;
use crate::rig::{Bench, PATIENCE, task};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Instant;

const CHAIN: &str = "\
name: w
tasks:
  a: { run: 'echo up > up; cat gate' }
  b: { depends_on: [a], run: 'true' }
";

/// A request whose body never comes. It is under way when this returns: its body is asked for.
fn begun(url: &str) -> TcpStream {
    let mut stream = connect(url);
    let head = "POST /workflows HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/yaml\r\n\
                content-length: 100\r\nexpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("sent");
    let (mut heard, mut some) = (String::new(), [0; 64]);
    while !heard.contains("\r\n\r\n") {
        let count = stream.read(&mut some).expect("it speaks");
        assert_ne!(count, 0, "it ended: {heard}");
        heard.push_str(&String::from_utf8_lossy(&some[..count]));
    }
    assert!(heard.starts_with("HTTP/1.1 100 "), "{heard}");
    stream
}

#[test]
fn nothing_starts_while_a_request_is_waited_for_and_a_second_signal_is_heard() {
    let bench = Bench::with(CHAIN);
    bench.fifo("up");
    bench.fifo("gate");
    let (mut server, url) = begin(&bench, &["--listen", "127.0.0.1:0"]);
    bench.run(&["apply", "w.yaml"]).is(0);
    let run = bench.run(&["trigger", "w", "-o", "json"]).is(0).json();
    let id = run["id"].as_str().expect("an id");
    assert_eq!(bench.hear("up"), "up\n");
    let _request = begun(&url);
    server.signal(Signal::TERM);
    server.until("asked to end");
    bench.write("gate", "");
    let until = Instant::now() + PATIENCE;
    let ended = loop {
        // While the door closes nobody may answer; then the database is read.
        let done = bench.run(&["show", id, "-o", "json"]);
        if done.status.success() && task(&done.json(), "a")["status"] == "success" {
            break done.json();
        }
        assert!(Instant::now() < until, "a does not end: {}", done.stdout);
    };
    assert_eq!(task(&ended, "b")["attempt"], 0, "{ended}");
    // Signals close to each other are one wish; this one is another.
    bench.shell("sleep 0.2").is(0);
    server.signal(Signal::TERM);
    server.until("asked again");
    server.done().is(0);
}

#[test]
fn a_hangup_reads_limits_anew_and_a_wrong_file_changes_nothing() {
    let bench = Bench::with(CHAIN);
    bench.write("mainspring.toml", "[tiers]\nheavy = 1\n");
    let (mut server, _) = begin(&bench, &["--listen", "127.0.0.1:0", "--tier", "light=5@9/1m"]);
    bench.run(&["tiers"]).is(0).prints("heavy").prints("9/1m");
    bench.write("mainspring.toml", "[tiers]\nheavy = 7\ntotal = 3\n");
    server.signal(Signal::HUP);
    server.until("limits were read anew");
    let tiers = bench.run(&["tiers", "-o", "json"]).is(0).json();
    let limit = |tiers: &Value, name: &str| {
        let items = tiers["items"].as_array().expect("a list").iter();
        items.clone().find(|tier| tier["name"] == name).map(|tier| tier["limit"].clone())
    };
    assert_eq!(limit(&tiers, "heavy"), Some(7.into()));
    assert_eq!(limit(&tiers, "total"), Some(3.into()));
    assert_eq!(limit(&tiers, "light"), Some(5.into()));
    bench.write("mainspring.toml", "[tiers]\nheavy = -7\n");
    server.signal(Signal::HUP);
    server.until("limits stay as they are");
    bench.run(&["tiers", "set", "heavy", "--limit", "2"]).is(0).prints("tier heavy: 2 at once");
    bench.write("mainspring.toml", "[tiers]\nheavy = 8\n");
    server.signal(Signal::HUP);
    server.until("limits were read anew");
    let tiers = bench.run(&["tiers", "-o", "json"]).is(0).json();
    assert_eq!(limit(&tiers, "heavy"), Some(2.into()), "what was set wins");
    assert_eq!(limit(&tiers, "total"), Some(1_000.into()));
    let cores = std::thread::available_parallelism().expect("known").get();
    assert_eq!(limit(&tiers, "executor:process"), Some((4 * cores).into()));
    server.signal(Signal::TERM);
    server.done().is(0);
}

#[test]
fn a_server_that_nobody_listens_to_any_more_goes_on() {
    let bench = Bench::with(CHAIN);
    let mut command = bench.command(&["server", "--listen", "127.0.0.1:0"]);
    let mut server = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut said = BufReader::new(server.stderr.take().expect("piped")).lines();
    assert!(said.any(|line| line.expect("readable").contains("listening")));
    drop(said);
    bench.run(&["apply", "w.yaml"]).is(0);
    for signal in [Signal::HUP, Signal::TERM] {
        kill_process(Pid::from_child(&server), signal).expect("it runs");
    }
    assert_eq!(server.wait().expect("waited for").code(), Some(0));
}
