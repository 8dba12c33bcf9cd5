//! A server that has nothing to do does nothing.

use crate::rig::{PATIENCE, PROGRAM};
use mainspring_testkit::load::{Client, Place, Served};
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Instant, SystemTime};

/// Lets time go by: how little is done in it is what is looked at.
fn pass(seconds: u32) {
    let slept = Command::new("sleep").arg(seconds.to_string()).status();
    assert!(slept.expect("it can be started").success());
}

/// What the kernel counts of a process: bytes it had written, and hundredths of a second of CPU.
fn counted(server: &Served) -> (u64, u64) {
    let folder = PathBuf::from(format!("/proc/{}", server.pid()));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it lives");
    let io = read("io");
    let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    let stat = read("stat");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks = |field: usize| fields[field - 3].parse::<u64>().expect("a number");
    (written.expect("a line").parse().expect("a number"), ticks(14) + ticks(15))
}

/// A run that is over leaves no work behind; then nothing is written, and the CPU is not used for
/// what the kernel could count, however slow the machine is.
#[test]
fn a_server_at_rest_writes_nothing_and_takes_no_cpu() {
    let folder = tempfile::tempdir().expect("a folder");
    let place =
        Place { program: PROGRAM.into(), folder: folder.path().join("data"), database: None };
    let server = Served::start(&place);
    let mut client = Client::connect(server.address).expect("it listens");
    let definition = br#"{ "name": "w", "tasks": { "only": { "run": "true" } } }"#;
    assert_eq!(client.post("/workflows", definition).expect("it answers").status, 201);
    let run = client.post("/workflows/w/runs", b"{}").expect("it answers").json();
    let path = format!("/runs/{}", run["id"].as_str().expect("an id"));
    while client.get(&path).expect("it answers").json()["finished_at"].is_null() {}
    drop(client);
    // The last thing that follows a spell of work: what was written ahead goes to its place.
    let wal = folder.path().join("data/mainspring.db-wal");
    let until = Instant::now() + PATIENCE;
    while std::fs::metadata(&wal).expect("a file").len() > 0 {
        assert!(Instant::now() < until, "no checkpoint");
        std::thread::yield_now();
    }
    // Its new size is seen before its blocks are given back: whoever changes the file after that
    // waits until all of it is done.
    let file = File::options().append(true).open(&wal).expect("it opens");
    file.set_modified(SystemTime::now()).expect("it is ours");
    let before = counted(&server);
    pass(3);
    let after = counted(&server);
    assert_eq!(after.0 - before.0, 0, "bytes written");
    let ticks = after.1 - before.1;
    assert!(ticks <= 2, "{ticks} hundredths of a second");
}
