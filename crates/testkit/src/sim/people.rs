//! People and programs: they trigger, pause, resume, cancel (some by force) and retry at random
//! moments.

use crate::sim::outputs::Blobs;
use crate::sim::promises::limits::SHARED;
use crate::sim::trouble::{Luck, Trouble};
use mainspring_core::ids::{RunId, TaskNo, TaskRef};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::limit::{Bound, LimitSetting, Rate, Source};
use mainspring_core::kernel::record::Role;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::kernel::rows::Rows;
use mainspring_core::kernel::wait::{Awaited, Verdict};
use mainspring_core::plan::dag::graph::Graph;
use mainspring_core::plan::dag::kept::{Beginning, Former, Pinned, kept};
use mainspring_core::plan::dag::plan::Shape;
use mainspring_core::spec::definition::Definition;
use mainspring_core::time::Span;
use mainspring_core::world::input::{
    Again, Command, Inherited, Named, Order, Ruling, SetRate, SetTier, Signal, Trigger, Verb,
};
use mainspring_store::StoredRun;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A run that nobody ever accepted.
pub const NO_RUN: RunId = RunId::from_bytes([9; 16]);

pub fn trigger(luck: &mut Luck, workflow: Arc<str>) -> Trigger {
    let workflow = if luck.strikes(Trouble::Strangers, 40) { "nowhere".into() } else { workflow };
    Trigger {
        workflow,
        version: None,
        input: Json::empty_object(),
        labels: BTreeMap::new(),
        priority: i32::try_from(luck.below(2)).expect("small"),
        triggered_by: "simulation".to_owned(),
        workdir: "/".to_owned(),
        group: None,
        again: None,
    }
}

/// A run that is over, and what is to become of it.
pub struct Anew<'a> {
    pub former: &'a StoredRun,
    pub was: &'a Definition,
    pub definition: &'a Definition,
    pub added: Option<Inherited>,
}

impl Anew<'_> {
    /// The way a server prepares it: rows that are kept, and large outputs under the new name.
    pub fn trigger(
        &self,
        luck: &mut Luck,
        (from, pinned): (Option<TaskNo>, Pinned),
        blobs: &Blobs,
    ) -> Trigger {
        let mut chance = [0; 10];
        chance[..8].copy_from_slice(&luck.draw().to_be_bytes());
        let head = &self.former.head;
        let id = RunId::from_parts(luck.below(1 << 40), chance);
        let kept = from.map_or_else(Vec::new, |from| self.kept(from, pinned));
        for row in &kept {
            row.output.iter().for_each(|output| blobs.copy(output, head.id, id));
        }
        let stamp = self.former.progress.stamp;
        let again = Again { of: head.id, stamp, id, kept, added: self.added.clone() };
        let group = head.group.clone();
        Trigger { group, again: Some(Box::new(again)), ..trigger(luck, head.workflow.clone()) }
    }

    fn kept(&self, from: TaskNo, pinned: Pinned) -> Vec<TaskRow> {
        let mut rows = Rows::new(self.was.tasks.len());
        let plain = self.former.tasks.iter().filter(|row| row.task.index.is_none());
        plain.for_each(|row| rows.put(row.clone()));
        let (was, new) = (Graph::new(self.was), Graph::new(self.definition));
        let former = Former { shape: Shape { definition: self.was, graph: &was }, rows: &rows };
        let shape = Shape { definition: self.definition, graph: &new };
        let begin = Beginning { from, pinned, lost: &BTreeSet::new() };
        kept(former, shape, begin).into_iter().map(|kept| kept.row).collect()
    }
}

/// The key that a run of a workflow with a group is given: one of few, so that they meet. Children
/// are always given the first.
pub fn group(luck: &mut Luck) -> Arc<str> {
    ["key", "other"][luck.pick(2)].into()
}

/// What a configuration says of limits. A rate is rare, since it makes worlds long.
pub fn limits(luck: &mut Luck) -> Vec<LimitSetting> {
    let mut setting = |name: &str, max: u64| {
        let limit = u32::try_from(1 + luck.below(max)).expect("small");
        LimitSetting { name: name.into(), bound: Bound::of(limit), source: Source::Config }
    };
    let mut limits = vec![setting("total", 5), setting("executor:process", 4), setting(SHARED, 3)];
    if luck.below(4) == 0 {
        limits[2].bound.rate = Some(rate(luck));
    }
    limits
}

fn rate(luck: &mut Luck) -> Rate {
    let starts = u32::try_from(1 + luck.below(3)).expect("small");
    Rate { starts, per: Span::from_ms(1 + luck.below(5_000)) }
}

/// A limit that somebody sets, now and then to nothing.
pub fn tier(luck: &mut Luck) -> SetTier {
    if luck.strikes(Trouble::Strangers, 8) {
        let name = if luck.below(2) == 0 { "w0/gpu" } else { "nobody" };
        return SetTier { name: name.into(), limit: None, rate: SetRate::Off };
    }
    let name = ["total", "executor:process", SHARED, "queue:q0"][luck.pick(4)];
    let limit = u32::try_from(luck.below(5)).expect("small");
    let rate = match luck.below(4) {
        0 if name == SHARED => SetRate::To(rate(luck)),
        1 => SetRate::Off,
        _ => SetRate::Keep,
    };
    SetTier { name: name.into(), limit: Some(limit), rate }
}

/// It names a limit of the server's.
pub fn is_settable(set: &SetTier) -> bool {
    set.limit.is_some()
}

/// None when the kind of command that came up is switched off.
pub fn command(
    luck: &mut Luck,
    run: RunId,
    definition: &Definition,
    rows: &[TaskRow],
) -> Option<Command> {
    if luck.below(4) == 0 && luck.strikes(Trouble::Says, 1) {
        let run = if luck.strikes(Trouble::Strangers, 40) { NO_RUN } else { run };
        let order = said(luck, definition, rows);
        return Some(Command { run, order, by: "someone".to_owned() });
    }
    let (verb, trouble) = match luck.below(4) {
        0 => (Verb::Pause, Trouble::Pauses),
        1 => (Verb::Resume, Trouble::Pauses),
        2 if luck.strikes(Trouble::Force, 4) => (Verb::ForceCancel, Trouble::Cancels),
        2 => (Verb::Cancel, Trouble::Cancels),
        _ => (Verb::Retry, Trouble::Retries),
    };
    let order = match luck.below(5) {
        0 | 1 => Order::Run(verb),
        2 if verb == Verb::Retry => {
            let count = 1 + luck.below(3);
            Order::RetryTasks((0..count).map(|_| name(luck, definition)).collect())
        }
        2 => Order::Task(named(luck, definition), verb),
        _ => match fitting(luck, definition, rows, verb) {
            Some(named) => Order::Task(named, verb),
            None => Order::Task(named(luck, definition), verb),
        },
    };
    let run = if luck.strikes(Trouble::Strangers, 40) { NO_RUN } else { run };
    luck.strikes(trouble, 1).then_some(Command { run, order, by: "someone".to_owned() })
}

/// What is said to a run: a signal, or a decision, mostly on something that waits.
fn said(luck: &mut Luck, definition: &Definition, rows: &[TaskRow]) -> Order {
    if luck.below(2) == 0 {
        return signal(luck, None);
    }
    let waits = |row: &&TaskRow| matches!(row.awaited(), Some(Awaited::Approval { .. }));
    let found: Vec<TaskRef> = rows.iter().filter(waits).map(|row| row.task).collect();
    let named = match found.get(luck.pick(found.len().max(1))) {
        Some(task) if luck.below(6) != 0 => {
            let index = task.index.filter(|_| luck.below(4) != 0);
            Named { task: Arc::clone(&definition.task(task.no).name), index }
        }
        _ => named(luck, definition),
    };
    let verdict = if luck.below(2) == 0 { Verdict::Approved } else { Verdict::Rejected };
    let role = if luck.below(8) == 0 { Role::Viewer } else { Role::Operator };
    Order::Rule(named, Ruling { verdict, comment: None, role })
}

/// Keys are few, so that signals and waits meet; some values are lists that others fan out over.
pub fn signal(luck: &mut Luck, key: Option<&Arc<str>>) -> Order {
    let key = key.cloned().unwrap_or_else(|| ["s0", "s1", "s2"][luck.pick(3)].into());
    let value = ["[1,2]", "[]", "7", "\"x\""][luck.pick(4)];
    Order::Signal(Signal { key, value: Json::parse(value).expect("plain") })
}

/// Whatever ends a wait that nothing else would end.
pub fn end_wait(luck: &mut Luck, run: RunId, named: Named, on: &Awaited) -> Option<Command> {
    let order = match on {
        Awaited::Time | Awaited::Child { .. } => return None,
        Awaited::Signal { key } => signal(luck, Some(key)),
        Awaited::Approval { .. } => {
            let verdict = Verdict::Approved;
            Order::Rule(named, Ruling { verdict, comment: None, role: Role::Operator })
        }
    };
    Some(Command { run, order, by: "someone".to_owned() })
}

/// Somebody who has looked first: one to which the order may apply.
fn fitting(
    luck: &mut Luck,
    definition: &Definition,
    rows: &[TaskRow],
    verb: Verb,
) -> Option<Named> {
    let fits = |row: &&TaskRow| match verb {
        Verb::Resume => row.hold.is_some(),
        Verb::Retry => matches!(row.fact, Fact::Failed | Fact::Cancelled),
        Verb::Pause | Verb::Cancel | Verb::ForceCancel => !row.fact.is_settled(),
    };
    let found: Vec<TaskRef> = rows.iter().filter(fits).map(|row| row.task).collect();
    let task = found.get(luck.pick(found.len().max(1)))?;
    Some(Named { task: Arc::clone(&definition.task(task.no).name), index: task.index })
}

fn name(luck: &mut Luck, definition: &Definition) -> Arc<str> {
    if luck.strikes(Trouble::Strangers, 40) {
        return "nobody".into();
    }
    Arc::clone(&definition.tasks[luck.pick(definition.tasks.len())].name)
}

/// A task, or now and then one of its instances; one that is no group has none.
fn named(luck: &mut Luck, definition: &Definition) -> Named {
    let task = name(luck, definition);
    let no = definition.task_no(&task);
    let is_group = no.is_some_and(|no| definition.task(no).fan_out.is_some());
    let has_index =
        if is_group { luck.below(2) == 0 } else { luck.strikes(Trouble::Strangers, 40) };
    let index = has_index.then(|| u32::try_from(luck.below(5)).expect("small"));
    Named { task, index }
}

/// What ends every hold, so that a world can come to rest.
pub fn resume(run: RunId, task: Option<Named>) -> Command {
    let order = task.map_or(Order::Run(Verb::Resume), |named| Order::Task(named, Verb::Resume));
    Command { run, order, by: "someone".to_owned() }
}

/// What an order is about: its verb, and the tasks that it names; none: the run as a whole.
/// Names that the definition lacks are left out.
pub fn meant(order: &Order, definition: &Definition) -> Option<(Verb, Option<Vec<TaskRef>>)> {
    let place = |name: &str, index| Some(TaskRef { no: definition.task_no(name)?, index });
    Some(match order {
        Order::Signal(_) | Order::Rule(..) | Order::Add(_) => return None,
        Order::Run(verb) => (*verb, None),
        Order::Task(named, verb) => {
            (*verb, Some(place(&named.task, named.index).into_iter().collect()))
        }
        Order::RetryTasks(names) => {
            (Verb::Retry, Some(names.iter().filter_map(|name| place(name, None)).collect()))
        }
    })
}

/// Which approval a decision is about, if it is one.
pub fn ruled(order: &Order, definition: &Definition) -> Option<(TaskRef, Verdict)> {
    let Order::Rule(named, ruling) = order else { return None };
    let no = definition.task_no(&named.task)?;
    Some((TaskRef { no, index: named.index }, ruling.verdict))
}

pub fn word(order: &Order) -> &'static str {
    match order {
        Order::Run(Verb::Pause) | Order::Task(_, Verb::Pause) => "pause",
        Order::Run(Verb::Resume) | Order::Task(_, Verb::Resume) => "resume",
        Order::Run(Verb::Cancel) | Order::Task(_, Verb::Cancel) => "cancel",
        Order::Run(Verb::ForceCancel) | Order::Task(_, Verb::ForceCancel) => "force cancel",
        Order::Run(Verb::Retry) | Order::Task(_, Verb::Retry) => "retry",
        Order::RetryTasks(_) => "retry several",
        Order::Signal(_) => "signal",
        Order::Add(_) => "add",
        Order::Rule(_, Ruling { verdict: Verdict::Approved, .. }) => "approve",
        Order::Rule(_, Ruling { verdict: Verdict::Rejected, .. }) => "reject",
    }
}
