//! A run's input: defaults filled in, then checked against the workflow's schema.

use super::schema::{compile, shown};
use super::schema_walk::{Walk, target};
use crate::json::{Json, depth};
use crate::limits::{DOCUMENT_DEPTH_MAX, RUN_INPUT_BYTES_MAX};
use jsonschema::{ValidationError, Validator};
use serde::Serialize;
use serde_json::Value;

/// Told at once; more help nobody.
const PROBLEMS_MAX: usize = 50;

/// The validator gathers every problem before it tells the first, some 400 bytes and more for
/// each: when bytes of input times schemas come to more than this, only the first is asked for.
const ALL_PROBLEMS_COST_MAX: usize = 500_000;

/// What is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputProblem {
    /// JSON pointer into the input; empty for the whole.
    pub path: String,
    pub message: String,
}

impl InputProblem {
    fn whole(message: impl Into<String>) -> Vec<Self> {
        vec![Self { path: String::new(), message: message.into() }]
    }
}

/// A schema ready for use. Compiling costs some 50 µs, so a server may keep it per version.
#[derive(Debug)]
pub struct InputSchema {
    schema: Value,
    /// Schemas in it, references followed.
    schemas: usize,
    validator: Validator,
}

impl InputSchema {
    /// Compiles a schema that was accepted at deploy.
    pub fn compile(schema: &Json) -> Result<Self, Vec<InputProblem>> {
        let schema = schema.to_value();
        match compile(&schema) {
            Ok(validator) => {
                let schemas = Walk::new(&schema).run();
                Ok(Self { schema, schemas, validator })
            }
            Err(error) => {
                let message =
                    format!("The workflow's input schema cannot be used: {}.", shown(&error));
                Err(InputProblem::whole(message))
            }
        }
    }

    /// The input with its defaults, or everything that is wrong with it.
    pub fn check(&self, given: &Json) -> Result<Json, Vec<InputProblem>> {
        check_any(given)?;
        let mut value = given.to_value();
        if Filler::new(&self.schema).fill(&self.schema, &mut value).is_err() {
            return Err(too_large());
        }
        let filled = Json::from_value(&value);
        if filled.as_str().len() > RUN_INPUT_BYTES_MAX {
            return Err(too_large());
        }
        if depth(filled.as_str()) > DOCUMENT_DEPTH_MAX {
            let message =
                format!("The input with its defaults nests more than {DOCUMENT_DEPTH_MAX} deep.");
            return Err(InputProblem::whole(message));
        }
        match self.problems(&value, filled.as_str().len()) {
            problems if problems.is_empty() => Ok(filled),
            problems => Err(problems),
        }
    }

    fn problems(&self, value: &Value, bytes: usize) -> Vec<InputProblem> {
        let problem = |error: ValidationError<'_>| InputProblem {
            path: error.instance_path().as_str().to_owned(),
            message: shown(&error),
        };
        if bytes.saturating_mul(self.schemas) > ALL_PROBLEMS_COST_MAX {
            return self.validator.validate(value).err().map(problem).into_iter().collect();
        }
        self.validator.iter_errors(value).take(PROBLEMS_MAX).map(problem).collect()
    }
}

/// The input of a run with its defaults, or everything that is wrong with it. Without a schema
/// any object is taken as it is.
pub fn check_input(schema: Option<&Json>, given: &Json) -> Result<Json, Vec<InputProblem>> {
    match schema {
        Some(schema) => InputSchema::compile(schema)?.check(given),
        None => check_any(given).map(|()| given.clone()),
    }
}

fn check_any(given: &Json) -> Result<(), Vec<InputProblem>> {
    if given.as_str().len() > RUN_INPUT_BYTES_MAX {
        return Err(too_large());
    }
    if !given.as_str().starts_with('{') {
        return Err(InputProblem::whole("A run's input must be a JSON object."));
    }
    Ok(())
}

fn too_large() -> Vec<InputProblem> {
    let message = format!("The input with its defaults has more than {RUN_INPUT_BYTES_MAX} bytes.");
    InputProblem::whole(message)
}

/// The defaults come to more than an input may have.
#[derive(Debug)]
pub struct TooLarge;

/// Puts `default`s where properties are missing, in objects inside objects as well. References
/// are followed; `allOf` and the like are not, since which of them applies is not known yet.
#[derive(Debug)]
pub struct Filler<'s> {
    root: &'s Value,
    bytes_left: usize,
}

impl<'s> Filler<'s> {
    pub fn new(root: &'s Value) -> Self {
        Self { root, bytes_left: RUN_INPUT_BYTES_MAX }
    }

    /// Ends: a checked schema has no circle of references, and its depth is bounded.
    pub fn fill(&mut self, schema: &'s Value, value: &mut Value) -> Result<(), TooLarge> {
        if let Some(target) = self.referred(schema) {
            self.fill(target, value)?;
        }
        let (Some(properties), Value::Object(object)) =
            (schema.get("properties").and_then(Value::as_object), value)
        else {
            return Ok(());
        };
        for (name, property) in properties {
            if let Some(inner) = object.get_mut(name) {
                self.fill(property, inner)?;
            } else if let Some(default) = self.default_of(property) {
                let mut inner = self.copy(default)?;
                self.fill(property, &mut inner)?;
                object.insert(name.clone(), inner);
            }
        }
        Ok(())
    }

    fn copy(&mut self, default: &Value) -> Result<Value, TooLarge> {
        let bytes = default.to_string().len();
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(TooLarge)?;
        Ok(default.clone())
    }

    fn referred(&self, schema: &'s Value) -> Option<&'s Value> {
        target(self.root, schema.get("$ref")?.as_str()?)
    }

    fn default_of(&self, schema: &'s Value) -> Option<&'s Value> {
        schema.get("default").or_else(|| self.default_of(self.referred(schema)?))
    }
}
