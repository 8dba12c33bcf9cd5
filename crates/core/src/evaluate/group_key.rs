//! The key of a run's concurrency group, worked out before there is a run.

use crate::expr::{Known, Source, Unread};
use crate::json::Json;
use crate::limits::LABEL_BYTES_MAX;
use crate::spec::definition::Definition;
use std::sync::Arc;

/// Why there is no key: what is wrong, and with which field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`concurrency_group.key`: {0}")]
pub struct BadKey(pub String);

/// None when the workflow has no group. `input` is checked already, defaults filled in.
pub fn group_key(definition: &Definition, input: &Json) -> Result<Option<Arc<str>>, BadKey> {
    let Some(group) = &definition.concurrency_group else { return Ok(None) };
    let source = Before { input: input.clone() };
    let known = Known::new(&source);
    let key = group.key.render(&known.scope()).map_err(|trouble| BadKey(trouble.to_string()))?;
    match key.len() {
        0 => Err(BadKey("it comes to an empty text".to_owned())),
        bytes if bytes > LABEL_BYTES_MAX => {
            Err(BadKey(format!("it has {bytes} bytes, at most {LABEL_BYTES_MAX} are allowed")))
        }
        _ => Ok(Some(key.into())),
    }
}

/// What is known before a run begins. Nothing else is named by a key that was checked.
struct Before {
    input: Json,
}

impl Source for Before {
    fn input(&self) -> Json {
        self.input.clone()
    }

    fn run_id(&self) -> String {
        String::new()
    }

    fn scheduled_for(&self) -> Option<String> {
        None
    }

    fn output(&self, _: &str) -> Result<Option<Json>, Unread> {
        Ok(None)
    }

    fn status(&self, _: &str) -> &'static str {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Context, parse};

    fn key(key: &str, input: &str) -> Result<Option<String>, String> {
        let text = format!(
            "name: w\nconcurrency_group: {{ key: {key} }}\ntasks: {{ a: {{ noop: {{}} }} }}\n"
        );
        let parsed = parse(&text, &Context::STORED).map_err(|found| found[0].message.clone())?;
        let input = Json::parse(input).expect("JSON");
        let key = group_key(&parsed.definition, &input).map_err(|bad| bad.to_string())?;
        Ok(key.map(|key| key.to_string()))
    }

    #[test]
    fn a_key_is_text_and_what_is_put_in_of_the_input() {
        assert_eq!(key("deploy", "{}"), Ok(Some("deploy".to_owned())));
        let given = key("\"deploy-${{ input.env }}-${{ input.n }}\"", r#"{"env": "prod", "n": 3}"#);
        assert_eq!(given, Ok(Some("deploy-prod-3".to_owned())));
    }

    #[test]
    fn what_cannot_be_a_key_says_why() {
        for (text, input, says) in [
            ("\"${{ input.env }}\"", "{}", "without the field"),
            ("\"${{ input.env }}\"", r#"{"env": ""}"#, "empty"),
            ("\"${{ run.id }}\"", "{}", "every run has another"),
            ("\"${{ tasks.a.output }}\"", "{}", "before the run begins"),
            ("\" \"", "{}", "empty"),
        ] {
            let error = key(text, input).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
        let long = format!(r#"{{"env": "{}"}}"#, "x".repeat(300));
        let error = key("\"${{ input.env }}\"", &long).expect_err("too long");
        assert!(error.contains("300 bytes"), "{error}");
    }
}
