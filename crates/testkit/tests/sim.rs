//! Simulated worlds in the normal test run. More: `cargo xtask sim --seeds N`.

use mainspring_testkit::sim::{Report, play};

/// A quarter of the worlds of the normal run, so that four threads share the work.
fn worlds(first: u64, count: u64) {
    let mut sum = Report::default();
    for seed in first..first + count {
        match play(seed) {
            Ok(report) => {
                sum.commits += report.commits;
                sum.failed_commits += report.failed_commits;
                sum.crashes += report.crashes;
                sum.attempts += report.attempts;
                sum.runs += report.runs;
            }
            Err(failure) => panic!("{failure}"),
        }
    }
    // A simulation in which nothing happens would prove nothing.
    assert!(sum.crashes > 0 && sum.failed_commits > 0 && sum.attempts > sum.crashes, "{sum:?}");
}

#[test]
fn first_worlds_keep_the_promises() {
    worlds(0, 600);
}

#[test]
fn second_worlds_keep_the_promises() {
    worlds(600, 600);
}

#[test]
fn third_worlds_keep_the_promises() {
    worlds(1_200, 600);
}

#[test]
fn fourth_worlds_keep_the_promises() {
    worlds(1_800, 600);
}

#[test]
fn a_seed_replays_exactly() {
    let first = play(42).expect("kept");
    let second = play(42).expect("kept");
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}
