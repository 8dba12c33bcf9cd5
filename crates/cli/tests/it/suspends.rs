//! SIGSTOP and SIGCONT, of the program and of its tasks: nothing is doubled or lost, timers go
//! off, and a stopped process still dies.

use crate::chance::{Chance, rounds};
use crate::graphs::Graph;
use crate::oracle::{BEGIN, END, Oracle};
use crate::rig::{Bench, Running, task};
use rustix::process::Signal;

/// Runs it while a shell stops it again and again, for a while each time.
fn stopped_again_and_again(bench: &Bench, chance: &mut Chance) -> Running {
    let mut script = String::from("$M run w.yaml --max-processes 6 & pid=$!\n");
    for _ in 0..4 {
        let (goes, stands) = (chance.below(250), 100 + chance.below(900));
        script.push_str(&format!("sleep 0.{goes:03}; kill -STOP $pid 2> /dev/null\n"));
        script.push_str(&format!("sleep 0.{stands:03}; kill -CONT $pid 2> /dev/null\n"));
    }
    script.push_str("wait $pid");
    bench.start_shell(&script)
}

fn one_round(seed: u64) -> bool {
    let mut chance = Chance::new(seed);
    let graph = Graph::new(&mut chance, 30);
    let bench = Bench::with(&graph.text());
    let done = stopped_again_and_again(&bench, &mut chance).done();
    assert!(matches!(done.status.code(), Some(0 | 1)), "seed {seed}: {}", done.stderr);
    assert_eq!(bench.alive(), [""; 0], "seed {seed}");
    graph.check(&bench.show("last"), &Oracle::new(&bench, format!("seed {seed}")), 0);
    true
}

#[test]
fn a_program_that_is_stopped_again_and_again_loses_nothing() {
    rounds(8, 4, one_round);
}

#[test]
fn what_falls_due_while_the_program_stands_still_is_done_when_it_goes_on() {
    // `quick` ends by itself while nobody sees it: whether its end or its timeout is noticed first
    // is chance, but the record is true either way.
    let bench = Bench::with(&format!(
        "name: w
tasks:
  quick: {{ timeout: 700ms, run: '{BEGIN}; echo up > up; sleep 0.2; {END}; touch quick-ended' }}
  hangs: {{ timeout: 700ms, kill_grace: 100ms, run: '{BEGIN}; sleep 1000' }}
  again:
    retries: {{ max: 1, delay: 700ms }}
    run: '{BEGIN}; [ $MAINSPRING_ATTEMPT = 2 ] || exit 1; {END}'
"
    ));
    bench.fifo("up");
    let mut running = bench.start(&["run", "w.yaml"]);
    running.until("retrying   again");
    bench.hear("up");
    running.signal(Signal::STOP);
    bench.shell("while [ ! -e quick-ended ]; do sleep 0.05; done; sleep 1").is(0);
    running.signal(Signal::CONT);
    running.done().is(1).prints("failed hangs (timeout)");
    let shown = bench.show("last");
    let quick = task(&shown, "quick");
    assert!(quick["status"] == "success" || quick["error"]["class"] == "timeout", "{quick}");
    assert_eq!(task(&shown, "again")["status"], "success");
    Oracle::new(&bench, "stopped").agrees_with(&shown);
}

/// Stops itself, and so does what it started in a session of its own.
const STOPPED: &str = r#"name: w
tasks:
  a:
    timeout: TIMEOUT
    kill_grace: 100ms
    run: |
      trap '' TERM
      setsid sh -c 'trap "" TERM; echo up > escaped; kill -STOP $$; sleep 1000' &
      echo up > up
      kill -STOP $$
      sleep 1000
"#;

fn stopped_tasks(timeout: &str) -> (Bench, Running) {
    let bench = Bench::with(&STOPPED.replace("TIMEOUT", timeout));
    bench.fifo("up");
    bench.fifo("escaped");
    let mut running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    bench.hear("escaped");
    running.until("started    a");
    (bench, running)
}

#[test]
fn a_stopped_task_dies_when_the_run_is_cancelled() {
    let (bench, running) = stopped_tasks("1h");
    running.signal(Signal::INT);
    running.done().is(130).prints("cancelled w in");
    assert_eq!(bench.alive(), [""; 0]);
}

#[test]
fn a_stopped_task_dies_when_its_time_is_up() {
    let (bench, running) = stopped_tasks("500ms");
    running.done().is(1).prints("failed a (timeout)");
    assert_eq!(bench.alive(), [""; 0]);
}

#[test]
fn a_stopped_task_dies_with_the_program() {
    let (bench, running) = stopped_tasks("1h");
    running.signal(Signal::KILL);
    assert!(running.done().was_killed());
    bench.write("quick.yaml", "name: q\ntasks: { a: { noop: {} } }\n");
    bench.run(&["run", "quick.yaml"]).is(0);
    assert_eq!(bench.alive(), [""; 0]);
}
