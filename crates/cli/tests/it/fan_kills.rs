//! kill -9 in the middle of a fan-out, then resume: every instance is there once, in its place of
//! the list, and none that had succeeded ran again.
//!
//! `MAINSPRING_FAN_KILLS=20x10000` plays so many rounds with so many instances.

use crate::chance::rounds;
use crate::rig::Bench;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;

const ROUNDS: u64 = 6;
const INSTANCES: u64 = 400;
const AT_ONCE: u64 = 8;

/// Each instance says that it ran, and puts out its index.
fn workflow(instances: u64) -> String {
    format!(
        "name: fan
tasks:
  each:
    parallel: {instances}
    concurrency: {AT_ONCE}
    run: |
      echo $MAINSPRING_INDEX $MAINSPRING_ATTEMPT >> effects
      echo $MAINSPRING_INDEX > $MAINSPRING_OUTPUT
outputs: {{ list: '${{{{ tasks.each.output }}}}' }}
"
    )
}

/// The attempts of each instance that ran, in the order in which they did.
fn effects(bench: &Bench) -> BTreeMap<u64, Vec<u64>> {
    let mut ran: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for line in bench.read("effects").lines() {
        let (index, attempt) = line.split_once(' ').expect("index and attempt");
        let number = |text: &str| text.parse().expect("a number");
        ran.entry(number(index)).or_default().push(number(attempt));
    }
    ran
}

/// True when the kill came in the middle.
fn one_round(seed: u64, instances: u64) -> bool {
    let bench = Bench::with(&workflow(instances));
    let mut running = bench.start(&["run", "w.yaml", "--max-processes", "8"]);
    running.until("run ");
    // Any moment: after so many bytes of effects. A line has at least four.
    let bytes = seed % (4 * instances);
    let effects_file = bench.path("effects");
    while std::fs::metadata(&effects_file).map_or(0, |file| file.len()) < bytes {
        std::thread::yield_now();
    }
    running.signal(Signal::KILL);
    let killed = running.done().was_killed();
    let before = bench.show("last");
    let recorded = before["tasks"][0]["instances"]["success"].as_u64().unwrap_or(0);
    let done = bench.run(&["run", "--resume", "--max-processes", "8"]);
    let cut = killed && before["run"]["status"] != "success";
    done.is(if cut { 0 } else { 2 });
    assert_eq!(bench.alive(), [""; 0], "seed {seed}");
    let list: Value = bench.run(&["output", "last"]).is(0).json()["list"].clone();
    let expected: Vec<Value> = (0..instances).map(Value::from).collect();
    assert_eq!(list.as_array(), Some(&expected), "seed {seed}");
    let after = bench.show("last");
    let counts = &after["tasks"][0]["instances"];
    assert_eq!((&counts["success"], &counts["total"]), (&instances.into(), &instances.into()));
    let ran = effects(&bench);
    assert!(ran.keys().copied().eq(0..instances), "seed {seed}: each of them ran");
    let again = ran.values().filter(|attempts| attempts.len() > 1).count() as u64;
    assert!(ran.values().all(|attempts| matches!(attempts[..], [1] | [1, 2] | [2])), "seed {seed}");
    assert!(again <= AT_ONCE.min(instances - recorded), "seed {seed}: {again} ran again");
    bench.run(&["db", "check"]).is(0);
    cut && recorded > 0
}

#[test]
fn kills_in_the_middle_of_a_fan_out_lose_nothing_and_repeat_nothing() {
    let wanted = std::env::var("MAINSPRING_FAN_KILLS").ok();
    let (count, instances) = match wanted.as_deref().and_then(|wanted| wanted.split_once('x')) {
        Some((count, instances)) => {
            (count.parse().expect("a number"), instances.parse().expect("a number"))
        }
        None => (ROUNDS, INSTANCES),
    };
    let cut = rounds(count, 1, |seed| one_round(seed, instances));
    println!("{cut} of {count} kills came in the middle");
    assert!(cut > count / 2, "kills that come too late prove nothing");
}
