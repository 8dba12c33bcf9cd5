//! What the repository shows off runs, as it is.

use crate::rig::Bench;
use std::path::Path;

fn check(name: &str) {
    let bench = Bench::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let file = root.join(name);
    let file = file.to_str().expect("UTF-8");
    bench.run(&["validate", file]).is(0).prints("valid");
    bench.run(&["run", file]).is(0).prints("success");
    assert_eq!(bench.show("last")["run"]["status"], "success");
}

#[test]
fn hello() {
    check("hello.yaml");
}

#[test]
fn etl_retries() {
    check("etl-retries.yaml");
}

#[test]
fn overlapping_tests() {
    check("overlapping-tests.yaml");
}

#[test]
fn no_example_is_left_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut names: Vec<String> = std::fs::read_dir(root)
        .expect("examples")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    assert_eq!(names, ["etl-retries.yaml", "hello.yaml", "overlapping-tests.yaml"]);
}
