//! Every command against a real server, at its address and through its socket.

use crate::door::{Door, Served, Way};
use crate::rig::task;

const W: &str = "\
name: w
description: two tasks
input:
  type: object
  properties: { day: { type: string, default: today }, n: { type: integer } }
tasks:
  a: { run: 'cat; echo; echo to stderr >&2' }
  b: { depends_on: [a], run: 'true' }
";

/// Task `a` waits at a gate.
const GATE: &str = "\
name: w
tasks:
  a: { run: 'echo up > up; cat gate' }
  b: { depends_on: [a], run: 'true' }
";

fn gated(way: impl Into<Way>) -> Served {
    let served = Served::with(way, GATE);
    served.bench.fifo("up");
    served.bench.fifo("gate");
    served
}

#[test]
fn a_workflow_is_deployed_and_run() {
    for way in Way::ALL {
        let served = Served::new(way);
        served.bench.write("w.yaml", W);
        served.run(&["workflows"]).is(0).says("no workflows");
        served.run(&["runs"]).is(0).says("no runs");
        served.run(&["show", "last"]).is(2).says("nothing has been run");
        served.run(&["apply", "w.yaml"]).is(0).prints("w: version 1 created");
        served.run(&["apply", "w.yaml"]).is(0).prints("w: version 1 unchanged");
        let again = served.run(&["apply", "w.yaml", "-o", "json"]);
        assert_eq!(again.is(0).json()["items"][0]["is_new"], false);
        served.run(&["workflows"]).is(0).prints("two tasks");
        served
            .run(&["workflows", "-o", "yaml"])
            .is(0)
            .prints("- name: w\n    description: two tasks");

        let done = served.run(&["trigger", "w", "--follow", "--input", "day=5", "--label", "k=v"]);
        done.is(0).prints("success w in").prints(": 2 success").says("success    a in");
        done.says("success    b in");
        let shown = served.run(&["show", "last", "-o", "json"]);
        let document = shown.is(0).json();
        assert_eq!(document["run"]["input"]["day"], "5");
        assert_eq!(document["run"]["labels"]["k"], "v");
        assert_eq!(task(&document, "a")["attempts"][0]["status"], "success");
        let id = document["run"]["id"].as_str().expect("an id").to_owned();
        served.run(&["show", &id[..13]]).is(0).prints("k=v").prints("\"day\":\"5\"");
        served.run(&["show", &id, "-o", "yaml"]).is(0).prints("run:\n  id: \"");

        let logs = served.run(&["logs", "last", "a", "--timestamps"]);
        logs.is(0).prints("Z out {").prints("Z err to stderr\n");
        let tail = served.run(&["logs", "last", "a", "--tail", "1"]);
        assert_eq!(tail.is(0).stdout, "to stderr\n");
        let followed = served.run(&["logs", "last", "a", "-f"]);
        assert!(followed.is(0).stdout.ends_with("to stderr\n"), "{}", followed.stdout);
        served.run(&["logs", "last", "b"]).is(0).says("it wrote nothing");
        served.run(&["watch", "last"]).is(0).prints("success w in");
    }
}

#[test]
fn runs_are_listed_by_filter_and_page() {
    for way in Way::ALL {
        let served = Served::with(way, "name: w\ntasks: { a: { noop: {} } }\n");
        for n in 0..3 {
            let label = format!("n={n}");
            served.run(&["trigger", "w", "--wait", "--label", &label]).is(0);
        }
        let count = |args: &[&str]| {
            let args: Vec<&str> = [&["runs", "-o", "json"], args].concat();
            served.run(&args).is(0).json()["items"].as_array().map_or(0, Vec::len)
        };
        assert_eq!(count(&[]), 3);
        assert_eq!(count(&["--limit", "2"]), 2);
        assert_eq!(count(&["--label", "n=1"]), 1);
        assert_eq!(count(&["--status", "success", "--status", "failed"]), 3);
        assert_eq!(count(&["--status", "running"]), 0);
        assert_eq!(count(&["--workflow", "other"]), 0);
        assert_eq!(count(&["--since", "2099-01-01T00:00:00Z"]), 0);
        assert_eq!(count(&["--until", "2099-01-01T00:00:00Z"]), 3);
    }
}

#[test]
fn the_exit_code_is_the_outcome() {
    for way in Way::ALL {
        let workflow = "name: w\ntasks:\n  a: { run: 'echo why >&2; exit 3' }\n  b: { depends_on: [a], run: 'true' }\n";
        let served = Served::with(way, workflow);
        let done = served.run(&["trigger", "w", "--wait"]);
        done.is(1).prints("failed a (exit): exited with code 3").prints("err | why");
        done.prints("1 blocked, 1 failed").says("blocked    b (upstream_failed: a)");
        let json = served.run(&["trigger", "w", "--wait", "-o", "json"]);
        assert_eq!(json.is(1).json()["run"]["status"], "failed");
        // What was asked for is named in the command to copy.
        let named = if way.door == Door::Address { "--server http" } else { "logs" };
        done.prints(named);
    }
}

#[test]
fn the_same_key_is_the_same_run() {
    for way in Way::ALL {
        let served = Served::with(way, "name: w\ntasks: { a: { noop: {} } }\n");
        let first = served.trigger(&["--key", "k1"]);
        assert_eq!(served.trigger(&["--key", "k1"]), first);
        assert_ne!(served.trigger(&["--key", "k2"]), first);
        assert_ne!(served.trigger(&[]), first);
        served.run(&["trigger", "w", "--key", "k1", "--priority", "-3"]).is(2).says("key was used");
    }
}

#[test]
fn a_run_is_steered() {
    for way in Way::ALL {
        let served = gated(way);
        let id = served.trigger(&[]);
        assert_eq!(served.bench.hear("up"), "up\n");
        served.run(&["pause", &id, "nosuch"]).is(2).says("nosuch");
        served.run(&["pause", &id, "b"]).is(0).prints("task b: paused");
        served.run(&["pause", &id, "b"]).is(1).says("held already");
        served.run(&["resume", &id, "b"]).is(0).prints("task b: pending");
        served.run(&["pause", &id]).is(0).prints(": paused");
        served.run(&["show", &id]).is(0).prints("held ");
        served.run(&["resume", &id]).is(0).prints(": running");
        let watch = served.start(&["watch", &id]);
        served.run(&["cancel", &id]).is(0).prints(&format!("run {id}: cancel"));
        watch.done().is(130).prints("cancelled w in");
        served.run(&["cancel", &id]).is(1).says("does not allow this");

        served.run(&["retry", &id, "a"]).is(0).prints(&format!("run {id}: "));
        let watch = served.start(&["watch", &id]);
        assert_eq!(served.bench.hear("up"), "up\n");
        served.bench.write("gate", "");
        watch.done().is(0);
        served.run(&["retry", &id]).is(1);
    }
}

#[test]
fn a_workflow_is_deleted() {
    for way in Way::ALL {
        let served = gated(way);
        let id = served.trigger(&[]);
        assert_eq!(served.bench.hear("up"), "up\n");
        served.run(&["delete", "w"]).is(1).says("--force");
        served.run(&["delete", "w", "--force"]).is(0).prints("workflow w: deleted");
        served.run(&["watch", &id]).is(130);
        served.run(&["trigger", "w"]).is(2).says("no such workflow");
        served.run(&["show", &id]).is(0);
        served.run(&["rerun", &id]).is(2).says("'w' was deleted");
        served.run(&["apply", "w.yaml"]).is(0).prints("w: version 1 is back");
        served.run(&["apply", "w.yaml"]).is(0).prints("w: version 1 unchanged");
        served.run(&["delete", "w", "-o", "yaml"]).is(0).prints("deleted: true");
    }
}

#[test]
fn changes_are_on_record() {
    for way in Way::ALL {
        let served = Served::with(way, "name: w\ntasks: { a: { noop: {} } }\n");
        served.run(&["trigger", "w", "--wait"]).is(0);
        let audit = served.run(&["audit"]);
        audit.is(0).prints("workflow.deploy").prints("run.trigger");
        let items = served.run(&["audit", "--limit", "1", "-o", "json"]).json();
        assert_eq!(items["items"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn the_database_is_read_when_nobody_is_there() {
    let mut served = Served::with(Door::Socket, W);
    served.run(&["trigger", "w", "--wait"]).is(0);
    let there = served.run(&["show", "last", "-o", "json"]).json();
    let listed = served.run(&["workflows", "-o", "json"]).json();
    served.kill();
    assert_eq!(served.run(&["show", "last", "-o", "json"]).is(0).json(), there);
    assert_eq!(served.run(&["workflows", "-o", "json"]).is(0).json(), listed);
    served.run(&["runs"]).is(0).prints("success");
    served.run(&["logs", "last", "a", "-f"]).is(0).prints("to stderr");
    for args in
        [&["trigger", "w"][..], &["cancel", "last"], &["apply", "w.yaml"], &["watch", "last"]]
    {
        served.run(args).is(3).says("nobody is at work").says("mainspring server");
    }
}

#[test]
fn a_folder_that_is_typed_wins_over_a_server_in_the_environment() {
    let served = Served::with(Door::Socket, W);
    let mut command = served.bench.command(&["workflows", "--data", ".mainspring"]);
    command.env("MAINSPRING_SERVER", "http://127.0.0.1:1");
    crate::rig::finish(command).is(0).prints("two tasks");
    let mut command = served.bench.command(&["workflows"]);
    command.env("MAINSPRING_SERVER", "http://127.0.0.1:1");
    crate::rig::finish(command).is(3).says("no server answers at http://127.0.0.1:1");
}
