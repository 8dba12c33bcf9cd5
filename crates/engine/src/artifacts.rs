//! Files between tasks, through the blob store.
//!
//! ```text
//!  success ─► each file ─► blob <run>.<its hash>         before the world hears of the end
//!          └► list of them ─► blob <run>.<named after the attempt>
//!  start ─► lists of the tasks it names ─► outputs/<run>/<hash>.file ─► copied by the executor
//! ```

use crate::keeping::Keeping;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::evaluate::{OutputsError, Surroundings};
use mainspring_core::ids::{AttemptId, RunId, TaskNo};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::launch::NotLaunched;
use mainspring_core::output::BlobRef;
use mainspring_core::work::{ArtifactIn, ArtifactOut, ArtifactWanted};
use mainspring_store::{BlobError, BlobName, InstancesQuery};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// Rows of instances that are read at a time.
const PAGE: usize = 1_000;

/// One file of an attempt.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    path: String,
    hash: String,
    bytes: u64,
}

/// The list of an attempt's files has a name that whoever knows the attempt can tell.
fn list_name(run: RunId, attempt: AttemptId) -> BlobName {
    let name = Sha256::digest(format!("artifacts of {attempt}").as_bytes());
    BlobName::Content(run, name.into())
}

/// Keeps the files of a success, and the list of them.
pub(crate) fn keep(
    keeping: &Keeping,
    (run, attempt): (RunId, AttemptId),
    files: &[ArtifactOut],
) -> Result<(), BlobError> {
    let mut entries = Vec::with_capacity(files.len());
    for file in files {
        let blob = keeping.put_file(run, file.file.as_ref())?;
        entries.push(Entry { path: file.path.clone(), hash: blob.hex(), bytes: blob.bytes });
    }
    let list = serde_json::to_vec(&entries).expect("plain data serializes");
    keeping.put_as(list_name(run, attempt), &list[..])
}

/// Files that a start needs, as files to copy from.
pub(crate) fn fetch(
    keeping: &Keeping,
    around: &Surroundings,
    wanted: &[ArtifactWanted],
) -> Result<Vec<ArtifactIn>, NotLaunched> {
    let mut found: BTreeMap<String, ArtifactIn> = BTreeMap::new();
    for wanted in wanted {
        let name = &around.definition.task(wanted.task).name;
        let mut is_there = wanted.path.is_none();
        for attempt in attempts(keeping, around, wanted.task)? {
            for entry in list(keeping, around.run, attempt)? {
                if wanted.path.as_ref().is_some_and(|path| *path != entry.path) {
                    continue;
                }
                is_there = true;
                let file = fetch_one(keeping, around.run, &entry)?;
                if let Some(other) = found.insert(entry.path, file) {
                    let path = other.path;
                    let what = format!("two artifacts of '{name}' are called {path}");
                    return Err(logic(what));
                }
            }
        }
        if !is_there {
            let path = wanted.path.as_deref().unwrap_or_default();
            return Err(logic(format!("there is no artifact {name}/{path}")));
        }
    }
    Ok(found.into_values().collect())
}

fn logic(what: String) -> NotLaunched {
    NotLaunched::Failed(TaskError::new(ErrorClass::Logic, what))
}

fn fetch_one(keeping: &Keeping, run: RunId, entry: &Entry) -> Result<ArtifactIn, OutputsError> {
    let blob = BlobRef::from_hex(&entry.hash, entry.bytes);
    let blob = blob.ok_or_else(|| OutputsError::Lost(format!("artifact {}", entry.path)))?;
    let source = keeping.file_of(run, &blob, "file")?;
    Ok(ArtifactIn { path: entry.path.clone(), source })
}

/// Nothing is listed for an attempt that left no file.
fn list(keeping: &Keeping, run: RunId, attempt: AttemptId) -> Result<Vec<Entry>, OutputsError> {
    let Some(content) = keeping.read_named(list_name(run, attempt))? else { return Ok(Vec::new()) };
    let lost = |_| OutputsError::Lost(format!("the artifacts of attempt {attempt}"));
    serde_json::from_slice(&content).map_err(lost)
}

/// The attempts by which a task, or a group's instances, succeeded.
fn attempts(
    keeping: &Keeping,
    around: &Surroundings,
    task: TaskNo,
) -> Result<Vec<AttemptId>, OutputsError> {
    if around.definition.task(task).fan_out.is_none() {
        let upstream = around.upstream.iter().find(|upstream| upstream.no == task);
        return Ok(upstream.and_then(|upstream| upstream.attempt).into_iter().collect());
    }
    let (mut found, mut from) = (Vec::new(), 0);
    loop {
        let query = InstancesQuery { from, limit: PAGE, facts: vec![Fact::Success] };
        let page = keeping.runtime.block_on(keeping.store.instances(around.key, task, query));
        let page = page.map_err(|error| OutputsError::Unreachable(error.to_string()))?;
        let Some(last) = page.last().and_then(|row| row.task.index) else { return Ok(found) };
        from = last + 1;
        found.extend(page.iter().filter_map(|row| Some(row.attempt.as_ref()?.id)));
    }
}
