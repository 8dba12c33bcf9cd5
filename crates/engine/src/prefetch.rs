//! Reads what a decision needs and memory lacks, off the world's thread. Definitions are
//! parsed here, not there.

use mainspring_core::ids::RunId;
use mainspring_core::spec::definition::Definition;
use mainspring_core::world::input::{KnownVersion, KnownWorkflow, Need, Prefetched};
use mainspring_core::world::snapshot::RunSnapshot;
use mainspring_store::{ReadError, Store, StoredRun};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::definitions;

/// Finds everything on the list.
pub(crate) async fn find(store: &dyn Store, needs: &[Need]) -> Result<Prefetched, ReadError> {
    let mut found = Prefetched::default();
    for need in needs {
        match need {
            Need::Workflow(name) => found.workflow = workflow(store, name).await?,
            Need::Version(workflow, number) => {
                found.version = version(store, workflow, Some(*number)).await?;
            }
            Need::Asleep(ids) => {
                found.asleep = snapshots(store, ids, &mut Definitions::new()).await?;
            }
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
pub(crate) async fn workflow(
    store: &dyn Store,
    name: &str,
) -> Result<Option<KnownWorkflow>, ReadError> {
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
pub(crate) type Definitions = BTreeMap<(Arc<str>, u32), (Arc<str>, Arc<Definition>)>;

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
pub(crate) async fn snapshots(
    store: &dyn Store,
    ids: &[RunId],
    known: &mut Definitions,
) -> Result<Vec<RunSnapshot>, ReadError> {
    let mut snapshots = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(stored) = store.run(*id).await? else { continue };
        if !stored.progress.status.is_final() {
            snapshots.push(snapshot(store, stored, known).await?);
        }
    }
    Ok(snapshots)
}
