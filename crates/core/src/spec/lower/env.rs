//! What a program is given: environment, arguments, directory.

use super::super::code::Code;
use super::super::format::TASK;
use super::super::format::shape::OWN_VARIABLES;
use super::super::place::Place;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::fields::LATER_HINT;
use super::{expect, name};
use crate::limits::ENV_VALUE_BYTES_MAX;
use std::collections::BTreeMap;

pub fn env(field: Field<'_>, report: &mut Report) -> Option<BTreeMap<String, String>> {
    let mut env = BTreeMap::new();
    for variable in expect::map(field, "write `{NAME: value}`", report)? {
        let good_name = variable_name(variable, report);
        if let (Some(value), true) = (variable_value(variable, report), good_name) {
            env.insert(variable.name.to_owned(), value.to_owned());
        }
    }
    Some(env)
}

fn variable_name(variable: Field<'_>, report: &mut Report) -> bool {
    let name = variable.name;
    if name.starts_with(OWN_VARIABLES) {
        let message = format!("{} is set by Mainspring itself.", quoted(name));
        report
            .add(Code::BadName, variable.name_place, message)
            .hint(format!("choose a name that does not begin with `{OWN_VARIABLES}`"));
        return false;
    }
    let good = name::is_variable(name) && name.len() <= crate::limits::NAME_BYTES_MAX;
    if !good {
        let message = format!("{} is not the name of an environment variable.", quoted(name));
        report
            .add(Code::BadName, variable.name_place, message)
            .hint("use letters, digits and `_`, and do not begin with a digit");
    }
    good
}

fn variable_value<'n>(variable: Field<'n>, report: &mut Report) -> Option<&'n str> {
    let secret = variable.value.fields().into_iter().flatten().find(|f| f.name == "secret");
    if let Some(secret) = secret {
        let message = "`secret` is not supported by this version.";
        report.add(Code::UnsupportedField, secret.name_place, message).hint(LATER_HINT);
        return None;
    }
    let Some(value) = variable.value.scalar() else {
        let hint = variable.value.is_null().then_some("write `\"\"` for an empty value");
        expect::wrong(variable, "text, a number, true or false", hint, report);
        return None;
    };
    bounded(variable.name, value, (variable.place(), ENV_VALUE_BYTES_MAX), report)
}

/// Text that fits where the system puts it.
pub fn bounded<'n>(
    name: &str,
    value: &'n str,
    (place, bytes_max): (Place, usize),
    report: &mut Report,
) -> Option<&'n str> {
    if value.len() <= bytes_max {
        return Some(value);
    }
    let message =
        format!("{} has {} bytes, at most {bytes_max} are allowed.", quoted(name), value.len());
    report.add(Code::BadText, place, message).hint("put it in a file");
    None
}

/// Text that may not be empty, such as a directory.
pub fn filled<'n>(field: Field<'n>, bytes_max: usize, report: &mut Report) -> Option<&'n str> {
    let text = expect::text(field, report)?;
    if text.trim().is_empty() {
        let message = format!("{} is empty.", quoted(field.name));
        report
            .add(Code::BadText, field.place(), message)
            .maybe_hint(TASK.example(field.name).map(|example| format!("write `{example}`")));
        return None;
    }
    bounded(field.name, text, (field.place(), bytes_max), report)
}
