//! What a program is given: environment, arguments, directory.

use super::super::code::Code;
use super::super::definition::Variable;
use super::super::format::shape::OWN_VARIABLES;
use super::super::format::{SECRET, TASK};
use super::super::place::Place;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::fields::Fields;
use super::mention::Given;
use super::{expect, name, template};
use crate::expr::VARIABLE;
use crate::limits::ENV_VALUE_BYTES_MAX;
use std::collections::BTreeMap;

pub type Env = BTreeMap<String, Variable>;

pub fn env<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Env>> {
    let mut env = BTreeMap::new();
    let mut mentions = Vec::new();
    for variable in expect::map(field, "write `{NAME: value}`", report)? {
        let good_name = variable_name(variable, report);
        if let (Some(given), true) = (variable_value(variable, report), good_name) {
            env.insert(variable.name.to_owned(), given.value);
            mentions.extend(given.mentions.iter().cloned());
        }
    }
    Some(Given { value: env, mentions: mentions.into() })
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
    if is_numbered(name) {
        let message = format!("{} holds the value of a template.", quoted(name));
        let hint = "choose a name that is not `_MS_` and a number";
        report.add(Code::BadName, variable.name_place, message).hint(hint);
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

/// `_MS_1`: what a template in a script becomes.
fn is_numbered(name: &str) -> bool {
    name.strip_prefix(VARIABLE)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn variable_value<'n>(variable: Field<'n>, report: &mut Report) -> Option<Given<'n, Variable>> {
    if variable.value.is_map() {
        let fields = Fields::read(variable, &SECRET, report)?;
        let name = fields.required("secret", "A variable that is no text", report)?;
        return secret(name, report);
    }
    let value = variable.value;
    let Some(source) = value.templated().or_else(|| value.scalar()) else {
        let hint = value.is_null().then_some("write `\"\"` for an empty value");
        expect::wrong(variable, "text, a number, true or false", hint, report);
        return None;
    };
    bounded(variable.name, source, (variable.place(), ENV_VALUE_BYTES_MAX), report)?;
    let Given { value, mentions } = template::text(variable, report)?;
    Some(Given { value: Variable::Text(value), mentions })
}

fn secret<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Variable>> {
    let name = expect::text(field, report)?;
    if !name::is_secret(name) {
        let message = format!("{} is not the name of a secret.", quoted(name));
        report
            .add(Code::BadName, field.place(), message)
            .hint("use letters, digits, `_`, `-` and `.`, and do not begin with a dot");
        return None;
    }
    Some(Given { value: Variable::Secret(name.into()), mentions: [].into() })
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

/// Text that may not be empty, such as a directory. Templates may stand in it.
pub fn filled<'n>(field: Field<'n>, bytes_max: usize, report: &mut Report) -> Option<&'n str> {
    let text = match field.value.is_template() {
        true => field.value.templated()?,
        false => expect::text(field, report)?,
    };
    if text.trim().is_empty() {
        let message = format!("{} is empty.", quoted(field.name));
        report
            .add(Code::BadText, field.place(), message)
            .maybe_hint(TASK.example(field.name).map(|example| format!("write `{example}`")));
        return None;
    }
    bounded(field.name, text, (field.place(), bytes_max), report)
}
