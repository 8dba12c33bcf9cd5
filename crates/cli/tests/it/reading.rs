//! Looking while a run goes on, without a lock.

use crate::rig::{Bench, task};

#[test]
fn a_live_run_can_be_looked_at() {
    let bench = Bench::with(
        r#"name: w
tasks:
  a:
    retries: { max: 1, delay: 1ms }
    run: |
      echo attempt $MAINSPRING_ATTEMPT
      [ $MAINSPRING_ATTEMPT = 2 ] || exit 1
      echo going on >&2
      echo up > up
      cat gate
  b: { depends_on: [a], run: 'true' }
"#,
    );
    bench.fifo("up");
    bench.fifo("gate");
    let mut running = bench.start(&["run", "w.yaml"]);
    assert_eq!(bench.hear("up"), "up\n");
    running.until("started    a, attempt 2");
    let live = bench.show("last");
    assert_eq!(live["run"]["status"], "running");
    let a = task(&live, "a");
    assert!(a["status"] == "running" || a["status"] == "dispatched", "{a}");
    assert_eq!(a["attempts"].as_array().map(Vec::len), Some(2));
    assert_eq!(task(&live, "b")["status"], "pending");
    bench.run(&["runs", "--status", "running"]).is(0).prints("w");
    bench.run(&["show", "last"]).is(0).prints("pending");
    let logs = bench.run(&["logs", "last", "a"]);
    assert_eq!(logs.is(0).stdout, "attempt 2\ngoing on\n");
    let first = bench.run(&["logs", "last", "a", "--attempt", "1", "--timestamps"]);
    assert!(first.is(0).stdout.ends_with("Z out attempt 1\n"), "{}", first.stdout);
    bench.write("gate", "last words");
    running.done().is(0);
    let logs = bench.run(&["logs", "last", "a"]);
    assert_eq!(logs.is(0).stdout, "attempt 2\ngoing on\nlast words\n");
}

#[test]
fn any_bytes_can_be_logged() {
    let bench = Bench::with(
        r#"name: w
tasks:
  a: { run: "printf 'a\\377b\\n\\033[31mred\\n'; printf 'no end' >&2; exit 1" }
  big: { run: 'i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done' }
"#,
    );
    let done = bench.run(&["run", "w.yaml"]);
    done.is(1).prints("a\u{fffd}b").prints("err | no end");
    assert!(!done.stdout.contains('\u{1b}'), "{}", done.stdout);
    bench
        .run(&["logs", "last", "a"])
        .is(0)
        .prints("a\u{fffd}b\n\u{1b}[31mred\n")
        .prints("no end\n");
    let big = bench.run(&["logs", "last", "big"]);
    let expected: String = (0..3000).map(|i| format!("line {i}\n")).collect();
    assert_eq!(big.is(0).stdout, expected);
}
