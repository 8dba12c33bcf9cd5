//! A store in memory whose commits fail when a test says so, and a place for logs beside it.

use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId};
use mainspring_core::kernel::record::{IdempotencyKey, KeyRow, TokenRow};
use mainspring_core::kernel::row::{
    AttemptRow, Log, RunHead, RunProgress, VersionRow, WorkflowRow,
};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_engine::logs::LogPlaces;
use mainspring_store::{
    Audited, BlobEntry, BlobError, BlobName, BlobReader, Blobs, CommitError, Done, Expired, Fence,
    Memory, MemoryBlobs, ReadError, Reading, Registration, RunsQuery, Store, StoredRun,
    VersionsQuery,
};
use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Durable,
    /// Nothing of it is there.
    Lost,
    /// All of it is there, but that is not what is said.
    DurableButReportedFailed,
    /// The disk did not confirm it.
    Unconfirmed,
}

#[derive(Default)]
pub struct Shaky {
    pub memory: Memory,
    /// What becomes of the next commits; then all are durable.
    fates: Mutex<VecDeque<Fate>>,
    /// Loads that fail before one works.
    pub failing_loads: Mutex<u32>,
    /// Whatever has expired was opened again since it was looked at.
    pub opens_again: AtomicBool,
    pub blobs: Arc<ShakyBlobs>,
    folder: OnceLock<TempDir>,
}

/// Blobs in memory that cannot be put, or not yet, when a test says so.
#[derive(Default)]
pub struct ShakyBlobs {
    pub memory: MemoryBlobs,
    /// Puts that fail before one works.
    pub failing: Mutex<u32>,
    /// Puts wait for whoever holds this.
    pub gate: Mutex<()>,
}

impl Blobs for ShakyBlobs {
    fn put(&self, name: BlobName, content: &mut dyn Read) -> Result<(), BlobError> {
        drop(self.gate.lock().expect("unpoisoned"));
        let mut failing = self.failing.lock().expect("unpoisoned");
        if *failing > 0 {
            *failing -= 1;
            return Err(BlobError { what: "no space left".to_owned(), source: None });
        }
        self.memory.put(name, content)
    }

    fn open(&self, name: BlobName) -> Result<Option<BlobReader>, BlobError> {
        self.memory.open(name)
    }

    fn remove(&self, name: BlobName, put_before: Timestamp) -> Result<(), BlobError> {
        self.memory.remove(name, put_before)
    }

    fn list(&self, after: Option<BlobName>, limit: usize) -> Result<Vec<BlobEntry>, BlobError> {
        self.memory.list(after, limit)
    }
}

impl Shaky {
    /// Where its logs are, in this life and every other.
    pub fn logs(&self) -> LogPlaces {
        let folder = self.folder.get_or_init(|| tempfile::tempdir().expect("a folder"));
        LogPlaces { folder: folder.path().to_owned(), blobs: Arc::clone(&self.blobs) as _ }
    }

    /// From here on all is durable.
    pub fn forget_fates(&self) {
        self.fates.lock().expect("unpoisoned").clear();
    }

    pub fn next(&self, fates: &[Fate]) {
        self.fates.lock().expect("unpoisoned").extend(fates);
    }
}

fn failed() -> CommitError {
    CommitError::Failed { what: "the disk is full".to_owned(), source: None }
}

impl Store for Shaky {
    fn register(&self, scheduler: SchedulerId) -> Reading<'_, Registration> {
        let mut failing = self.failing_loads.lock().expect("unpoisoned");
        if *failing > 0 {
            *failing -= 1;
            let error = ReadError::Failed { what: "still full".to_owned(), source: None };
            return Box::pin(std::future::ready(Err(error)));
        }
        self.memory.register(scheduler)
    }

    fn commit(&self, fence: Fence, changes: Vec<Change>, done: Done) {
        let fate = self.fates.lock().expect("unpoisoned").pop_front().unwrap_or(Fate::Durable);
        match fate {
            Fate::Durable => self.memory.commit(fence, changes, done),
            Fate::Lost => done(Err(failed())),
            Fate::Unconfirmed => done(Err(CommitError::Fsync { what: "EIO".to_owned() })),
            Fate::DurableButReportedFailed => {
                let result = self.memory.apply_now(fence, &changes);
                done(result.and(Err(failed())));
            }
        }
    }

    fn unfinished(&self, scheduler: SchedulerId) -> Reading<'_, Vec<(RunKey, RunId)>> {
        self.memory.unfinished(scheduler)
    }

    fn run(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        self.memory.run(id)
    }

    fn runs(&self, query: RunsQuery) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        self.memory.runs(query)
    }

    fn version(&self, workflow: &str, number: Option<u32>) -> Reading<'_, Option<VersionRow>> {
        self.memory.version(workflow, number)
    }

    fn attempts(&self, run: RunKey) -> Reading<'_, Vec<AttemptRow>> {
        self.memory.attempts(run)
    }

    fn log(&self, run: RunKey, attempt: AttemptId) -> Reading<'_, Option<Log>> {
        self.memory.log(run, attempt)
    }

    fn logs_outside(&self, among: &[AttemptId]) -> Reading<'_, Vec<AttemptId>> {
        self.memory.logs_outside(among)
    }

    fn workflow(&self, name: &str) -> Reading<'_, Option<WorkflowRow>> {
        self.memory.workflow(name)
    }

    fn workflows(&self, after: Option<&str>, limit: usize) -> Reading<'_, Vec<WorkflowRow>> {
        self.memory.workflows(after, limit)
    }

    fn versions(&self, query: VersionsQuery<'_>) -> Reading<'_, Vec<VersionRow>> {
        self.memory.versions(query)
    }

    fn changed(
        &self,
        scheduler: SchedulerId,
        after: u64,
        limit: usize,
    ) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        self.memory.changed(scheduler, after, limit)
    }

    fn key(&self, key: &IdempotencyKey) -> Reading<'_, Option<KeyRow>> {
        self.memory.key(key)
    }

    fn has_old_keys(&self, before: Timestamp) -> Reading<'_, bool> {
        self.memory.has_old_keys(before)
    }

    fn audit(&self, below: Option<u64>, limit: usize) -> Reading<'_, Vec<Audited>> {
        self.memory.audit(below, limit)
    }

    fn tokens(&self) -> Reading<'_, Vec<TokenRow>> {
        self.memory.tokens()
    }

    fn expired(&self, before: Timestamp, limit: usize) -> Reading<'_, Vec<Expired>> {
        let opens_again = self.opens_again.load(Ordering::Relaxed);
        Box::pin(async move {
            let mut expired = self.memory.expired(before, limit).await?;
            if opens_again {
                expired.iter_mut().for_each(|expired| expired.run.stamp -= 1);
            }
            Ok(expired)
        })
    }

    fn ping(&self) -> Reading<'_, ()> {
        self.memory.ping()
    }
}
