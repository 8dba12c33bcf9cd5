//! Names of workflows, tasks and tiers: safe as they are in a path, an address and a terminal.

use super::super::code::Code;
use super::super::format::RESERVED_TASK_NAMES;
use super::super::place::Place;
use super::super::report::{Report, quoted};
use crate::limits::NAME_BYTES_MAX;

/// Whether a name may be used; reports why not.
pub fn check(name: &str, of: &str, place: Place, report: &mut Report) -> bool {
    let why = if name.is_empty() {
        "is empty".to_owned()
    } else if name.len() > NAME_BYTES_MAX {
        format!("is {} bytes long, at most {NAME_BYTES_MAX} are allowed", name.len())
    } else if !is_name(name) {
        "is not allowed".to_owned()
    } else {
        return true;
    };
    report
        .add(Code::BadName, place, format!("The name {} of {of} {why}.", quoted(name)))
        .hint("use letters, digits, `_`, `-` and `.`, and begin with a letter or digit");
    false
}

pub fn check_task(name: &str, place: Place, report: &mut Report) -> bool {
    if RESERVED_TASK_NAMES.contains(&name) {
        let message = format!("A task may not be called `{name}`: the name is reserved.");
        let hint = "choose another name: `item`, `index` and `count` are for fan-out";
        report.add(Code::BadName, place, message).hint(hint);
        return false;
    }
    check(name, "a task", place, report)
}

pub fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Names of secrets: they are names of files, and become those of variables.
pub fn is_secret(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Names of environment variables that every shell can read.
pub fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
