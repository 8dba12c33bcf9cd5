//! Files between tasks, through the blob store.
//!
//! ```text
//!  success ─► each file ─► blob <run>.<its hash>         before the world hears of the end
//!          ├► list of them ─► blob <run>.<named after the attempt>
//!          └► and, if it is to be cached, once more <named after key and output>
//!  start ─► lists of the tasks it names ─► outputs/<run>/<hash>.file ─► copied by the executor
//!  cached ─► the list under its name ─► files and list are copied to the run that takes it
//!  rerun  ─► lists of what is kept ─► files and lists are copied to the new run, and for a group
//!            a list of who made them, since its instances have no rows there
//! ```

use crate::keeping::{self, Keeping, unreachable};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::evaluate::{OutputsError, Surroundings};
use mainspring_core::ids::{AttemptId, RunId, RunKey, TaskNo};
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::launch::NotLaunched;
use mainspring_core::output::{BlobRef, Output};
use mainspring_core::spec::definition::Task;
use mainspring_core::view::word::Word;
use mainspring_core::work::{ArtifactIn, ArtifactOut, ArtifactWanted};
use mainspring_store::{BlobName, Blobs, InstancesQuery};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt;

/// Rows of instances that are read at a time.
const PAGE: usize = 1_000;

/// One file of an attempt.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    path: String,
    hash: String,
    bytes: u64,
    #[serde(default)]
    executable: bool,
}

impl Entry {
    fn blob(&self) -> Result<BlobRef, OutputsError> {
        let lost =
            || OutputsError::Lost(format!("the list that names artifact {} is damaged", self.path));
        BlobRef::from_hex(&self.hash, self.bytes).ok_or_else(lost)
    }
}

/// The list of an attempt's files has a name that whoever knows the attempt can tell.
fn list_name(run: RunId, attempt: AttemptId) -> BlobName {
    let name = Sha256::digest(format!("artifacts of {attempt}").as_bytes());
    BlobName::Content(run, name.into())
}

/// Who left files of a group whose instances have their rows in another run.
fn makers_name(run: RunId, no: TaskNo) -> BlobName {
    let name = Sha256::digest(format!("makers of artifacts of task {}", no.0).as_bytes());
    BlobName::Content(run, name.into())
}

/// The list of the files that belong to a cached success. Two successes of a run under one key
/// may differ, and the row of the cache is that of one of them: so its output is in the name.
fn cached_name(run: RunId, key: &CacheKey, output: Option<&Output>) -> BlobName {
    let CacheKey { workflow, task, hash } = key;
    let mut name = Sha256::new();
    name.update(format!("artifacts cached of {workflow}\0{task}\0").as_bytes());
    name.update(hash);
    if let Some(output) = output {
        name.update(output.to_text().as_bytes());
    }
    BlobName::Content(run, name.finalize().into())
}

/// A success that has left files.
pub(crate) struct Left<'a> {
    pub run: RunId,
    pub attempt: AttemptId,
    /// What it is to be remembered under.
    pub key: Option<&'a CacheKey>,
    /// As it goes into the row.
    pub output: Option<&'a Output>,
}

/// Keeps the files of a success, and the list of them.
pub(crate) fn keep(
    keeping: &Keeping,
    left: &Left<'_>,
    files: &[ArtifactOut],
) -> Result<(), OutputsError> {
    let mut entries = Vec::with_capacity(files.len());
    for file in files {
        let blob = keeping.put_file(left.run, file.file.as_ref())?;
        entries.push(Entry {
            path: file.path.clone(),
            hash: blob.hex(),
            bytes: blob.bytes,
            executable: file.executable,
        });
    }
    if let Some(key) = left.key {
        put_list(keeping, cached_name(left.run, key, left.output), &entries)?;
    }
    put_list(keeping, list_name(left.run, left.attempt), &entries)
}

fn put_list(keeping: &Keeping, name: BlobName, entries: &[Entry]) -> Result<(), OutputsError> {
    let list = serde_json::to_vec(entries).expect("plain data serializes");
    keeping.put_as(name, &list[..]).map_err(unreachable)
}

/// Gives the files of a cached success to an attempt that takes it. False when there are not
/// exactly those that it has to leave: retention took them, or its definition is another by now.
pub(crate) fn take_over(
    keeping: &Keeping,
    cached: &CacheRow,
    (run, attempt): (RunId, AttemptId),
    expected: &[String],
) -> Result<bool, OutputsError> {
    if expected.is_empty() {
        return Ok(true);
    }
    let name = cached_name(cached.run, &cached.key, cached.output.as_ref());
    let Some(entries) = read_list(keeping, name)? else { return Ok(false) };
    if !entries.iter().map(|entry| &entry.path).eq(expected) {
        return Ok(false);
    }
    for entry in entries.iter().filter(|_| cached.run != run) {
        keeping.copy_file(&entry.blob()?, cached.run, run)?;
    }
    put_list(keeping, list_name(run, attempt), &entries)?;
    Ok(true)
}

/// A task of one run that another run keeps.
#[derive(Clone, Copy)]
pub(crate) struct HandedOn<'a> {
    pub from: Place<'a>,
    pub to: RunId,
    /// Its number there.
    pub no: TaskNo,
}

/// A task, and where its run is.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub run: RunId,
    pub key: RunKey,
    pub no: TaskNo,
    pub task: &'a Task,
    /// By which it succeeded; none for a group.
    pub attempt: Option<AttemptId>,
}

/// Gives the files that a task has left to another run.
pub(crate) fn hand_on(keeping: &Keeping, task: HandedOn<'_>) -> Result<(), OutputsError> {
    let HandedOn { from, to, no } = task;
    let makers = makers(keeping, from)?;
    for maker in &makers {
        let Some(entries) = read_list(keeping, list_name(from.run, maker.attempt))? else {
            return Err(OutputsError::Lost(format!("the list of what {maker} left is gone")));
        };
        for entry in &entries {
            keeping.copy_file(&entry.blob()?, from.run, to)?;
        }
        put_list(keeping, list_name(to, maker.attempt), &entries)?;
    }
    if from.task.fan_out.is_none() {
        return Ok(());
    }
    let made: Vec<(Option<u32>, AttemptId)> =
        makers.iter().map(|maker| (maker.index, maker.attempt)).collect();
    let made = serde_json::to_vec(&made).expect("plain data serializes");
    keeping.put_as(makers_name(to, no), &made[..]).map_err(unreachable)
}

/// Whose file it is.
#[derive(Clone, Copy)]
struct Maker<'a> {
    name: &'a str,
    index: Option<u32>,
    attempt: AttemptId,
}

impl fmt::Display for Maker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            None => write!(f, "'{}'", self.name),
            Some(index) => write!(f, "instance {index} of '{}'", self.name),
        }
    }
}

type Found<'a> = BTreeMap<String, (Maker<'a>, Entry)>;

/// Files that a start needs, as files to copy from.
pub(crate) fn fetch(
    keeping: &Keeping,
    around: &Surroundings,
    wanted: &[ArtifactWanted],
) -> Result<Vec<ArtifactIn>, NotLaunched> {
    let mut found = Found::new();
    for wanted in wanted {
        find(keeping, around, wanted, &mut found)?;
    }
    let mut files = Vec::with_capacity(found.len());
    for (path, (_, entry)) in found {
        let source = keeping.file_of(around.run, &entry.blob()?, "file")?;
        files.push(ArtifactIn { path, source, executable: entry.executable });
    }
    Ok(files)
}

fn find<'a>(
    keeping: &Keeping,
    around: &'a Surroundings,
    wanted: &ArtifactWanted,
    found: &mut Found<'a>,
) -> Result<(), NotLaunched> {
    let (mut is_there, mut others) = (wanted.path.is_none(), Vec::new());
    for maker in makers(keeping, place(around, wanted.task))? {
        let list = read_list(keeping, list_name(around.run, maker.attempt))?;
        // Nothing is listed for an attempt that left no file.
        for entry in list.unwrap_or_default() {
            if wanted.path.as_ref().is_some_and(|path| *path != entry.path) {
                others.push(entry.path);
                continue;
            }
            is_there = true;
            add(found, maker, entry)?;
        }
    }
    match is_there || is_without(around, wanted.task) {
        true => Ok(()),
        false => Err(missing(around, wanted, &others)),
    }
}

/// The same file may be asked for twice.
fn add<'a>(found: &mut Found<'a>, maker: Maker<'a>, entry: Entry) -> Result<(), NotLaunched> {
    match found.get(&entry.path) {
        Some((other, _)) if other.attempt != maker.attempt => Err(logic(format!(
            "{other} and {maker} both left an artifact {}: let each leave it under a name of its \
             own, or want only one of them",
            entry.path
        ))),
        _ => {
            found.insert(entry.path.clone(), (maker, entry));
            Ok(())
        }
    }
}

/// It has ended without a success: whoever runs all the same takes what there is, as it takes
/// null for its output.
fn is_without(around: &Surroundings, task: TaskNo) -> bool {
    let upstream = around.upstream.iter().find(|upstream| upstream.no == task);
    upstream.is_some_and(|it| it.word.is_settled() && it.word != Word::Success)
}

fn missing(around: &Surroundings, wanted: &ArtifactWanted, others: &[String]) -> NotLaunched {
    /// More would be no help to anyone.
    const NAMED_MAX: usize = 10;
    let name = &around.definition.task(wanted.task).name;
    let path = wanted.path.as_deref().unwrap_or_default();
    let upstream = around.upstream.iter().find(|upstream| upstream.no == wanted.task);
    let word = upstream.map_or(Word::Pending, |upstream| upstream.word);
    let mut left = others.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if others.len() > NAMED_MAX {
        left = format!("{left} and {} more", others.len() - NAMED_MAX);
    }
    logic(match (word, others.len()) {
        (Word::Success, 0) => format!("there is no artifact {name}/{path}: '{name}' left no files"),
        (Word::Success, _) => format!("there is no artifact {name}/{path}: '{name}' left {left}"),
        _ => format!(
            "there is no artifact {name}/{path} yet: '{name}' is {word}, and files are there when \
             it has succeeded. Depend on it without `when: started`"
        ),
    })
}

fn logic(what: String) -> NotLaunched {
    NotLaunched::Failed(TaskError::new(ErrorClass::Logic, what))
}

fn read_list(keeping: &Keeping, name: BlobName) -> Result<Option<Vec<Entry>>, OutputsError> {
    read_named(&*keeping.blobs, name)
}

/// The files that an attempt is said to have left. None when there is no list of them.
pub(crate) fn listed(
    blobs: &dyn Blobs,
    run: RunId,
    attempt: AttemptId,
) -> Result<Option<Vec<(String, BlobRef)>>, String> {
    let read = || -> Result<_, OutputsError> {
        let list: Option<Vec<Entry>> = read_named(blobs, list_name(run, attempt))?;
        let Some(list) = list else { return Ok(None) };
        let each = list.into_iter().map(|entry| Ok((entry.blob()?, entry.path)));
        each.map(|file| file.map(|(blob, path)| (path, blob))).collect::<Result<_, _>>().map(Some)
    };
    read().map_err(|error| error.to_string())
}

/// Who left files of a group that this run has taken over.
pub(crate) fn listed_makers(
    blobs: &dyn Blobs,
    run: RunId,
    no: TaskNo,
) -> Result<Vec<AttemptId>, String> {
    let listed: Option<Vec<(Option<u32>, AttemptId)>> =
        read_named(blobs, makers_name(run, no)).map_err(|error| error.to_string())?;
    Ok(listed.unwrap_or_default().into_iter().map(|(_, attempt)| attempt).collect())
}

fn read_named<T: DeserializeOwned>(
    blobs: &dyn Blobs,
    name: BlobName,
) -> Result<Option<T>, OutputsError> {
    let Some(content) = keeping::read_named(blobs, name)? else { return Ok(None) };
    let lost =
        |error| OutputsError::Lost(format!("the list of artifacts {name} is damaged: {error}"));
    serde_json::from_slice(&content).map(Some).map_err(lost)
}

fn place(around: &Surroundings, no: TaskNo) -> Place<'_> {
    let upstream = around.upstream.iter().find(|upstream| upstream.no == no);
    let attempt = upstream.and_then(|upstream| upstream.attempt);
    let (run, key) = (around.run, around.key);
    Place { run, key, no, task: around.definition.task(no), attempt }
}

/// The attempts by which a task, or a group's instances, succeeded.
fn makers<'a>(keeping: &Keeping, of: Place<'a>) -> Result<Vec<Maker<'a>>, OutputsError> {
    let name = &*of.task.name;
    let maker = |(index, attempt)| Maker { name, index, attempt };
    if of.task.fan_out.is_none() {
        return Ok(of.attempt.map(|attempt| maker((None, attempt))).into_iter().collect());
    }
    let (mut found, mut from) = (Vec::new(), 0);
    loop {
        let query = InstancesQuery { from, limit: PAGE, facts: vec![Fact::Success] };
        let page = keeping.runtime.block_on(keeping.store.instances(of.key, of.no, query));
        let page = page.map_err(|error| OutputsError::Unreachable(error.to_string()))?;
        let Some(last) = page.last().and_then(|row| row.task.index) else { break };
        from = last + 1;
        found.extend(page.iter().filter_map(|row| {
            let attempt = row.attempt.as_ref()?.id;
            Some(maker((row.task.index, attempt)))
        }));
    }
    if !found.is_empty() {
        return Ok(found);
    }
    // None of its instances has a row: it has none, or this run has taken it over.
    let listed = read_named(&*keeping.blobs, makers_name(of.run, of.no))?;
    let listed: Vec<(Option<u32>, AttemptId)> = listed.unwrap_or_default();
    Ok(listed.into_iter().map(maker).collect())
}
