//! A version made ready for running: its shape and what each task counts against.

use crate::ids::TaskNo;
use crate::kernel::finalizer::Step;
use crate::kernel::limit::{Source, TOTAL, queue_name};
use crate::kernel::permits::{LimitId, Limits, PermitSet};
use crate::kernel::row::TaskRow;
use crate::plan::dag::graph::Graph;
use crate::plan::dag::plan::Shape;
use crate::spec::definition::{Definition, Finalize, Task};
use crate::work::ExecutorKind;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
pub struct Blueprint {
    pub definition: Arc<Definition>,
    pub graph: Graph,
    /// For each task, what it needs to be dispatched. Empty for what is settled in place.
    permits: Vec<PermitSet>,
    /// The same for finalizers, of those tasks that have one.
    finals: BTreeMap<TaskNo, PermitSet>,
}

impl Blueprint {
    /// Makes the limits that the definition names known. Their numbers are those of the newest
    /// version that names them: the latest one, or if that no longer does, of those in use.
    pub fn new(definition: Arc<Definition>, version: u32, limits: &mut Limits) -> Self {
        for (tier, bound) in &definition.tiers {
            let name = own_tier(&definition, tier);
            let known = limits.find(&name).map(|limit| limit.source);
            let is_newer = !matches!(known, Some(Source::Workflow(known)) if known > version);
            if is_newer {
                limits.put(&name, *bound, Source::Workflow(version));
            }
        }
        let permits =
            definition.tasks.iter().map(|task| permit_set(&definition, task, limits)).collect();
        let tasks = definition.tasks.iter().enumerate();
        let finals = tasks.filter_map(|(position, task)| {
            let finalize = task.finalize.as_deref()?;
            Some((TaskNo::from_position(position), final_set(finalize, limits)))
        });
        let finals = finals.collect();
        Self { graph: Graph::new(&definition), definition, permits, finals }
    }

    pub fn shape(&self) -> Shape<'_> {
        Shape { definition: &self.definition, graph: &self.graph }
    }

    /// Who carries out a task that has an attempt, or its finalizer.
    pub fn executor(&self, no: TaskNo, step: Step) -> ExecutorKind {
        let task = self.definition.task(no);
        let executor = match step {
            Step::Work => task.action.executor(),
            Step::Finalize => task.finalize.as_ref().map(|finalize| finalize.action.executor()),
        };
        executor.expect("a task with an attempt has an executor")
    }

    /// What the finalizer of a task whose work is done needs to be dispatched, if it has one. Its
    /// queue is known to the limits.
    pub fn final_permits(&self, row: &TaskRow, limits: &Limits) -> Option<PermitSet> {
        let set = self.finals.get(&row.task.no)?;
        let queue = row.finalizer.as_ref().and_then(|finalizer| finalizer.queue.as_deref());
        let Some(queue) = queue else { return Some(PermitSet::clone(set)) };
        let queue = limits.id(&queue_name(queue)).expect("made known with the row");
        Some(sorted(set.iter().copied().chain([queue]).collect()))
    }

    pub fn permits_of(&self, row: &TaskRow, step: Step, limits: &Limits) -> PermitSet {
        match step {
            Step::Work => PermitSet::clone(self.permits(row.task.no)),
            Step::Finalize => {
                self.final_permits(row, limits).expect("only tasks with a finalizer land")
            }
        }
    }

    pub fn permits(&self, no: TaskNo) -> &PermitSet {
        &self.permits[no.position()]
    }
}

/// A workflow's own tiers do not meet those of another workflow or of the server.
fn own_tier(definition: &Definition, tier: &str) -> String {
    format!("{}/{tier}", definition.name)
}

/// Those of its executor, and its queue's.
fn final_set(finalize: &Finalize, limits: &mut Limits) -> PermitSet {
    let mut set = executor_set(finalize.action.executor(), limits);
    set.extend(finalize.queue.as_ref().map(|queue| limits.named(&queue_name(queue))));
    sorted(set)
}

fn executor_set(executor: ExecutorKind, limits: &Limits) -> Vec<LimitId> {
    let executor = format!("executor:{}", executor.word());
    [TOTAL, &executor].iter().filter_map(|name| limits.id(name)).collect()
}

fn sorted(mut set: Vec<LimitId>) -> PermitSet {
    set.sort_unstable();
    set.dedup();
    set.into()
}

fn permit_set(definition: &Definition, task: &Task, limits: &mut Limits) -> PermitSet {
    let Some(executor) = task.action.executor() else { return Arc::from([]) };
    let mut set = executor_set(executor, limits);
    if let Some(tier) = &task.tier {
        set.push(match definition.tiers.contains_key(tier) {
            true => limits.named(&own_tier(definition, tier)),
            // One that the server does not know any more lets nothing through.
            false => limits.named(tier),
        });
    }
    sorted(set)
}
