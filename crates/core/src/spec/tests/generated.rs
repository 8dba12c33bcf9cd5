//! Documents by chance, from the names of all fields and values that mean something somewhere:
//! the schema and the lowering take the same.

use super::super::format::shape::Shape;
use super::super::format::{self, DEPENDENCY, Entry, Group, RETRIES, TASK, WORKFLOW};
use super::format::{check, validator};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// Values that mean something somewhere, and some that mean nothing anywhere.
fn pool() -> Vec<Value> {
    let mut pool: Vec<Value> = [
        "",
        " ",
        "x",
        "a",
        "b",
        "gpu",
        "bad name",
        "item",
        "5s",
        "0s",
        "1.5h",
        "1h30m",
        "400d",
        "5 minutes",
        "10MiB",
        "0MiB",
        "9GiB",
        "4096",
        "skip",
        "run",
        "file",
        "stdout",
        "retry",
        "fail",
        "finished",
        "started",
        "merged",
        "exit",
        "timeout",
        "cancelled",
        "MAINSPRING_X",
        "1A",
    ]
    .map(Value::from)
    .to_vec();
    pool.extend([
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(5),
        json!(-1),
        json!(1.5),
        json!(0.5),
        json!(20_000),
        json!(2_000_000),
        json!([]),
        json!({}),
        json!([[]]),
        json!([null]),
        json!(["a"]),
        json!(["a", "a"]),
        json!(["a", 1, true]),
        json!([{ "task": "a" }]),
        json!({ "task": "a", "when": "failed" }),
        json!(["exit", "timeout"]),
        json!(["exit", "exit"]),
        json!({ "limit": 2 }),
        json!({ "limit": 0 }),
        json!({ "gpu": 3 }),
        json!({ "A": "x", "B_2": 1, "C": true }),
        json!({ "MAINSPRING_X": "x" }),
        json!({ "1A": "x" }),
        json!({ "a": null }),
        json!({ "type": "object" }),
    ]);
    pool
}

/// A map with some of a group's fields: mostly values that fit, now and then any other, now and
/// then a field that nobody knows.
fn map_of(
    group: &'static Group,
    own: fn(&'static Entry) -> BoxedStrategy<Value>,
) -> BoxedStrategy<Value> {
    let field = prop::sample::select(group.listed().collect::<Vec<_>>()).prop_flat_map(
        move |entry: &'static Entry| {
            own(entry).prop_map(move |value| (entry.name.to_owned(), value))
        },
    );
    let unknown = prop::sample::select(vec!["when", "max", "tasks", "schedule", "colour"])
        .prop_map(|name| (name.to_owned(), json!(1)));
    let fields = prop::collection::vec(prop_oneof![20 => field, 1 => unknown], 0..5);
    fields
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
        .prop_map(move |mut map| {
            // What is required is mostly there, so that the rest is looked at.
            for name in group.required.iter().filter(|name| ["max", "task"].contains(name)) {
                if map.as_object().is_some_and(|map| map.len() > 1 && !map.contains_key(*name)) {
                    map[*name] = if *name == "max" { json!(1) } else { json!("a") };
                }
            }
            map
        })
        .boxed()
}

fn fitting(entry: &'static Entry) -> BoxedStrategy<Value> {
    let text: Vec<&str> = entry.examples.iter().copied().chain(entry.default).collect();
    let examples: Vec<Value> =
        text.iter().map(|text| super::super::values(text).expect("YAML")).collect();
    let other = prop::sample::select(pool());
    let inner = match entry.shape {
        Shape::Retries { .. } => map_of(&RETRIES, fitting),
        Shape::Dependencies(_) => {
            let one = prop_oneof![
                4 => prop::sample::select(vec![json!("a"), json!("b"), json!("c"), json!(1)]),
                4 => map_of(&DEPENDENCY, dependency),
            ];
            prop::collection::vec(one, 0..3).prop_map(Value::Array).boxed()
        }
        _ => other.clone().boxed(),
    };
    match examples.is_empty() {
        true => other.boxed(),
        false => prop_oneof![12 => prop::sample::select(examples), 3 => inner, 1 => other].boxed(),
    }
}

fn dependency(entry: &'static Entry) -> BoxedStrategy<Value> {
    let names = prop::sample::select(vec![json!("a"), json!("b"), json!("c")]);
    match entry.name {
        "task" => prop_oneof![9 => names, 1 => prop::sample::select(pool())].boxed(),
        _ => fitting(entry),
    }
}

fn a_task() -> impl Strategy<Value = Value> {
    let actions = vec![
        json!({ "run": "x" }),
        json!({ "command": ["x", 1] }),
        json!({ "noop": {} }),
        json!({}),
    ];
    let weighted = prop::sample::select(
        [actions.clone(), actions[..3].to_vec(), actions[..3].to_vec()].concat(),
    );
    (weighted, map_of(&TASK, fitting)).prop_map(|(action, fields)| {
        let mut task = fields.as_object().cloned().unwrap_or_default();
        if !format::ACTIONS.iter().any(|name| task.contains_key(*name)) {
            task.extend(action.as_object().cloned().unwrap_or_default());
        }
        Value::Object(task)
    })
}

fn a_workflow() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec!["a", "b", "c", "1", "item", "bad name"]);
    let names = prop_oneof![9 => prop::sample::select(vec!["a", "b", "c"]), 1 => names];
    let tasks = prop::collection::vec((names, a_task()), 0..3);
    (map_of(&WORKFLOW, fitting), tasks).prop_map(|(fields, tasks)| {
        let mut workflow = json!({ "name": "w", "tiers": { "gpu": 2 } });
        for (name, value) in fields.as_object().into_iter().flatten() {
            workflow[name] = value.clone();
        }
        if workflow.get("tasks").is_none_or(Value::is_object) {
            workflow["tasks"] =
                tasks.into_iter().map(|(name, task)| (name.to_owned(), task)).collect();
        }
        workflow
    })
}

/// The same documents on every run, so that what is counted holds.
#[test]
fn generated_documents_are_taken_by_both_or_by_neither() {
    let validator = validator();
    let mut runner = TestRunner::deterministic();
    let strategy = a_workflow();
    let (mut accepted, mut by_schema) = (0, 0);
    let cases = 4_000;
    for _ in 0..cases {
        let document = strategy.new_tree(&mut runner).expect("generated").current();
        accepted += usize::from(check(&document, &validator));
        by_schema += usize::from(validator.is_valid(&document));
    }
    // Enough of each kind to mean something.
    assert!(accepted > cases / 8 && accepted < cases * 7 / 8, "{accepted} of {cases}");
    assert!(by_schema > accepted, "no rule beyond the schema was met: {by_schema} {accepted}");
}
