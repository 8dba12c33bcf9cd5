//! A value with templates in its texts.

use super::convert::write_text;
use super::path::Step;
use super::problem::Problem;
use super::reference::Reference;
use super::scope::Scope;
use super::split::has_template;
use super::text::Text;
use super::trouble::Trouble;
use crate::json::{Json, depth};
use crate::limits::{DOCUMENT_DEPTH_MAX, EXPR_VALUE_BYTES_MAX};
use serde_json::Value;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// A JSON value, perhaps with templates in it. Cloning shares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// No template anywhere: what it always comes to.
    Fixed(Json),
    Branch(Arc<Branch>),
}

#[derive(Debug, PartialEq, Eq)]
enum Branch {
    Fixed(Json),
    Text(Text),
    List(Vec<Branch>),
    Map(Vec<(String, Branch)>),
}

/// A mistake in one of its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeProblem {
    /// JSON pointer to the text.
    pub pointer: String,
    /// Places are bytes of the text.
    pub problem: Problem,
}

impl Tree {
    /// Reads a value, or tells everything that is wrong with its templates.
    pub fn of(value: &Value) -> Result<Self, Vec<TreeProblem>> {
        let mut problems = Vec::new();
        let branch = grow(value, "", &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        if !branch.is_fixed() {
            return Ok(Self(Kind::Branch(Arc::new(branch))));
        }
        let mut text = String::new();
        let none: Result<(), ()> = branch.write("", &mut text, &|_, _| Err(()));
        none.expect("no template is left in it");
        Ok(Self(Kind::Fixed(Json::composed(text))))
    }

    /// What can be read of a value with mistakes in its templates.
    pub fn readable(value: &Value) -> Vec<(Reference, String, Range<usize>)> {
        let mut found = Vec::new();
        readable(value, "", &mut found);
        found
    }

    /// What it comes to, where no expression stands in it.
    pub fn fixed(&self) -> Option<&Json> {
        match &self.0 {
            Kind::Fixed(json) => Some(json),
            Kind::Branch(_) => None,
        }
    }

    /// As it is written in the definition.
    pub fn written(&self) -> Json {
        let branch = match &self.0 {
            Kind::Fixed(json) => return json.clone(),
            Kind::Branch(branch) => branch,
        };
        let mut text = String::new();
        let source = |template: &Text, _: &str| -> Result<Json, ()> {
            Ok(Json::from_value(&Value::from(template.source())))
        };
        branch.write("", &mut text, &source).expect("every text has a source");
        Json::composed(text)
    }

    /// What its expressions read, each with the pointer to its text and its place in that.
    pub fn has_calls(&self) -> bool {
        matches!(&self.0, Kind::Branch(branch) if branch.has_calls())
    }

    pub fn references(&self) -> Vec<(&Reference, String, Range<usize>)> {
        let mut found = Vec::new();
        if let Kind::Branch(branch) = &self.0 {
            branch.references("", &mut found);
        }
        found
    }

    /// With the values put in. Troubles are told under the name it has.
    pub fn render(&self, scope: &Scope<'_>, name: &str) -> Result<Json, Trouble> {
        let branch = match &self.0 {
            Kind::Fixed(json) => return Ok(json.clone()),
            Kind::Branch(branch) => branch,
        };
        let left = Cell::new(EXPR_VALUE_BYTES_MAX);
        let mut text = String::new();
        branch.write(name, &mut text, &|template, path| {
            let value = template.value(scope).map_err(|trouble| trouble.at(path))?;
            let bytes = value.as_str().len();
            left.set(left.get().checked_sub(bytes).ok_or_else(|| too_large(name))?);
            Ok::<_, Trouble>(value)
        })?;
        if depth(&text) > DOCUMENT_DEPTH_MAX {
            return Err(Trouble::Wrong(format!(
                "`{name}` nests more than {DOCUMENT_DEPTH_MAX} deep with its values put in"
            )));
        }
        Ok(Json::composed(text))
    }
}

impl From<Json> for Tree {
    /// A value that stands for itself.
    fn from(json: Json) -> Self {
        Self(Kind::Fixed(json))
    }
}

fn grow(value: &Value, pointer: &str, problems: &mut Vec<TreeProblem>) -> Branch {
    match value {
        plain if !holds_template(plain) => Branch::Fixed(Json::from_value(plain)),
        Value::Array(elements) => {
            let inner = |(index, element): (usize, &Value), problems: &mut Vec<TreeProblem>| {
                grow(element, &format!("{pointer}/{index}"), problems)
            };
            Branch::List(elements.iter().enumerate().map(|it| inner(it, problems)).collect())
        }
        Value::Object(fields) => {
            let inner = |(name, field): (&String, &Value), problems: &mut Vec<TreeProblem>| {
                let step = name.replace('~', "~0").replace('/', "~1");
                (name.clone(), grow(field, &format!("{pointer}/{step}"), problems))
            };
            Branch::Map(fields.iter().map(|it| inner(it, problems)).collect())
        }
        other => grow_text(other.as_str().unwrap_or_default(), pointer, problems),
    }
}

fn grow_text(source: &str, pointer: &str, problems: &mut Vec<TreeProblem>) -> Branch {
    match Text::parse(source) {
        Ok(text) => match text.fixed() {
            Some(fixed) => Branch::Fixed(Json::from_value(&Value::from(fixed))),
            None => Branch::Text(text),
        },
        Err(found) => {
            let at = |problem| TreeProblem { pointer: pointer.to_owned(), problem };
            problems.extend(found.into_iter().map(at));
            Branch::Fixed(Json::null())
        }
    }
}

fn readable(value: &Value, pointer: &str, found: &mut Vec<(Reference, String, Range<usize>)>) {
    match value {
        Value::String(text) => {
            let read = Text::readable(text).into_iter();
            found.extend(read.map(|(it, at)| (it, pointer.to_owned(), at)));
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                readable(element, &format!("{pointer}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let step = name.replace('~', "~0").replace('/', "~1");
                readable(field, &format!("{pointer}/{step}"), found);
            }
        }
        _ => {}
    }
}

fn holds_template(value: &Value) -> bool {
    match value {
        Value::String(text) => has_template(text),
        Value::Array(elements) => elements.iter().any(holds_template),
        Value::Object(fields) => fields.values().any(holds_template),
        _ => false,
    }
}

impl Branch {
    fn has_calls(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Text(text) => text.has_calls(),
            Self::List(elements) => elements.iter().any(Self::has_calls),
            Self::Map(fields) => fields.iter().any(|(_, field)| field.has_calls()),
        }
    }

    fn is_fixed(&self) -> bool {
        match self {
            Self::Fixed(_) => true,
            Self::Text(_) => false,
            Self::List(elements) => elements.iter().all(Self::is_fixed),
            Self::Map(fields) => fields.iter().all(|(_, field)| field.is_fixed()),
        }
    }

    fn references<'t>(
        &'t self,
        pointer: &str,
        found: &mut Vec<(&'t Reference, String, Range<usize>)>,
    ) {
        match self {
            Self::Fixed(_) => {}
            Self::Text(text) => {
                found.extend(text.references().map(|(it, at)| (it, pointer.to_owned(), at)));
            }
            Self::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    element.references(&format!("{pointer}/{index}"), found);
                }
            }
            Self::Map(fields) => {
                for (name, field) in fields {
                    let step = name.replace('~', "~0").replace('/', "~1");
                    field.references(&format!("{pointer}/{step}"), found);
                }
            }
        }
    }

    /// As JSON text; `value_of` says what a text with templates comes to at its path.
    fn write<E>(
        &self,
        path: &str,
        text: &mut String,
        value_of: &impl Fn(&Text, &str) -> Result<Json, E>,
    ) -> Result<(), E> {
        match self {
            Self::Fixed(json) => text.push_str(json.as_str()),
            Self::Text(template) => text.push_str(value_of(template, path)?.as_str()),
            Self::List(elements) => {
                text.push('[');
                for (index, element) in elements.iter().enumerate() {
                    comma(index, text);
                    element.write(&format!("{path}{}", Step::At(index)), text, value_of)?;
                }
                text.push(']');
            }
            Self::Map(fields) => {
                text.push('{');
                for (index, (name, field)) in fields.iter().enumerate() {
                    comma(index, text);
                    write_text(name, text);
                    text.push(':');
                    let path = format!("{path}{}", Step::Field(name.as_str().into()));
                    field.write(&path, text, value_of)?;
                }
                text.push('}');
            }
        }
        Ok(())
    }
}

fn comma(index: usize, text: &mut String) {
    if index > 0 {
        text.push(',');
    }
}

fn too_large(name: &str) -> Trouble {
    Trouble::Wrong(format!(
        "`{name}` comes to more than {EXPR_VALUE_BYTES_MAX} bytes with its values put in"
    ))
}
