//! A task's output, checked against the schema that its definition gives.

use super::schema::{compile, shown};
use crate::json::Json;
use jsonschema::Validator;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A schema that was accepted at deploy. Compiled when it is first used: a definition may have
/// very many, and most readers of it check no output.
#[derive(Clone)]
pub struct OutputSchema(Arc<Inner>);

struct Inner {
    schema: Json,
    validator: OnceLock<Result<Validator, String>>,
}

impl OutputSchema {
    pub fn new(schema: Json) -> Self {
        Self(Arc::new(Inner { schema, validator: OnceLock::new() }))
    }

    pub fn as_json(&self) -> &Json {
        &self.0.schema
    }

    /// Why an output is not what it should be: where, and what is there.
    pub fn check(&self, output: Option<&Json>) -> Result<(), String> {
        let validator = self.0.validator.get_or_init(|| {
            let compiled = compile(&self.0.schema.to_value());
            compiled
                .map_err(|error| format!("its schema `outputs` cannot be used: {}", shown(&error)))
        });
        let validator = validator.as_ref().map_err(Clone::clone)?;
        let value = output.map_or(Value::Null, Json::to_value);
        let Err(error) = validator.validate(&value) else { return Ok(()) };
        if output.is_none() {
            return Err(format!(
                "it put out nothing, and `outputs` asks for more: {}",
                shown(&error)
            ));
        }
        let at = match error.instance_path().as_str() {
            "" => String::new(),
            path => format!(" at `{path}`"),
        };
        Err(format!("its output does not match `outputs`{at}: {}", shown(&error)))
    }
}

impl PartialEq for OutputSchema {
    fn eq(&self, other: &Self) -> bool {
        self.0.schema == other.0.schema
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_and_what_is_told() {
        let text = r#"{"type": "object", "required": ["rows"],
                       "properties": {"rows": {"type": "integer", "minimum": 0}}}"#;
        let schema = OutputSchema::new(Json::parse(text).expect("JSON"));
        let check = |output: &str| schema.check(Some(&Json::parse(output).expect("JSON")));
        assert_eq!(check(r#"{"rows": 3}"#), Ok(()));
        for (output, told) in [
            (r#"{"rows": -1}"#, "at `/rows`: -1 is less than the minimum of 0"),
            (r#"{"rows": "x"}"#, "at `/rows`: \"x\" is not of type \"integer\""),
            ("{}", "`outputs`: \"rows\" is a required property"),
        ] {
            let found = check(output).expect_err("it does not match");
            assert!(found.ends_with(told), "{found}");
        }
        let found = schema.check(None).expect_err("nothing is no object");
        assert!(found.starts_with("it put out nothing"), "{found}");
    }
}
