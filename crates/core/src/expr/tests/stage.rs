//! A source with a few tasks, which counts what is asked of it.

use super::super::{Expr, Known, Place, Source, Trouble, Unread};
use crate::json::Json;
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Stage {
    pub input: &'static str,
    pub outputs: BTreeMap<&'static str, String>,
    pub asked: RefCell<Vec<String>>,
}

impl Stage {
    pub fn new() -> Self {
        let outputs = [
            ("fetch", r#"{"files": ["a", "b c", "é"], "count": 3, "big": 18446744073709551615}"#),
            ("my-task", r#"{"ok": true, "ratio": 0.50}"#),
            ("list", "[1, 2, 3]"),
        ];
        Self {
            input: r#"{"day": "monday", "n": 2, "f": 1.5, "no": null, "yes": true,
                       "l": [3, 1, 2], "m": {"b": 1, "a": 2}}"#,
            outputs: outputs.into_iter().map(|(name, text)| (name, text.to_owned())).collect(),
            asked: RefCell::default(),
        }
    }

    pub fn value(&self, source: &str) -> Result<Json, Trouble> {
        let expr = Expr::compile(source).unwrap_or_else(|it| panic!("{source}: {it:?}"));
        let known = Known::new(self);
        let place = Place { index: 1, count: 4, item: Some(r#"{"name": "x", "tags": ["t"]}"#) };
        expr.value(&known.instance(place))
    }
}

impl Source for Stage {
    fn input(&self) -> Json {
        self.asked.borrow_mut().push("input".to_owned());
        Json::parse(self.input).expect("JSON")
    }

    fn run_id(&self) -> String {
        "0190-run".to_owned()
    }

    fn scheduled_for(&self) -> Option<String> {
        None
    }

    fn output(&self, task: &str) -> Result<Option<Json>, Unread> {
        self.asked.borrow_mut().push(task.to_owned());
        match task {
            "lost" => Err(Unread::Lost("it is gone".to_owned())),
            "away" => Err(Unread::Later("the store is away".to_owned())),
            _ => Ok(self.outputs.get(task).map(|text| Json::parse(text).expect("JSON"))),
        }
    }

    fn status(&self, task: &str) -> &str {
        if self.outputs.contains_key(task) { "success" } else { "skipped" }
    }
}

/// The value as text, or what is wrong after a `!`.
pub fn shown(source: &str) -> String {
    match Stage::new().value(source) {
        Ok(json) => json.as_str().to_owned(),
        Err(trouble) => format!("! {trouble}"),
    }
}

/// What is wrong with an expression: the text it points at, the message, the hint.
pub fn problems(source: &str) -> Vec<String> {
    match Expr::compile(source) {
        Ok(_) => Vec::new(),
        Err(found) => found
            .iter()
            .map(|it| {
                let hint = it.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
                format!("[{}] {}{hint}", &source[it.at.clone()], it.message)
            })
            .collect(),
    }
}
