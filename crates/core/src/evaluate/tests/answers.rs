use super::super::{Answer, Asked, OutputsError};
use super::stage::{Stage, shown};
use crate::ids::TaskNo;
use crate::items::Items;
use crate::json::Json;
use crate::output::Output;
use crate::view::word::Word;
use std::sync::Arc;

/// `a` has ended, and below it is `b` with these fields.
fn stage(fields: &str) -> Stage {
    let text = format!(
        "name: w\ntasks:\n  a: {{run: x}}\n  b: {{depends_on: {{task: a, when: finished}}, {fields}}}\n"
    );
    Stage::new(&text)
}

fn opening(fields: &str) -> String {
    stage(fields).with("a", Word::Success, Some(r#"{"rows": 3, "files": ["x", "y"]}"#)).opening()
}

#[test]
fn a_condition_comes_first() {
    for (fields, expected) in [
        ("run: x, if: tasks.a.output.rows > 2", "go"),
        ("run: x, if: tasks.a.output.rows > 3", "skip"),
        ("run: x, if: \"input.day == 'monday' && tasks.a.status == 'success'\"", "go"),
        ("run: x, if: false, foreach: a.nope", "skip"),
        ("run: x, if: input.n == 2, foreach: a.files, parallel: 3", "fan 6 of 2"),
        ("run: x, if: input.n == 2, parallel: 3", "fan 3 of 0"),
        ("noop: {}, if: input.n == 2, input: {n: 1}", "noop {\"n\":1}"),
        (
            "run: x, if: tasks.a.output.rows",
            "logic: `if`: in `tasks.a.output.rows`: it must come to true or false, and comes to \
             the number `3`",
        ),
        (
            "run: x, if: tasks.a.output.row > 1",
            "logic: `if`: in `tasks.a.output.row > 1`: `tasks.a.output` has no field `row`; it \
             has `rows`, `files`",
        ),
        (
            "run: x, foreach: a.file",
            "logic: `a.file` cannot be read: `a` has no field `file`; it has `rows`, `files`",
        ),
        (
            "run: x, parallel: a.files",
            "logic: `a.files` must be a whole number, 0 or more, and is the list `[\"x\", \"y\"]`",
        ),
    ] {
        assert_eq!(opening(fields), expected, "{fields}");
    }
}

#[test]
fn how_many_instances_are_made_is_said_by_what_is_above_and_bounded() {
    let stage = |fields: &str, output: &str| {
        let text = format!(
            "name: w\nmax_fanout: 10\ntasks: {{a: {{run: x}}, b: {{depends_on: a, run: x, {fields}}}}}\n"
        );
        Stage::new(&text).with("a", Word::Success, Some(output)).opening()
    };
    let number = |found: &str| stage("parallel: a.n", &format!("{{\"n\": {found}}}"));
    let wrong =
        |what: &str| format!("logic: `a.n` must be a whole number, 0 or more, and is {what}");
    let many = |count: u64, why: &str| {
        format!(
            "logic: it would have {count} instances: {why}; at most 10 are allowed. Raise \
             `max_fanout`, or split the work"
        )
    };
    for (found, expected) in [
        ("0", "fan 0 of 0".to_owned()),
        ("3", "fan 3 of 0".to_owned()),
        ("3.0", "fan 3 of 0".to_owned()),
        ("10", "fan 10 of 0".to_owned()),
        ("11", many(11, "`a.n` is 11")),
        ("-1", wrong("the number `-1`")),
        ("2.5", wrong("the number `2.5`")),
        ("\"3\"", wrong("the text `\"3\"`")),
        ("true", wrong("true")),
        ("null", wrong("null")),
    ] {
        assert_eq!(number(found), expected, "{found}");
    }
    let both = "foreach: a.l, parallel: a.n";
    let product = |n: u64| stage(both, &format!("{{\"n\": {n}, \"l\": [1, 2, 3, 4]}}"));
    assert_eq!(product(2), "fan 8 of 4");
    assert_eq!(product(3), many(12, "`a.l` has 4 items, `a.n` is 3"));
    let large = 1 << 53;
    assert_eq!(product(large), many(4 * large, &format!("`a.l` has 4 items, `a.n` is {large}")));
    assert_eq!(
        product(u64::MAX),
        many(u64::MAX, &format!("`a.l` has 4 items, `a.n` is {}", u64::MAX))
    );
}

#[test]
fn a_task_that_put_out_nothing_has_the_output_null() {
    let shown = |fields: &str| stage(fields).with("a", Word::Failed, None).opening();
    assert_eq!(shown("run: x, if: tasks.a.output == null"), "go");
    assert_eq!(shown("run: x, if: tasks.a.status == 'failed'"), "go");
    assert!(shown("run: x, if: tasks.a.output.x == 1").contains("it is null"));
    assert_eq!(shown("run: x, foreach: a"), "logic: `a` cannot be read: the task put out nothing");
}

#[test]
fn a_noop_puts_out_its_input_with_values_put_in() {
    assert_eq!(
        opening(
            "noop: {}, input: {n: \"${{ tasks.a.output.rows }}\", t: \"day ${{ input.day }}\"}"
        ),
        r#"noop {"n":3,"t":"day monday"}"#
    );
    assert_eq!(
        opening("noop: {}, input: {n: \"${{ tasks.a.output.x }}\"}"),
        "logic: `input.n`: `tasks.a.output` has no field `x`; it has `rows`, `files`"
    );
    assert_eq!(
        opening("noop: {}, outputs: {type: object, required: [x]}"),
        "logic: its output does not match `outputs`: \"x\" is a required property"
    );
}

#[test]
fn noops_of_a_group_are_rendered_one_by_one() {
    let stage =
        stage("noop: {}, foreach: a.files, input: {f: \"${{ 10 / item }} of ${{ count }}\"}");
    let items = Json::parse("[1, 0, 5]").expect("JSON");
    let items = Some(Arc::new(Items::of(items).expect("a list")));
    let asked = Asked::Noops { task: TaskNo(1), indexes: 1..3, count: 3, items };
    let Ok(Answer::Noops(outcomes)) = stage.ask(asked) else { panic!("outcomes") };
    let [Err(first), Ok(Output::Inline(second))] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!(first.message, "`input.f`: in `10 / item`: `10` is divided by zero");
    assert_eq!(second.as_str(), r#"{"f":"2 of 3"}"#);
}

#[test]
fn a_run_puts_out_what_its_definition_says() {
    let text = "name: w\ntasks: {a: {run: x}}\noutputs: {rows: \"${{ tasks.a.output.rows }}\", day: \"${{ input.day }}\", x: 1}";
    let stage = Stage::new(text).with("a", Word::Success, Some(r#"{"rows": 3}"#));
    let answer = stage.ask(Asked::RunOutput).expect("an answer");
    assert_eq!(shown(&answer), r#"value {"day":"monday","rows":3,"x":1}"#);
    let stage = Stage::new(text).with("a", Word::Success, None);
    let answer = stage.ask(Asked::RunOutput).expect("an answer");
    assert_eq!(
        shown(&answer),
        "logic: `outputs.rows`: `tasks.a.output` has no field `rows`: it is null"
    );
}

#[test]
fn large_outputs_are_fetched_when_they_are_read_and_once() {
    let fields = "noop: {}, if: tasks.a.output.rows > 2, input: {n: \"${{ tasks.a.output.rows }} ${{ tasks.a.output }}\"}";
    let stage = stage(fields).with_blob("a", r#"{"rows": 3}"#);
    assert_eq!(stage.opening(), r#"noop {"n":"3 {\"rows\":3}"}"#);
    assert_eq!(*stage.store.loads.borrow(), 1);
    let stage = self::stage("run: x, if: tasks.a.status == 'success'").with_blob("a", "{}");
    assert_eq!(stage.opening(), "go");
    assert_eq!(*stage.store.loads.borrow(), 0);
}

#[test]
fn a_store_that_is_away_is_asked_again_and_a_loss_is_told() {
    let mut stage = stage("run: x, if: tasks.a.output.rows > 2").with_blob("a", r#"{"rows": 3}"#);
    stage.store.is_away = true;
    let asked = stage.ask(Asked::Opening(TaskNo(1)));
    assert!(matches!(asked, Err(OutputsError::Unreachable(_))), "{asked:?}");
    stage.store.is_away = false;
    stage.store.blob = None;
    assert_eq!(stage.opening(), "internal: 0707");
}
