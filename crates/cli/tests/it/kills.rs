//! kill -9 at any moment, then resume: every task succeeds exactly once in the record, nothing
//! that was recorded runs again, nothing of the killed life is alive.

use crate::chance::rounds;
use crate::rig::Bench;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const ROUNDS: u64 = 50;
const AT_ONCE: usize = 4;
const TASKS: usize = 200;
const CHAINS: usize = 20;

/// Chains side by side. Each task says that it ran; now and then one leaves a process behind that
/// has a session of its own.
fn workflow() -> String {
    let mut text = String::from("name: kills\ntasks:\n");
    for no in 0..TASKS {
        let mut run = String::from("echo $MAINSPRING_TASK $MAINSPRING_ATTEMPT >> effects");
        if no % 40 == 7 {
            run.push_str("; setsid sleep 1000 < /dev/null > /dev/null 2>&1 &");
        }
        let upstream = no.checked_sub(CHAINS).map(|up| format!("depends_on: [t{up}], "));
        let upstream = upstream.unwrap_or_default();
        let _ = writeln!(text, "  t{no}: {{ {upstream}run: '{run}' }}");
    }
    text
}

/// How often each (task, attempt) ran.
fn effects(bench: &Bench) -> BTreeMap<(String, u64), u32> {
    let mut counted = BTreeMap::new();
    for line in bench.read("effects").lines() {
        let (task, attempt) = line.split_once(' ').expect("task and attempt");
        let attempt = attempt.parse().expect("a number");
        *counted.entry((task.to_owned(), attempt)).or_default() += 1;
    }
    counted
}

fn successes(document: &Value) -> BTreeSet<String> {
    let tasks = document["tasks"].as_array().expect("tasks").iter();
    let done = tasks.filter(|task| task["status"] == "success");
    done.map(|task| task["name"].as_str().expect("a name").to_owned()).collect()
}

/// True when the kill came in the middle: something was recorded, and not everything.
fn one_round(seed: u64) -> bool {
    let bench = Bench::with(&workflow());
    let mut running = bench.start(&["run", "w.yaml", "--max-processes", "4"]);
    running.until("run ");
    // Any moment: after so many lines, of which there are two for each task.
    for _ in 0..seed % (2 * TASKS as u64 - 4) {
        running.until("t");
    }
    running.signal(Signal::KILL);
    let killed = running.done().was_killed();
    let record = bench.show("last");
    let recorded = successes(&record);
    let done = bench.run(&["run", "--resume", "--max-processes", "4"]);
    if !killed || record["run"]["status"] == "success" {
        done.is(2);
    } else {
        done.is(0);
    }
    assert_eq!(bench.alive(), [""; 0], "seed {seed}");
    let after = bench.show("last");
    check_record(seed, &after);
    let ran = effects(&bench);
    for ((task, attempt), times) in &ran {
        assert_eq!(*times, 1, "seed {seed}: {task} attempt {attempt} ran {times} times");
    }
    for task in &recorded {
        let runs: Vec<u64> =
            ran.keys().filter(|(name, _)| name == task).map(|(_, attempt)| *attempt).collect();
        let before = record["tasks"].as_array().expect("tasks").iter();
        let before = before.clone().find(|row| row["name"] == **task).expect("recorded");
        let last = before["attempt"].as_u64().expect("a number");
        assert!(runs.iter().all(|attempt| *attempt <= last), "seed {seed}: {task} ran again");
    }
    killed && !recorded.is_empty() && recorded.len() < TASKS
}

fn check_record(seed: u64, document: &Value) {
    assert_eq!(document["run"]["status"], "success", "seed {seed}");
    assert_eq!(document["run"]["tasks"]["success"], TASKS, "seed {seed}");
    for task in document["tasks"].as_array().expect("tasks") {
        let attempts = task["attempts"].as_array().expect("attempts");
        let won = attempts.iter().filter(|attempt| attempt["status"] == "success").count();
        assert_eq!(won, 1, "seed {seed}: {task}");
        assert!(attempts.len() <= 2, "seed {seed}: one kill, one loss: {task}");
    }
}

#[test]
fn fifty_kills_lose_nothing_and_repeat_nothing() {
    let cut = rounds(ROUNDS, AT_ONCE, one_round);
    println!("{cut} of {ROUNDS} kills came in the middle");
    assert!(cut > ROUNDS / 2, "kills that come too late prove nothing");
}
