//! The schema of the file format against the lowering: what one takes, the other takes, up to the
//! rules that a schema cannot express, which are named here.

use super::super::format::{self, Entry, RETRIES, TASK, WORKFLOW};
use super::super::{Code, Diagnostic, Severity};
use super::read;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

pub fn validator() -> Validator {
    jsonschema::options().build(&format::schema()).expect("the schema is a schema")
}

/// Whether a schema could have found it, too.
fn is_expressible(found: &Diagnostic) -> bool {
    let code = found.code;
    match code {
        _ if code.severity() == Severity::Warning => false,
        // What the text is, before it is values.
        _ if code.word().starts_with("E0") => false,
        // What one part of a text has to do with another.
        Code::UnknownDependency
        | Code::SelfDependency
        | Code::DuplicateDependency
        | Code::Cycle
        | Code::NotAbove
        | Code::BadArtifact
        | Code::NothingToFinalize
        | Code::BadExpression
        | Code::UnknownReference
        | Code::ShellTemplate
        | Code::UnknownTier => false,
        Code::OutOfRange | Code::BadText | Code::WrongType if is_fan(found) => false,
        Code::RetryConflict => !found.path.ends_with("/max_delay"),
        // How long a duration or how large a size is: they are text.
        Code::OutOfRange => !found.message.contains("longer than 0") && !is_text(found),
        // Bytes of JSON, copies, and the rules of schemas themselves.
        Code::BadText => !found.path.ends_with("/input"),
        Code::DefaultsTooLarge
        | Code::BadSchema
        | Code::BesideWorkspace
        | Code::SchemaReference
        | Code::BadDefault
        | Code::SchemaTooLarge => false,
        _ => true,
    }
}

/// A number that another one bounds, a path to a field.
fn is_fan(found: &Diagnostic) -> bool {
    found.path.ends_with("/parallel") || found.path.ends_with("/foreach")
}

fn is_text(found: &Diagnostic) -> bool {
    found.message.ends_with("bytes.") || found.message.contains("must be at most")
}

/// Both take it, or neither does. Whether they do.
#[track_caller]
pub fn check(document: &Value, validator: &Validator) -> bool {
    let by_schema = validator.is_valid(document);
    let text = document.to_string();
    let found = read(&text).err().unwrap_or_default();
    let told = || super::shown(&found);
    if found.is_empty() {
        let why = validator.iter_errors(document).map(|error| error.to_string());
        assert!(
            by_schema,
            "only the schema refuses {text}\n{}",
            why.collect::<Vec<_>>().join("\n")
        );
    } else if by_schema {
        let missed: Vec<_> = found.iter().filter(|it| is_expressible(it)).collect();
        assert!(missed.is_empty(), "the schema takes {text}\n{}", told());
    }
    found.is_empty()
}

/// A workflow around the fields of its task `b`.
fn with_task(fields: &Value) -> Value {
    let tiers = json!({ "gpu": 2 });
    let mut b = fields.clone();
    if b.get("depends_on").is_none() {
        b["depends_on"] = json!(["discover"]);
    }
    let noop = json!({ "noop": {} });
    json!({ "name": "w", "tiers": tiers, "tasks": { "a": noop, "discover": noop, "b": b } })
}

#[test]
fn the_schema_is_valid_by_its_own_draft() {
    let schema = format::schema();
    assert!(jsonschema::meta::is_valid(&schema));
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn every_field_is_described_and_every_example_and_default_is_accepted() {
    let validator = validator();
    for entry in TASK.listed().filter(|entry| !entry.name.ends_with("_on")) {
        for value in values_of("task", entry) {
            let mut task = json!({ entry.name: value });
            if !format::ACTIONS.contains(&entry.name) {
                let action = if entry.name == "version" { "workflow" } else { "run" };
                task[action] = json!("x");
            }
            assert!(check(&with_task(&task), &validator), "{task}");
        }
    }
    for entry in WORKFLOW.listed().filter(|entry| entry.name != "tasks") {
        for value in values_of("", entry) {
            let mut workflow = json!({ "name": "w", "tasks": { "a": { "noop": {} } } });
            workflow[entry.name] = value;
            assert!(check(&workflow, &validator), "{workflow}");
        }
    }
    for entry in RETRIES.listed() {
        for value in values_of("retries", entry) {
            let mut retries = json!({ "max": 1 });
            retries[entry.name] = value;
            assert!(check(&with_task(&json!({ "run": "x", "retries": retries })), &validator));
        }
    }
}

/// The default and the examples of a field, as the schema has them.
fn values_of(of: &str, entry: &Entry) -> Vec<Value> {
    let schema = format::schema();
    let property = match of {
        "" => &schema["properties"][entry.name],
        "task" => &schema["$defs"]["task"]["properties"][entry.name],
        _ => {
            &schema["$defs"]["task"]["properties"]["retries"]["anyOf"][1]["properties"][entry.name]
        }
    };
    let about = property["description"].as_str().unwrap_or_default();
    assert!(about.len() > 10, "{} is not described: {about}", entry.name);
    assert!(!entry.examples.is_empty(), "{} has no example", entry.name);
    let examples = property["examples"].as_array().cloned().unwrap_or_default();
    assert_eq!(examples.len(), entry.examples.len());
    let default = property.get("default").cloned();
    assert_eq!(default.is_some(), entry.default.is_some());
    examples.into_iter().chain(default).collect()
}

/// What the table says a field defaults to is what the lowering fills in.
#[test]
fn defaults_are_those_of_the_lowering() {
    let mut explicit = Map::new();
    for entry in TASK.listed() {
        if let Some(default) = &values_or_none(entry) {
            explicit.insert(entry.name.to_owned(), default.clone());
        }
    }
    explicit.insert("run".to_owned(), json!("x"));
    let given = read(&with_task(&Value::Object(explicit)).to_string()).expect("valid");
    let left_out = read(&with_task(&json!({ "run": "x", "depends_on": [] })).to_string());
    let left_out = left_out.expect("valid");
    assert_eq!(given.definition.tasks[1], left_out.definition.tasks[1]);

    let mut retries = json!({ "max": 1 });
    for entry in RETRIES.listed().filter(|entry| entry.default.is_some()) {
        retries[entry.name] = values_of("retries", entry).pop().expect("the default is the last");
    }
    let given = read(&with_task(&json!({ "run": "x", "retries": retries })).to_string());
    let left_out = read(&with_task(&json!({ "run": "x", "retries": 1 })).to_string());
    let task = |parsed: Result<super::super::Parsed, _>| {
        parsed.expect("valid").definition.tasks[1].clone()
    };
    assert_eq!(task(given), task(left_out));
}

fn values_or_none(entry: &Entry) -> Option<Value> {
    entry.default.and_then(|_| values_of("task", entry).pop())
}

/// Each of these breaks one rule that the schema has to know.
#[test]
fn rules_that_a_schema_can_express_are_in_it() {
    let validator = validator();
    let refused = |document: &Value| !check(document, &validator) && !validator.is_valid(document);
    for fields in [
        json!({ "run": "x", "retries": { "max": 1, "on": "exit", "except": "timeout" } }),
        json!({ "run": "x", "retries": { "max": 1, "on": [] } }),
        json!({ "run": "x", "retries": { "max": 1, "on": ["cancelled"] } }),
        json!({ "run": "x", "retries": { "max": 1, "factor": 0.5 } }),
        json!({ "run": "x", "retries": { "delay": "1s" } }),
        json!({ "run": "x", "retries": 10_001 }),
        json!({ "run": "x", "env": { "MAINSPRING_X": "x" } }),
        json!({ "run": "x", "env": { "1A": "x" } }),
        json!({ "run": "x", "env": { "A": null } }),
        json!({ "run": "x", "labels": { "a b": "x" } }),
        json!({ "run": "x", "labels": { "a": "x".repeat(257) } }),
        json!({ "run": "x", "priority": 1_000_001 }),
        json!({ "run": "x", "depends_on": ["a", "a"] }),
        json!({ "run": "x", "depends_on": [{ "when": "failed" }] }),
        json!({ "run": "x", "depends_on": 5 }),
        json!({ "run": "x", "workdir": " " }),
        json!({ "run": "x", "noop": {} }),
        json!({ "command": [] }),
        json!({ "command": [" "] }),
        json!({ "noop": { "x": 1 } }),
        json!({ "timeout": "5s" }),
        json!({ "run": "x", "if": 5 }),
        json!({ "run": "x", "env": { "_MS_1": "x" } }),
        json!({ "run": "x", "env": { "A": { "secret": ".x" } } }),
        json!({ "run": "x", "env": { "A": { "secret": "x", "y": 1 } } }),
        json!({ "run": "x", "cache": { "ttl": "1d" } }),
        json!({ "run": "x", "cache": { "key": " " } }),
        json!({ "run": "x", "artifacts": { "out": ["a", "a"] } }),
        json!({ "run": "x", "artifacts": { "out": "a" } }),
        json!({ "run": "x", "outputs": 5 }),
        json!({ "run": "x", "failover": "before_send" }),
        json!({ "run": "x", "always": "yes" }),
        json!({ "run": "x", "always": true, "grace": "0s" }),
        json!({ "run": "x", "checkpoint": 1 }),
    ] {
        assert!(refused(&with_task(&fields)), "{fields}");
    }
    let good = with_task(&json!({ "noop": {} }));
    for (field, value) in [
        ("name", json!("bad name")),
        ("tiers", json!({ "gpu": 0 })),
        ("tiers", json!({ "gpu": { "limit": 2, "rate": "1/s" } })),
        ("timeout", json!("0s")),
        ("defaults", json!({ "run": "x" })),
        ("defaults", json!({ "depends_on": [] })),
        ("defaults", json!({ "always": true })),
        ("defaults", json!({ "checkpoint": true })),
        ("tasks", json!({})),
        ("tasks", json!({ "item": { "noop": {} } })),
        ("input", json!([])),
        ("schedule", json!({})),
    ] {
        let mut document = good.clone();
        document[field] = value;
        assert!(refused(&document), "{document}");
    }
}

#[test]
fn rules_at_the_border_are_the_same() {
    let validator = validator();
    let takes = |fields: Value| check(&with_task(&fields), &validator);
    for (value, good) in [
        ("10s", true),
        (" 1h 30m ", true),
        ("1.5h", true),
        ("1.5h30m", false),
        ("30m1h", false),
        ("1h  30m", false),
        ("5 s", false),
        ("0s", false),
        ("0h0m", false),
        ("10", false),
        ("", false),
        ("\u{0665}s", false),
    ] {
        assert_eq!(takes(json!({ "run": "x", "timeout": value })), good, "{value}");
    }
    for (value, good) in [
        (json!("10MiB"), true),
        (json!("1.5 KiB"), true),
        (json!(4096), true),
        (json!("4096"), true),
        (json!(" 4096B "), true),
        (json!(1.5), false),
        (json!("1.5"), false),
        (json!("10M"), false),
        (json!(0), false),
        (json!("0KiB"), false),
        (json!(-1), false),
    ] {
        assert_eq!(takes(json!({ "run": "x", "log_limit": value })), good, "{value}");
    }
    assert!(!takes(
        json!({ "run": "x", "on_failure": "run", "depends_on": { "task": "a", "when": "failed" } })
    ));
    assert!(takes(
        json!({ "run": "x", "on_failure": "run", "depends_on": [{ "task": "a", "when": "finished" }] })
    ));
    let always = |when: &str| json!({ "run": "x", "always": true, "depends_on": [{ "task": "a", "when": when }] });
    assert!(!takes(always("merged")));
    assert!(takes(always("finished")));
    let mut by_default =
        with_task(&json!({ "run": "x", "depends_on": [{ "task": "a", "when": "failed" }] }));
    assert!(check(&by_default, &validator));
    by_default["defaults"] = json!({ "on_failure": "run" });
    assert!(!check(&by_default, &validator));
    by_default["tasks"]["b"]["on_failure"] = json!("skip");
    assert!(check(&by_default, &validator));
}
