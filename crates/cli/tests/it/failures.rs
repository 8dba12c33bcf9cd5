//! Tasks that fail: what is tried again, what still runs, what is said.

use crate::rig::{Bench, task};

#[test]
fn a_failure_blocks_what_depends_on_it_but_not_a_finally() {
    let bench = Bench::with(
        "name: w
tasks:
  bad: { run: 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $i; done; echo oh no >&2; exit 3' }
  after: { depends_on: [bad], run: 'true' }
  later: { depends_on: [after], run: 'true' }
  beside: { run: 'true' }
  finally: { depends_on: [later], on_failure: run, run: 'touch ran' }
",
    );
    let done = bench.run(&["run", "w.yaml"]);
    done.is(1).prints("failed bad (exit): exited with code 3").prints("err | oh no");
    done.prints("out | line 12").prints("3 lines before these: mainspring logs");
    assert!(!done.stdout.contains("| line 3\n"), "{}", done.stdout);
    done.says("blocked    after (upstream_failed: bad)").says("blocked    later");
    done.prints("failed w in").prints("2 blocked, 1 failed, 2 success");
    assert!(bench.path("ran").exists());
    let shown = bench.show("last");
    assert_eq!(task(&shown, "later")["reason"], "upstream_failed: bad");
    assert_eq!(task(&shown, "bad")["error"]["exit_code"], 3);
    assert_eq!(task(&shown, "finally")["status"], "success");
    let logs = bench.run(&["logs", "last", "bad"]);
    assert_eq!(logs.is(0).stdout.lines().count(), 13);
    bench.run(&["logs", "last", "after"]).is(2).says("has not run");
}

#[test]
fn two_retries_make_three_attempts_each_with_its_log() {
    let bench = Bench::with(
        "name: w
tasks:
  bad: { retries: { max: 2, delay: 10ms }, run: 'echo this is $MAINSPRING_ATTEMPT; exit 1' }
",
    );
    let done = bench.run(&["run", "w.yaml"]);
    done.is(1).says("retrying   bad in").says("try 2 of 3 failed: exit: exited with code 1");
    done.prints("after 3 attempts");
    let shown = bench.show("last");
    let attempts = task(&shown, "bad")["attempts"].as_array().expect("attempts").clone();
    assert_eq!(attempts.len(), 3);
    for (at, attempt) in attempts.iter().enumerate() {
        let number = at + 1;
        assert_eq!((&attempt["attempt"], &attempt["status"]), (&number.into(), &"failed".into()));
        assert!(attempt["finished_at"].as_str() >= attempt["started_at"].as_str());
        let logs = bench.run(&["logs", "last", "bad", "--attempt", &number.to_string()]);
        assert_eq!(logs.is(0).stdout, format!("this is {number}\n"));
    }
    bench.run(&["logs", "last", "bad"]).is(0).says("attempt 3 of 3").prints("this is 3");
    bench.run(&["logs", "last", "bad", "--attempt", "4"]).is(2).says("it has 1, 2, 3");
    bench.run(&["show", "last"]).is(0).prints("Tasks with more than one attempt");
}

#[test]
fn a_timeout_is_recorded_only_when_everything_is_gone() {
    let bench = Bench::with(
        r#"name: w
tasks:
  slow:
    timeout: 300ms
    kill_grace: 200ms
    run: |
      trap '' TERM
      setsid sh -c 'trap "" TERM; echo $$ > escaped; while :; do sleep 1; done' &
      sh -c 'trap "" TERM; echo $$ > grandchild; while :; do sleep 1; done' &
      while :; do sleep 1; done
  beside: { run: 'exec cat gate' }
"#,
    );
    bench.fifo("gate");
    let mut running = bench.start(&["run", "w.yaml"]);
    running.until("failed     slow: timeout");
    for name in ["escaped", "grandchild"] {
        let pid = bench.read(name);
        assert!(!pid.is_empty(), "{name} had started");
        let environ = std::fs::read(format!("/proc/{}/environ", pid.trim())).unwrap_or_default();
        assert!(environ.is_empty(), "{name} is alive");
    }
    assert_eq!(bench.alive().len(), 1, "{:?}", bench.alive());
    bench.write("gate", "");
    running.done().is(1).prints("failed slow (timeout)");
    assert!(bench.alive().is_empty());
}

#[test]
fn a_command_that_does_not_exist_is_said() {
    let bench = Bench::with("name: w\ntasks: { a: { command: [no-such-program], retries: 3 } }\n");
    let done = bench.run(&["run", "w.yaml"]);
    done.is(1).prints("(logic)").prints("no-such-program").prints("(it wrote nothing)");
    bench.run(&["logs", "last", "a"]).is(0).says("it wrote nothing");
}
