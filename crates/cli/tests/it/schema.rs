//! `mainspring schema`, held against real files, and the pages that are made from the same table.

use crate::bless;
use crate::rig::Bench;
use jsonschema::Validator;
use mainspring_core::spec::format::{Page, markdown};
use mainspring_core::spec::values;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn printed() -> String {
    let done = Bench::new().run(&["schema"]);
    assert_eq!(done.is(0).stderr, "");
    done.stdout
}

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(&printed()).expect("JSON");
    jsonschema::options().build(&schema).expect("a schema")
}

/// The workflow files of a folder, each with its text; what is not UTF-8 is left out.
fn workflows(folder: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    paths.sort();
    let name = |path: &PathBuf| path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
    let read = |path: PathBuf| Some((name(&path)?, std::fs::read_to_string(path).ok()?));
    paths.into_iter().filter_map(read).collect()
}

#[test]
fn every_example_is_valid() {
    let validator = validator();
    let files = [workflows("examples"), workflows("crates/cli/tests/it/pictures")].concat();
    assert!(files.len() >= 4);
    for (name, text) in files {
        let found: Vec<String> = validator
            .iter_errors(&values(&text).expect("YAML"))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

/// The wrong files that a schema has to take: text that is no document at all has no values, and
/// these are wrong by what one part has to do with another, by warnings, or as schemas themselves.
#[test]
fn every_wrong_file_is_refused_if_a_schema_can() {
    let validator = validator();
    let taken: Vec<String> = workflows("crates/cli/tests/it/wrong")
        .into_iter()
        .filter(|(_, text)| values(text).is_ok_and(|values| validator.is_valid(&values)))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(taken, ["cycle", "input-schema", "unknown-task", "warnings"]);
}

#[test]
fn the_schema_in_the_docs_is_the_one_that_is_printed() {
    bless::check(&root().join("docs/workflow.schema.json"), &printed());
}

/// Tables of fields stand between `<!-- fields: NAME -->` and `<!-- end -->`.
#[test]
fn the_tables_of_the_docs_are_those_of_the_format() {
    let path = root().join("docs/workflows.md");
    let mut text = std::fs::read_to_string(&path).expect("the page");
    for page in Page::ALL {
        let begin = format!("<!-- fields: {} -->\n", page.word());
        let (before, rest) = text.split_once(&begin).expect("every table has its place");
        let (_, after) = rest.split_once("<!-- end -->").expect("every table ends");
        text = format!("{before}{begin}\n{}\n<!-- end -->{after}", markdown(*page));
    }
    bless::check(&path, &text);
}
