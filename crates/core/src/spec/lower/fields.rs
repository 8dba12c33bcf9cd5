//! A map whose fields are known by name.

use super::super::code::Code;
use super::super::place::Place;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::expect;
use super::vocabulary::{self, Vocabulary};

/// The fields that a map gives, those that nobody knows left out.
#[derive(Debug)]
pub struct Fields<'n> {
    given: Vec<Field<'n>>,
    /// Names that unknown fields were probably meant to be: these are not missing as well.
    misspelt: Vec<&'static str>,
    /// Where to point at for a field that is missing.
    place: Place,
}

impl<'n> Fields<'n> {
    /// Takes a map apart and reports every field that does not belong into it.
    pub fn read(map: Field<'n>, words: &Vocabulary, report: &mut Report) -> Option<Self> {
        let mut given = Vec::new();
        let mut misspelt = Vec::new();
        for field in expect::map(map, report)? {
            if words.known.contains(&field.name) {
                given.push(field);
            } else {
                misspelt.extend(refuse(field, words, report));
            }
        }
        Some(Self { given, misspelt, place: map.name_place })
    }

    pub fn get(&self, name: &str) -> Option<Field<'n>> {
        self.given.iter().find(|field| field.name == name).copied()
    }

    pub fn required(&self, name: &str, of: &str, report: &mut Report) -> Option<Field<'n>> {
        let field = self.get(name);
        if field.is_none() && !self.misspelt.contains(&name) {
            let message = format!("{of} needs the field `{name}`.");
            report.add(Code::MissingField, self.place, message);
        }
        field
    }

    pub fn has_misspelt(&self, names: &[&str]) -> bool {
        self.misspelt.iter().any(|name| names.contains(name))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Field<'n>> {
        self.given.iter()
    }
}

/// Reports a field that does not belong here; answers with what it was probably meant to be.
fn refuse(field: Field<'_>, words: &Vocabulary, report: &mut Report) -> Option<&'static str> {
    let (name, of) = (field.name, words.of);
    if words.later.contains(&name) {
        let message = format!("`{name}` is not supported by this version.");
        report.add(Code::UnsupportedField, field.name_place, message);
        return None;
    }
    if report.is_full() {
        report.add(Code::UnknownField, field.name_place, String::new());
        return None;
    }
    let near = report.nearest(name, words.known.iter().chain(words.later).copied());
    let hint = elsewhere(name, words)
        .or_else(|| near.map(|near| meant(near, words)))
        .or_else(|| all_fields(words));
    let message = format!("{} is not a field of {of}.", quoted(name));
    report.add(Code::UnknownField, field.name_place, message).maybe_hint(hint);
    near
}

fn meant(near: &str, words: &Vocabulary) -> String {
    match words.later.contains(&near) {
        true => format!("`{near}` is not supported by this version"),
        false => format!("did you mean `{near}`?"),
    }
}

fn all_fields(words: &Vocabulary) -> Option<String> {
    let list: Vec<String> = words.known.iter().map(|known| format!("`{known}`")).collect();
    (!list.is_empty()).then(|| format!("{} has {}", words.of, list.join(", ")))
}

/// A field of a task written beside `tasks`, or the other way round.
fn elsewhere(name: &str, words: &Vocabulary) -> Option<String> {
    let task = &vocabulary::TASK;
    let workflow = &vocabulary::WORKFLOW;
    if words.of == workflow.of && task.known.contains(&name) {
        return Some(format!("`{name}` belongs into a task, or into `defaults`"));
    }
    if words.of == task.of && workflow.known.contains(&name) {
        return Some(format!("`{name}` belongs to the workflow itself"));
    }
    None
}
