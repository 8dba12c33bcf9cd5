//! Additions to a run: read like tasks of a workflow, and every mistake told at its place.

use super::super::definition::When;
use super::super::{Context, RunSoFar, parse, parse_added, parse_added_bytes, with_additions};
use crate::limits::{DEFINITION_BYTES_MAX, TASKS_MAX};

const BASE: &str = "\
name: w
input: { type: object, properties: { n: { type: integer } }, additionalProperties: false }
tiers: { gpu: 2 }
defaults: { retries: 3, env: { A: '${{ input.n }}' } }
tasks:
  a: { run: 'true', artifacts: { out: [f] } }
  b: { run: 'true', depends_on: [a] }
";

fn read(text: &str) -> Result<Vec<super::super::definition::Task>, Vec<String>> {
    let base = parse(BASE, &Context::STORED).expect("good").definition;
    let run = RunSoFar { text: BASE, definition: &base, added_bytes: 0 };
    let shown = |found: &super::super::Diagnostic| {
        format!("{} {}:{}", found.code, found.span.line, found.span.column)
    };
    parse_added(text, run, &Context::STORED)
        .map(|added| added.tasks)
        .map_err(|found| found.iter().map(shown).collect())
}

#[test]
fn added_tasks_may_stand_on_what_is_there_and_on_each_other() {
    for text in [
        "tasks:\n  c: { run: 'cat f', depends_on: [{ task: a, when: finished }], artifacts: { in: [a/f] }, tier: gpu }\n  d: { noop: {}, depends_on: [c, b], input: { x: '${{ tasks.b.output }}' } }\n",
        r#"{"tasks": {"c": {"run": "cat f", "depends_on": [{"task": "a", "when": "finished"}], "artifacts": {"in": ["a/f"]}, "tier": "gpu"}, "d": {"noop": {}, "depends_on": ["c", "b"], "input": {"x": "${{ tasks.b.output }}"}}}}"#,
    ] {
        let tasks = read(text).expect("good");
        let names: Vec<&str> = tasks.iter().map(|task| &*task.name).collect();
        assert_eq!(names, ["c", "d"]);
        assert_eq!(tasks[0].retries.max, 3, "the workflow's defaults count");
        assert_eq!(tasks[0].depends_on[0].when, When::Finished);
        let above: Vec<usize> =
            tasks[1].depends_on.iter().map(|edge| edge.upstream.position()).collect();
        assert_eq!(above, [2, 1], "numbers go on");
    }
}

#[test]
fn mistakes_are_told_all_at_once_and_where_they_are() {
    let check = |text: &str, expected: &[&str]| match read(text) {
        Ok(tasks) => panic!("{text}: {tasks:?}"),
        Err(found) => assert_eq!(found, expected, "{text}"),
    };
    check(
        "tasks:\n  a: { run: x }\n  c: { run: x, depends_on: [nope] }\n",
        &["E009 2:3", "E205 3:29"],
    );
    check(
        "tasks:\n  c: { noop: {}, depends_on: [d] }\n  d: { noop: {}, depends_on: [c] }\n",
        &["E208 2:31"],
    );
    check("tasks:\n  c: { noop: {}, depends_on: [c] }\n", &["E206 2:31"]);
    check("tasks: {}\n", &["E201 1:1"]);
    check("{}", &["E103 1:1"]);
    check("name: w\ntasks: { c: { noop: {} } }\n", &["E101 1:1"]);
    check("", &["E008 1:1"]);
    check("[1]", &["E104 1:1"]);
    check("tasks:\n  c: { run: \"echo ${{ tasks.b.output }}\" }\n", &["E213 2:29"]);
}

#[test]
fn what_is_wrong_with_the_text_itself_is_told_too() {
    let base = parse(BASE, &Context::STORED).expect("good").definition;
    let run = RunSoFar { text: BASE, definition: &base, added_bytes: 0 };
    let code = |bytes: &[u8]| {
        let found = parse_added_bytes(bytes, run, &Context::STORED).expect_err("bad");
        (found[0].code.to_string(), found[0].span.line)
    };
    assert_eq!(code(b"tasks: {\n").0, "E004");
    assert_eq!(code(b"tasks:\n  \xff"), ("E002".to_owned(), 2));
    assert_eq!(code(b"tasks:\n  c: \x07").0, "E003");
    let large = vec![b' '; DEFINITION_BYTES_MAX - BASE.len() + 1];
    assert_eq!(code(&large).0, "E001");
    let full = RunSoFar { added_bytes: DEFINITION_BYTES_MAX - BASE.len(), ..run };
    let found = parse_added("tasks: { c: { noop: {} } }", full, &Context::STORED);
    assert_eq!(found.expect_err("too large together")[0].code.to_string(), "E001");
}

#[test]
fn there_are_at_most_so_many_tasks_in_all() {
    let base = parse(BASE, &Context::STORED).expect("good").definition;
    let run = RunSoFar { text: BASE, definition: &base, added_bytes: 0 };
    let many = |count: usize| {
        let tasks: Vec<String> = (0..count).map(|no| format!("t{no}: {{noop: {{}}}}")).collect();
        parse_added(&format!("tasks: {{{}}}", tasks.join(", ")), run, &Context::STORED)
    };
    let found = many(TASKS_MAX - 1).expect_err("one too many");
    assert_eq!(found[0].code.to_string(), "E202");
    assert!(found[0].message.starts_with(&format!("{} tasks", TASKS_MAX + 1)), "{found:?}");
}

#[test]
fn a_default_that_does_not_fit_is_told_of_the_whole_addition() {
    let base = "name: w\ndefaults: { input: { x: '${{ tasks.a.output }}' } }\ntasks:\n  a: { noop: {}, input: {} }\n  b: { noop: {}, depends_on: [a] }\n";
    let definition = parse(base, &Context::STORED).expect("good").definition;
    let run = RunSoFar { text: base, definition: &definition, added_bytes: 0 };
    let found = parse_added("\n\ntasks: { c: { noop: {} } }", run, &Context::STORED);
    let found = found.expect_err("`a` is not above `c`");
    assert_eq!((found[0].span.line, found[0].span.column), (1, 1));
    assert!(
        found[0].message.ends_with("(This comes from the workflow's `defaults`.)"),
        "{found:?}"
    );
    parse_added("tasks: { c: { noop: {}, depends_on: [a] } }", run, &Context::STORED)
        .expect("good");
}

#[test]
fn additions_build_on_each_other() {
    let base = parse(BASE, &Context::STORED).expect("good").definition;
    let texts = [
        "tasks: { c: { noop: {}, depends_on: [b] } }",
        "tasks: { d: { noop: {}, depends_on: [c] } }",
    ];
    let whole = with_additions((BASE, &base), texts.into_iter()).expect("good");
    let names: Vec<&str> = whole.tasks.iter().map(|task| &*task.name).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert_eq!(whole.tasks[..2], base.tasks[..], "what was there is as it was");
    assert!(with_additions((BASE, &base), texts.into_iter().rev()).is_err());
}
