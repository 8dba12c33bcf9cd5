//! Work that lands: the second step of a task, in the real program, through failures and kills.

use crate::door::{Door, Served};
use crate::rig::{Bench, task};
use serde_json::Value;

fn attempts(bench: &Bench) -> Vec<(String, String)> {
    let shown = bench.run(&["show", "last", "a", "-o", "json"]).is(0).json();
    let attempts = shown["attempts"].as_array().expect("attempts").iter();
    let word = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    attempts.map(|it| (word(it, "role"), word(it, "status"))).collect()
}

fn pair(role: &str, status: &str) -> (String, String) {
    (role.to_owned(), status.to_owned())
}

#[test]
fn a_finalizer_is_tried_again_without_its_work_and_sees_what_that_put_out() {
    let bench = Bench::with(
        "name: w
tasks:
  a:
    run: |
      echo working; echo x >> worked
      echo '{\"n\":7}' > \"$MAINSPRING_OUTPUT\"
    finalize:
      queue: main
      retries: { max: 1, delay: 0s }
      run: |
        echo landing ${{ tasks.a.output.n }}
        [ -e failed ] || { touch failed; exit 1; }
        echo \"$MAINSPRING_ROLE $MAINSPRING_WORK_ATTEMPT_ID $MAINSPRING_INPUT\" > landed
",
    );
    let done = bench.run(&["run", "w.yaml"]);
    done.is(0).says("worker_done a").says("started    a, its finalizer, attempt 3");
    assert_eq!(bench.read("worked"), "x\n");
    let shown = bench.show("last");
    let a = task(&shown, "a");
    assert_eq!((&a["output"]["n"], &a["attempt"]), (&Value::from(7), &Value::from(3)));
    assert_eq!(
        (&a["finalizer"]["state"], &a["finalizer"]["tries"]),
        (&"success".into(), &1.into())
    );
    let tried = [pair("work", "success"), pair("finalize", "failed"), pair("finalize", "success")];
    assert_eq!(attempts(&bench), tried);
    let whole = bench.run(&["show", "last", "a", "-o", "json"]).is(0).json();
    let work = whole["attempts"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(bench.read("landed"), format!("finalize {work} {{\"a\":{{\"n\":7}}}}\n"));
    bench.run(&["logs", "last", "a", "--attempt", "1"]).is(0).prints("working");
    bench.run(&["logs", "last", "a"]).is(0).prints("landing 7");
    bench.run(&["show", "last"]).is(0).prints("2 finalize");
    bench.run(&["db", "check"]).is(0);
}

#[test]
fn a_finalizer_that_fails_fails_the_task_and_says_so() {
    let text = "name: w\ntasks:\n  a: { run: 'true', finalize: { run: 'exit 3' } }\n  b: { depends_on: [a], run: 'echo no > ran' }\n  c: { depends_on: [{ task: a, when: completed }], run: 'echo yes > done' }\n";
    let bench = Bench::with(text);
    let done = bench.run(&["run", "w.yaml"]);
    done.is(1).says("failed     a: exit: its finalizer failed: exited with code 3");
    let shown = bench.show("last");
    assert_eq!(task(&shown, "b")["status"], "blocked");
    assert!(!bench.path("ran").exists());
    assert_eq!(attempts(&bench), [pair("work", "success"), pair("finalize", "failed")]);
    bench.run(&["db", "check"]).is(0);
}

#[test]
fn a_kill_under_a_finalizer_does_not_do_the_work_again() {
    let bench = Bench::with(
        "name: w
tasks:
  a:
    run: echo x >> worked
    finalize:
      queue: main
      run: |
        if [ -e crashed ]; then echo ok >> landed; exit 0; fi
        touch crashed; echo now > up; exec sleep 1000
",
    );
    bench.fifo("up");
    let mut running = bench.start(&["run", "w.yaml"]);
    assert_eq!(bench.hear("up"), "now\n");
    running.kill();
    bench.run(&["show", "last"]).is(0).prints("worker_done");
    bench.run(&["run", "--resume"]).is(0);
    assert_eq!((bench.read("worked"), bench.read("landed")), ("x\n".into(), "ok\n".into()));
    let tried = [pair("work", "success"), pair("finalize", "failed"), pair("finalize", "success")];
    assert_eq!(attempts(&bench), tried);
    bench.run(&["db", "check"]).is(0);
}

/// Lands as soon as it is told to end, and not before. What it waits for hears no TERM.
const LANDS_WHEN_STOPPED: &str = "name: w
tasks:
  a:
    run: echo x >> worked
    finalize:
      timeout: 1h
      run: |
        trap '' TERM; sleep 1000 &
        trap 'echo x >> landed; exit 0' TERM
        [ -p up ] && echo now > up
        while :; do wait; done
";

/// Run until what lands it can be stopped.
fn landing() -> (Served, String) {
    let served = Served::with(Door::Address, LANDS_WHEN_STOPPED);
    served.bench.fifo("up");
    let run = served.trigger(&[]);
    assert_eq!(served.bench.hear("up"), "now\n");
    (served, run)
}

/// What a stop has left is written down.
fn until_nothing_is_at_work(served: &Served, run: &str) {
    let is_live = |attempt: &Value| attempt["finished_at"].is_null();
    loop {
        let shown = served.run(&["show", run, "a", "-o", "json"]).is(0).json();
        if !shown["attempts"].as_array().expect("attempts").iter().any(is_live) {
            return;
        }
    }
}

#[test]
fn what_lands_while_its_task_is_paused_has_landed_and_does_not_land_again() {
    let (served, run) = landing();
    served.run(&["pause", &run, "a"]).is(0);
    until_nothing_is_at_work(&served, &run);
    let shown = served.run(&["show", &run, "-o", "json"]).is(0).json();
    let a = task(&shown, "a");
    assert_eq!((&a["status"], &a["held"]), (&"success".into(), &Value::Null));
    assert_eq!(
        (served.bench.read("worked"), served.bench.read("landed")),
        ("x\n".into(), "x\n".into())
    );
}

#[test]
fn what_lands_while_its_run_is_cancelled_has_landed() {
    let (served, run) = landing();
    served.run(&["cancel", &run]).is(0);
    served.run(&["watch", &run]).is(130);
    let shown = served.run(&["show", &run, "-o", "json"]).is(0).json();
    assert_eq!(shown["run"]["status"], "cancelled");
    assert_eq!(task(&shown, "a")["status"], "success");
    assert_eq!(served.bench.read("landed"), "x\n");
}

#[test]
fn what_lands_after_its_time_is_up_has_landed() {
    // Long enough for a shell to set its trap, however busy the machine.
    let bench = Bench::with(&LANDS_WHEN_STOPPED.replace("timeout: 1h", "timeout: 3s"));
    bench.run(&["run", "w.yaml"]).is(0);
    assert_eq!(task(&bench.show("last"), "a")["status"], "success");
    assert_eq!(attempts(&bench), [pair("work", "success"), pair("finalize", "success")]);
    assert_eq!(bench.read("landed"), "x\n");
    bench.run(&["db", "check"]).is(0);
}
