//! The pages about error codes are true: what they show as wrong gives that code, and what they
//! show as right is valid.

use crate::bless;
use crate::rig::{Bench, Done};
use mainspring_core::limits::{DEFINITION_BYTES_MAX, DIAGNOSTICS_MAX, TASKS_MAX};
use mainspring_core::spec::{Code, Severity};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors")
}

/// The YAML blocks of a page.
fn blocks(page: &str) -> Vec<String> {
    let after = page.split("```yaml\n").skip(1);
    after.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// Texts that are too large for a page, or are none.
fn made(code: Code) -> Option<Vec<u8>> {
    let tasks =
        |count: usize| -> String { (0..count).map(|n| format!("  t{n}: {{run: x}}\n")).collect() };
    let text = match code {
        // Each use of the alias counts: a file over 4 MiB is refused before it is read.
        Code::TooLarge => {
            let long = "x".repeat(64 * 1024);
            let uses = "*x, ".repeat(DEFINITION_BYTES_MAX / long.len());
            format!("x: [&x {long}, {uses}]\n")
        }
        Code::NotUtf8 => return Some(b"name: caf\xe9\n".to_vec()),
        Code::DefaultsTooLarge => {
            let value = "x".repeat(60_000);
            format!("name: w\ndefaults: {{description: {value}}}\ntasks:\n{}", tasks(1_000))
        }
        Code::TooManyTasks => format!("name: w\ntasks:\n{}", tasks(TASKS_MAX + 1)),
        Code::TooManyProblems => {
            let bad = tasks(DIAGNOSTICS_MAX + 1).replace("run", "ran");
            format!("name: w\ntasks:\n{bad}")
        }
        _ => return None,
    };
    Some(text.into_bytes())
}

fn validated(text: &[u8]) -> Done {
    let bench = Bench::new();
    bench.write("w.yaml", text);
    bench.run(&["validate", "w.yaml"])
}

#[test]
fn every_page_shows_what_its_code_is_about() {
    for code in Code::ALL {
        let page = std::fs::read_to_string(folder().join(format!("{code}.md"))).expect("a page");
        let mut blocks = blocks(&page).into_iter();
        let wrong = made(*code).or_else(|| blocks.next().map(String::into_bytes));
        let done = validated(&wrong.expect("a wrong example"));
        let codes: Vec<&str> = done
            .stderr
            .lines()
            .filter_map(|line| line.split_once('[')?.1.split_once("]: ").map(|(code, _)| code))
            .collect();
        assert!(codes.contains(&code.word()), "{code}: {codes:?}");
        let only =
            [Code::TooManyProblems].contains(code) || codes.iter().all(|it| *it == code.word());
        assert!(only, "{code} gives others as well: {codes:?}");
        done.is(if code.severity() == Severity::Error { 2 } else { 0 });

        assert!(blocks.len() > 0, "{code} has no right example");
        for right in blocks {
            let done = validated(right.as_bytes());
            assert_eq!(done.is(0).stderr, "", "{code}: {right}");
        }
    }
}

#[test]
fn no_page_is_without_a_code_and_all_are_in_the_list() {
    let names = std::fs::read_dir(folder()).expect("a folder").filter_map(Result::ok);
    for name in names.map(|entry| entry.file_name().into_string().expect("UTF-8")) {
        let word = name.trim_end_matches(".md");
        assert!(name == "README.md" || Code::ALL.iter().any(|code| code.word() == word), "{name}");
    }
    bless::check(&folder().join("README.md"), &index());
}

fn index() -> String {
    let line = |code: &Code| format!("| [{code}]({code}.md) | {} |\n", code.title());
    let parts: [(&str, &str); 7] = [
        ("E0", "The text"),
        ("E1", "Fields and values"),
        ("E2", "Tasks and what holds between them"),
        ("E3", "Schemas"),
        ("E4", "Expressions"),
        ("E9", "The list itself"),
        ("W", "Warnings: nothing is refused"),
    ];
    let mut page = "# Error codes\n\nWhat `mainspring validate` and `mainspring run` say about a workflow file has a code that never\nchanges its meaning. `mainspring explain-code E205` prints the same page without the repository.\n".to_owned();
    for (start, title) in parts {
        let codes = Code::ALL.iter().filter(|code| code.word().starts_with(start));
        let lines: String = codes.map(line).collect();
        page.push_str(&format!("\n## {title}\n\n| code | what it says |\n| --- | --- |\n{lines}"));
    }
    page
}

#[test]
fn a_page_is_printed() {
    let bench = Bench::new();
    let page = std::fs::read_to_string(folder().join("E205.md")).expect("a page");
    assert_eq!(bench.run(&["explain-code", "e205"]).is(0).stdout, page);
    let list = bench.run(&["explain-code"]).is(0).stdout.clone();
    assert_eq!(list.lines().count(), Code::ALL.len());
    assert!(list.contains("E205  a dependency on a task that does not exist\n"), "{list}");
}

#[test]
fn an_unknown_code_is_bad_usage() {
    let bench = Bench::new();
    bench.run(&["explain-code", "E20"]).is(2).says("there is no code `E20`: did you mean E201?");
    bench.run(&["explain-code", "205"]).is(2).says("did you mean E205?");
    let done = bench.run(&["explain-code", "nonsense"]);
    done.is(2).says("`mainspring explain-code` lists them all");
    assert_eq!(done.stdout, "");
}
