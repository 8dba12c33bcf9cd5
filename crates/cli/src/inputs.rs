//! A run's input from the command line: `--input-file` first, then each `--input`.

use mainspring_core::json::Json;
use mainspring_core::limits::{DOCUMENT_DEPTH_MAX, RUN_INPUT_BYTES_MAX};
use mainspring_core::spec::input::check_input;
use serde_json::{Map, Value};
use std::io::Read as _;
use std::path::Path;

/// References followed from one schema to the next; a checked schema has no circle.
const REFERENCES_MAX: usize = 16;

/// What was given on the command line.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    pub inputs: &'a [String],
    pub file: Option<&'a Path>,
}

/// The input with its defaults, or everything that is wrong with it.
pub fn gather(given: &Given<'_>, schema: Option<&Json>) -> Result<Json, Vec<String>> {
    let schema_value = schema.map(Json::to_value);
    let mut problems = Vec::new();
    let mut input = match given.file {
        Some(path) => read_file(path).unwrap_or_else(|problem| {
            problems.push(problem);
            Map::new()
        }),
        None => Map::new(),
    };
    for one in given.inputs {
        if let Err(problem) = add(&mut input, one, schema_value.as_ref()) {
            problems.push(problem);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let input = Json::from_value(&Value::Object(input));
    check_whole(&input).map_err(|problem| vec![problem])?;
    check_input(schema, &input).map_err(|found| {
        let place = |path: String| match path.as_str() {
            "" => "the input".to_owned(),
            path => format!("input {}", path.trim_start_matches('/').replace('/', ".")),
        };
        found.into_iter().map(|it| format!("{}: {}", place(it.path), it.message)).collect()
    })
}

/// Each part may be within the limits, and the whole not.
fn check_whole(input: &Json) -> Result<(), String> {
    if input.as_str().len() > RUN_INPUT_BYTES_MAX {
        return Err(format!("the input has more than {RUN_INPUT_BYTES_MAX} bytes"));
    }
    Json::parse(input.as_str()).map(drop).map_err(|error| format!("the input is {error}"))
}

/// Problems that show without the workflow.
pub fn precheck(given: &Given<'_>) -> Vec<String> {
    let bad = given.inputs.iter().filter_map(|one| split(one).err());
    let file = given.file.iter().filter_map(|path| read_file(path).err());
    bad.chain(file).collect()
}

fn read_file(path: &Path) -> Result<Map<String, Value>, String> {
    let name = path.display();
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(RUN_INPUT_BYTES_MAX as u64 + 1).read_to_string(&mut text))
        .map_err(|error| format!("--input-file {name} cannot be read: {error}"))?;
    if text.len() > RUN_INPUT_BYTES_MAX {
        return Err(format!("--input-file {name} has more than {RUN_INPUT_BYTES_MAX} bytes"));
    }
    match Json::parse(&text).map(|json| json.to_value()) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("--input-file {name}: a run's input must be a JSON object")),
        Err(error) => Err(format!("--input-file {name}: {error}")),
    }
}

fn split(given: &str) -> Result<(&str, &str), String> {
    match given.split_once('=') {
        // Before anything so deep is built: it could not even be taken apart again.
        Some((key, _)) if key.split('.').count() > DOCUMENT_DEPTH_MAX => {
            Err(format!("--input with a key of more than {DOCUMENT_DEPTH_MAX} parts"))
        }
        Some((key, value)) if !key.split('.').any(str::is_empty) => Ok((key, value)),
        _ => Err(format!("--input {given:?}: write it as KEY=VALUE")),
    }
}

fn add(input: &mut Map<String, Value>, given: &str, schema: Option<&Value>) -> Result<(), String> {
    let (key, text) = split(given)?;
    // A property whose name has a dot in it is meant as it is written.
    let whole = property(schema, schema, key).is_some();
    let path: Vec<&str> = if whole { vec![key] } else { key.split('.').collect() };
    let (last, above) = path.split_last().expect("split gives at least one part");
    let (mut object, mut at) = (input, schema);
    for part in above {
        at = property(schema, at, part);
        let slot = object.entry((*part).to_owned()).or_insert_with(|| Value::Object(Map::new()));
        object = slot
            .as_object_mut()
            .ok_or_else(|| format!("--input {key}: `{part}` is not an object in this input"))?;
    }
    let value = read_value(text, property(schema, at, last));
    object.insert((*last).to_owned(), value);
    Ok(())
}

/// Text where the schema wants text; else JSON if it is JSON, else text.
fn read_value(text: &str, schema: Option<&Value>) -> Value {
    let types: Vec<&str> = match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(word)) => vec![word],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let as_text = || Value::String(text.to_owned());
    if types == ["string"] {
        return as_text();
    }
    match Json::parse(text).map(|json| json.to_value()) {
        Ok(value) if !types.contains(&"string") || types.contains(&kind(&value)) => value,
        _ => as_text(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The schema of a property, references followed.
fn property<'s>(root: Option<&'s Value>, at: Option<&'s Value>, name: &str) -> Option<&'s Value> {
    let found = follow(root?, at?)?.get("properties")?.get(name)?;
    follow(root?, found)
}

fn follow<'s>(root: &'s Value, mut schema: &'s Value) -> Option<&'s Value> {
    for _ in 0..REFERENCES_MAX {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return Some(schema);
        };
        schema = root.pointer(reference.strip_prefix('#')?)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(given: &[&str], expected: &Value) {
        let schema = json!({
            "properties": {
                "day": {"type": "string"},
                "maybe": {"type": ["string", "null"]},
                "a.b": {"type": "integer"},
                "db": {"$ref": "#/$defs/db"},
            },
            "$defs": {"db": {"properties": {"port": {"type": "integer"}, "name": {"type": "string"}}}},
        });
        let mut input = Map::new();
        for one in given {
            add(&mut input, one, Some(&schema)).expect("good");
        }
        assert_eq!(&Value::Object(input), expected);
    }

    #[test]
    fn the_schema_says_what_is_text() {
        check(&["day=5", "other=5"], &json!({"day": "5", "other": 5}));
        check(&["maybe=null", "day=null"], &json!({"maybe": null, "day": "null"}));
        check(&["maybe=7"], &json!({"maybe": "7"}));
        check(&["x=a=b", "y={\"z\":[1]}", "e="], &json!({"x": "a=b", "y": {"z": [1]}, "e": ""}));
    }

    #[test]
    fn dots_lead_into_objects() {
        check(
            &["db.port=1", "db.name=2", "a.b=3"],
            &json!({"db": {"port": 1, "name": "2"}, "a.b": 3}),
        );
        let mut input = Map::new();
        add(&mut input, "a=1", None).expect("good");
        let problem = add(&mut input, "a.b=2", None).expect_err("a is a number");
        assert!(problem.contains("`a` is not an object"), "{problem}");
    }

    #[test]
    fn what_has_no_key_is_refused() {
        for given in ["x", "=x", "a..b=1", ".a=1"] {
            assert!(split(given).is_err(), "{given}");
        }
    }
}
