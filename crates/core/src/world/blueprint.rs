//! A version made ready for running: its shape and what each task counts against.

use crate::ids::TaskNo;
use crate::kernel::limit::Source;
use crate::kernel::permits::{Limits, PermitSet};
use crate::plan::dag::graph::Graph;
use crate::plan::dag::plan::Shape;
use crate::spec::definition::{Definition, Task};
use crate::work::ExecutorKind;
use std::sync::Arc;

#[derive(Debug)]
pub struct Blueprint {
    pub definition: Arc<Definition>,
    pub graph: Graph,
    /// For each task, what it needs to be dispatched. Empty for what is settled in place.
    permits: Vec<PermitSet>,
}

impl Blueprint {
    /// Makes the limits that the definition names known. Their numbers are those of the newest
    /// version that names them, whichever runs are loaded.
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
        Self { graph: Graph::new(&definition), definition, permits }
    }

    pub fn shape(&self) -> Shape<'_> {
        Shape { definition: &self.definition, graph: &self.graph }
    }

    /// Who carries out a task that has an attempt.
    pub fn executor(&self, no: TaskNo) -> ExecutorKind {
        let executor = self.definition.task(no).action.executor();
        executor.expect("a task with an attempt has an executor")
    }

    pub fn permits(&self, no: TaskNo) -> &PermitSet {
        &self.permits[no.position()]
    }
}

/// A workflow's own tiers do not meet those of another workflow or of the server.
fn own_tier(definition: &Definition, tier: &str) -> String {
    format!("{}/{tier}", definition.name)
}

fn permit_set(definition: &Definition, task: &Task, limits: &mut Limits) -> PermitSet {
    let Some(executor) = task.action.executor() else { return Arc::from([]) };
    let executor = format!("executor:{}", executor.word());
    let mut set: Vec<_> = ["total", &executor].iter().filter_map(|name| limits.id(name)).collect();
    if let Some(tier) = &task.tier {
        set.push(match definition.tiers.contains_key(tier) {
            true => limits.named(&own_tier(definition, tier)),
            // One that the server does not know any more lets nothing through.
            false => limits.named(tier),
        });
    }
    set.sort_unstable();
    set.dedup();
    set.into()
}
