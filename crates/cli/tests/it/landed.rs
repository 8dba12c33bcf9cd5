//! Work that lands: the second step of a task, in the real program, through failures and kills.

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
