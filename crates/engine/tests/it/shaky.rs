//! A store in memory whose commits fail when a test says so.

use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId};
use mainspring_core::kernel::record::{IdempotencyKey, KeyRow, TokenRow};
use mainspring_core::kernel::row::{
    AttemptRow, Log, RunHead, RunProgress, VersionRow, WorkflowRow,
};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{
    Audited, CommitError, Done, Expired, Fence, Memory, ReadError, Reading, Registration,
    RunsQuery, Store, StoredRun, VersionsQuery,
};
use std::collections::VecDeque;
use std::sync::Mutex;

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
}

impl Shaky {
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

    fn audit(&self, below: Option<u64>, limit: usize) -> Reading<'_, Vec<Audited>> {
        self.memory.audit(below, limit)
    }

    fn tokens(&self) -> Reading<'_, Vec<TokenRow>> {
        self.memory.tokens()
    }

    fn expired(&self, before: Timestamp, limit: usize) -> Reading<'_, Vec<Expired>> {
        self.memory.expired(before, limit)
    }

    fn ping(&self) -> Reading<'_, ()> {
        self.memory.ping()
    }
}
