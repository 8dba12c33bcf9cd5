//! One task: its own fields, then the defaults, then what this engine takes for granted.

use super::super::code::Code;
use super::super::definition::{
    Action, Edge, OnFailure, OnLost, OutputFrom, Process, Program, Task,
};
use super::super::format::{NO_EFFECT_ON_NOOP, TASK};
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::action::{ACTION_HINT, Doing, action};
use super::edges::{Numbers, Written, edges, finish_all};
use super::fields::Fields;
use super::settings::{Defaults, InputKeys, Settings, input_keys, settings};
use super::{expect, name, retries, tier};
use crate::ids::TaskNo;
use crate::json::Json;
use crate::limits::{
    KILL_GRACE_DEFAULT, LOG_BYTES_DEFAULT, START_TIMEOUT_DEFAULT, TIMEOUT_DEFAULT,
};

/// What a task is read with.
#[derive(Debug)]
pub struct Around<'a, 'n> {
    pub defaults: &'a Defaults<'n>,
    pub tiers: &'a tier::Known<'n>,
    pub numbers: &'a Numbers<'n>,
    /// By number.
    pub names: &'a [&'n str],
}

/// A task as far as it could be read. Its edges are kept also when the rest was refused, so
/// that circles are found in the same pass.
#[derive(Debug, Default)]
pub struct Lowered {
    pub task: Option<Task>,
    pub edges: Vec<Written>,
}

pub fn task(field: Field<'_>, no: TaskNo, around: &Around<'_, '_>, report: &mut Report) -> Lowered {
    let good_name = name::check_task(field.name, field.name_place, report);
    if !field.value.is_map() {
        no_fields(field, report);
        return Lowered::default();
    }
    let Some(fields) = Fields::read(field, &TASK, report) else {
        return Lowered::default();
    };
    let mut written = fields
        .get("depends_on")
        .map(|given| edges(given, no, around.numbers, report))
        .unwrap_or_default();
    let doing = action(field, &fields, report);
    let own = settings(&fields, around.tiers, report);
    let default = &around.defaults.settings;
    let on_failure = own.on_failure.or(default.on_failure).unwrap_or(OnFailure::Skip);
    let on_failure_field = fields.get("on_failure").or(around.defaults.on_failure);
    if let (OnFailure::Run, Some(given)) = (on_failure, on_failure_field) {
        finish_all(&mut written, given.place(), report);
    }
    if matches!(doing, Some(Doing::Noop)) {
        warn_no_effect(&fields, report);
    } else {
        let own_keys = fields.get("input").map(input_keys);
        let keys = own_keys.as_ref().unwrap_or(&around.defaults.input_keys);
        warn_clash(keys, &written, around.names, report);
    }
    let edges = written.iter().map(|written| written.edge).collect();
    let task = doing.filter(|_| good_name).map(|doing| {
        let head = Head { name: field.name, edges, on_failure };
        assemble(head, doing, own, default)
    });
    Lowered { task, edges: written }
}

/// A task that is no map: nothing was written yet, or its action without the name of it.
fn no_fields(field: Field<'_>, report: &mut Report) {
    if field.value.is_null() {
        let message = format!("The task {} does nothing.", quoted(field.name));
        report.add(Code::NoAction, field.name_place, message).hint(ACTION_HINT);
        return;
    }
    let hint = match field.value.text() {
        Some(line) if line.len() < 40 && !line.contains('\n') => {
            format!("write `{}: {{ run: \"{}\" }}`", field.name, line.escape_debug())
        }
        _ => ACTION_HINT.to_owned(),
    };
    expect::wrong(field, "a map", Some(&hint), report);
}

fn warn_no_effect(fields: &Fields<'_>, report: &mut Report) {
    for field in fields.iter().filter(|field| NO_EFFECT_ON_NOOP.contains(&field.name)) {
        let message = format!("`{}` has no effect on a `noop` task.", field.name);
        report.add(Code::NoEffect, field.name_place, message).hint("leave it out");
    }
}

/// What a program sees as input is upstream outputs by task name, then `input` over them.
fn warn_clash(keys: &InputKeys<'_>, written: &[Written], names: &[&str], report: &mut Report) {
    for edge in written {
        let name = names[edge.edge.upstream.position()];
        if let Some(&place) = keys.get(name) {
            let message = format!(
                "The input {name} hides the output of the task {name}.",
                name = quoted(name)
            );
            report
                .add(Code::InputClash, place, message)
                .hint("rename the input")
                .related(edge.place, "its output would be seen under this name");
        }
    }
}

struct Head<'n> {
    name: &'n str,
    edges: Vec<Edge>,
    on_failure: OnFailure,
}

fn assemble(head: Head<'_>, doing: Doing, mut own: Settings, default: &Settings) -> Task {
    let mut task = Task {
        name: head.name.into(),
        description: own.description.take().or_else(|| default.description.clone()),
        labels: own.labels.take().or_else(|| default.labels.clone()).unwrap_or_default(),
        action: Action::Noop,
        depends_on: head.edges,
        on_failure: head.on_failure,
        allow_failure: own.allow_failure.or(default.allow_failure).unwrap_or(false),
        input: own
            .input
            .take()
            .or_else(|| default.input.clone())
            .unwrap_or_else(Json::empty_object),
        retries: retries::none(),
        on_lost: OnLost::Retry,
        timeout: TIMEOUT_DEFAULT,
        start_timeout: START_TIMEOUT_DEFAULT,
        tier: None,
        priority: 0,
    };
    // Nothing more applies to a noop.
    let action = match doing {
        Doing::Noop => return task,
        #[cfg(feature = "bench")]
        Doing::Echo => Action::Echo,
        Doing::Process(program) => Action::Process(process(program, &mut own, default)),
    };
    task.action = action;
    task.retries = own.retries.or_else(|| default.retries.clone()).unwrap_or(task.retries);
    task.on_lost = own.on_lost.or(default.on_lost).unwrap_or(task.on_lost);
    task.timeout = own.timeout.or(default.timeout).unwrap_or(task.timeout);
    task.start_timeout = own.start_timeout.or(default.start_timeout).unwrap_or(task.start_timeout);
    task.tier = own.tier.or_else(|| default.tier.clone());
    task.priority = own.priority.or(default.priority).unwrap_or(0);
    task
}

fn process(program: Program, own: &mut Settings, default: &Settings) -> Process {
    Process {
        program,
        env: own.env.take().or_else(|| default.env.clone()).unwrap_or_default(),
        workdir: own.workdir.take().or_else(|| default.workdir.clone()),
        output: own.output.or(default.output).unwrap_or(OutputFrom::File),
        kill_grace: own.kill_grace.or(default.kill_grace).unwrap_or(KILL_GRACE_DEFAULT),
        log_bytes_max: own.log_bytes_max.or(default.log_bytes_max).unwrap_or(LOG_BYTES_DEFAULT),
    }
}
