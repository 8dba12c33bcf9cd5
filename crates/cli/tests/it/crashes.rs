//! kill -9 over and over, at any moment of random workflows: the record and the world agree.

use crate::chance::{Chance, rounds};
use crate::graphs::Graph;
use crate::oracle::{Oracle, Successes, successes};
use crate::rig::Bench;

const ROUNDS: u64 = 16;
const AT_ONCE: usize = 4;
const TASKS: usize = 30;
/// A second loss is waited for four seconds: more would take long and show nothing new.
const KILLS: usize = 2;

/// Runs it, killed at some moment unless it ended before; None then. Moments are counted by what
/// happened, not by the clock: a slow machine is hit in the middle too.
fn killed_somewhere(bench: &Bench, chance: &mut Chance, arguments: &str) -> Option<i32> {
    let mut running = bench.start(&["run", arguments, "--max-processes", "6"]);
    match chance.below(8) {
        // As it starts, before it has said anything.
        0 => (0..chance.below(20_000)).for_each(|_| std::thread::yield_now()),
        _ => running.until_lines(1 + chance.below(2 * TASKS as u64)),
    }
    running.kill();
    let done = running.done();
    assert!(!done.stderr.contains("panic"), "{}", done.stderr);
    if done.was_killed() { None } else { done.status.code() }
}

/// True when a kill came in the middle: something was recorded, and not everything.
fn one_round(seed: u64) -> bool {
    let mut chance = Chance::new(seed);
    let graph = Graph::new(&mut chance, TASKS);
    let bench = Bench::with(&graph.text());
    let round = format!("seed {seed}");
    let (mut kills, mut in_the_middle) = (0, false);
    let mut recorded = Successes::new();
    let mut arguments = "w.yaml";
    let code = loop {
        if kills == KILLS {
            let done = bench.run(&["run", arguments]);
            assert!(matches!(done.status.code(), Some(0 | 1)), "{round}: {}", done.stderr);
            break done.status.code();
        }
        if let Some(code) = killed_somewhere(&bench, &mut chance, arguments) {
            break Some(code);
        }
        kills += 1;
        let before = bench.run(&["show", "last", "-o", "json"]);
        if before.status.code() != Some(0) {
            // Killed before there was a run.
            continue;
        }
        let before = before.json();
        let oracle = Oracle::new(&bench, &round);
        oracle.agrees_with(&before);
        oracle.kept(&recorded, &before);
        recorded = successes(&before);
        in_the_middle |= !recorded.is_empty() && before["run"]["status"] == "running";
        arguments = "--resume";
        if before["run"]["finished_at"].is_string() {
            bench.run(&["run", "--resume"]).is(2).says("nothing to resume");
            break None;
        }
    };
    assert!(matches!(code, None | Some(0 | 1)), "{round}: {code:?}");
    bench.until_none_alive();
    let after = bench.show("last");
    let oracle = Oracle::new(&bench, &round);
    oracle.kept(&recorded, &after);
    graph.check(&after, &oracle, kills);
    in_the_middle
}

#[test]
fn random_workflows_survive_kills_at_any_moment() {
    let cut = rounds(ROUNDS, AT_ONCE, one_round);
    println!("{cut} of {ROUNDS} were killed in the middle");
    assert!(cut > ROUNDS / 8, "kills that come too early or too late prove nothing: {cut}");
}
