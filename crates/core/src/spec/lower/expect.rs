//! A value of a type, or a report that says what it is instead.

use super::super::code::Code;
use super::super::report::{Report, quoted};
use super::super::tree::{Field, Node};
use crate::expr::OPEN;
use std::ops::RangeInclusive;

/// Reports that a value is of the wrong type, unless it was reported already.
pub fn wrong(field: Field<'_>, expected: &str, hint: Option<&str>, report: &mut Report) {
    if field.value.is_broken() {
        return;
    }
    if field.value.is_template() {
        return no_template(field, field.value, report);
    }
    let message = match field.name {
        "" => format!("This must be {expected}, not {}.", field.value.what()),
        name => format!("{} must be {expected}, not {}.", quoted(name), field.value.what()),
    };
    report.add(Code::WrongType, field.place(), message).maybe_hint(hint.map(str::to_owned));
}

/// Refuses a template where none is taken.
fn no_template(field: Field<'_>, value: Node<'_>, report: &mut Report) {
    let text = value.templated().unwrap_or_default();
    let start = text.find(OPEN).unwrap_or(0);
    let end = text[start..].find("}}").map_or(text.len(), |end| start + end + 2);
    let place = value.place_within(start..end, field.name_place);
    let message = format!("{} takes no template.", quoted(field.name));
    report.add(Code::Template, place, message).hint(
        "write the value itself; templates stand in `run`, `command`, `input`, `env`, `workdir`, \
         `workspace`, `cache` and `outputs`",
    );
}

/// Whether there is a template in a value that takes none; reports the first.
pub fn template_within(field: Field<'_>, report: &mut Report) -> bool {
    let found = field.value.first_template();
    if let Some(found) = found {
        no_template(field, found, report);
    }
    found.is_some()
}

pub fn map<'n>(
    field: Field<'n>,
    hint: &str,
    report: &mut Report,
) -> Option<impl ExactSizeIterator<Item = Field<'n>> + use<'n>> {
    let fields = field.value.fields();
    if fields.is_none() {
        wrong(field, "a map", Some(hint), report);
    }
    fields
}

pub fn list<'n>(
    field: Field<'n>,
    hint: &str,
    report: &mut Report,
) -> Option<impl ExactSizeIterator<Item = Node<'n>> + use<'n>> {
    let items = field.value.items();
    if items.is_none() {
        wrong(field, "a list", Some(hint), report);
    }
    items
}

pub fn text<'n>(field: Field<'n>, report: &mut Report) -> Option<&'n str> {
    let text = field.value.text();
    if text.is_none() {
        let scalar = field.value.scalar().is_some();
        wrong(field, "text", scalar.then_some("put it in quotes"), report);
    }
    text
}

pub fn boolean(field: Field<'_>, report: &mut Report) -> Option<bool> {
    let value = field.value.bool();
    if value.is_none() {
        let hint = match field.value.text() {
            Some("yes" | "Yes" | "on" | "On" | "y") => Some("write `true`"),
            Some("no" | "No" | "off" | "Off" | "n") => Some("write `false`"),
            _ => None,
        };
        wrong(field, "true or false", hint, report);
    }
    value
}

pub fn integer(field: Field<'_>, range: RangeInclusive<i64>, report: &mut Report) -> Option<i64> {
    let Some(value) = field.value.int() else {
        wrong(field, "a whole number", None, report);
        return None;
    };
    if range.contains(&value) {
        return Some(value);
    }
    let message = format!(
        "{} must be from {} to {}, and is {value}.",
        quoted(field.name),
        range.start(),
        range.end()
    );
    report.add(Code::OutOfRange, field.place(), message);
    None
}

/// One of a few words.
pub fn word<T: Copy>(field: Field<'_>, words: &[(&str, T)], report: &mut Report) -> Option<T> {
    let list = || words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let Some(given) = field.value.text() else {
        wrong(field, &format!("one of {}", list()), None, report);
        return None;
    };
    let found = words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| *meaning);
    if found.is_none() {
        let hint = report.did_you_mean(given, words.iter().map(|(word, _)| *word));
        let message =
            format!("{} must be one of {}, not {}.", quoted(field.name), list(), quoted(given));
        report.add(Code::UnknownWord, field.place(), message).maybe_hint(hint);
    }
    found
}
