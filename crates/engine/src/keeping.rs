//! Outputs that do not fit into rows: content in the blob store, named by its run and its hash,
//! and as files for processes that are to read them.
//!
//! ```text
//!  keep ─► small ─► the row                    load ─► value      (expressions)
//!       └► large ─► blob <run>.<hash>  ─────────┤
//!                                               file ─► outputs/<run>/<hash>.json, until the
//!                                                       run ends
//! ```
//! Every call waits for a disk or a database: none is for a thread that decides.

use crate::damage::is_damage;
use crate::logs::LogPlaces;
use crate::prefetch;
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use mainspring_core::evaluate::{InstanceOutput, Outputs, OutputsError};
use mainspring_core::ids::{RunId, RunKey, TaskNo};
use mainspring_core::json::Json;
use mainspring_core::limits::OUTPUT_BYTES_MAX;
use mainspring_core::output::{BlobRef, Output};
use mainspring_core::world::input::{Need, Prefetched};
use mainspring_store::{BlobError, BlobName, Blobs, ReadError, Store};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Outputs of instances that are read at a time.
const PAGE: usize = 5_000;

pub(crate) struct Keeping {
    pub store: Arc<dyn Store>,
    pub blobs: Arc<dyn Blobs>,
    pub runtime: tokio::runtime::Handle,
    folder: PathBuf,
    /// Tells files that are being written apart.
    next: AtomicU64,
    /// Runs that may have files in the folder, with the outputs that are known to be there: most
    /// have none.
    with_files: Mutex<BTreeMap<RunId, BTreeMap<BlobRef, String>>>,
}

impl Keeping {
    /// For work that is done on the runtime that this is called on.
    pub fn new(store: &Arc<dyn Store>, logs: &LogPlaces) -> Self {
        Self {
            store: Arc::clone(store),
            blobs: Arc::clone(&logs.blobs),
            runtime: tokio::runtime::Handle::current(),
            folder: logs.folder.join("outputs"),
            next: AtomicU64::new(0),
            with_files: Mutex::default(),
        }
    }

    fn with_files(&self) -> MutexGuard<'_, BTreeMap<RunId, BTreeMap<BlobRef, String>>> {
        // Each change of it is one call.
        self.with_files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of an output that an attempt of the same run was given before.
    pub fn written_file(&self, run: RunId, blob: &BlobRef) -> Option<String> {
        self.with_files().get(&run)?.get(blob).cloned()
    }

    /// Nobody reads a run's files once it has ended: what a retry needs is written again.
    pub fn run_ended(&self, run: RunId) {
        let had_files = self.with_files().remove(&run).is_some();
        if had_files {
            // What cannot be removed costs disk and nothing else.
            let _ = fs::remove_dir_all(self.folder.join(run.to_string()));
        }
    }

    /// Whatever a former life left.
    pub fn clear(&self) {
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Puts content under its hash.
    pub fn put(&self, run: RunId, content: &[u8]) -> Result<BlobRef, BlobError> {
        let blob = BlobRef { hash: Sha256::digest(content).into(), bytes: content.len() as u64 };
        self.put_as(BlobName::Content(run, blob.hash), content)?;
        Ok(blob)
    }

    pub fn put_as(&self, name: BlobName, content: impl Read) -> Result<(), BlobError> {
        self.blobs.put(name, &mut GzEncoder::new(content, Compression::fast()))
    }

    /// Puts a file that nobody changes under the hash of its content.
    pub fn put_file(&self, run: RunId, path: &Path) -> Result<BlobRef, OutputsError> {
        let failed = |error: io::Error| {
            let what = format!("{} cannot be read: {error}", path.display());
            match error.kind() {
                io::ErrorKind::NotFound => OutputsError::Lost(what),
                _ => OutputsError::Unreachable(what),
            }
        };
        let file = fs::File::open(path).map_err(failed)?;
        let hashed = transfer(file, &mut io::sink());
        let (hash, bytes) = hashed.map_err(|error| failed(error.into_inner()))?;
        let blob = BlobRef { hash, bytes };
        let file = fs::File::open(path).map_err(failed)?;
        self.put_as(BlobName::Content(run, blob.hash), file).map_err(unreachable)?;
        Ok(blob)
    }

    /// A local file with the content of a blob, checked against its name; there until the run ends.
    pub fn file_of(&self, run: RunId, blob: &BlobRef, kind: &str) -> Result<String, OutputsError> {
        let path = self.place(run, blob, kind);
        if !is_there(&path, blob) {
            self.write_file(&path, run, blob)?;
        }
        Ok(path.to_string_lossy().into_owned())
    }

    /// The content of a blob, checked against its name.
    fn read(&self, run: RunId, blob: &BlobRef) -> Result<Vec<u8>, OutputsError> {
        let opened = self.blobs.open(BlobName::Content(run, blob.hash));
        let opened = opened.map_err(unreachable)?;
        let reader = opened.ok_or_else(|| gone(run, blob))?;
        let mut content = Vec::with_capacity(usize::try_from(blob.bytes).unwrap_or(0));
        let mut reader = GzDecoder::new(reader).take(OUTPUT_BYTES_MAX as u64 + 1);
        reader.read_to_end(&mut content).map_err(|error| unread(&error, &named(run, blob)))?;
        if Sha256::digest(&content)[..] != blob.hash {
            return Err(damaged(&named(run, blob), "it is not what was put"));
        }
        Ok(content)
    }

    /// Gives a run what is another run's.
    pub fn copy(&self, blob: &BlobRef, from: RunId, to: RunId) -> Result<(), OutputsError> {
        let content = self.read(from, blob)?;
        let put = self.put(to, &content);
        put.map(drop).map_err(unreachable)
    }

    /// Gives a run a file of another run. Larger than an output may be: it goes by way of the
    /// disk, where whoever reads it next finds it.
    pub fn copy_file(&self, blob: &BlobRef, from: RunId, to: RunId) -> Result<(), OutputsError> {
        let path = self.place(to, blob, "file");
        self.write_file(&path, from, blob)?;
        self.put_file(to, &path).map(drop)
    }

    fn place(&self, run: RunId, blob: &BlobRef, kind: &str) -> PathBuf {
        self.with_files().entry(run).or_default();
        self.folder.join(run.to_string()).join(format!("{}.{kind}", blob.hex()))
    }

    fn write_file(&self, path: &Path, run: RunId, blob: &BlobRef) -> Result<(), OutputsError> {
        let opened = self.blobs.open(BlobName::Content(run, blob.hash));
        let reader = opened.map_err(unreachable)?.ok_or_else(|| gone(run, blob))?;
        self.write_aside(path, blob, GzDecoder::new(reader), &named(run, blob))
    }

    /// Written aside and moved in one step: whoever reads it finds all of it.
    fn write_aside(
        &self,
        path: &Path,
        blob: &BlobRef,
        content: impl Read,
        what: &str,
    ) -> Result<(), OutputsError> {
        let failed = |error: io::Error| {
            OutputsError::Unreachable(format!("{} cannot be written: {error}", path.display()))
        };
        let folder = path.parent().expect("it is below the folder");
        fs::create_dir_all(folder).map_err(failed)?;
        let new = folder.join(format!("new-{}", self.next.fetch_add(1, Ordering::Relaxed)));
        let mut file = fs::File::create(&new).map_err(failed)?;
        let copied = transfer(content, &mut file);
        drop(file);
        let placed = match copied {
            Ok((hash, _)) if hash == blob.hash => fs::rename(&new, path).map_err(failed),
            Ok(_) => Err(damaged(what, "it is not what was put")),
            Err(Untransferred::Unread(error)) => Err(unread(&error, what)),
            Err(Untransferred::Unwritten(error)) => Err(failed(error)),
        };
        // Half a file is of no use, and on a full disk it is in the way.
        placed.inspect_err(|_| drop(fs::remove_file(&new)))
    }
}

/// The content of a blob that is not named after it.
pub(crate) fn read_named(
    blobs: &dyn Blobs,
    name: BlobName,
) -> Result<Option<Vec<u8>>, OutputsError> {
    let opened = blobs.open(name).map_err(unreachable)?;
    let Some(reader) = opened else { return Ok(None) };
    let mut content = Vec::new();
    let read = GzDecoder::new(reader).read_to_end(&mut content);
    read.map_err(|error| unread(&error, &name.to_string()))?;
    Ok(Some(content))
}

fn is_there(path: &Path, blob: &BlobRef) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() == blob.bytes)
}

/// What it says is for a person who can do something about it.
pub(crate) fn unreachable(BlobError { what, .. }: BlobError) -> OutputsError {
    OutputsError::Unreachable(what)
}

/// For messages: whose content, and how it is named.
fn named(run: RunId, blob: &BlobRef) -> String {
    let BlobRef { bytes, .. } = blob;
    format!("content of run {run} ({bytes} bytes, SHA-256 {})", blob.hex())
}

fn gone(run: RunId, blob: &BlobRef) -> OutputsError {
    let what = named(run, blob);
    OutputsError::Lost(format!(
        "{what} is not in the blob store any more. To have it made again, start the workflow anew"
    ))
}

fn damaged(what: &str, why: &str) -> OutputsError {
    OutputsError::Lost(format!(
        "{what} is damaged in the blob store: {why}. To have it made again, start the workflow anew"
    ))
}

/// A store that answers with something that cannot be unpacked will not do better next time.
fn unread(error: &io::Error, what: &str) -> OutputsError {
    match is_damage(error) {
        true => damaged(what, &error.to_string()),
        false => OutputsError::Unreachable(format!("{what} cannot be read: {error}")),
    }
}

enum Untransferred {
    Unread(io::Error),
    Unwritten(io::Error),
}

impl Untransferred {
    fn into_inner(self) -> io::Error {
        let (Self::Unread(error) | Self::Unwritten(error)) = self;
        error
    }
}

/// Copies all that is left to be read. Returns its hash, and how much that was.
fn transfer(
    mut from: impl Read,
    to: &mut impl io::Write,
) -> Result<([u8; 32], u64), Untransferred> {
    let mut hasher = Sha256::new();
    let (mut bytes, mut chunk) = (0, vec![0; 64 * 1024]);
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => return Ok((hasher.finalize().into(), bytes)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(Untransferred::Unread)?,
        };
        hasher.update(&chunk[..count]);
        to.write_all(&chunk[..count]).map_err(Untransferred::Unwritten)?;
        bytes += count as u64;
    }
}

impl Outputs for Keeping {
    fn load(&self, run: RunId, blob: &BlobRef) -> Result<Json, OutputsError> {
        let content = self.read(run, blob)?;
        let lost = || damaged(&named(run, blob), "it is no JSON");
        let text = String::from_utf8(content).map_err(|_| lost())?;
        Json::stored(&text).map_err(|_| lost())
    }

    fn file(&self, run: RunId, blob: &BlobRef) -> Result<String, OutputsError> {
        let path = self.file_of(run, blob, "json")?;
        self.with_files().entry(run).or_default().insert(*blob, path.clone());
        Ok(path)
    }

    fn written(&self, run: RunId, json: &Json) -> Result<String, OutputsError> {
        let content = json.as_str().as_bytes();
        let blob = BlobRef { hash: Sha256::digest(content).into(), bytes: content.len() as u64 };
        let path = self.place(run, &blob, "json");
        if !is_there(&path, &blob) {
            self.write_aside(&path, &blob, content, &named(run, &blob))?;
        }
        Ok(path.to_string_lossy().into_owned())
    }

    fn keep(&self, run: RunId, json: Json) -> Result<Output, OutputsError> {
        if Output::fits_inline(&json) {
            return Ok(Output::Inline(json));
        }
        let kept = self.put(run, json.as_str().as_bytes());
        kept.map(Output::Blob).map_err(unreachable)
    }

    fn instances(
        &self,
        run: RunKey,
        task: TaskNo,
        from: u32,
    ) -> Result<Vec<InstanceOutput>, OutputsError> {
        let page = self.runtime.block_on(self.store.outputs(run, task, from, PAGE));
        page.map_err(|error| OutputsError::Unreachable(error.to_string()))
    }

    fn workflow(&self, name: &Arc<str>, version: Option<u32>) -> Result<Prefetched, OutputsError> {
        let mut needs = vec![Need::Workflow(Arc::clone(name))];
        needs.extend(version.map(|number| Need::Version(Arc::clone(name), number)));
        let found = self.runtime.block_on(prefetch::find(&*self.store, &needs));
        found.map_err(|error| match error {
            ReadError::Damaged(what) => OutputsError::Lost(what),
            error => OutputsError::Unreachable(error.to_string()),
        })
    }
}
