//! `mainspring run` is asked and steered by other commands, through the socket in its folder.

use crate::rig::{Bench, PATIENCE, Running, task};
use rustix::process::Signal;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::Instant;

const W: &str = "name: w
tasks:
  a: { run: 'echo one; echo up > up; cat gate; echo two' }
  b: { depends_on: [a], run: echo b }
";
const SOCKET: &str = ".mainspring/api.sock";

/// A run whose first task waits.
fn waiting() -> (Bench, Running) {
    let bench = Bench::with(W);
    bench.fifo("up");
    bench.fifo("gate");
    let running = bench.start(&["run", "w.yaml"]);
    up(&bench, ".mainspring");
    (bench, running)
}

/// Waits until its task is at work and somebody listens: which of the two comes first is chance.
fn up(bench: &Bench, data: &str) {
    assert_eq!(bench.hear("up"), "up\n");
    // By way of a descriptor: the path itself may be too long for a socket.
    let folder = File::open(bench.path(data)).expect("a data folder");
    let socket = format!("/proc/self/fd/{}/api.sock", folder.as_raw_fd());
    let is_private = || {
        let found = std::fs::metadata(&socket);
        found.is_ok_and(|found| found.permissions().mode() & 0o777 == 0o600)
    };
    let until = Instant::now() + PATIENCE;
    while UnixStream::connect(&socket).is_err() || !is_private() {
        assert!(Instant::now() < until, "nobody listens");
        std::thread::yield_now();
    }
}

#[test]
fn a_run_can_be_watched_to_its_end() {
    let (bench, mut running) = waiting();
    let mode = bench.path(SOCKET).metadata().expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    bench.run(&["runs"]).is(0).prints("running");
    let shown = bench.run(&["show", "last", "-o", "json"]).is(0).json();
    assert_eq!(shown["run"]["status"], "running");
    bench.run(&["doctor"]).is(0).prints("api.sock is ready");
    let mut watch = bench.start(&["watch", "last"]);
    let mut log = bench.start(&["logs", "last", "a", "-f"]);
    watch.until("started    a");
    log.until_printed("one");
    running.until("started    a");
    bench.write("gate", "");
    running.done().is(0);
    watch.done().is(0).says("success    b").prints("success w in");
    assert_eq!(log.done().is(0).stdout, "one\ntwo\n");
    assert!(!bench.path(SOCKET).exists());
    bench.run(&["show", "last"]).is(0).prints("success");
    bench.run(&["cancel", "last"]).is(3).says("nobody is at work");
}

#[test]
fn a_run_can_be_steered() {
    let (bench, running) = waiting();
    bench.run(&["pause", "last", "b"]).is(0).prints("task b: paused");
    bench.run(&["resume", "last", "b"]).is(0).prints("task b: pending");
    bench.run(&["pause", "last"]).is(0).prints(": paused");
    bench.write("gate", "");
    bench
        .shell("until [ \"$($M show last -o json | grep -c '\"success\"')\" -gt 0 ]; do :; done")
        .is(0);
    assert_eq!(task(&bench.show("last"), "b")["status"], "ready", "nothing starts");
    bench.run(&["resume", "last"]).is(0);
    running.done().is(0);
}

#[test]
fn a_run_can_be_cancelled_and_its_tasks_retried() {
    let (bench, running) = waiting();
    bench.run(&["cancel", "last"]).is(0);
    let done = running.done();
    done.is(130).prints("cancelled");
    assert_eq!(bench.alive(), [""; 0]);

    bench.write(
        "w.yaml",
        "name: w\ntasks:\n  a: { run: '[ -e ready ]' }\n  b: { run: 'echo up > up; cat gate' }\n",
    );
    let mut running = bench.start(&["run", "w.yaml"]);
    running.until("failed     a");
    assert_eq!(bench.hear("up"), "up\n");
    bench.write("ready", "");
    bench.run(&["retry", "last", "a"]).is(0);
    running.until("success    a");
    bench.write("gate", "");
    running.done().is(0).prints("success");
}

#[test]
fn only_its_own_run_is_changed() {
    let bench = Bench::with("name: other\ntasks: { a: { run: exit 1 } }\n");
    let failed = bench.run(&["run", "w.yaml", "-o", "json"]).is(1).json();
    let failed = failed["run"]["id"].as_str().expect("an id").to_owned();
    bench.write("w.yaml", W);
    bench.fifo("up");
    bench.fifo("gate");
    let running = bench.start(&["run", "w.yaml"]);
    up(&bench, ".mainspring");
    for args in [
        &["retry", &failed][..],
        &["apply", "w.yaml"],
        &["trigger", "other"],
        &["delete", "other"],
        &["tokens", "create", "x", "--role", "viewer"],
    ] {
        bench.run(args).is(1).says("Only one run is carried on here").says("mainspring server");
    }
    bench.run(&["show", &failed]).is(0).prints("failed");
    bench.run(&["workflows"]).is(0).prints("other");
    bench.write("gate", "");
    running.done().is(0);
    assert_eq!(bench.show(&failed)["run"]["status"], "failed");
    bench.run(&["tokens", "list"]).is(3);
}

#[test]
fn a_socket_that_was_left_is_taken_over() {
    let (bench, mut running) = waiting();
    running.kill();
    assert!(running.done().was_killed());
    assert!(bench.path(SOCKET).exists());
    bench.run(&["runs"]).is(0).prints("running");
    let resumed = bench.start(&["run", "--resume"]);
    up(&bench, ".mainspring");
    bench.run(&["pause", "last", "b"]).is(0);
    bench.run(&["resume", "last", "b"]).is(0);
    resumed.signal(Signal::INT);
    resumed.done().is(130);
    assert!(!bench.path(SOCKET).exists());
}

#[test]
fn a_run_that_is_left_leaves_no_socket() {
    let (bench, mut running) = waiting();
    running.signal(Signal::HUP);
    running.until("left");
    running.done().is(130);
    assert!(!bench.path(SOCKET).exists());
}

#[test]
fn a_long_path_is_no_hindrance() {
    let bench = Bench::with(W);
    bench.fifo("up");
    bench.fifo("gate");
    let data = format!("{}/data", "x".repeat(150));
    std::fs::create_dir(bench.path(&"x".repeat(150))).expect("made");
    let running = bench.start(&["run", "w.yaml", "--data", &data]);
    up(&bench, &data);
    bench.run(&["cancel", "last", "--data", &data]).is(0);
    assert!(!running.done().is(130).stderr.contains("note"));
    let args = ["--data", &data, "--listen", "127.0.0.1:0"];
    let (server, _) = crate::door::begin(&bench, &args);
    bench.run(&["runs", "--data", &data]).is(0);
    bench.run(&["doctor", "--data", &data]).is(0).prints("api.sock is ready");
    server.signal(Signal::TERM);
    server.done().is(0);
}
