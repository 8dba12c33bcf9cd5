//! A whole workflow.

use super::super::code::Code;
use super::super::definition::{Definition, Task};
use super::super::format::WORKFLOW;
use super::super::parse::Context;
use super::super::report::Report;
use super::super::schema;
use super::super::tree::{Field, Node};
use super::duration::{Zero, duration};
use super::edges::Numbers;
use super::fields::Fields;
use super::label::labels;
use super::settings::{Defaults, check_copies, defaults};
use super::task::{Around, Lowered, task};
use super::{cycle, expect, name, tier};
use crate::ids::TaskNo;
use crate::json::Json;
use crate::limits::TASKS_MAX;
use std::sync::Arc;

/// `None`: something was refused, and the report says what.
pub fn definition(
    root: Node<'_>,
    context: &Context<'_>,
    report: &mut Report,
) -> Option<Definition> {
    let place = root.place();
    // What is missing in the whole text is missing at its beginning.
    let start = super::super::place::Place { start: place.start, end: place.start };
    if !root.is_map() && !root.is_broken() {
        let message = format!("A workflow must be a map, not {}.", root.what());
        report.add(Code::WrongType, start, message).hint("begin with `name:` and `tasks:`");
        return None;
    }
    let root = Field { name: "", name_place: start, value: root };
    let fields = Fields::read(root, &WORKFLOW, report)?;
    let name = fields.required("name", "A workflow", report).and_then(|f| workflow_name(f, report));
    let description =
        fields.get("description").and_then(|f| expect::text(f, report)).map(str::to_owned);
    let labels = fields.get("labels").and_then(|f| labels(f, report)).unwrap_or_default();
    let input_schema = fields.get("input").and_then(|f| schema::lower(f, report));
    let timeout = fields.get("timeout").and_then(|f| duration(f, Zero::Refused, report));
    let tiers = fields.get("tiers").and_then(|f| tier::tiers(f, report)).unwrap_or_default();
    let tasks = fields
        .required("tasks", "A workflow", report)
        .and_then(|given| tasks(given, &fields, context, report));
    Some(Definition {
        name: name?,
        description,
        labels,
        input_schema: input_schema.map(|schema| Json::from_value(&schema)),
        timeout,
        tiers,
        tasks: tasks?,
    })
}

fn workflow_name(field: Field<'_>, report: &mut Report) -> Option<Arc<str>> {
    let given = expect::text(field, report)?;
    name::check(given, "a workflow", field.place(), report).then(|| given.into())
}

fn tasks(
    field: Field<'_>,
    workflow: &Fields<'_>,
    context: &Context<'_>,
    report: &mut Report,
) -> Option<Vec<Task>> {
    let hint = "write `tasks:` and under it each task by its name";
    let Some(given) = field.value.fields() else {
        if field.value.is_null() {
            no_tasks(field, report);
        } else {
            expect::wrong(field, "a map of tasks", Some(hint), report);
        }
        return None;
    };
    let given: Vec<Field<'_>> = given.collect();
    if given.is_empty() {
        no_tasks(field, report);
        return None;
    }
    if given.len() > TASKS_MAX {
        let message = format!("{} tasks; at most {TASKS_MAX} are allowed.", given.len());
        report.add(Code::TooManyTasks, field.name_place, message);
        return None;
    }
    let own = tier::own_names(workflow.get("tiers"));
    let known = tier::Known { own, server: context.server_tiers };
    let defaults = read_defaults(workflow, (&known, given.len()), report);
    let numbers: Numbers<'_> = given
        .iter()
        .enumerate()
        .map(|(position, task)| (task.name, TaskNo::from_position(position)))
        .collect();
    let names: Vec<&str> = given.iter().map(|task| task.name).collect();
    let around = Around { defaults: &defaults, tiers: &known, numbers: &numbers, names: &names };
    lower_all(&given, &around, report)
}

fn no_tasks(field: Field<'_>, report: &mut Report) {
    if report.has_within(field.value.place()) {
        return;
    }
    report
        .add(Code::NoTasks, field.name_place, "A workflow needs at least one task.")
        .hint("write each task under `tasks:` by its name");
}

fn read_defaults<'n>(
    workflow: &Fields<'n>,
    (known, tasks): (&tier::Known<'_>, usize),
    report: &mut Report,
) -> Defaults<'n> {
    let Some(field) = workflow.get("defaults") else { return Defaults::default() };
    let Some(mut defaults) = defaults(field, known, report) else { return Defaults::default() };
    if !check_copies(field, &defaults.settings, tasks, report) {
        defaults.settings.forget_copied();
    }
    defaults
}

fn lower_all(
    given: &[Field<'_>],
    around: &Around<'_, '_>,
    report: &mut Report,
) -> Option<Vec<Task>> {
    let mut tasks = Vec::with_capacity(given.len());
    let mut edges = Vec::with_capacity(given.len());
    let mut good = true;
    for (position, &field) in given.iter().enumerate() {
        let lowered = task(field, TaskNo::from_position(position), around, report);
        let Lowered { task, edges: written } = lowered;
        good &= task.is_some();
        tasks.extend(task);
        edges.push(written);
    }
    cycle::check(around.names, &edges, report);
    good.then_some(tasks)
}
