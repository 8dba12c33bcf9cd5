//! The JSON Schemas of a run's input and of a task's output, checked when they are deployed: that
//! one compiles, that it needs nothing from elsewhere, that its defaults obey it, and that using it
//! costs little.
//!
//! References are followed here before the validator sees them, since it would follow a
//! reference to itself until the stack ends, and doubled references for ever.

use super::code::Code;
use super::input::Filler;
use super::lower::expect;
use super::report::{Report, quoted};
use super::schema_walk::Walk;
use super::tree::Field;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// A compiled pattern: `^[\w.-]{1,64}$` needs a twentieth of it.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// Values of a schema: a mistake in each of them takes some 4 KiB while it is told.
const VALUES_MAX: usize = 20_000;
/// Mistakes told of one schema: one misspelt word can make a schema break many rules.
const PROBLEMS_MAX: usize = 20;

/// What is wrong with a schema, and where: a JSON pointer into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    pub code: Code,
    pub pointer: String,
    pub message: String,
    pub hint: Option<&'static str>,
}

impl SchemaProblem {
    pub fn new(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, pointer: pointer.into(), message: message.into(), hint: None }
    }

    pub fn with_hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }
}

/// What is checked by a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A run's input, which is always an object.
    Input,
    /// A task's output, which may be anything.
    Output,
}

/// Takes the schema from the tree; reports at the offending place inside it.
pub fn lower(field: Field<'_>, of: Of, report: &mut Report) -> Option<Value> {
    if !field.value.is_map() {
        let hint = "write a JSON Schema, such as `{type: object, properties: {…}}`";
        expect::wrong(field, "a JSON Schema", Some(hint), report);
        return None;
    }
    if field.value.has_broken() || expect::template_within(field, report) {
        return None;
    }
    if field.value.count(VALUES_MAX) > VALUES_MAX {
        let message = format!("The schema has more than {VALUES_MAX} values.");
        report.add(Code::SchemaTooLarge, field.name_place, message);
        return None;
    }
    let schema = field.value.to_json();
    let problems = check(&schema, of);
    for problem in &problems {
        let place = match problem.pointer.as_str() {
            "" => field.name_place,
            pointer => field.value.place_of(pointer),
        };
        report
            .add(problem.code, place, problem.message.clone())
            .maybe_hint(problem.hint.map(str::to_owned));
    }
    problems.is_empty().then_some(schema)
}

/// Everything that is wrong with a schema.
pub fn check(schema: &Value, of: Of) -> Vec<SchemaProblem> {
    let mut problems = meta_problems(schema);
    let mut walk = Walk::new(schema);
    walk.run();
    problems.append(&mut walk.problems);
    if problems.is_empty() && of == Of::Input {
        problems.extend(refuses_objects(schema));
    }
    problems.truncate(PROBLEMS_MAX);
    if !problems.is_empty() {
        return problems;
    }
    match compile(schema) {
        Ok(_) => default_problems(schema, &walk.defaults),
        Err(error) => vec![compile_problem(&error)],
    }
}

/// Compiles with an engine whose time is linear in the text: look-around is not supported, and
/// no pattern can hang a server.
pub fn compile(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    options().build(schema)
}

fn options<'o>() -> jsonschema::ValidationOptions<'o> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX);
    jsonschema::options()
        .with_pattern_options(patterns.dfa_size_limit(PATTERN_BYTES_MAX))
        .should_validate_formats(true)
        // It would compile a pattern that comes with the input.
        .with_format("regex", |_: &str| true)
}

fn meta_problems(schema: &Value) -> Vec<SchemaProblem> {
    let Ok(validator) = jsonschema::meta::validator_for(schema) else {
        let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let message = format!("The dialect {} of JSON Schema is not known.", quoted(dialect));
        return vec![
            SchemaProblem::new(Code::BadSchema, "/$schema", message)
                .with_hint("leave `$schema` out for draft 2020-12"),
        ];
    };
    let problem = |error: ValidationError<'_>| {
        let pointer = error.instance_path().as_str();
        if pointer.ends_with("/type") && error.instance().is_string() {
            let message = format!("There is no type {}.", quoted_value(error.instance()));
            return SchemaProblem::new(Code::BadSchema, pointer, message)
                .with_hint("use object, array, string, number, integer, boolean or null");
        }
        let message = format!("Not a valid JSON Schema: {}.", shown(&error));
        SchemaProblem::new(Code::BadSchema, pointer, message)
    };
    validator.iter_errors(schema).take(PROBLEMS_MAX).map(problem).collect()
}

fn compile_problem(error: &ValidationError<'_>) -> SchemaProblem {
    let pointer = error.instance_path().as_str();
    if let ValidationErrorKind::Format { .. } = error.kind() {
        let pattern = quoted_value(error.instance());
        let message = format!("The pattern {pattern} cannot be used.");
        return SchemaProblem::new(Code::BadSchema, pointer, message)
            .with_hint("check its brackets; look-around, back references and very large patterns are not supported");
    }
    let message = format!("Not a JSON Schema that can be used: {}.", shown(error));
    SchemaProblem::new(Code::BadSchema, pointer, message)
}

fn quoted_value(value: &Value) -> String {
    quoted(value.as_str().unwrap_or("of this kind"))
}

/// A run's input is an object; a schema that refuses those refuses every run.
fn refuses_objects(schema: &Value) -> Option<SchemaProblem> {
    let allows = match schema.get("type")? {
        Value::String(word) => word == "object",
        Value::Array(words) => words.iter().any(|word| word == "object"),
        _ => true,
    };
    (!allows).then(|| {
        SchemaProblem::new(Code::BadSchema, "/type", "A run's input is always an object.")
            .with_hint("write `type: object`, and put this under `properties`")
    })
}

fn default_problems(schema: &Value, defaults: &[String]) -> Vec<SchemaProblem> {
    if defaults.is_empty() {
        return Vec::new();
    }
    let validators = match options().build_map(schema) {
        Ok(validators) => validators,
        Err(error) => return vec![compile_problem(&error)],
    };
    let broken = |pointer: &String| {
        let owner = schema.pointer(pointer)?;
        let mut filled = owner.get("default")?.clone();
        let at = format!("{pointer}/default");
        if Filler::new(schema).fill(owner, &mut filled).is_err() {
            return Some(SchemaProblem::new(
                Code::SchemaTooLarge,
                at,
                "Its defaults are too large.",
            ));
        }
        let validator = validators.get(&format!("#{pointer}"))?;
        let error = validator.validate(&filled).err()?;
        let message = format!("This default breaks its own schema: {}.", shown(&error));
        let hint = "give a default that fits, or change the schema around it";
        Some(SchemaProblem::new(Code::BadDefault, at, message).with_hint(hint))
    };
    defaults.iter().filter_map(broken).take(PROBLEMS_MAX).collect()
}

/// The validator's words without the backticks, quotes a value at most a line long.
pub fn shown(error: &ValidationError<'_>) -> String {
    let quoted = quoted(&error.masked_with("this value").to_string());
    let message = error.to_string();
    match message.len() {
        0..=200 => message,
        _ => quoted.trim_matches('`').to_owned(),
    }
}
