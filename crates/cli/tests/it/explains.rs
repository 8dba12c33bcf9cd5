//! Why a task is not running, asked of a server, of a run at work, and of what was left.

use crate::bless;
use crate::door::{Served, Way};
use crate::rig::Bench;
use mainspring_core::view::explain::reason::Reason;
use serde_json::Value;
use std::path::Path;

const W: &str = "\
name: w
max_active_runs: 1
tiers: { gpu: 1 }
tasks:
  a: { tier: gpu, run: sleep 600 }
  b: { depends_on: [a], run: 'true' }
  c: { wait: { signal: go } }
  d: { depends_on: [c], tier: gpu, run: 'true' }
";

fn kinds(told: &Value, task: &str) -> Vec<String> {
    let tasks = told["tasks"].as_array().expect("tasks");
    let task = tasks.iter().find(|it| it["name"] == task).expect("it has no outcome");
    let reasons = task["reasons"].as_array().expect("reasons").iter();
    reasons.map(|it| it["kind"].as_str().expect("a kind").to_owned()).collect()
}

#[test]
fn a_server_and_what_it_leaves_say_why() {
    for way in Way::ALL {
        let mut served = Served::with(way, W);
        let id = served.trigger(&[]);
        served.run(&["signal", &id, "go"]).is(0);
        let explain =
            |served: &Served, id: &str| served.run(&["explain", id, "-o", "json"]).is(0).json();
        while !(kinds(&explain(&served, &id), "a") == ["running"]
            && explain(&served, &id)["unsettled"] == 3)
        {}
        let told = explain(&served, &id);
        assert_eq!(
            (kinds(&told, "b"), kinds(&told, "d")),
            (vec!["dependency".into()], vec!["limit".into()])
        );
        let table = served.run(&["explain", &id]);
        table
            .is(0)
            .prints("waits for a to succeed: it is running")
            .prints("w/gpu is full, 1 of 1 in use: w.a of");
        let one = served.run(&["explain", &id, "d", "-o", "json"]).is(0).json();
        assert_eq!(one["tasks"].as_array().map(Vec::len), Some(1));
        let second = served.trigger(&[]);
        let told = explain(&served, &second);
        assert_eq!(told["reasons"][0]["kind"], "max_active_runs");
        assert_eq!(told["reasons"][0]["runs"][0], *id);
        served.run(&["explain", &id, "nothing"]).is(2);
        served.kill();
        if way.base == crate::door::Base::Sqlite && way.door == crate::door::Door::Socket {
            let left = served.run(&["explain", &id]);
            left.is(0).prints("nobody is at work here");
        }
        served.begin_again();
    }
}

#[test]
fn a_run_at_work_is_asked_through_its_socket() {
    let bench = Bench::with("name: w\ntasks:\n  a: { wait: { signal: go } }\n");
    let mut run = bench.start(&["run", "w.yaml"]);
    run.until("waiting    a for the signal 'go'");
    bench.run(&["explain", "last"]).is(0).prints("waits for the signal 'go'");
    bench.run(&["signal", "last", "go"]).is(0);
    run.done().is(0);
    bench.run(&["explain", "last"]).is(0).says("nothing is to be explained");
}

/// The guide shows what a world says in which something waits for each reason.
#[test]
fn the_guide_shows_every_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let snapshot = root
        .join("crates/core/src/world/tests/snapshots")
        .join("mainspring_core__world__tests__scenes__every_reason.snap");
    let text = std::fs::read_to_string(snapshot).expect("the snapshot");
    let scene = text.splitn(3, "---\n").nth(2).expect("what is after its head");
    let path = root.join("docs/explain.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    for kind in Reason::KINDS {
        assert!(page.contains(&format!("`{kind}`")), "the guide does not tell of `{kind}`");
    }
    let (before, rest) = page.split_once("<!-- scene -->\n").expect("it has its place");
    let (_, after) = rest.split_once("<!-- end -->").expect("it ends");
    let scene = format!("\n```text\n{}\n```\n\n", scene.trim_end());
    bless::check(&path, &format!("{before}<!-- scene -->\n{scene}<!-- end -->{after}"));
}
