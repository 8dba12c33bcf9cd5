//! Runs that run another one anew, and tasks that are added to runs, from the command line, on each
//! kind of database.

use crate::door::{Base, Door, Served, Way};
use crate::rig::task;

/// `b` fails until somebody mends it.
const W: &str = "\
name: w
tasks:
  a: { run: 'echo a >> ran; echo 5 > $MAINSPRING_OUTPUT; seq 30000 > big', artifacts: { out: [big] } }
  g: { depends_on: [a], parallel: 2, run: 'echo g >> ran; echo $MAINSPRING_INDEX > $MAINSPRING_OUTPUT' }
  b: { depends_on: [a, g], artifacts: { in: [a/big] }, run: 'echo b >> ran; tail -n 1 big; test -e mended' }
outputs: { g: '${{ tasks.g.output }}', a: '${{ tasks.a.output }}' }
";

fn ran(served: &Served) -> String {
    let mut ran: Vec<String> = served.bench.read("ran").lines().map(str::to_owned).collect();
    ran.sort();
    served.bench.write("ran", "");
    ran.join(" ")
}

#[test]
fn a_run_begins_anew_where_it_was_mended() {
    for base in Base::ALL {
        let served = Served::with(Way { door: Door::Address, base }, W);
        served.run(&["trigger", "w", "--wait"]).is(1);
        assert_eq!(ran(&served), "a b g g");
        let former = served.run(&["show", "last", "-o", "json"]).is(0).json();
        let former = former["run"]["id"].as_str().expect("an id").to_owned();
        served.bench.write("mended", "");
        let anew = served.run(&["rerun", &former, "--from", "b", "--follow"]);
        anew.is(0).says("success    a (copied)").says("success    g (copied)");
        anew.says("success    b in").prints("success w in");
        assert_eq!(ran(&served), "b");
        let shown = served.run(&["show", "last", "-o", "json"]).is(0).json();
        assert_eq!(shown["run"]["retry_of"], former.as_str());
        assert_eq!(shown["run"]["output"], serde_json::json!({ "g": [0, 1], "a": 5 }));
        let copied = task(&shown, "a");
        assert_eq!((&copied["reason"], &copied["output"]), (&"copied".into(), &5.into()));
        assert_eq!(copied["attempts"][0]["status"], "copied");
        served.run(&["show", "last"]).is(0).prints(&format!("anew      what run {former} was"));
        served.run(&["logs", "last", "b"]).is(0).prints("30000\n");

        served.run(&["rerun", "last"]).is(0).prints(" anew");
        served.run(&["watch", "last"]).is(0);
        assert_eq!(ran(&served), "a b g g");
        served.run(&["rerun", "last", "--from", "nope"]).is(2).says("has no task 'nope'");
        served.bench.write("w.yaml", "name: w\ntasks: { c: { noop: {} } }\n");
        served.run(&["apply", "w.yaml"]).is(0);
        served.run(&["rerun", "last", "--latest", "--from", "b"]).is(2).says("version 2 of 'w'");
        served.run(&["rerun", "last", "--latest", "--wait"]).is(0).prints("1 success");
        if base == Base::Sqlite {
            served.bench.run(&["db", "check"]).is(0);
        }
    }
}

/// `a` waits at a gate.
const GATE: &str = "\
name: w
tasks:
  a: { run: 'echo up > up; cat gate' }
";

#[test]
fn tasks_are_added_to_a_run_and_outlive_its_server() {
    for base in Base::ALL {
        let served = Served::with(Way { door: Door::Address, base }, GATE);
        served.bench.fifo("up");
        served.bench.fifo("gate");
        served.run(&["trigger", "w"]).is(0);
        assert_eq!(served.bench.hear("up"), "up\n");
        served.bench.write("more.yaml", "tasks:\n  b: { depends_on: [a], run: echo b >> ran }\n");
        served.run(&["add", "last", "more.yaml"]).is(0).prints(": running");
        served.run(&["add", "last", "more.yaml"]).is(2).says("line 2, column 3").says("already");
        served.bench.write("bad.yaml", "tasks:\n  c: { depends_on: [x], run: echo }\n");
        served.run(&["add", "last", "bad.yaml"]).is(2).says("line 2").says("There is no task `x`");
        served.bench.write("gate", "");
        served.run(&["watch", "last"]).is(0).prints("2 success");
        assert_eq!(served.bench.read("ran"), "b\n");
        served.run(&["add", "last", "more.yaml"]).is(1).says("the run is success");
        let shown = served.run(&["show", "last", "b"]);
        shown.is(0).prints("success");
        if base == Base::Sqlite {
            served.bench.run(&["db", "check"]).is(0);
        }
    }
}

#[test]
fn many_runs_are_done_at_once_after_a_look() {
    let served = Served::with(Door::Address, "name: w\ntasks: { a: { run: test -e good } }\n");
    for _ in 0..3 {
        served.run(&["trigger", "w", "--wait"]).is(1);
    }
    let look = served.run(&["bulk", "retry", "--workflow", "w", "--dry-run"]);
    look.is(0).prints("retry 3 runs").prints("failed");
    served.run(&["bulk", "retry", "--workflow", "w"]).is(2).says("--yes");
    served.run(&["bulk", "retry"]).is(2).says("it is empty");
    served.bench.write("good", "");
    let done = served.run(&["bulk", "retry", "--workflow", "w", "--yes"]);
    done.is(0).prints("3 of 3 done, 0 refused, 0 failed");
    let done = served.run(&["bulk", "cancel", "--status", "failed", "--yes"]);
    done.is(0).says("cancel 0 runs");
    served.run(&["watch", "last"]).is(0);
    let done = served.run(&["bulk", "retry", "--status", "success", "--yes", "-o", "json"]);
    assert_eq!(done.is(1).json()["reasons"]["run_state"], 3);
}
