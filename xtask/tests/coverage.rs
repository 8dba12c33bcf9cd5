//! The page that says which test shows what: no row without a test, no test that is not there.

use std::path::{Path, PathBuf};

const PAGE: &str = "docs/coverage.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace").to_owned()
}

/// `core::world::tests::waits::a_name`: what stands between backticks and looks like a path.
fn tests_of(line: &str) -> Vec<&str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.contains("::") && !text.contains(['…', ' '])).collect()
}

/// Where the test is, or what is wrong with its name.
fn find(root: &Path, test: &str) -> Result<PathBuf, String> {
    let mut parts: Vec<&str> = test.split("::").collect();
    let name = parts.pop().unwrap_or_default();
    let (room, modules) = parts.split_first().ok_or_else(|| format!("{test}: no room"))?;
    let room = root.join("crates").join(room);
    let below = modules.join("/");
    let mut places = vec![
        room.join("src").join(format!("{below}.rs")),
        room.join("tests").join(format!("{below}.rs")),
    ];
    // Tests that stand below what they test.
    if let Some(("tests", outer)) = modules.split_last().map(|(last, outer)| (*last, outer)) {
        places.push(room.join("src").join(format!("{}.rs", outer.join("/"))));
    }
    let is_there =
        |path: &&PathBuf| std::fs::read_to_string(path).is_ok_and(|text| has_test(&text, name));
    places.iter().find(is_there).cloned().ok_or_else(|| format!("{test}: there is no such test"))
}

/// A function of this name, and above it that it is a test.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let heads = [format!("fn {name}("), format!("async fn {name}(")];
    let is_head = |line: &str| heads.iter().any(|head| line.starts_with(head.as_str()));
    lines.iter().enumerate().any(|(at, line)| {
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#["));
        is_head(line) && above.into_iter().any(|line| line.contains("test]"))
    })
}

/// Everything that is wrong with a page.
fn check(root: &Path, page: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, line) in (1..).zip(page.lines()) {
        let tests = tests_of(line);
        let is_head = |line: &str| line.starts_with("| ---") || line.ends_with("| shown by |");
        if line.starts_with('|') && !is_head(line) && tests.is_empty() {
            wrong.push(format!("{PAGE}:{number}: no test shows this: write one, and name it"));
        }
        let missing = tests.into_iter().filter_map(|test| find(root, test).err());
        wrong.extend(missing.map(|what| format!("{PAGE}:{number}: {what}; rename it here too")));
    }
    wrong
}

#[test]
fn every_row_names_tests_that_are_there() {
    let page = std::fs::read_to_string(root().join(PAGE)).expect("the page is there");
    let wrong = check(&root(), &page);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let rows = page.lines().filter(|line| !tests_of(line).is_empty()).count();
    assert!(rows > 100, "{rows} rows: the page is cut short, or its form has changed");
}

#[test]
fn a_row_without_a_test_and_a_test_that_is_gone_are_told() {
    let there = "`core::kernel::transition::tests::every_pair_is_in_the_golden_table`";
    let gone = "`core::kernel::transition::tests::no_such_test`";
    // A function that is no test.
    let helper = "`core::world::tests::gates::settle`";
    let page = format!(
        "| what | shown by |\n| --- | --- |\n| a | {there} |\n| b | later |\n| c | {gone} |\n| d | {helper} |\n"
    );
    let told = check(&root(), &page);
    let lines: Vec<&str> = told.iter().filter_map(|it| it.split(':').nth(1)).collect();
    assert_eq!(lines, ["4", "5", "6"], "{told:?}");
}
