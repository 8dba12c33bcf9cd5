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

use crate::logs::LogPlaces;
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use mainspring_core::evaluate::{Outputs, OutputsError};
use mainspring_core::ids::{RunId, RunKey, TaskNo};
use mainspring_core::json::Json;
use mainspring_core::limits::OUTPUT_BYTES_MAX;
use mainspring_core::output::{BlobRef, Output};
use mainspring_store::{BlobError, BlobName, Blobs, Store};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Outputs of instances that are read at a time.
const PAGE: usize = 5_000;

pub(crate) struct Keeping {
    pub store: Arc<dyn Store>,
    pub blobs: Arc<dyn Blobs>,
    pub runtime: tokio::runtime::Handle,
    folder: PathBuf,
    /// Tells files that are being written apart.
    next: AtomicU64,
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
        }
    }

    /// Nobody reads a run's files once it has ended: what a retry needs is written again.
    pub fn run_ended(&self, run: RunId) {
        // What cannot be removed costs disk and nothing else.
        let _ = fs::remove_dir_all(self.folder.join(run.to_string()));
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
    pub fn put_file(&self, run: RunId, path: &Path) -> Result<BlobRef, BlobError> {
        let failed = |error: io::Error| BlobError {
            what: format!("{} cannot be read", path.display()),
            source: Some(Box::new(error)),
        };
        let mut file = fs::File::open(path).map_err(failed)?;
        let (hash, bytes) = hash_of(&mut file).map_err(failed)?;
        let blob = BlobRef { hash, bytes };
        let file = fs::File::open(path).map_err(failed)?;
        self.put_as(BlobName::Content(run, blob.hash), file)?;
        Ok(blob)
    }

    /// The content of a blob that is not named after it.
    pub fn read_named(&self, name: BlobName) -> Result<Option<Vec<u8>>, OutputsError> {
        let opened = self.blobs.open(name);
        let opened = opened.map_err(|error| OutputsError::Unreachable(error.to_string()))?;
        let Some(reader) = opened else { return Ok(None) };
        let mut content = Vec::new();
        let read = GzDecoder::new(reader).read_to_end(&mut content);
        read.map_err(|error| OutputsError::Unreachable(format!("a blob cannot be read: {error}")))?;
        Ok(Some(content))
    }

    /// A local file with the content of a blob, checked against its name; there until the run ends.
    pub fn file_of(&self, run: RunId, blob: &BlobRef, kind: &str) -> Result<String, OutputsError> {
        let path = self.folder.join(run.to_string()).join(format!("{}.{kind}", blob.hex()));
        let is_there = fs::metadata(&path).is_ok_and(|file| file.len() == blob.bytes);
        if !is_there {
            self.write_file(&path, run, blob)?;
        }
        Ok(path.to_string_lossy().into_owned())
    }

    /// The content of a blob, checked against its name.
    fn read(&self, run: RunId, blob: &BlobRef) -> Result<Vec<u8>, OutputsError> {
        let opened = self.blobs.open(BlobName::Content(run, blob.hash));
        let opened = opened.map_err(|error| OutputsError::Unreachable(error.to_string()))?;
        let lost = || OutputsError::Lost(format!("{} of run {run}", blob.hex()));
        let reader = opened.ok_or_else(lost)?;
        let mut content = Vec::with_capacity(usize::try_from(blob.bytes).unwrap_or(0));
        let mut reader = GzDecoder::new(reader).take(OUTPUT_BYTES_MAX as u64 + 1);
        reader.read_to_end(&mut content).map_err(|error| {
            OutputsError::Unreachable(format!("a blob cannot be read: {error}"))
        })?;
        if Sha256::digest(&content)[..] != blob.hash {
            return Err(lost());
        }
        Ok(content)
    }

    /// Gives a run what is another run's.
    pub fn copy(&self, blob: &BlobRef, from: RunId, to: RunId) -> Result<(), OutputsError> {
        let content = self.read(from, blob)?;
        let put = self.put(to, &content);
        put.map(drop).map_err(|error| OutputsError::Unreachable(error.to_string()))
    }

    /// Written aside and moved in one step: whoever reads it finds all of it.
    fn write_file(&self, path: &Path, run: RunId, blob: &BlobRef) -> Result<(), OutputsError> {
        let lost = || OutputsError::Lost(format!("{} of run {run}", blob.hex()));
        let failed = |error: io::Error| {
            OutputsError::Unreachable(format!("{} cannot be written: {error}", path.display()))
        };
        let opened = self.blobs.open(BlobName::Content(run, blob.hash));
        let opened = opened.map_err(|error| OutputsError::Unreachable(error.to_string()))?;
        let mut reader = GzDecoder::new(opened.ok_or_else(lost)?);
        let folder = path.parent().expect("it is below the folder");
        fs::create_dir_all(folder).map_err(failed)?;
        let new = folder.join(format!("new-{}", self.next.fetch_add(1, Ordering::Relaxed)));
        let mut file =
            Hashing { file: fs::File::create(&new).map_err(failed)?, hash: Sha256::new() };
        io::copy(&mut reader, &mut file).map_err(failed)?;
        if file.hash.finalize()[..] != blob.hash {
            return Err(lost());
        }
        fs::rename(&new, path).map_err(failed)
    }
}

/// Hashes what it writes.
struct Hashing {
    file: fs::File,
    hash: Sha256,
}

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = io::Write::write(&mut self.file, bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::Write::flush(&mut self.file)
    }
}

/// Of all that is left to be read, and how much that was.
fn hash_of(content: &mut impl Read) -> io::Result<([u8; 32], u64)> {
    let mut hasher = Sha256::new();
    let (mut bytes, mut chunk) = (0, vec![0; 64 * 1024]);
    loop {
        match content.read(&mut chunk)? {
            0 => return Ok((hasher.finalize().into(), bytes)),
            count => {
                hasher.update(&chunk[..count]);
                bytes += count as u64;
            }
        }
    }
}

impl Outputs for Keeping {
    fn load(&self, run: RunId, blob: &BlobRef) -> Result<Json, OutputsError> {
        let content = self.read(run, blob)?;
        let lost = || OutputsError::Lost(format!("{} of run {run} is no JSON", blob.hex()));
        let text = String::from_utf8(content).map_err(|_| lost())?;
        Json::parse(&text).map_err(|_| lost())
    }

    fn file(&self, run: RunId, blob: &BlobRef) -> Result<String, OutputsError> {
        self.file_of(run, blob, "json")
    }

    fn keep(&self, run: RunId, json: Json) -> Result<Output, OutputsError> {
        if Output::fits_inline(&json) {
            return Ok(Output::Inline(json));
        }
        let kept = self.put(run, json.as_str().as_bytes());
        kept.map(Output::Blob).map_err(|error| OutputsError::Unreachable(error.to_string()))
    }

    fn instances(
        &self,
        run: RunKey,
        task: TaskNo,
        from: u32,
    ) -> Result<Vec<(u32, Output)>, OutputsError> {
        let page = self.runtime.block_on(self.store.outputs(run, task, from, PAGE));
        page.map_err(|error| OutputsError::Unreachable(error.to_string()))
    }
}
