//! Reads what a decision needs and memory lacks, off the world's thread. Definitions are
//! parsed here, not there.

use mainspring_core::ids::{RunId, SchedulerId};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::spec::definition::Definition;
use mainspring_core::world::input::{KnownVersion, KnownWorkflow, Need, Prefetched};
use mainspring_core::world::snapshot::RunSnapshot;
use mainspring_store::{ReadError, Registration, RunsQuery, Store, StoredLimits, StoredRun};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::definitions;
use crate::engine::Load;

/// Finds everything on the list.
pub(crate) async fn find(store: &dyn Store, needs: &[Need]) -> Result<Prefetched, ReadError> {
    let mut found = Prefetched::default();
    for need in needs {
        match need {
            Need::Workflow(name) => found.workflow = workflow(store, name).await?,
            Need::Version(workflow, number) => {
                found.version = version(store, workflow, Some(*number)).await?;
            }
            Need::Asleep(ids) => found.asleep = snapshots(store, ids).await?,
            Need::Run(id) => {
                if let Some(stored) = store.run(*id).await? {
                    // Its limits are those of the latest version.
                    found.workflow = workflow(store, &stored.head.workflow).await?;
                    found.run = Some(snapshot(store, stored, &mut BTreeMap::new()).await?);
                }
            }
        }
    }
    Ok(found)
}

/// A workflow with the version that it names as its latest.
async fn workflow(store: &dyn Store, name: &str) -> Result<Option<KnownWorkflow>, ReadError> {
    let Some(row) = store.workflow(name).await? else { return Ok(None) };
    let latest = version(store, name, Some(row.latest)).await?;
    let latest = latest.ok_or_else(|| missing(name, row.latest))?;
    Ok(Some(KnownWorkflow { row, latest }))
}

fn missing(workflow: &str, number: u32) -> ReadError {
    ReadError::Damaged(format!("version {number} of '{workflow}' is missing"))
}

async fn version(
    store: &dyn Store,
    workflow: &str,
    number: Option<u32>,
) -> Result<Option<KnownVersion>, ReadError> {
    let Some(row) = store.version(workflow, number).await? else { return Ok(None) };
    let definition = definitions::parse(&row)?;
    Ok(Some(KnownVersion { number: row.number, hash: row.hash, definition }))
}

/// Versions with their texts, which have the defaults of what is added.
type Definitions = BTreeMap<(Arc<str>, u32), (Arc<str>, Arc<Definition>)>;

async fn snapshot(
    store: &dyn Store,
    stored: StoredRun,
    known: &mut Definitions,
) -> Result<RunSnapshot, ReadError> {
    let StoredRun { head, progress, tasks } = stored;
    let key = (Arc::clone(&head.workflow), head.version);
    let (text, version) = match known.get(&key) {
        Some(version) => version.clone(),
        None => {
            let row = store.version(&key.0, Some(key.1)).await?;
            let row = row.ok_or_else(|| missing(&key.0, key.1))?;
            let definition = definitions::parse(&row)?;
            known.insert(key, (Arc::clone(&row.text), Arc::clone(&definition)));
            (row.text, definition)
        }
    };
    let definition = definitions::of_run(store, (&head, &progress), (&text, &version)).await?;
    if let Some(row) = tasks.iter().find(|row| row.task.no.position() >= definition.tasks.len()) {
        let no = row.task.no.0;
        return Err(ReadError::Damaged(format!("run {} has no task number {no}", head.id)));
    }
    let signals = match progress.signals {
        0 => Vec::new(),
        _ => store.signals(head.key).await?,
    };
    Ok(RunSnapshot { head, progress, definition, tasks, signals })
}

/// Those of these runs that are not final.
async fn snapshots(store: &dyn Store, ids: &[RunId]) -> Result<Vec<RunSnapshot>, ReadError> {
    let mut known = Definitions::new();
    let mut snapshots = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(stored) = store.run(*id).await? else { continue };
        if !stored.progress.status.is_final() {
            snapshots.push(snapshot(store, stored, &mut known).await?);
        }
    }
    Ok(snapshots)
}

/// What a life begins with.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub registration: Registration,
    pub snapshots: Vec<RunSnapshot>,
    /// Those that the runs are of: their latest versions' limits count.
    pub workflows: Vec<KnownWorkflow>,
    pub limits: StoredLimits,
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

/// Begins a life: fences off every former one, then reads the unfinished runs that are to be
/// carried on.
pub(crate) async fn load(
    store: &dyn Store,
    scheduler: SchedulerId,
    what: &Load,
) -> Result<Loaded, ReadError> {
    let registration = store.register(scheduler).await?;
    let limits = store.limits().await?;
    let ids: Vec<RunId> = match what {
        Load::All => store.unfinished(scheduler).await?.into_iter().map(|(_, id)| id).collect(),
        Load::Only(ids) => with_children(store, ids.clone()).await?,
    };
    let mut snapshots = snapshots(store, &ids).await?;
    // A child is counted by what its ancestors hold, so they come first.
    snapshots.sort_by_key(|snapshot| snapshot.head.key);
    let names: BTreeSet<Arc<str>> =
        snapshots.iter().map(|snapshot| Arc::clone(&snapshot.head.workflow)).collect();
    let mut workflows = Vec::with_capacity(names.len());
    for name in names {
        workflows.extend(workflow(store, &name).await?);
    }
    Ok(Loaded { registration, snapshots, workflows, limits })
}
