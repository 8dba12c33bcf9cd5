//! Keeps the benchmarks of the whole program alive: tiny, and no figure looked at.

use crate::rig::PROGRAM;
use mainspring_testkit::bench::{Ground, Sizes, Workload};
use std::path::Path;

#[test]
fn they_still_measure_something() {
    // Not below the checkout: whoever PostgreSQL runs as may not be able to enter that.
    let folder = std::env::temp_dir();
    let ground = Ground { folder: &folder, program: Path::new(PROGRAM) };
    for (workload, lines) in [(Workload::Http, 8), (Workload::Foreach, 10)] {
        assert!(workload.is_of_the_program());
        let measured = workload.measure(ground, &Sizes::tiny());
        assert_eq!(measured.len(), lines, "{measured:?}");
    }
}
