//! A map whose fields are known by name.

use super::super::code::Code;
use super::super::format::{Group, TASK, WORKFLOW, synonym};
use super::super::place::Place;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::expect;

/// What to do about a field that comes later.
pub const LATER_HINT: &str = "take it out: it is kept for a later version";
const MAP_HINT: &str = "write `{field: value}`, or the fields on lines of their own below it";

/// The fields that a map gives, those that nobody knows left out.
#[derive(Debug)]
pub struct Fields<'n> {
    given: Vec<Field<'n>>,
    /// Names that unknown fields were probably meant to be: these are not missing as well.
    misspelt: Vec<&'static str>,
    words: &'static Group,
    /// Where to point at for a field that is missing.
    place: Place,
}

impl<'n> Fields<'n> {
    /// Takes a map apart and reports every field that does not belong into it.
    pub fn read(map: Field<'n>, words: &'static Group, report: &mut Report) -> Option<Self> {
        let mut given = Vec::new();
        let mut misspelt = Vec::new();
        for field in expect::map(map, MAP_HINT, report)? {
            if words.knows(field.name) {
                given.push(field);
            } else {
                misspelt.extend(refuse(field, words, report));
            }
        }
        Some(Self { given, misspelt, words, place: map.name_place })
    }

    pub fn get(&self, name: &str) -> Option<Field<'n>> {
        self.given.iter().find(|field| field.name == name).copied()
    }

    pub fn required(&self, name: &str, of: &str, report: &mut Report) -> Option<Field<'n>> {
        let field = self.get(name);
        if field.is_none() && !self.misspelt.contains(&name) {
            let message = format!("{of} needs the field `{name}`.");
            report
                .add(Code::MissingField, self.place, message)
                .maybe_hint(self.words.example(name).map(|example| format!("add `{example}`")));
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
fn refuse(field: Field<'_>, words: &Group, report: &mut Report) -> Option<&'static str> {
    let (name, of) = (field.name, words.of);
    if words.later.contains(&name) {
        let message = format!("`{name}` is not supported by this version.");
        report.add(Code::UnsupportedField, field.name_place, message).hint(LATER_HINT);
        return None;
    }
    if report.is_full() {
        report.add(Code::UnknownField, field.name_place, String::new());
        return None;
    }
    let near = report.nearest(name, words.names().chain(words.later.iter().copied()));
    let near = near.or_else(|| synonym(name).filter(|known| words.knows(known)));
    let hint = elsewhere(name, words)
        .or_else(|| near.map(|near| meant(near, words)))
        .or_else(|| all_fields(words));
    let message = format!("{} is not a field of {of}.", quoted(name));
    report.add(Code::UnknownField, field.name_place, message).maybe_hint(hint);
    near
}

fn meant(near: &str, words: &Group) -> String {
    match words.later.contains(&near) {
        true => format!("`{near}` is not supported by this version"),
        false => format!("did you mean `{near}`?"),
    }
}

fn all_fields(words: &Group) -> Option<String> {
    let list: Vec<String> = words.listed().map(|known| format!("`{}`", known.name)).collect();
    (!list.is_empty()).then(|| format!("{} has {}", words.of, list.join(", ")))
}

/// A field of a task written beside `tasks`, or the other way round.
fn elsewhere(name: &str, words: &Group) -> Option<String> {
    if words.of == WORKFLOW.of && TASK.knows(name) {
        return Some(format!("`{name}` belongs into a task, or into `defaults`"));
    }
    if words.of == TASK.of && WORKFLOW.knows(name) {
        return Some(format!("`{name}` belongs to the workflow itself"));
    }
    None
}
