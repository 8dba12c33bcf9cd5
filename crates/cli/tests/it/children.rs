//! Child runs, as a person sees them.

use crate::door::{Door, Served};
use crate::rig::Bench;
use serde_json::Value;

const PARENT: &str = "name: parent\ntasks:\n  build: { run: echo built }\n  ship: { depends_on: [build], workflow: kid, input: { what: app }, retries: { max: 1, delay: 0s } }\n  after: { depends_on: [ship], run: echo after }\n";
const KID: &str = "name: kid\ninput: { type: object, properties: { what: { type: string } }, required: [what] }\ntasks:\n  go: { run: 'echo shipping ${{ input.what }}' }\noutputs: { shipped: '${{ input.what }}' }\n";

fn bench(kid: &str) -> Bench {
    let bench = Bench::new();
    bench.write("parent.yaml", PARENT);
    bench.write("kid.yaml", kid);
    bench
}

fn root(bench: &Bench) -> Value {
    let runs = bench.run(&["runs", "-o", "json"]).is(0).json();
    let mut items = runs["items"].as_array().expect("a list").iter();
    items.find(|run| run.get("parent").is_none()).cloned().expect("a root run")
}

#[test]
fn a_child_is_told_of_under_its_task_and_listed_with_its_parent() {
    let bench = bench(KID);
    let done = bench.run(&["run", "parent.yaml", "--with", "kid.yaml"]);
    done.is(0);
    for line in [
        "waiting    ship for run ",
        "started    ship/go",
        "success    ship/go",
        "success    ship in",
    ] {
        assert!(done.stderr.contains(line), "{line}: {}", done.stderr);
    }
    let id = root(&bench)["id"].as_str().expect("an id").to_owned();
    let children = bench.run(&["runs", "--parent", &id, "-o", "json"]).is(0).json();
    let child = &children["items"][0];
    assert_eq!(child["parent"]["run"], id.as_str());
    assert_eq!(
        (&child["parent"]["task"], &child["parent"]["attempt"]),
        (&"ship".into(), &1.into())
    );
    assert_eq!(child["triggered_by"], format!("run {id}"));
    let child_id = child["id"].as_str().expect("an id");
    let shown = bench.show(&id);
    let ship =
        shown["tasks"].as_array().and_then(|tasks| tasks.iter().find(|it| it["name"] == "ship"));
    let ship = ship.expect("the task");
    assert_eq!((&ship["child"], &ship["kind"]), (&child_id.into(), &"workflow".into()));
    assert_eq!(ship["output"], serde_json::json!({ "shipped": "app" }));
    let text = bench.run(&["show", &id]);
    text.is(0);
    assert!(
        text.stdout.contains("Child runs") && text.stdout.contains(child_id),
        "{}",
        text.stdout
    );
    bench.run(&["show", child_id]).is(0).prints("child of");
    bench.run(&["db", "check"]).is(0);
    // The folder knows the other workflow by now.
    bench.run(&["run", "parent.yaml"]).is(0);
}

#[test]
fn a_workflow_that_is_not_there_fails_the_task_and_says_what_to_do() {
    let bench = bench(KID);
    let done = bench.run(&["run", "parent.yaml"]);
    done.is(1);
    assert!(
        done.stderr.contains("logic: there is no workflow 'kid': deploy it"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_failed_child_is_followed_by_another_and_fails_its_task() {
    let bench = bench(&KID.replace("echo shipping", "exit 3; echo"));
    let done = bench.run(&["run", "parent.yaml", "--with", "kid.yaml"]);
    done.is(1);
    assert!(done.stderr.contains("retrying   ship"), "{}", done.stderr);
    let id = root(&bench)["id"].as_str().expect("an id").to_owned();
    let children = bench.run(&["runs", "--parent", &id, "-o", "json"]).is(0).json();
    let attempts: Vec<&Value> = children["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| &it["parent"]["attempt"])
        .collect();
    assert_eq!(attempts, [&Value::from(2), &Value::from(1)]);
    bench.run(&["db", "check"]).is(0);
}

#[test]
fn what_is_wrong_with_another_file_is_said_before_anything_runs() {
    let bench = bench("name: kid\ntasks:\n  go: { nope: x }\n");
    let done = bench.run(&["run", "parent.yaml", "--with", "kid.yaml"]);
    done.is(2);
    assert!(done.stderr.contains("kid.yaml"), "{}", done.stderr);
}

#[test]
fn a_child_that_waits_for_a_person_is_approved_from_another_terminal() {
    let bench = bench(
        "name: kid\ninput: { type: object }\ntasks:\n  ask: { approval: { message: 'Ship?' } }\n",
    );
    let mut run = bench.start(&["run", "parent.yaml", "--with", "kid.yaml"]);
    run.until("waiting    ship/ask for an approval: Ship?");
    let waiting = bench.run(&["approvals", "-o", "json"]).is(0).json();
    let child = waiting["items"][0]["run"].as_str().expect("a run").to_owned();
    bench.run(&["approve", &child, "ask"]).is(0);
    run.done().is(0).prints("success");
}

/// More children than are looked through at once, all newer than their parent.
const MANY: &str = "name: w\ntasks:\n  kids: { parallel: 120, workflow: kid }\n  ap: { approval: { message: 'Ship?' } }\n";
const STILL: &str = "name: kid\ntasks:\n  rest: { wait: { signal: go } }\n";

#[test]
fn the_last_run_is_none_that_another_began() {
    for door in [Door::Address, Door::Socket] {
        let mut served = Served::with(door, MANY);
        served.bench.write("kid.yaml", STILL);
        served.run(&["apply", "kid.yaml"]).is(0);
        let id = served.trigger(&[]);
        let kids = || {
            let kids = ["runs", "--parent", &id, "--limit", "1000", "-o", "json"];
            served.run(&kids).is(0).json()["items"].as_array().map(Vec::len)
        };
        while kids() != Some(120) {}
        let newest = served.run(&["runs", "--limit", "1", "-o", "json"]).is(0).json();
        assert_ne!(newest["items"][0]["id"], id.as_str(), "a child is the newest of all");
        served.run(&["approve", "last", "ap"]).is(0);
        served.run(&["explain", "last"]).is(0).prints(&format!("w {id}: running"));
        let shown = served.run(&["show", "last", "-o", "json"]).is(0).json();
        assert_eq!(shown["run"]["id"], id.as_str());
        served.kill();
        if door == Door::Socket {
            served.run(&["explain", "last"]).is(0).prints(&format!("w {id}: running"));
        }
    }
}
