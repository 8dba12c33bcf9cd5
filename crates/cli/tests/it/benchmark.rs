//! Keeps the benchmark of the whole program alive: tiny, and no figure looked at.

use crate::rig::PROGRAM;
use mainspring_testkit::bench::{Ground, Sizes, Workload};
use std::path::Path;

#[test]
fn http_still_measures_something() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let ground = Ground { folder, program: Path::new(PROGRAM) };
    let lines = Workload::Http.measure(ground, &Sizes::tiny());
    assert_eq!(lines.len(), 8, "{lines:?}");
}
