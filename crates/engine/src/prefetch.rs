//! Reads what a decision needs and memory lacks, off the world's thread. Definitions are
//! parsed here, not there.

use mainspring_core::ids::{RunId, SchedulerId};
use mainspring_core::spec;
use mainspring_core::spec::definition::Definition;
use mainspring_core::world::input::{KnownVersion, KnownWorkflow, Need, Prefetched};
use mainspring_core::world::snapshot::RunSnapshot;
use mainspring_store::{ReadError, Registration, Store, StoredRun};
use std::collections::BTreeMap;
use std::sync::Arc;

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
            Need::Run(id) => {
                found.run = match store.run(*id).await? {
                    Some(stored) => Some(snapshot(store, stored, &mut BTreeMap::new()).await?),
                    None => None,
                };
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
    let definition = parse(&row.text, workflow, row.number)?;
    Ok(Some(KnownVersion { number: row.number, hash: row.hash, definition }))
}

fn parse(text: &str, workflow: &str, number: u32) -> Result<Arc<Definition>, ReadError> {
    let parsed = spec::parse(text, &spec::Context::STORED).map_err(|diagnostics| {
        let first = diagnostics.first().map_or("it is empty", |first| first.message.as_str());
        ReadError::Damaged(format!("version {number} of '{workflow}' can't be read: {first}"))
    })?;
    Ok(Arc::new(parsed.definition))
}

type Definitions = BTreeMap<(Arc<str>, u32), Arc<Definition>>;

async fn snapshot(
    store: &dyn Store,
    stored: StoredRun,
    known: &mut Definitions,
) -> Result<RunSnapshot, ReadError> {
    let StoredRun { head, progress, tasks } = stored;
    let key = (Arc::clone(&head.workflow), head.version);
    let definition = match known.get(&key) {
        Some(definition) => Arc::clone(definition),
        None => {
            let found = version(store, &key.0, Some(key.1)).await?;
            let found = found.ok_or_else(|| missing(&key.0, key.1))?;
            known.insert(key, Arc::clone(&found.definition));
            found.definition
        }
    };
    if let Some(row) = tasks.iter().find(|row| row.task.no.position() >= definition.tasks.len()) {
        let no = row.task.no.0;
        return Err(ReadError::Damaged(format!("run {} has no task number {no}", head.id)));
    }
    Ok(RunSnapshot { head, progress, definition, tasks })
}

/// Begins a life: fences off every former one, then reads the unfinished runs that are to be
/// carried on.
pub(crate) async fn load(
    store: &dyn Store,
    scheduler: SchedulerId,
    what: &Load,
) -> Result<(Registration, Vec<RunSnapshot>), ReadError> {
    let registration = store.register(scheduler).await?;
    let ids: Vec<RunId> = match what {
        Load::All => store.unfinished(scheduler).await?.into_iter().map(|(_, id)| id).collect(),
        Load::Only(ids) => ids.clone(),
    };
    let mut known = Definitions::new();
    let mut snapshots = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(stored) = store.run(id).await? else { continue };
        if !stored.progress.status.is_final() {
            snapshots.push(snapshot(store, stored, &mut known).await?);
        }
    }
    Ok((registration, snapshots))
}
