//! Ctrl-C once, twice, SIGTERM, SIGHUP: nothing is left running either way.

use crate::rig::{Bench, Running, task};
use rustix::process::Signal;

const STUBBORN: &str = r#"name: w
tasks:
  soft: { run: 'echo up > soft; exec sleep 1000' }
  hard:
    kill_grace: 1m
    run: |
      trap '' TERM
      setsid sh -c 'trap "" TERM; echo up > escaped; exec sleep 1000' &
      echo up > hard
      while [ ! -e enough ]; do sleep 0.05; done
  after: { depends_on: [soft], run: 'true' }
"#;

fn begin(bench: &Bench) -> Running {
    for fifo in ["soft", "hard", "escaped"] {
        bench.fifo(fifo);
    }
    let mut running = bench.start(&["run", "w.yaml"]);
    for fifo in ["soft", "hard", "escaped"] {
        assert_eq!(bench.hear(fifo), "up\n");
    }
    running.until("started    hard");
    running
}

#[test]
fn once_cancels_and_waits() {
    let bench = Bench::with(STUBBORN);
    let mut running = begin(&bench);
    running.signal(Signal::INT);
    let said = running.until("cancelling the run: waiting for");
    assert!(said.contains("soft") && said.contains("hard"), "{said}");
    running.until("cancelled  soft");
    bench.write("enough", "");
    let done = running.done();
    done.is(130).says("cancelled  after (upstream_cancelled)").prints("cancelled w in");
    assert_eq!(bench.alive(), [""; 0]);
    let shown = bench.show("last");
    assert_eq!(shown["run"]["status"], "cancelled");
    assert_eq!(task(&shown, "soft")["status"], "cancelled");
}

#[test]
fn twice_leaves_at_once_and_the_cancel_can_be_resumed() {
    let bench = Bench::with(STUBBORN);
    let mut running = begin(&bench);
    running.signal(Signal::INT);
    running.until("cancelled  soft");
    // Not the same wish once more: a person takes longer than this.
    bench.shell("sleep 0.2").is(0);
    running.signal(Signal::INT);
    let done = running.done();
    done.is(130).says("killing").says("To go on with the run: mainspring run --resume");
    bench.until_none_alive();
    assert_eq!(bench.show("last")["run"]["status"], "cancelling");
    bench.run(&["run", "--resume"]).is(130).says("it was being cancelled").prints("cancelled w");
    assert_eq!(bench.show("last")["run"]["status"], "cancelled");
}

#[test]
fn a_term_signal_is_a_ctrl_c() {
    let bench = Bench::with("name: w\ntasks: { a: { run: 'echo up > up; exec sleep 1000' } }\n");
    bench.fifo("up");
    let mut running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    running.until("started    a");
    running.signal(Signal::TERM);
    running.done().is(130).says("waiting for a").prints("cancelled w in");
    assert_eq!(bench.alive(), [""; 0]);
}

#[test]
fn two_signals_at_once_are_one_wish() {
    // As `timeout` does it: the program, then its group.
    let bench = Bench::with("name: w\ntasks: { a: { run: 'echo up > up; exec sleep 1000' } }\n");
    bench.fifo("up");
    let mut running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    running.until("started    a");
    running.signal(Signal::TERM);
    running.signal(Signal::INT);
    let done = running.done();
    done.is(130).prints("cancelled w in");
    assert_eq!(done.stderr.matches("cancelled  a").count(), 1, "{}", done.stderr);
    assert_eq!(bench.show("last")["run"]["status"], "cancelled");
}

#[test]
fn a_lost_terminal_leaves_the_run_to_be_resumed() {
    let bench = Bench::with(
        "name: w\ntasks: { a: { run: '[ -e again ] && exit 0; echo up > up; exec sleep 1000' } }\n",
    );
    bench.fifo("up");
    let mut running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    running.until("started    a");
    running.signal(Signal::HUP);
    running.done().is(130);
    bench.until_none_alive();
    assert_eq!(bench.show("last")["run"]["status"], "running");
    bench.write("again", "");
    bench.run(&["run", "--resume"]).is(0).says("was lost").prints("success w");
}
