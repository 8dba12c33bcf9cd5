//! What the repository shows off runs, as it is.

use crate::rig::{Bench, finish};
use std::path::Path;

fn check(name: &str) -> serde_json::Value {
    check_with(name, &[])
}

/// With the flags that the example itself names.
fn check_with(name: &str, flags: &[&str]) -> serde_json::Value {
    let bench = Bench::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let file = root.join(name);
    let file = file.to_str().expect("UTF-8");
    bench.run(&["validate", file]).is(0).prints("valid");
    let args = [&["run", file], flags].concat();
    bench.run(&args).is(0).prints("success");
    let shown = bench.show("last");
    assert_eq!(shown["run"]["status"], "success");
    shown
}

#[test]
fn hello() {
    check("hello.yaml");
}

#[test]
fn etl_retries() {
    check("etl-retries.yaml");
}

#[test]
fn overlapping_tests() {
    check("overlapping-tests.yaml");
}

/// What the page on workflow files shows is valid, and runs as it stands.
#[test]
fn the_page_on_workflow_files() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/workflows.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut found = 0;
    for block in blocks {
        found += 1;
        let bench = Bench::new();
        bench.write("w.yaml", block);
        assert_eq!(bench.run(&["validate", "w.yaml"]).is(0).stderr, "", "{block}");
        let mut run = bench.command(&["run", "w.yaml"]);
        run.env("MAINSPRING_SECRET_API_TOKEN", "a secret of some length");
        let done = finish(run);
        assert_eq!(done.status.code(), Some(0), "{block}\n{}{}", done.stdout, done.stderr);
    }
    assert!(found >= 5, "{found}");
}

#[test]
fn etl_foreach() {
    let run = check("etl-foreach.yaml");
    let output = &run["run"]["output"];
    let files: Vec<&str> =
        output["files"].as_array().expect("a list").iter().filter_map(|it| it.as_str()).collect();
    let day = "2026-11-14";
    let names = ["north", "south", "west"].map(|place| format!("{place}-{day}.parquet"));
    assert_eq!((files, &output["day"]), (names.iter().map(String::as_str).collect(), &day.into()));
}

/// The second run takes what the first one trained.
#[test]
fn ml_sweep() {
    let bench = Bench::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ml-sweep.yaml");
    let file = root.to_str().expect("UTF-8");
    for _ in 0..2 {
        bench.run(&["run", file]).is(0).prints("success");
        let output = bench.show("last")["run"]["output"].clone();
        assert_eq!(output, serde_json::json!({ "best": { "rate": 0.01, "loss": 0 }, "failed": 3 }));
    }
    let instances = bench.run(&["instances", "last", "train", "-o", "json"]).is(0).json();
    let cached = instances["items"].as_array().expect("a list").iter();
    assert_eq!(cached.filter(|it| it["reason"] == "cached").count(), 9, "{instances}");
}

#[test]
fn map_reduce() {
    let run = check("map-reduce.yaml");
    let most = serde_json::json!({ "most": { "word": "fox", "times": 4 } });
    assert_eq!(run["run"]["output"], most);
}

#[test]
fn agents() {
    let run = check_with("agents.yaml", &["--tier", "total=5"]);
    assert_eq!(run["run"]["output"], serde_json::json!({ "landed": 5, "left": 0 }));
}

#[test]
fn merge_queue() {
    let run = check("merge-queue.yaml");
    assert_eq!(run["run"]["output"], serde_json::json!({ "landed": 3 }));
}

/// Somebody has to say yes, from another process.
#[test]
fn approval() {
    let bench = Bench::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/approval.yaml");
    let file = root.to_str().expect("UTF-8");
    bench.run(&["validate", file]).is(0).prints("valid");
    let mut run = bench.start(&["run", file]);
    run.until("waiting    review for an approval: Release version 1.4.2?");
    let waiting = bench.run(&["approvals", "-o", "json"]).is(0).json();
    assert_eq!(waiting["items"][0]["message"], "Release version 1.4.2?");
    bench.run(&["approve", "last", "review", "--comment", "fine"]).is(0).prints("success");
    run.done().is(0).prints("success");
    let output = bench.show("last")["run"]["output"].clone();
    assert_eq!(output, serde_json::json!({ "version": "1.4.2", "approved_by": "owner" }));
}

/// With the workflow that it runs.
#[test]
fn child_runs() {
    let bench = Bench::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let file = |name: &str| root.join(name).to_str().expect("UTF-8").to_owned();
    let (main, other) = (file("child-runs.yaml"), file("convert-one.yaml"));
    bench.run(&["validate", &main, &other]).is(0).prints("valid");
    let done = bench.run(&["run", &main, "--with", &other]);
    done.is(0);
    assert!(done.stderr.contains("success    convert, 3 instances"), "{}", done.stderr);
    let children = bench.run(&["runs", "-o", "json"]).is(0).json();
    let items = children["items"].as_array().expect("a list");
    let is_root = |run: &&serde_json::Value| run.get("parent").is_none();
    let root = items.iter().find(is_root).expect("a root run");
    assert_eq!(items.len(), 4, "{children}");
    let shown = bench.show(root["id"].as_str().expect("an id"));
    assert_eq!(shown["run"]["output"], serde_json::json!({ "rows": [5, 5, 4] }));
    assert_eq!(shown["children"].as_array().map(Vec::len), Some(3));
    bench.run(&["run", &other, "--input", "file=east"]).is(0);
}

#[test]
fn no_example_is_left_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut names: Vec<String> = std::fs::read_dir(root)
        .expect("examples")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "agents.yaml",
            "approval.yaml",
            "child-runs.yaml",
            "convert-one.yaml",
            "etl-foreach.yaml",
            "etl-retries.yaml",
            "hello.yaml",
            "map-reduce.yaml",
            "merge-queue.yaml",
            "ml-sweep.yaml",
            "overlapping-tests.yaml",
        ]
    );
}
