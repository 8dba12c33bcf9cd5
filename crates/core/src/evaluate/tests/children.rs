//! What a child run begins with.

use super::stage::Stage;
use crate::spec::{Context, parse};
use crate::time::Timestamp;
use crate::view::word::Word;
use crate::world::input::{KnownVersion, KnownWorkflow};
use std::sync::Arc;

const CHILD: &str = r#"
name: other
input: { type: object, properties: { day: { type: string }, n: { type: integer, default: 7 } }, required: [day] }
concurrency_group: { key: "g-${{ input.day }}" }
tasks: { a: { noop: {} } }
"#;

fn stored(latest: u32) -> KnownWorkflow {
    let definition = Arc::new(parse(CHILD, &Context::STORED).expect("good").definition);
    let moment = Timestamp(0);
    let row = crate::kernel::row::WorkflowRow {
        name: "other".into(),
        latest,
        created_at: moment,
        updated_at: moment,
        deleted_at: None,
    };
    KnownWorkflow { row, latest: KnownVersion { number: latest, hash: [1; 32], definition } }
}

/// What is said of a task `b` below `a`, which put out `{"rows": 3}`.
fn opening(fields: &str, other: Option<KnownWorkflow>) -> String {
    let text = format!("name: w\ntasks:\n  a: {{run: x}}\n  b: {{depends_on: a, {fields}}}\n");
    let mut stage = Stage::new(&text).with("a", Word::Success, Some(r#"{"rows": 3}"#));
    stage.store.other = other;
    stage.opening()
}

#[test]
fn its_input_is_rendered_and_given_defaults_and_nothing_of_the_tasks_above_is_added() {
    let told = opening("workflow: other, input: {day: \"${{ input.day }}\"}", Some(stored(3)));
    assert_eq!(told, "child 3 {\"day\":\"monday\",\"n\":7} Some(\"g-monday\")");
    let fields = "workflow: other, version: 3, input: {day: x, n: \"${{ tasks.a.output.rows }}\"}";
    let told = opening(fields, Some(stored(3)));
    assert_eq!(told, "child 3 {\"day\":\"x\",\"n\":3} Some(\"g-x\")");
}

#[test]
fn what_its_schema_refuses_is_named_by_its_path() {
    for (input, says) in [
        ("{}", "\"day\" is a required property"),
        ("{day: 5}", "/day: 5 is not of type"),
        ("{day: x, n: y}", "/n: "),
    ] {
        let told = opening(&format!("workflow: other, input: {input}"), Some(stored(1)));
        assert!(told.starts_with("logic: `input` is not what the workflow 'other'"), "{told}");
        assert!(told.contains(says), "{input}: {told}");
    }
    let told = opening("workflow: other, input: {day: \"\"}", Some(stored(1)));
    assert!(told.starts_with("child 1"), "{told}");
}

#[test]
fn a_workflow_or_version_that_is_not_there_says_what_to_do() {
    let told = opening("workflow: other", None);
    assert_eq!(told, "logic: there is no workflow 'other': deploy it, then retry this task");
    let told = opening("workflow: other, version: 9, input: {day: x}", Some(stored(2)));
    assert!(told.contains("has no version 9: its latest is 2"), "{told}");
    let mut hidden = stored(2);
    hidden.row.deleted_at = Some(Timestamp(1));
    let told = opening("workflow: other, input: {day: x}", Some(hidden));
    assert!(told.contains("there is no workflow"), "{told}");
}

#[test]
fn a_condition_comes_before_the_workflow_is_looked_for() {
    assert_eq!(opening("workflow: other, if: false", None), "skip");
}
