//! What a task does: exactly one of its actions.

use super::super::code::Code;
use super::super::control::Control;
use super::super::definition::Program;
use super::super::format::shape::SHELL_LINE_BYTES_MAX;
use super::super::format::{ACTIONS, ACTIONS_LATER, NOTHING};
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::env::{bounded, filled};
use super::fields::Fields;
use super::mention::Given;
use super::{control, expect, template};
use crate::expr::Text;
use crate::limits::ENV_VALUE_BYTES_MAX;

pub const ACTION_HINT: &str = "give it `run: …`, `command: […]` or `noop: {}`";

/// An action without the settings around it.
#[derive(Debug)]
pub enum Doing<'n> {
    Process(Given<'n, Program>),
    Noop,
    Control(Given<'n, Control>),
    #[cfg(feature = "bench")]
    Echo,
}

pub fn action<'n>(task: Field<'n>, fields: &Fields<'n>, report: &mut Report) -> Option<Doing<'n>> {
    let mut given = fields.iter().filter(|field| ACTIONS.contains(&field.name));
    let Some(&first) = given.next() else {
        return no_action(task, fields, report);
    };
    for second in given {
        let message = format!("A task does one thing: `{}` beside `{}`.", second.name, first.name);
        report
            .add(Code::SeveralActions, second.name_place, message)
            .hint("make two tasks, and `depends_on` between them")
            .related(first.name_place, "the first action");
    }
    if let Some(version) = fields.get("version").filter(|_| first.name != "workflow") {
        let message = format!("`version` does not go with `{}`.", first.name);
        let hint = "it is the version of another workflow, beside `workflow: name`";
        report.add(Code::BesideWorkflow, version.name_place, message).hint(hint);
    }
    match first.name {
        "run" | "command" => program(first, report).map(Doing::Process),
        "sleep" => control::sleep(first, report).map(Doing::Control),
        "wait" => control::wait(first, report).map(Doing::Control),
        "approval" => control::approval(first, report).map(Doing::Control),
        "workflow" => control::child(first, fields, report).map(Doing::Control),
        #[cfg(feature = "bench")]
        "echo" => nothing_more(first, report).then_some(Doing::Echo),
        _ => nothing_more(first, report).then_some(Doing::Noop),
    }
}

/// What a `run` or a `command` executes.
pub fn program<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Program>> {
    if field.name == "command" {
        return command(field, report);
    }
    if field.value.items().is_some() {
        let hint = "use `command:` for a list, or write one text";
        expect::wrong(field, "text", Some(hint), report);
        return None;
    }
    script(field, report)
}

fn no_action<'n>(task: Field<'n>, fields: &Fields<'n>, report: &mut Report) -> Option<Doing<'n>> {
    // One that comes later, or is misspelt, was refused by name already.
    let mut given = task.value.fields().into_iter().flatten();
    let later = given.any(|field| ACTIONS_LATER.contains(&field.name));
    if !later && !fields.has_misspelt(ACTIONS) && !fields.has_misspelt(ACTIONS_LATER) {
        let message = format!("The task {} does nothing.", quoted(task.name));
        report.add(Code::NoAction, task.name_place, message).hint(ACTION_HINT);
    }
    None
}

fn nothing_more(field: Field<'_>, report: &mut Report) -> bool {
    if field.value.is_map() {
        return Fields::read(field, &NOTHING, report).is_some();
    }
    let hint = format!("write `{}: {{}}`", field.name);
    expect::wrong(field, "an empty map", Some(&hint), report);
    false
}

fn script<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Program>> {
    let source = filled(field, SHELL_LINE_BYTES_MAX, report)?;
    let Given { value, mentions } = template::shell(field, source, report)?;
    // What stands for a template may be longer than the template.
    bounded("run", value.script(), (field.place(), SHELL_LINE_BYTES_MAX), report)?;
    Some(Given { value: Program::Shell(value), mentions })
}

fn command<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Program>> {
    let hint = "write `[program, argument]`, or use `run:` for a shell line";
    let mut argv = Vec::new();
    let mut mentions = Vec::new();
    let mut good = true;
    for item in expect::list(field, hint, report)? {
        match argument(Field { value: item, ..field }, report) {
            Some(given) => {
                argv.push(given.value);
                mentions.extend(given.mentions.iter().cloned());
            }
            None => good = false,
        }
    }
    if good && argv.first().is_none_or(|program| program.source().trim().is_empty()) {
        let message = "`command` names no program.";
        report.add(Code::BadText, field.place(), message).hint(hint);
        return None;
    }
    let program = Program::Argv(argv.into());
    good.then(|| Given { value: program, mentions: mentions.into() })
}

fn argument<'n>(argument: Field<'n>, report: &mut Report) -> Option<Given<'n, Text>> {
    let value = argument.value;
    let Some(text) = value.templated().or_else(|| value.scalar()) else {
        if !value.is_broken() {
            let message = format!("An argument must be text, not {}.", value.what());
            let hint = value.is_null().then(|| "write `\"\"` for an empty one".to_owned());
            report.add(Code::WrongType, argument.place(), message).maybe_hint(hint);
        }
        return None;
    };
    bounded("argument", text, (argument.place(), ENV_VALUE_BYTES_MAX), report)?;
    template::text(argument, report)
}
