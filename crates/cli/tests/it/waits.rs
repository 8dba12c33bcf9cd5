//! What waits for a moment, a signal or a person, through kills and restarts of the real program.

use crate::door::{Served, Way};
use crate::rig::{Bench, task};
use serde_json::Value;

const W: &str = "\
name: w
tasks:
  paid: { wait: { signal: paid } }
  review: { depends_on: [paid], approval: { message: 'Ship ${{ tasks.paid.output.n }}?' } }
  nap: { sleep: 1s }
  ship: { depends_on: [review, nap], run: 'echo shipped' }
outputs: { by: '${{ tasks.review.output.by }}', said: '${{ tasks.review.output.comment }}' }
";

/// What waits for a person; asked until there are so many.
fn approvals(ask: impl Fn() -> Value, count: usize) -> Value {
    loop {
        let items = ask()["items"].clone();
        if items.as_array().map_or(0, Vec::len) == count {
            return items;
        }
    }
}

#[test]
fn a_kill_forgets_nothing_that_waits() {
    for way in Way::ALL {
        let mut served = Served::with(way, W);
        let id = served.trigger(&[]);
        served.kill();
        served.begin_again();
        served.run(&["signal", &id, "paid", r#"{"n": 7}"#, "--key", "once"]).is(0);
        served.run(&["signal", &id, "paid", r#"{"n": 7}"#, "--key", "once"]).is(0);
        let list = |served: &Served| served.run(&["approvals", "-o", "json"]).is(0).json();
        let waiting = approvals(|| list(&served), 1);
        assert_eq!(waiting[0]["message"], "Ship 7?");
        assert_eq!(waiting[0]["run"], *id);
        served.kill();
        served.begin_again();
        assert_eq!(approvals(|| list(&served), 1), waiting);
        served.run(&["approvals"]).is(0).prints("Ship 7?").prints("review");
        served.run(&["show", &id]).is(0).prints("waits for an approval: Ship 7?");
        served.run(&["approve", &id, "review", "--comment", "fine"]).is(0).prints("success");
        served.run(&["approve", &id, "review"]).is(1).says("settled");
        served.run(&["watch", &id]).is(0);
        approvals(|| list(&served), 0);
        served.run(&["approvals"]).is(0).says("nothing waits");
        let shown = served.run(&["show", &id, "-o", "json"]).is(0).json();
        assert_eq!(shown["run"]["output"]["said"], "fine");
        assert_eq!(task(&shown, "paid")["output"]["n"], 7);
        served.run(&["signal", &id, "paid"]).is(1).says("the run is success");
    }
}

#[test]
fn a_rejection_fails_the_run_and_is_told() {
    for way in Way::ALL {
        let text = "name: w\ntasks:\n  a: { approval: { message: 'Really?' } }\n  b: { depends_on: [a], run: 'echo no > ran' }\n";
        let served = Served::with(way, text);
        let id = served.trigger(&[]);
        approvals(|| served.run(&["approvals", "-o", "json"]).is(0).json(), 1);
        served.run(&["reject", &id, "a", "--comment", "too early"]).is(0).prints("failed");
        served.run(&["watch", &id]).is(1).prints("rejected by").prints("too early");
        assert!(!served.bench.path("ran").exists());
        let shown = served.run(&["show", &id, "-o", "json"]).is(0).json();
        assert_eq!(task(&shown, "a")["error"]["class"], "rejected");
    }
}

/// `run` serves its socket while it waits, and takes up what a kill cut off.
#[test]
fn a_run_that_waits_is_signalled_and_resumed() {
    let bench = Bench::with("name: w\ntasks:\n  a: { wait: { signal: go } }\n");
    let mut run = bench.start(&["run", "w.yaml"]);
    run.until("waiting    a for the signal 'go'");
    run.kill();
    drop(run);
    let mut run = bench.start(&["run", "--resume"]);
    while bench.run(&["signal", "last", "go", "yes"]).status.code() != Some(0) {}
    run.until("success    a");
    run.done().is(0);
    assert_eq!(task(&bench.show("last"), "a")["output"], "yes");
}
