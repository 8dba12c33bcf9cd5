//! Simulated worlds in the normal test run. More: `cargo xtask sim --seeds N`.

use mainspring_testkit::sim::{Scenario, Tally, play};

/// Worlds of the normal run, divided so that all cores have their share.
const WORLDS: u64 = 2_400;
const PARTS: u64 = 4;

fn worlds(part: u64) -> Tally {
    let mut sum = Tally::default();
    for seed in part * WORLDS / PARTS..(part + 1) * WORLDS / PARTS {
        match play(&Scenario::of(seed)) {
            Ok(tally) => sum.add(&tally),
            Err(failure) => panic!("{failure}\nagain: cargo xtask sim {}", failure.scenario),
        }
    }
    // A simulation in which nothing happens would prove nothing.
    for (group, least) in
        [("run", 500), ("commit", 5_000), ("transition", 5_000), ("trouble", 5_000)]
    {
        assert!(sum.sum(group) >= least, "{group}: {}", sum.sum(group));
    }
    sum
}

#[test]
fn first_worlds_keep_the_promises() {
    worlds(0);
}

#[test]
fn second_worlds_keep_the_promises() {
    worlds(1);
}

#[test]
fn third_worlds_keep_the_promises() {
    worlds(2);
}

#[test]
fn fourth_worlds_keep_the_promises() {
    worlds(3);
}

#[test]
fn a_seed_replays_exactly() {
    let world = Scenario::of(42);
    assert_eq!(play(&world).expect("kept"), play(&world).expect("kept"));
}
