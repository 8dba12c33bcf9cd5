//! A task that kills its own server does not do so for ever.

use crate::rig::{Bench, task};

#[test]
fn four_lives_and_no_more() {
    let bench = Bench::with("name: w\ntasks: { a: { run: 'echo >> lives; kill -9 $PPID' } }\n");
    assert!(bench.run(&["run", "w.yaml"]).was_killed());
    for _ in 0..3 {
        assert!(bench.run(&["run", "--resume"]).was_killed());
    }
    let done = bench.run(&["run", "--resume"]);
    done.is(1).prints("failed a (worker_lost)");
    assert_eq!(bench.read("lives").lines().count(), 4);
    let shown = bench.show("last");
    let a = task(&shown, "a");
    assert_eq!(a["status"], "failed");
    assert_eq!(a["attempts"].as_array().map(Vec::len), Some(4));
    bench.run(&["run", "--resume"]).is(2);
}

#[test]
fn work_that_must_not_run_twice_does_not() {
    let bench = Bench::with(
        "name: w\ntasks: { a: { on_lost: fail, run: 'echo >> lives; kill -9 $PPID' } }\n",
    );
    assert!(bench.run(&["run", "w.yaml"]).was_killed());
    bench.run(&["run", "--resume"]).is(1).prints("(worker_lost)");
    assert_eq!(bench.read("lives").lines().count(), 1);
}
