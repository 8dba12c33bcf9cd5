//! The file format as JSON Schema, draft 2020-12, for editors and other programs. It refuses
//! what a schema can refuse; what it cannot, such as a circle of tasks, is left to the lowering.

use super::control::NOT_BESIDE_WORKFLOW;
use super::later::RESERVED_TASK_NAMES;
use super::pattern;
use super::shape::{LABEL_VALUE_BYTES_MAX, OWN_VARIABLES, Shape, Zero};
use super::table::{Entry, Group};
use super::task::{ACTIONS, OWN_ONLY, TASK};
use super::workflow::WORKFLOW;
use crate::error::ErrorClass;
use crate::expr::VARIABLE;
use crate::limits::{
    APPROVAL_BY_MAX, ARTIFACTS_MAX, ENV_VALUE_BYTES_MAX, NAME_BYTES_MAX, TASKS_MAX,
};
use crate::spec::build;
use crate::spec::report::Report;
use serde_json::{Map, Value, json};

const DURATION_MESSAGE: &str = "Write a duration like 250ms, 10s, 5m, 1h30m or 2d.";
const SIZE_MESSAGE: &str = "Write a size like 10MiB, 512KiB, 10MB or 4096.";
const RATE_MESSAGE: &str = "Write starts and a time, like 100/1m.";
const NAME_MESSAGE: &str =
    "Use letters, digits, `_`, `-` and `.`, and begin with a letter or digit.";

const SECRET_MESSAGE: &str = "Use letters, digits, `_`, `-` and `.`, and do not begin with a dot.";

/// The schema of a workflow file.
pub fn schema() -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Mainspring workflow",
        "description": "A workflow: tasks, and what they depend on.",
    });
    merge(&mut schema, object(&WORKFLOW));
    merge(&mut schema, finally_by_default());
    schema["$defs"] = json!({
        "name": text_like(pattern::NAME, NAME_MESSAGE, NAME_BYTES_MAX),
        "duration": text_like(&pattern::duration(), DURATION_MESSAGE, 256),
        "task": task(),
    });
    schema
}

fn object(group: &Group) -> Value {
    let properties: Map<String, Value> =
        group.listed().map(|entry| (entry.name.to_owned(), property(entry))).collect();
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !group.required.is_empty() {
        schema["required"] = json!(group.required);
    }
    schema
}

fn property(entry: &Entry) -> Value {
    let mut schema = json!({ "description": described(entry) });
    if let Some(default) = entry.default {
        schema["default"] = value(default);
    }
    if !entry.examples.is_empty() {
        schema["examples"] = entry.examples.iter().map(|example| value(example)).collect();
    }
    merge(&mut schema, shape(&entry.shape));
    schema
}

fn described(entry: &Entry) -> String {
    let Shape::Words(words) = entry.shape else { return entry.about.to_owned() };
    let lines = words.iter().map(|(word, meaning)| format!("\n- `{word}`: {meaning}"));
    format!("{}{}", entry.about, lines.collect::<String>())
}

/// A value of the table, which is written as people write it.
fn value(text: &str) -> Value {
    let tree = build::build(text, &mut Report::default());
    tree.expect("the table holds YAML").root().to_json()
}

fn shape(shape: &Shape) -> Value {
    match *shape {
        Shape::Text | Shape::TierName => json!({ "type": "string" }),
        Shape::TaskName => scalar(),
        Shape::Each => json!({ "type": ["array", "string"] }),
        Shape::Times { max } => {
            json!({ "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": max },
                { "type": "string" },
            ] })
        }
        Shape::Filled { bytes_max } => {
            json!({ "type": "string", "pattern": pattern::NOT_BLANK, "maxLength": bytes_max })
        }
        Shape::Name => json!({ "$ref": "#/$defs/name" }),
        Shape::Words(words) => {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            json!({ "enum": words })
        }
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::NumberFrom(min) => json!({ "type": "number", "minimum": min }),
        Shape::Duration(zero) => duration(zero),
        Shape::Size { bytes_max } => size(bytes_max),
        Shape::Labels => labels(),
        Shape::Env(group) => env(group),
        Shape::Condition => json!({ "type": ["string", "boolean"] }),
        Shape::SecretName => text_like(pattern::SECRET, SECRET_MESSAGE, NAME_BYTES_MAX),
        Shape::Map(group) => object(group),
        Shape::OneOf(group, actions) => one_of(group, actions),
        Shape::Paths => paths(),
        Shape::Wanted => wanted(),
        Shape::Sleep(group) => sleep(group),
        Shape::Deciders => deciders(),
        Shape::AnyMap | Shape::JsonSchema => json!({ "type": "object" }),
        Shape::Argv => argv(),
        Shape::Nothing => json!({ "type": "object", "maxProperties": 0 }),
        Shape::Dependencies(group) => dependencies(group),
        Shape::Retries { max, group } => retries(max, group),
        Shape::Classes { min } => classes(min),
        Shape::Rate => rate(),
        Shape::Tiers(group) => tiers(group),
        Shape::Defaults => defaults(),
        Shape::Tasks => tasks(),
        Shape::Unlisted => json!({}),
    }
}

/// The two schemas together; none of ours has the same keyword twice.
fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// Numbers and booleans are taken as they are written.
fn scalar() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn bounded_scalar(bytes_max: usize) -> Value {
    json!({ "type": ["string", "number", "boolean"], "maxLength": bytes_max })
}

/// `patternErrorMessage` is what editors show in place of the pattern; others ignore it.
fn text_like(pattern: &str, message: &str, bytes_max: usize) -> Value {
    json!({
        "type": "string",
        "maxLength": bytes_max,
        "pattern": pattern,
        "patternErrorMessage": message,
    })
}

fn duration(zero: Zero) -> Value {
    let mut schema = json!({ "$ref": "#/$defs/duration" });
    if zero == Zero::Refused {
        schema["pattern"] = json!(pattern::NOT_ZERO);
        schema["patternErrorMessage"] = json!("It must be longer than 0.");
    }
    schema
}

fn size(bytes_max: u64) -> Value {
    let mut text = text_like(&pattern::size(), SIZE_MESSAGE, 256);
    text["allOf"] = json!([{ "pattern": pattern::NOT_ZERO }]);
    json!({ "anyOf": [text, { "type": "integer", "minimum": 1, "maximum": bytes_max }] })
}

fn labels() -> Value {
    json!({
        "type": "object",
        "propertyNames": { "$ref": "#/$defs/name" },
        "additionalProperties": bounded_scalar(LABEL_VALUE_BYTES_MAX),
    })
}

fn env(secret: &Group) -> Value {
    json!({
        "type": "object",
        "propertyNames": {
            "pattern": pattern::VARIABLE,
            "maxLength": NAME_BYTES_MAX,
            "not": { "pattern": format!("^({OWN_VARIABLES}|{VARIABLE}[0-9]+$)") },
        },
        "additionalProperties": {
            "anyOf": [bounded_scalar(ENV_VALUE_BYTES_MAX), object(secret)],
        },
    })
}

fn paths() -> Value {
    let item = json!({ "type": ["string", "number", "boolean"], "minLength": 1 });
    json!({ "type": "array", "items": item, "maxItems": ARTIFACTS_MAX, "uniqueItems": true })
}

fn wanted() -> Value {
    json!({ "type": "array", "items": scalar(), "maxItems": ARTIFACTS_MAX, "uniqueItems": true })
}

/// What a template comes to is read when it is known.
fn sleep(group: &Group) -> Value {
    let template = json!({ "type": "string", "pattern": pattern::TEMPLATE });
    json!({ "anyOf": [duration(Zero::Allowed), template, object(group)] })
}

fn deciders() -> Value {
    let mut name = shape(&Shape::Filled { bytes_max: NAME_BYTES_MAX });
    name["not"] = json!({ "const": "viewer" });
    let list =
        json!({ "type": "array", "items": name, "minItems": 1, "maxItems": APPROVAL_BY_MAX });
    json!({ "anyOf": [name, list] })
}

fn argv() -> Value {
    let mut program = bounded_scalar(ENV_VALUE_BYTES_MAX);
    program["pattern"] = json!(pattern::NOT_BLANK);
    json!({
        "type": "array",
        "minItems": 1,
        "prefixItems": [program],
        "items": bounded_scalar(ENV_VALUE_BYTES_MAX),
    })
}

fn dependencies(group: &Group) -> Value {
    let item = json!({ "anyOf": [scalar(), object(group)] });
    let list = json!({ "type": "array", "items": item, "uniqueItems": true });
    json!({ "anyOf": [{ "type": "string" }, object(group), list] })
}

fn retries(max: u32, group: &Group) -> Value {
    let mut map = object(group);
    map["not"] = json!({ "required": ["on", "except"] });
    json!({ "anyOf": [{ "type": "integer", "minimum": 0, "maximum": max }, map] })
}

fn classes(min: usize) -> Value {
    let words: Vec<&str> = ErrorClass::ALL
        .iter()
        .filter(|class| class.may_retry())
        .map(|class| class.word())
        .collect();
    let list = json!({ "type": "array", "items": { "enum": words }, "minItems": min });
    json!({ "anyOf": [{ "enum": words }, list] })
}

fn rate() -> Value {
    let mut schema = text_like(&pattern::rate(), RATE_MESSAGE, 256);
    schema["allOf"] = json!([{ "pattern": "/.*[1-9]" }]);
    schema
}

fn tiers(group: &Group) -> Value {
    let limit = group.known.iter().find(|entry| entry.name == "limit").map(|entry| &entry.shape);
    json!({
        "type": "object",
        "propertyNames": { "$ref": "#/$defs/name" },
        "additionalProperties": { "anyOf": [limit.map(shape), object(group)] },
    })
}

fn one_of(group: &Group, actions: &[&str]) -> Value {
    let mut schema = object(group);
    schema["oneOf"] = actions.iter().map(|name| json!({ "required": [name] })).collect();
    schema
}

fn tasks() -> Value {
    json!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": TASKS_MAX,
        "propertyNames": { "$ref": "#/$defs/name", "not": { "enum": RESERVED_TASK_NAMES } },
        "additionalProperties": { "$ref": "#/$defs/task" },
    })
}

fn task() -> Value {
    let mut schema = json!({ "description": "A task: exactly one action, and how it is done." });
    merge(&mut schema, object(&TASK));
    let actions = TASK.listed().filter(|entry| ACTIONS.contains(&entry.name));
    schema["oneOf"] = actions.map(|entry| json!({ "required": [entry.name] })).collect();
    schema["if"] = is_finally_itself();
    schema["then"] = all_finished();
    schema["dependentRequired"] = json!({ "version": ["workflow"] });
    schema["dependentSchemas"] = json!({ "workflow": is_child() });
    schema
}

/// What `workflow` does not take beside it.
fn is_child() -> Value {
    let refused = NOT_BESIDE_WORKFLOW.iter().map(|name| json!({ "required": [name] }));
    json!({ "not": { "anyOf": refused.collect::<Vec<_>>() } })
}

fn defaults() -> Value {
    let shared = |entry: &&Entry| !OWN_ONLY.contains(&entry.name) && !ACTIONS.contains(&entry.name);
    let reference = |entry: &Entry| {
        let schema = json!({ "$ref": format!("#/$defs/task/properties/{}", entry.name) });
        (entry.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = TASK.listed().filter(shared).map(reference).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// By its own words.
fn is_finally_itself() -> Value {
    let always = json!({ "required": ["always"], "properties": { "always": { "const": true } } });
    json!({ "anyOf": [is_finally(), always] })
}

fn is_finally() -> Value {
    json!({ "required": ["on_failure"], "properties": { "on_failure": { "const": "run" } } })
}

/// What `on_failure: run` and `always: true` ask of the dependencies beside it.
fn all_finished() -> Value {
    let finished = json!({ "when": { "const": "finished" } });
    let one_or_list = json!({ "properties": finished, "items": { "properties": finished } });
    json!({ "properties": { "depends_on": one_or_list } })
}

/// The same for tasks that take it from `defaults`.
fn finally_by_default() -> Value {
    let by_default =
        json!({ "if": { "not": { "required": ["on_failure"] } }, "then": all_finished() });
    json!({
        "if": { "required": ["defaults"], "properties": { "defaults": is_finally() } },
        "then": { "properties": { "tasks": { "additionalProperties": by_default } } },
    })
}
