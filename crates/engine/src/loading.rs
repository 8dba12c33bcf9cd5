//! How a life begins: every former one is fenced off, and a world is made of the unfinished runs
//! that are to be carried on. Away from the world's thread, which may still refuse callers.
//!
//! Runs are read some at a time: of those that only wait the world keeps next to nothing, and what
//! is read of ten thousand at once would leave holes all over the heap.

use crate::engine::Load;
use crate::prefetch::{Definitions, snapshots, workflow};
use mainspring_core::ids::{RunId, SchedulerId};
use mainspring_core::kernel::limit::{LimitRow, LimitSetting, Source};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::time::Timestamp;
use mainspring_core::world::{World, WorldConfig};
use mainspring_store::{ReadError, Registration, RunsQuery, Store};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Runs that are read before the world is given them.
const RUNS_AT_ONCE: usize = 250;
/// Runs that only wait and are in memory all the same, two or three kilobytes each: who decides an
/// approval most often does so soon after it was asked for.
const DROWSY_MAX: usize = 500;

/// What a world is made with beside what is stored.
pub(crate) struct Making {
    pub scheduler: SchedulerId,
    pub load: Load,
    /// Those of the configuration.
    pub limits: Vec<LimitSetting>,
    pub now: Timestamp,
}

/// What a life begins with.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub registration: Registration,
    pub world: World,
}

pub(crate) async fn load(store: &dyn Store, making: Making) -> Result<Loaded, ReadError> {
    let Making { scheduler, load, limits, now } = making;
    let registration = store.register(scheduler).await?;
    let stored = store.limits().await?;
    // What was set while a server ran wins over the configuration.
    let set = stored.set.into_iter().map(|LimitRow { name, bound }| {
        let source = Source::Api;
        LimitSetting { name, bound, source }
    });
    let mut world = World::new(&WorldConfig {
        scheduler: registration.fence.scheduler,
        ordinal: registration.ordinal,
        epoch: registration.fence.epoch,
        next_run: registration.next_run,
        next_stamp: registration.next_stamp,
        seed: random_seed(),
        limits: limits.into_iter().chain(set).collect(),
        ledgers: stored.ledgers,
        drowsy_max: DROWSY_MAX,
        now,
    });
    let (ids, at_once) = match load {
        Load::All => {
            let mut unfinished = store.unfinished(scheduler).await?;
            // A child is counted by what its ancestors hold, so they come first.
            unfinished.sort_unstable();
            (unfinished.into_iter().map(|(_, id)| id).collect(), RUNS_AT_ONCE)
        }
        Load::Only(ids) => (with_children(store, ids).await?, usize::MAX),
    };
    let (mut definitions, mut names) = (Definitions::new(), BTreeSet::new());
    for ids in ids.chunks(at_once) {
        let mut snapshots = snapshots(store, ids, &mut definitions).await?;
        snapshots.sort_by_key(|snapshot| snapshot.head.key);
        // Their latest versions' limits count.
        for snapshot in &snapshots {
            if names.insert(Arc::clone(&snapshot.head.workflow)) {
                let known = workflow(store, &snapshot.head.workflow).await?;
                known.into_iter().for_each(|workflow| world.know(workflow));
            }
        }
        snapshots.into_iter().for_each(|snapshot| world.load(now, snapshot));
    }
    Ok(Loaded { registration, world })
}

/// Runs, and those below them that are not final.
async fn with_children(store: &dyn Store, mut ids: Vec<RunId>) -> Result<Vec<RunId>, ReadError> {
    let mut at = 0;
    while let Some(parent) = ids.get(at).copied() {
        at += 1;
        for status in RunStatus::ALL.iter().filter(|status| !status.is_final()) {
            let query = RunsQuery {
                parent: Some(parent),
                statuses: vec![*status],
                limit: usize::MAX,
                ..RunsQuery::default()
            };
            let children = store.runs(query).await?;
            ids.extend(children.into_iter().map(|(head, _)| head.id));
        }
    }
    let known: BTreeSet<RunId> = ids.into_iter().collect();
    Ok(known.into_iter().collect())
}

fn random_seed() -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    u64::from_ne_bytes(bytes)
}
