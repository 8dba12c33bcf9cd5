//! Keeps the benchmarks alive: every workload once, with tiny sizes, and no figure looked at.
//! What needs the program itself is tried with the program's own tests.

use mainspring_testkit::bench::{Ground, Sizes, Workload, json, table};
use std::path::Path;

#[test]
fn every_workload_still_measures_something() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let ground = Ground { folder, program: Path::new("/nowhere") };
    for workload in Workload::ALL {
        assert_eq!(Workload::from_word(workload.word()), Some(*workload));
        if workload.is_of_the_program() {
            continue;
        }
        let lines = workload.measure(ground, &Sizes::tiny());
        assert!(!lines.is_empty(), "{workload:?}");
        assert_eq!(table(&lines).lines().count(), lines.len() + 1);
        assert_eq!(json(&lines).as_array().map(Vec::len), Some(lines.len()));
    }
}
