//! Wrong workflow files, and exactly what a person is told about each. The texts lie beside the
//! files; `BLESS=1` writes them anew: then read what has changed.

use crate::bless;
use crate::rig::Bench;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrong")
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder").filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    files
}

/// What `validate` says of one of the files, then what it prints, then its exit code.
fn told(file: &Path) -> String {
    let bench = Bench::new();
    let name = file.file_name().and_then(|name| name.to_str()).expect("UTF-8");
    std::fs::copy(file, bench.path(name)).expect("copied");
    let done = bench.run(&["validate", name]);
    let code = done.status.code().expect("it ended by itself");
    format!("{}{}exit code {code}\n", done.stderr, done.stdout)
}

#[test]
fn each_wrong_file_is_told_as_it_should_be() {
    let files = files();
    assert!(files.len() >= 30, "some are missing: {files:?}");
    for file in files {
        bless::check(&file.with_extension("txt"), &told(&file));
    }
}

#[test]
fn no_text_is_left_without_its_file() {
    for entry in std::fs::read_dir(folder()).expect("the folder").filter_map(Result::ok) {
        assert!(entry.path().with_extension("yaml").exists(), "{}", entry.path().display());
    }
}

#[test]
fn the_same_is_told_as_json() {
    for file in files() {
        let bench = Bench::new();
        let done = bench.run(&["validate", "-o", "json", file.to_str().expect("UTF-8")]);
        let document = done.json();
        let bytes = std::fs::read(&file).expect("readable").len() as u64;
        let lists = ["errors", "warnings"].map(|list| document["files"][0][list].as_array());
        let found: Vec<_> = lists.into_iter().flatten().flatten().collect();
        assert!(!found.is_empty(), "{}", file.display());
        for it in found {
            for text in ["code", "severity", "title", "message", "path", "explain"] {
                assert!(it[text].is_string(), "{text} in {it}");
            }
            let at = |name: &str| it["span"][name].as_u64().expect("a number");
            assert!(at("start") <= at("end") && at("end") <= bytes, "{it}");
            let (start, end) = ((at("line"), at("column")), (at("end_line"), at("end_column")));
            assert!((1, 1) <= start && start <= end, "{it}");
        }
    }
}
