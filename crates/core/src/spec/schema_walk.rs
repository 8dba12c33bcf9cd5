//! Walks a schema and everything it refers to, and counts what using it comes to.

use super::code::Code;
use super::report::quoted;
use super::schema::SchemaProblem;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Schemas inside a schema, each reference counted as what it refers to.
const SCHEMAS_MAX: usize = 10_000;
/// How deep they nest, references followed: each level takes stack when it is compiled.
const DEPTH_MAX: usize = 128;
/// Patterns, each up to `PATTERN_BYTES_MAX` when compiled.
const PATTERNS_MAX: usize = 100;

/// Keywords whose value is a schema, or a list of schemas.
const SCHEMAS: &[&str] = &[
    "additionalProperties",
    "additionalItems",
    "items",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "allOf",
    "anyOf",
    "oneOf",
    "prefixItems",
];
/// Keywords whose value holds schemas by name.
const NAMED: &[&str] = &[
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
];
/// Where these lead depends on where one comes from.
const DYNAMIC: &[&str] = &["$dynamicRef", "$recursiveRef"];

#[derive(Clone, Copy, Debug, Default)]
struct Size {
    schemas: usize,
    patterns: usize,
    height: usize,
}

impl Size {
    fn add(&mut self, inner: Self) {
        self.schemas = self.schemas.saturating_add(inner.schemas);
        self.patterns = self.patterns.saturating_add(inner.patterns);
        self.height = self.height.max(inner.height);
    }
}

#[derive(Debug)]
pub struct Walk<'s> {
    root: &'s Value,
    /// By address: a schema that several references name is walked once and counted each time.
    sizes: BTreeMap<usize, Size>,
    open: BTreeSet<usize>,
    pub problems: Vec<SchemaProblem>,
    /// Pointers of the schemas that have a default.
    pub defaults: Vec<String>,
}

impl<'s> Walk<'s> {
    pub fn new(root: &'s Value) -> Self {
        Self {
            root,
            sizes: BTreeMap::new(),
            open: BTreeSet::new(),
            problems: Vec::new(),
            defaults: Vec::new(),
        }
    }

    /// How many schemas there are, references followed; finds what is wrong with them.
    pub fn run(&mut self) -> usize {
        let size = self.visit(self.root, "", 0);
        let (code, name) = (Code::SchemaTooLarge, "");
        if size.schemas > SCHEMAS_MAX {
            let message = format!("More than {SCHEMAS_MAX} schemas, references followed.");
            self.problems.push(SchemaProblem::new(code, name, message));
        }
        if size.patterns > PATTERNS_MAX {
            let message = format!("More than {PATTERNS_MAX} patterns, references followed.");
            self.problems.push(SchemaProblem::new(code, name, message));
        }
        if size.height > DEPTH_MAX {
            let message = format!("Nested more than {DEPTH_MAX} deep, references followed.");
            self.problems.push(SchemaProblem::new(code, name, message));
        }
        size.schemas
    }

    fn visit(&mut self, schema: &'s Value, pointer: &str, depth: usize) -> Size {
        let address = std::ptr::from_ref(schema).addr();
        if let Some(&size) = self.sizes.get(&address) {
            return size;
        }
        let mut size = Size { schemas: 1, patterns: 0, height: 0 };
        let Some(map) = schema.as_object() else { return size };
        if depth > DEPTH_MAX {
            return Size { height: DEPTH_MAX, ..size };
        }
        self.open.insert(address);
        self.check_own(map, pointer);
        size.patterns += usize::from(map.contains_key("pattern"));
        size.patterns +=
            map.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
        for (step, inner) in children(map) {
            size.add(self.visit(inner, &format!("{pointer}/{step}"), depth + 1));
        }
        if let Some(reference) = map.get("$ref") {
            size.add(self.follow(reference, &format!("{pointer}/$ref"), depth));
        }
        self.open.remove(&address);
        size.height += 1;
        self.sizes.insert(address, size);
        size
    }

    fn check_own(&mut self, map: &Map<String, Value>, pointer: &str) {
        if map.contains_key("default") {
            self.defaults.push(pointer.to_owned());
        }
        for keyword in DYNAMIC.iter().filter(|keyword| map.contains_key(**keyword)) {
            let message = format!("`{keyword}` is not supported.");
            let at = format!("{pointer}/{keyword}");
            self.problems.push(SchemaProblem::new(Code::SchemaReference, at, message));
        }
        // It would change what the references inside it refer to.
        for keyword in ["$id", "id"] {
            if !pointer.is_empty() && map.get(keyword).is_some_and(Value::is_string) {
                let message = format!("`{keyword}` is only supported at the top of a schema.");
                let at = format!("{pointer}/{keyword}");
                let problem = SchemaProblem::new(Code::SchemaReference, at, message);
                self.problems.push(problem.with_hint("leave it out"));
            }
        }
    }

    fn follow(&mut self, reference: &'s Value, at: &str, depth: usize) -> Size {
        // What is not text was refused as a schema already.
        let Some(reference) = reference.as_str() else { return Size::default() };
        let Some(target) = target(self.root, reference) else {
            let local = reference.starts_with("#/");
            let shown = quoted(reference);
            let (message, hint) = match local {
                true => {
                    (format!("{shown} names nothing in this schema."), "define it under `$defs`")
                }
                false => (
                    format!("The reference {shown} leads out of this schema."),
                    "copy what it refers to under `$defs`, and write `#/$defs/…`",
                ),
            };
            let problem = SchemaProblem::new(Code::SchemaReference, at, message);
            self.problems.push(problem.with_hint(hint));
            return Size::default();
        };
        if self.open.contains(&std::ptr::from_ref(target).addr()) {
            let message = format!("The reference {} leads back to itself.", quoted(reference));
            let problem = SchemaProblem::new(Code::SchemaReference, at, message);
            self.problems.push(problem.with_hint("recursive schemas are not supported"));
            return Size::default();
        }
        self.visit(target, reference.trim_start_matches('#'), depth + 1)
    }
}

/// The schemas directly inside a schema, each with its way there.
fn children(map: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut children = Vec::new();
    for keyword in SCHEMAS {
        match map.get(*keyword) {
            Some(Value::Array(list)) => {
                let steps = list.iter().enumerate();
                children.extend(steps.map(|(index, inner)| (format!("{keyword}/{index}"), inner)));
            }
            Some(inner) => children.push(((*keyword).to_owned(), inner)),
            None => {}
        }
    }
    for keyword in NAMED {
        for (name, inner) in map.get(*keyword).and_then(Value::as_object).into_iter().flatten() {
            let name = name.replace('~', "~0").replace('/', "~1");
            children.push((format!("{keyword}/{name}"), inner));
        }
    }
    children
}

/// What a reference inside a schema refers to: `#`, or `#/` and a pointer.
pub fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    root.pointer(pointer)
}
