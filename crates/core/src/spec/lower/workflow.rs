//! A whole workflow.

use super::super::code::Code;
use super::super::definition::{Definition, Edge, Outputs, Task};
use super::super::format::WORKFLOW;
use super::super::parse::Context;
use super::super::place::Place;
use super::super::report::Report;
use super::super::schema::{self, Of};
use super::super::tree::{Field, Node};
use super::duration::{Zero, duration};
use super::edges::{Numbers, Written};
use super::fields::Fields;
use super::label::labels;
use super::mention::{self, Inputs, Instance, Secrets, Sight};
use super::settings::{Defaults, check_copies, defaults};
use super::task::{Around, Lowered, task};
use super::{above, artifacts, cycle, expect, group, name, template, tier};
use crate::ids::TaskNo;
use crate::json::Json;
use crate::limits::{ACTIVE_RUNS_MAX, FANOUT_DEFAULT, FANOUT_MAX, TASKS_MAX};
use std::collections::BTreeSet;
use std::sync::Arc;

/// `None`: something was refused, and the report says what.
pub fn definition(
    root: Node<'_>,
    context: &Context<'_>,
    report: &mut Report,
) -> Option<Definition> {
    let place = root.place();
    // What is missing in the whole text is missing at its beginning.
    let start = Place { start: place.start, end: place.start };
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
    let input_schema = fields.get("input").and_then(|f| schema::lower(f, Of::Input, report));
    let inputs = Inputs::of(input_schema.as_ref());
    let timeout = fields.get("timeout").and_then(|f| duration(f, Zero::Refused, report));
    let tiers = fields.get("tiers").and_then(|f| tier::tiers(f, report)).unwrap_or_default();
    let max_active_runs = fields
        .get("max_active_runs")
        .and_then(|f| expect::integer(f, 1..=i64::from(ACTIVE_RUNS_MAX), report))
        .and_then(|given| u32::try_from(given).ok());
    let concurrency_group =
        fields.get("concurrency_group").and_then(|f| group::group(f, &inputs, report));
    let tasks = fields
        .required("tasks", "A workflow", report)
        .and_then(|given| tasks(given, (&fields, &inputs), context, report));
    let numbers = fields.get("tasks").map(numbers).unwrap_or_default();
    let outputs = fields.get("outputs").and_then(|f| outputs(f, (&numbers, &inputs), report));
    let max_fanout = max_fanout(&fields, report);
    Some(Definition {
        name: name?,
        description,
        labels,
        input_schema: input_schema.map(|schema| Json::from_value(&schema)),
        timeout,
        tiers,
        max_active_runs,
        concurrency_group,
        tasks: tasks?,
        max_fanout,
        outputs,
    })
}

fn max_fanout(workflow: &Fields<'_>, report: &mut Report) -> u32 {
    let given = workflow.get("max_fanout");
    let given = given.and_then(|f| expect::integer(f, 1..=i64::from(FANOUT_MAX), report));
    given.and_then(|given| u32::try_from(given).ok()).unwrap_or(FANOUT_DEFAULT)
}

fn workflow_name(field: Field<'_>, report: &mut Report) -> Option<Arc<str>> {
    let given = expect::text(field, report)?;
    name::check(given, "a workflow", field.place(), report).then(|| given.into())
}

fn tasks(
    field: Field<'_>,
    (workflow, inputs): (&Fields<'_>, &Inputs),
    context: &Context<'_>,
    report: &mut Report,
) -> Option<Vec<Task>> {
    let given = given_tasks(field, 0, report)?;
    let own = tier::own_names(workflow.get("tiers"));
    let known = tier::Known { own, server: context.server_tiers };
    let defaults = read_defaults(workflow, (&known, given.len()), report);
    let numbers = numbers(field);
    let names: Vec<&str> = given.iter().map(|task| task.name).collect();
    let max_fanout = max_fanout(workflow, &mut Report::default());
    let around = Around {
        defaults: &defaults,
        tiers: &known,
        numbers: &numbers,
        names: &names,
        max_fanout,
        inputs,
    };
    lower_all(&given, &[], &around, report)
}

/// The tasks as they are written, beside so many that are there already.
pub(super) fn given_tasks<'n>(
    field: Field<'n>,
    already: usize,
    report: &mut Report,
) -> Option<Vec<Field<'n>>> {
    let hint = "write `tasks:` and under it each task by its name";
    let Some(given) = field.value.fields() else {
        if field.value.is_null() {
            no_tasks(field, report);
        } else {
            expect::wrong(field, "a map of tasks", Some(hint), report);
        }
        return None;
    };
    let given: Vec<Field<'n>> = given.collect();
    if given.is_empty() {
        no_tasks(field, report);
        return None;
    }
    let count = already + given.len();
    if count > TASKS_MAX {
        let message = format!("{count} tasks; at most {TASKS_MAX} are allowed.");
        report.add(Code::TooManyTasks, field.name_place, message);
        return None;
    }
    Some(given)
}

fn numbers(tasks: Field<'_>) -> Numbers<'_> {
    let tasks = tasks.value.fields().into_iter().flatten().enumerate();
    tasks.map(|(position, task)| (task.name, TaskNo::from_position(position))).collect()
}

/// What the run puts out: any task may be named, since all are settled by then.
fn outputs<'n>(
    field: Field<'n>,
    (numbers, inputs): (&Numbers<'n>, &Inputs),
    report: &mut Report,
) -> Option<Outputs> {
    let _names = expect::map(field, "write `{name: value}`", report)?;
    let given = template::tree(field, report)?;
    let sight = Sight {
        numbers,
        inputs,
        of: mention::Of::Run,
        secrets: Secrets::Hidden,
        instance: Instance::Whole,
    };
    let mut named = Vec::new();
    sight.check(&given.mentions, &mut named, report);
    let reads: BTreeSet<TaskNo> = named.iter().map(|named| named.task).collect();
    Some(Outputs { values: given.value, reads: reads.into_iter().collect() })
}

fn no_tasks(field: Field<'_>, report: &mut Report) {
    if report.has_within(field.value.place()) {
        return;
    }
    report
        .add(Code::NoTasks, field.name_place, "A workflow needs at least one task.")
        .hint("write each task under `tasks:` by its name");
}

pub(super) fn read_defaults<'n>(
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

/// Reads the tasks that are given; those that are there already are before them.
pub(super) fn lower_all(
    given: &[Field<'_>],
    already: &[Task],
    around: &Around<'_, '_>,
    report: &mut Report,
) -> Option<Vec<Task>> {
    let mut tasks = Vec::with_capacity(given.len());
    let mut edges: Vec<Vec<Written>> = already.iter().map(known_edges).collect();
    let mut named = Vec::new();
    let mut wanting = Vec::new();
    let mut good = true;
    for (position, &field) in (already.len()..).zip(given) {
        let lowered = task(field, TaskNo::from_position(position), around, report);
        let Lowered { task, edges: written, named: others, wanting: files } = lowered;
        good &= task.is_some();
        tasks.extend(task);
        edges.push(written);
        wanting.push(files);
        if !others.is_empty() {
            named.push((TaskNo::from_position(position), others));
        }
    }
    cycle::check(around.names, &edges, report);
    above::check(around.names, &edges, &named, report);
    if good {
        let task_of = |no: TaskNo| match no.position().checked_sub(already.len()) {
            None => already.get(no.position()),
            Some(position) => tasks.get(position),
        };
        artifacts::check(task_of, &wanting, report);
    }
    good.then_some(tasks)
}

/// Of a task that was read before: its places are of no use any more.
fn known_edges(task: &Task) -> Vec<Written> {
    let written = |edge: &Edge| Written { edge: *edge, place: Place::default(), when_place: None };
    task.depends_on.iter().map(written).collect()
}
