//! Texts that want to hurt: nothing panics, nothing grows, every answer comes soon.

use super::{places, read};
use crate::limits::{DEFINITION_BYTES_MAX, TASKS_MAX};

fn codes(text: &str) -> Vec<&'static str> {
    read(text).expect_err("refused").iter().map(|found| found.code.word()).collect()
}

#[test]
fn too_much_text_is_not_parsed() {
    assert_eq!(codes(&"[".repeat(100_000_000)), ["E001"]);
    let none = std::collections::BTreeSet::new();
    let context = super::super::Context { server_tiers: crate::spec::ServerTiers::Known(&none) };
    let bytes = vec![0xff; DEFINITION_BYTES_MAX + 1];
    assert_eq!(super::super::parse_bytes(&bytes, &context).expect_err("refused").len(), 1);
}

#[test]
fn deep_nesting() {
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
        (0..2_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect(),
        format!("{}{}{}", "- ".repeat(40), "[".repeat(40), "]".repeat(40)),
    ] {
        assert_eq!(codes(&text), ["E005"], "{text:.20}");
    }
}

#[test]
fn many_values() {
    assert_eq!(codes(&format!("[{}1]", "1,".repeat(2_000_000))), ["E006"]);
    assert_eq!(codes(&"- 1\n".repeat(1_000_000)), ["E006"]);
    let lines: String = (0..300_000).map(|n| format!("k{n}: 1\n")).collect();
    assert_eq!(codes(&lines).len(), crate::limits::DIAGNOSTICS_MAX + 1);
}

#[test]
fn alias_bombs() {
    let mut nodes = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let uses = format!("*a{},", level - 1).repeat(9);
        nodes.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
    }
    assert_eq!(codes(&nodes), ["E006"]);
    let bytes = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a,".repeat(1_000));
    assert_eq!(codes(&bytes), ["E001"]);
    let mut deep = "a0: &a0 [x]\n".to_owned();
    for level in 1..100 {
        deep.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    assert_eq!(codes(&deep), ["E005"]);
}

#[test]
fn defaults_copied_into_many_tasks() {
    let tasks: String = (0..50_000).map(|n| format!("  t{n}: {{run: x}}\n")).collect();
    let value = "x".repeat(60_000);
    let text = format!("name: w\ndefaults: {{description: {value}}}\ntasks:\n{tasks}");
    assert_eq!(codes(&text), ["E112"]);
    // The values of variables are shared, and not copied.
    let text = format!("name: w\ndefaults: {{env: {{A: {value}}}}}\ntasks:\n{tasks}");
    assert!(read(&text).is_ok());
}

#[test]
fn long_words_are_cut_in_messages() {
    let word = "x".repeat(1_000);
    let text = format!("name: w\n{word}: 1\ntasks: {{a: {{noop: {{}}, depends_on: [{word}]}}}}");
    for found in read(&text).expect_err("refused") {
        assert!(found.message.len() < 200, "{}", found.message);
    }
}

#[test]
fn many_misspelt_dependencies_stay_quick() {
    let tasks: String = (0..20_000)
        .map(|n| format!("  task-number-{n}: {{noop: {{}}, depends_on: [tsk-number-{n}x]}}\n"))
        .collect();
    let found = read(&format!("name: w\ntasks:\n{tasks}")).expect_err("refused");
    assert_eq!(found.len(), crate::limits::DIAGNOSTICS_MAX + 1);
}

#[test]
fn a_circle_of_many_tasks() {
    let count = 60_000;
    let tasks: String = (0..count)
        .map(|n| format!("  t{n}: {{noop: {{}}, depends_on: [t{}]}}\n", (n + 1) % count))
        .collect();
    let found = read(&format!("name: w\ntasks:\n{tasks}")).expect_err("refused");
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("59988 more"), "{}", found[0].message);
}

#[test]
fn a_long_chain_is_good() {
    let tasks: String = (1..50_000)
        .map(|n| format!("  t{n}: {{noop: {{}}, depends_on: [t{}]}}\n", n - 1))
        .collect();
    let parsed = read(&format!("name: w\ntasks:\n  t0: {{noop: {{}}}}\n{tasks}")).expect("good");
    assert_eq!(parsed.definition.tasks.len(), 50_000);
}

#[test]
fn too_many_tasks() {
    let tasks: String = (0..=TASKS_MAX).map(|n| format!(" t{n}: {{}}\n")).collect();
    assert_eq!(places(&format!("name: w\ntasks:\n{tasks}")), ["E202 2:1"]);
}
