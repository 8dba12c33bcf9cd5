//! What runs always, and checkpoints, through kills and restarts of the real program.

use crate::door::{Served, Way};
use crate::rig::{Bench, task};
use serde_json::Value;

/// Asked until it is so.
fn until(served: &Served, run: &str, is_so: impl Fn(&Value) -> bool) {
    while !is_so(&served.run(&["show", run, "-o", "json"]).is(0).json()) {}
}

#[test]
fn what_runs_always_runs_after_the_run_timed_out() {
    let bench = Bench::with(
        "name: w
timeout: 300ms
tasks:
  a: { run: sleep 600 }
  b: { depends_on: [a], run: touch never }
  clean: { depends_on: [a, b], always: true, run: touch clean }
  stays: { depends_on: [clean], always: true, grace: 200ms, run: sleep 600 }
",
    );
    bench.run(&["run", "w.yaml"]).is(1).prints("timeout of 300ms");
    assert!(bench.path("clean").exists() && !bench.path("never").exists());
    let shown = bench.show("last");
    assert_eq!(shown["run"]["status"], "failed");
    assert_eq!(task(&shown, "clean")["status"], "success");
    let stays = task(&shown, "stays");
    assert_eq!((&stays["status"], &stays["reason"]), (&"cancelled".into(), &"grace_over".into()));
}

#[test]
fn a_kill_forgets_neither_the_cancel_nor_what_runs_always() {
    for way in Way::ALL {
        let text = "\
name: w
tasks:
  a: { run: sleep 600 }
  clean: { depends_on: [a], always: true, run: 'echo clean; test -e ready || sleep 600' }
  last: { depends_on: [clean], always: true, run: touch last }
";
        let mut served = Served::with(way, text);
        let id = served.trigger(&[]);
        served.run(&["cancel", &id]).is(0);
        until(&served, &id, |shown| task(shown, "clean")["status"] == "running");
        served.run(&["cancel", &id]).is(1).says("the run is cancelling");
        served.bench.shell("touch ready").is(0);
        served.kill();
        served.begin_again();
        served.run(&["watch", &id]).is(130);
        let shown = served.run(&["show", &id, "-o", "json"]).is(0).json();
        assert_eq!(task(&shown, "a")["status"], "cancelled");
        assert_eq!(task(&shown, "clean")["status"], "success");
        assert!(served.bench.path("last").exists());
    }
}

#[test]
fn a_checkpoint_pauses_its_run_until_somebody_resumes_it() {
    for way in Way::ALL {
        let text = "\
name: w
tasks:
  build: { checkpoint: true, run: 'true' }
  ship: { depends_on: [build], run: touch shipped }
";
        let mut served = Served::with(way, text);
        let id = served.trigger(&[]);
        until(&served, &id, |shown| shown["run"]["status"] == "paused");
        served.kill();
        served.begin_again();
        let shown = served.run(&["show", &id, "-o", "json"]).is(0).json();
        let run = &shown["run"];
        assert_eq!(
            (&run["status"], &run["paused_reason"]),
            (&"paused".into(), &"checkpoint".into())
        );
        assert_eq!(run["held"]["by"], "checkpoint build");
        assert!(!served.bench.path("shipped").exists());
        served.run(&["show", &id]).is(0).prints("checkpoint build");
        served.run(&["resume", &id]).is(0);
        served.run(&["watch", &id]).is(0);
        assert!(served.bench.path("shipped").exists());
    }
}
