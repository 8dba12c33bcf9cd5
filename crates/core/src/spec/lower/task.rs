//! One task: its own fields, then the defaults, then what this engine takes for granted.

use super::super::code::Code;
use super::super::control::{ChildOf, Control};
use super::super::definition::{
    Action, Always, Artifacts, Edge, FanOut, Finalize, OnFailure, OnLost, OutputFrom, Process,
    Program, Task,
};
use super::super::format::{NO_EFFECT_ON_NOOP, NO_EFFECT_ON_WAITS, TASK};
use super::super::place::Place;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::action::{ACTION_HINT, Doing, action};
use super::artifacts::{Wanting, artifacts};
use super::edges::{Numbers, Written, edges, finish_all};
use super::fan::fan_out;
use super::fields::Fields;
use super::finalize;
use super::mention::{Given, Inputs, Instance, Named, Of, Secrets, Sight};
use super::settings::{Defaults, InputKeys, Settings, input_keys, settings};
use super::{expect, name, retries, tier, workspace};
use crate::ids::TaskNo;
use crate::json::Json;
use crate::limits::{
    GRACE_DEFAULT, KILL_GRACE_DEFAULT, LOG_BYTES_DEFAULT, START_TIMEOUT_DEFAULT, TIMEOUT_DEFAULT,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a task is read with.
#[derive(Debug)]
pub struct Around<'a, 'n> {
    pub defaults: &'a Defaults<'n>,
    pub tiers: &'a tier::Known<'n>,
    pub numbers: &'a Numbers<'n>,
    /// By number.
    pub names: &'a [&'n str],
    pub max_fanout: u32,
    pub inputs: &'a Inputs,
}

/// A task as far as it could be read. Its edges are kept also when the rest was refused, so
/// that circles are found in the same pass.
#[derive(Debug, Default)]
pub struct Lowered<'n> {
    pub task: Option<Task>,
    pub edges: Vec<Written>,
    /// Tasks that it names elsewhere: they have to come before it.
    pub named: Vec<Named<'n>>,
    /// Files that it wants from others.
    pub wanting: Wanting,
}

pub fn task<'n>(
    field: Field<'n>,
    no: TaskNo,
    around: &Around<'_, 'n>,
    report: &mut Report,
) -> Lowered<'n> {
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
    let settings = settings(&fields, around.tiers, report).over(&around.defaults.settings);
    if let Some(finally) = finally(&fields, &settings, around.defaults) {
        finish_all(&mut written, finally, report);
    }
    warn(&fields, doing.as_ref(), &written, around, report);
    warn_always(&fields, &settings, report);
    if matches!(doing, None | Some(Doing::Process(_))) {
        let get = |name, default| fields.get(name).or(default);
        let beside = get("workspace", around.defaults.workspace);
        workspace::check(beside, get("cache", around.defaults.cache), report);
        if let (Some(_), Some(workdir)) = (beside, get("workdir", around.defaults.workdir)) {
            workspace::check_workdir(workdir, settings.workdir.as_ref(), report);
        }
    }
    let (fan_out, mut named) = fan_out(&fields, around, settings.fan, report);
    let (artifacts, wanting) = left(&fields, around.numbers, &mut named, report);
    let finalize = fields.get("finalize");
    let workspace = settings.workspace.as_ref().map(|given| &given.value);
    let finalize =
        finalize.map(|given| finalize::finalize(given, (doing.as_ref(), workspace), report));
    let parts = Parts { doing: doing.as_ref(), settings: &settings, artifacts: &artifacts };
    let sight = sight(no, &fields, around);
    parts.check(&sight, &mut named, report);
    if let Some(Some(finalize)) = &finalize {
        finalize.check(&sight, &mut named, report);
    }
    let edges: Vec<Edge> = written.iter().map(|written| written.edge).collect();
    let reads = reads(&edges, &named);
    // One that was refused is no reason to do without it.
    let whole = good_name && !matches!(finalize, Some(None));
    let finalize = finalize.flatten().map(|finalize| Arc::new(finalize.value));
    let task = doing.filter(|_| whole).map(|doing| {
        let head = Head { name: field.name, edges, fan_out, reads, finalize };
        assemble(head, doing, settings, artifacts.value)
    });
    Lowered { task, edges: written, named, wanting }
}

/// Where it says that it runs however the tasks before it ended, and in which words.
fn finally<'n>(
    fields: &Fields<'n>,
    settings: &Settings<'n>,
    defaults: &Defaults<'n>,
) -> Option<(Place, &'static str)> {
    if settings.always == Some(true) {
        return Some((fields.get("always")?.place(), "always: true"));
    }
    let given = fields.get("on_failure").or(defaults.on_failure)?;
    let runs = settings.on_failure == Some(OnFailure::Run);
    runs.then(|| (given.place(), "on_failure: run"))
}

/// The files of a task, and those that it wants from others.
fn left<'n>(
    fields: &Fields<'n>,
    numbers: &Numbers<'_>,
    named: &mut Vec<Named<'n>>,
    report: &mut Report,
) -> (Given<'n, Artifacts>, Wanting) {
    let given = fields.get("artifacts");
    let given = given.and_then(|field| artifacts(field, numbers, named, report));
    given.unwrap_or_else(|| {
        (Given { value: Artifacts::default(), mentions: [].into() }, Wanting::default())
    })
}

/// What the work of an instance can see.
fn sight<'a, 'n>(no: TaskNo, fields: &Fields<'n>, around: &Around<'a, 'n>) -> Sight<'a, 'n> {
    let instance = match (fields.get("foreach"), fields.get("parallel")) {
        (Some(_), _) => Instance::WithItem,
        (None, Some(_)) => Instance::Counted,
        (None, None) => Instance::None,
    };
    Sight {
        numbers: around.numbers,
        inputs: around.inputs,
        of: Of::Task(no),
        secrets: Secrets::Hidden,
        instance,
    }
}

/// What of a task may hold expressions.
struct Parts<'p, 'n> {
    doing: Option<&'p Doing<'n>>,
    settings: &'p Settings<'n>,
    artifacts: &'p Given<'n, Artifacts>,
}

impl<'n> Parts<'_, 'n> {
    fn check(&self, sight: &Sight<'_, 'n>, named: &mut Vec<Named<'n>>, report: &mut Report) {
        let Settings { condition, input, cache, env, workdir, workspace, .. } = self.settings;
        let whole = match sight.instance {
            Instance::None => Instance::None,
            _ => Instance::Whole,
        };
        if let Some(condition) = condition {
            let sight = Sight { instance: whole, ..*sight };
            sight.check(&condition.mentions, named, report);
        }
        if let Some(input) = input {
            sight.check(&input.mentions, named, report);
        }
        // Of an action that was refused the rest is checked all the same.
        let program = match self.doing {
            Some(Doing::Process(program)) => Some(&program.mentions),
            None => None,
            Some(Doing::Control(control)) => {
                return sight.check(&control.mentions, named, report);
            }
            Some(_) => return,
        };
        let rest = [
            program,
            cache.as_ref().map(|cache| &cache.mentions),
            workdir.as_ref().map(|workdir| &workdir.mentions),
            workspace.as_ref().map(|workspace| &workspace.mentions),
            Some(&self.artifacts.mentions),
        ];
        rest.into_iter().flatten().for_each(|mentions| sight.check(mentions, named, report));
        if let Some(env) = env {
            let sight = Sight { secrets: Secrets::Seen, ..*sight };
            sight.check(&env.mentions, named, report);
        }
    }
}

/// Tasks that are named beside those it depends on.
fn reads(edges: &[Edge], named: &[Named<'_>]) -> Vec<TaskNo> {
    let direct: BTreeSet<TaskNo> = edges.iter().map(|edge| edge.upstream).collect();
    let all: BTreeSet<TaskNo> = named.iter().map(|named| named.task).collect();
    all.difference(&direct).copied().collect()
}

/// What is allowed, and probably not meant.
fn warn(
    fields: &Fields<'_>,
    doing: Option<&Doing<'_>>,
    written: &[Written],
    around: &Around<'_, '_>,
    report: &mut Report,
) {
    match doing {
        Some(Doing::Noop) => return warn_no_effect(fields, ("noop", NO_EFFECT_ON_NOOP), report),
        // What does not go with it was refused.
        Some(Doing::Control(Given { value: Control::Child(_), .. })) => return,
        Some(Doing::Control(control)) => {
            let word = control.value.word();
            return warn_no_effect(fields, (word, NO_EFFECT_ON_WAITS), report);
        }
        _ => {}
    }
    let own_keys = fields.get("input").map(input_keys);
    let keys = own_keys.as_ref().unwrap_or(&around.defaults.input_keys);
    warn_clash(keys, written, around.names, report);
    warn_instance(keys, fields, report);
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

fn warn_no_effect(fields: &Fields<'_>, (action, names): (&str, &[&str]), report: &mut Report) {
    for field in fields.iter().filter(|field| names.contains(&field.name)) {
        let message = format!("`{}` has no effect on a `{action}` task.", field.name);
        report.add(Code::NoEffect, field.name_place, message).hint("leave it out");
    }
}

/// `grace` is the time of `always` tasks; these run whatever `on_failure` says.
fn warn_always(fields: &Fields<'_>, settings: &Settings<'_>, report: &mut Report) {
    let is_always = settings.always == Some(true);
    if let Some(grace) = fields.get("grace").filter(|_| !is_always) {
        let message = "`grace` has no effect without `always: true`.";
        report.add(Code::NoEffect, grace.name_place, message).hint("leave it out");
    }
    let skips = settings.on_failure == Some(OnFailure::Skip);
    if let Some(skip) = fields.get("on_failure").filter(|_| is_always && skips) {
        let message = "`on_failure: skip` has no effect beside `always: true`.";
        report.add(Code::NoEffect, skip.name_place, message).hint("leave it out");
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

/// What an instance is told of itself goes over all of that.
fn warn_instance(keys: &InputKeys<'_>, fields: &Fields<'_>, report: &mut Report) {
    let (foreach, parallel) = (fields.get("foreach"), fields.get("parallel"));
    let Some(fan_out) = foreach.or(parallel) else { return };
    for name in ["item", "index", "count"] {
        let given = name != "item" || foreach.is_some();
        if let (Some(&place), true) = (keys.get(name), given) {
            let message = format!("The input `{name}` is hidden by the `{name}` of each instance.");
            report
                .add(Code::InputClash, place, message)
                .hint("rename the input")
                .related(fan_out.name_place, "each instance is given its own");
        }
    }
}

struct Head<'n> {
    name: &'n str,
    edges: Vec<Edge>,
    fan_out: Option<FanOut>,
    reads: Vec<TaskNo>,
    finalize: Option<Arc<Finalize>>,
}

fn assemble(head: Head<'_>, doing: Doing<'_>, given: Settings<'_>, artifacts: Artifacts) -> Task {
    let (input, always) = (given.input.as_ref(), always(&given));
    let mut task = Task {
        name: head.name.into(),
        description: given.description.clone(),
        labels: given.labels.clone().unwrap_or_default(),
        action: Action::Noop,
        depends_on: head.edges,
        on_failure: match always {
            Some(_) => OnFailure::Run,
            None => given.on_failure.unwrap_or(OnFailure::Skip),
        },
        always,
        allow_failure: given.allow_failure.unwrap_or(false),
        checkpoint: given.checkpoint.unwrap_or(false),
        // One that is always true is none: nothing has to be worked out for it.
        condition: given
            .condition
            .as_ref()
            .map(|it| it.value.clone())
            .filter(|it| it.source() != "true"),
        input: input.map_or_else(|| Json::empty_object().into(), |it| it.value.clone()),
        outputs: given.outputs.clone(),
        cache: None,
        finalize: None,
        workspace: None,
        retries: retries::none(),
        on_lost: OnLost::Retry,
        timeout: TIMEOUT_DEFAULT,
        start_timeout: START_TIMEOUT_DEFAULT,
        tier: None,
        priority: 0,
        fan_out: head.fan_out,
        reads: head.reads,
    };
    // Nothing more applies to a noop.
    let program = match doing {
        Doing::Noop => return task,
        Doing::Control(Given { value: Control::Child(child), .. }) => {
            let child = ChildOf { timeout: given.timeout, ..child };
            task.action = Action::Control(Control::Child(child));
            task.retries = given.retries.clone().unwrap_or(task.retries);
            return task;
        }
        Doing::Control(control) => {
            task.action = Action::Control(control.value);
            return task;
        }
        #[cfg(feature = "bench")]
        Doing::Echo => None,
        Doing::Process(program) => Some(program.value),
    };
    task.finalize = head.finalize;
    task.cache = given.cache.as_ref().map(|cache| cache.value.clone());
    task.workspace = given.workspace.as_ref().map(|workspace| workspace.value.clone());
    task.retries = given.retries.clone().unwrap_or(task.retries);
    task.on_lost = given.on_lost.unwrap_or(task.on_lost);
    task.timeout = given.timeout.unwrap_or(task.timeout);
    task.start_timeout = given.start_timeout.unwrap_or(task.start_timeout);
    task.tier.clone_from(&given.tier);
    task.priority = given.priority.unwrap_or(0);
    task.action = match program {
        Some(program) => Action::Process(process(program, given, artifacts)),
        #[cfg(feature = "bench")]
        None => Action::Echo,
        #[cfg(not(feature = "bench"))]
        None => Action::Noop,
    };
    task
}

fn always(given: &Settings<'_>) -> Option<Always> {
    let always = given.always.filter(|always| *always);
    always.map(|_| Always { grace: given.grace.unwrap_or(GRACE_DEFAULT) })
}

fn process(program: Program, given: Settings<'_>, artifacts: Artifacts) -> Process {
    Process {
        program,
        env: given.env.map(|env| env.value).unwrap_or_default(),
        workdir: given.workdir.map(|workdir| workdir.value),
        output: given.output.unwrap_or(OutputFrom::File),
        kill_grace: given.kill_grace.unwrap_or(KILL_GRACE_DEFAULT),
        log_bytes_max: given.log_bytes_max.unwrap_or(LOG_BYTES_DEFAULT),
        artifacts,
    }
}
