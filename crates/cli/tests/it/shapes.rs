//! What programs read: stdout is the result and nothing else.

use crate::rig::{Bench, Running, task};
use std::process::Stdio;

#[test]
fn json_is_one_document_on_stdout() {
    let bench = Bench::with(
        "name: w
tasks:
  a: { run: 'echo hi; echo {\\\"n\\\": 1} > $MAINSPRING_OUTPUT' }
  b: { depends_on: [a], noop: {}, input: { x: [1] } }
  c: { depends_on: [a], run: 'exit 4' }
  d: { depends_on: [c], run: 'true' }
",
    );
    let done = bench.run(&["run", "w.yaml", "-o", "json"]);
    let document = done.is(1).json();
    let run = &document["run"];
    assert_eq!(run["status"], "failed");
    assert_eq!((&run["workflow"], &run["version"]), (&"w".into(), &1.into()));
    assert_eq!((&run["triggered_by"], &run["kind"]), (&"cli".into(), &"dag".into()));
    assert_eq!(run["tasks"]["total"], 4);
    assert_eq!(run["tasks"]["blocked"], 1);
    assert_eq!(task(&document, "a")["output"]["n"], 1);
    assert_eq!(task(&document, "b")["output"]["x"][0], 1);
    let failed = &task(&document, "c")["error"];
    assert_eq!((&failed["class"], &failed["exit_code"]), (&"exit".into(), &4.into()));
    assert_eq!(task(&document, "d")["status"], "blocked");
    assert!(task(&document, "a").get("error").is_none(), "absent, not null");
    done.says("success    a in").says("failed w in");
    assert!(!done.stderr.contains('\u{1b}'), "no colours without a terminal");

    let listed = bench.run(&["runs", "-o", "json"]).json();
    assert_eq!(listed["items"][0]["id"], run["id"]);
    let none = bench.run(&["runs", "--status", "success", "-o", "json"]).json();
    assert_eq!(none["items"].as_array().map(Vec::len), Some(0));
    bench.run(&["runs", "--workflow", "w", "--limit", "1"]).is(0).prints("failed");
    bench.run(&["show", "last"]).is(0).prints("upstream_failed: c");
}

#[test]
fn a_reader_that_leaves_does_not_disturb_the_run() {
    let bench = Bench::with("name: w\ntasks: { a: { run: 'cat gate; touch ran' } }\n");
    bench.fifo("gate");
    let mut command = bench.command(&["run", "w.yaml", "-o", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    drop((child.stdout.take(), child.stderr.take()));
    bench.write("gate", "");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(bench.path("ran").exists());
    bench.shell("$M show last -o json | head -c 1; exit 0").is(0);
    bench.shell("$M runs | true").is(0);
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    bench.run(&["run", "w.yaml"]).is(0);
    bench.shell("$M runs > /dev/full").is(1).says("stdout cannot be written");
}

#[test]
fn a_folder_in_use_is_refused_with_the_holders_pid() {
    let bench = Bench::with("name: w\ntasks: { a: { run: 'cat gate' } }\n");
    bench.fifo("gate");
    let mut running: Running = bench.start(&["run", "w.yaml"]);
    running.until("started    a");
    let pid = running.pid().as_raw_nonzero().to_string();
    bench.run(&["run", "w.yaml"]).is(2).says(&pid).says("--data").says("--server");
    bench.run(&["run", "--resume"]).is(2).says(&pid);
    bench.write("gate", "");
    running.done().is(0);
}

#[test]
fn the_same_text_twice_is_one_version() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    bench.run(&["run", "w.yaml"]).is(0);
    bench.run(&["run", "w.yaml"]).is(0);
    assert_eq!(bench.show("last")["run"]["version"], 1);
    bench.write("w.yaml", "name: w\ntasks: { b: { noop: {} } }\n");
    bench.run(&["run", "w.yaml"]).is(0);
    assert_eq!(bench.show("last")["run"]["version"], 2);
    assert_eq!(bench.run(&["runs"]).stdout.lines().count(), 4);
}
