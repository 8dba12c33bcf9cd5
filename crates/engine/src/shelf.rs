//! Large logs and outputs go into the blob store before the world hears of the end that brings
//! them, so that the row of the end says where they are. Outputs are checked against their schema
//! here, and a success is told what it is to be remembered under.
//!
//! ```text
//!  executors ─► report ─┬─ nothing to do ────────────────────────────► inbox
//!                       └─ large ─► `Over` to the inbox, and
//!                                   queue ─► 2 at once: compress, put ─► inbox   Log::Blob
//!                                                          └─ failed ──► inbox   Log::File
//!  act thread ─► settled: the end is durable ─► the file goes, if its blob is there
//! ```
//! Whoever has no large log pays one look at its report. A crash in between leaves the file, and
//! perhaps a blob that no row knows: the next life puts the log again under the same name.

use crate::artifacts;
use crate::engine::EngineConfig;
use crate::events::Observer;
use crate::inbox::Inbox;
use crate::keeping::Keeping;
use crate::logs::LogPlaces;
use flate2::Compression;
use flate2::read::GzEncoder;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::evaluate::{Outputs as _, Surroundings};
use mainspring_core::ids::{AttemptId, RunId, TaskNo};
use mainspring_core::kernel::row::Log;
use mainspring_core::launch::StartAttempt;
use mainspring_core::output::Output;
use mainspring_core::work::{
    ArtifactOut, CacheNote, Ended, Outcome, Reattached, Report, ReportKind,
};
use mainspring_exec::Reports;
use mainspring_exec::log::{read_log, remove_log};
use mainspring_store::BlobName;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Compressing is work for a core, and there are few; a database has as many connections for it.
const AT_ONCE: usize = 2;

#[derive(Clone)]
pub(crate) struct Shelf(Arc<Parts>);

struct Parts {
    keeping: Arc<Keeping>,
    logs: LogPlaces,
    inbox: Arc<Inbox>,
    observer: Arc<dyn Observer>,
    runtime: tokio::runtime::Handle,
    desk: Mutex<Desk>,
}

#[derive(Default)]
struct Desk {
    /// Never more than live attempts.
    waiting: VecDeque<Report>,
    at_work: usize,
    /// Attempts whose logs are in the blob store, and perhaps still in their files.
    stored: BTreeSet<AttemptId>,
    /// What is known of attempts that executors were given.
    expected: BTreeMap<AttemptId, Expected>,
    is_closed: bool,
}

/// What has to be known of an attempt when it ends.
struct Expected {
    around: Arc<Surroundings>,
    task: TaskNo,
    cache: Option<CacheNote>,
}

impl Shelf {
    pub fn new(config: &EngineConfig, keeping: Arc<Keeping>, inbox: Arc<Inbox>) -> Self {
        Self(Arc::new(Parts {
            keeping,
            logs: config.logs.clone(),
            inbox,
            observer: Arc::clone(&config.observer),
            runtime: tokio::runtime::Handle::current(),
            desk: Mutex::default(),
        }))
    }

    /// An executor is about to be given this attempt.
    pub fn expect(&self, start: &StartAttempt, cache: Option<CacheNote>) {
        let task = start.ticket.task.no;
        if start.around.definition.task(task).action.puts_out() {
            let around = Arc::clone(&start.around);
            let expected = Expected { around, task, cache };
            self.0.desk().expected.insert(start.ticket.attempt, expected);
        }
    }

    /// The end of this attempt is durable: nobody needs the file of a log that is in the blob
    /// store. Whoever reads it keeps it open.
    pub fn settled(&self, attempt: AttemptId) {
        let mut desk = self.0.desk();
        desk.expected.remove(&attempt);
        let is_stored = desk.stored.remove(&attempt);
        drop(desk);
        if is_stored {
            // A file that stays goes with its run.
            let _ = remove_log(&self.0.logs.folder, attempt);
        }
    }

    /// Begins nothing more: what waits is found again by the next life.
    pub fn close(&self) {
        let mut desk = self.0.desk();
        desk.is_closed = true;
        desk.waiting.clear();
    }

    fn take(&self, report: Report) {
        let mut desk = self.0.desk();
        if desk.is_closed {
            return;
        }
        // However long the log takes, the work did not take longer.
        self.0.inbox.report(Report { ticket: report.ticket, what: ReportKind::Over });
        desk.waiting.push_back(report);
        if desk.at_work < AT_ONCE {
            desk.at_work += 1;
            let parts = Arc::clone(&self.0);
            self.0.runtime.spawn_blocking(move || parts.work());
        }
    }
}

impl Reports for Shelf {
    fn report(&self, mut report: Report) {
        match self.0.has_work(&mut report) {
            false => self.0.inbox.report(report),
            true => self.take(report),
        }
    }

    fn report_all(&self, mut reports: Vec<Report>) {
        let large = reports.extract_if(.., |report| self.0.has_work(report));
        let large: Vec<Report> = large.collect();
        self.0.inbox.report_all(reports);
        large.into_iter().for_each(|report| self.take(report));
    }
}

impl Parts {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        // Each change of it is one call.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut desk = self.desk();
            let Some(report) = desk.waiting.pop_front() else {
                desk.at_work -= 1;
                return;
            };
            drop(desk);
            self.keep(report);
        }
    }

    fn keep(&self, mut report: Report) {
        let attempt = report.ticket.attempt;
        if let Some(log) = large_log(&mut report) {
            match self.put(attempt) {
                Ok(()) => {
                    let Log::File { bytes } = *log else { unreachable!("only these are large") };
                    *log = Log::Blob { bytes };
                    self.desk().stored.insert(attempt);
                }
                Err(error) => self.observer.log_stays(attempt, &error.to_string()),
            }
        }
        self.keep_output(&mut report);
        self.inbox.report(report);
    }

    /// Whether a report has to wait for something.
    fn has_work(&self, report: &mut Report) -> bool {
        if large_log(report).is_some() {
            return true;
        }
        let attempt = report.ticket.attempt;
        let Some(ended) = ended(report) else { return false };
        let Outcome::Success(output) = &ended.outcome else { return false };
        let is_large = output.as_ref().is_some_and(is_large);
        let has_files = !ended.artifacts.is_empty();
        let desk = self.desk();
        desk.expected.get(&attempt).is_some_and(|expected| {
            let task = expected.around.definition.task(expected.task);
            is_large || has_files || task.has_output_schema() || expected.cache.is_some()
        })
    }

    fn keep_output(&self, report: &mut Report) {
        let attempt = report.ticket.attempt;
        let Some(ended) = ended(report) else { return };
        let Outcome::Success(output) = &mut ended.outcome else { return };
        let (around, task, cache) = match self.desk().expected.get(&attempt) {
            Some(Expected { around, task, cache }) => (Arc::clone(around), *task, *cache),
            None => return,
        };
        let output = output.take();
        let files = std::mem::take(&mut ended.artifacts);
        let kept = self.checked(&around, task, output).and_then(|output| {
            self.keep_files((around.run, attempt), &files)?;
            Ok(output)
        });
        ended.cache = cache.filter(|_| kept.is_ok());
        ended.outcome = kept.map_or_else(Outcome::Failed, Outcome::Success);
    }

    /// The output as it goes into the row.
    fn checked(
        &self,
        around: &Surroundings,
        task: TaskNo,
        output: Option<Output>,
    ) -> Result<Option<Output>, TaskError> {
        let given = output.as_ref().and_then(Output::inline);
        let checked = around.definition.task(task).check_output(given);
        checked.map_err(|what| TaskError::new(ErrorClass::Logic, what))?;
        let Some(Output::Inline(json)) = output else { return Ok(output) };
        let bytes = json.as_str().len();
        let kept = self.keeping.keep(around.run, json).map_err(|error| {
            let what = format!("its output of {bytes} bytes cannot be kept: {error}");
            TaskError::new(ErrorClass::Internal, what)
        })?;
        Ok(Some(kept))
    }

    fn keep_files(
        &self,
        (run, attempt): (RunId, AttemptId),
        files: &[ArtifactOut],
    ) -> Result<(), TaskError> {
        if files.is_empty() {
            return Ok(());
        }
        artifacts::keep(&self.keeping, (run, attempt), files).map_err(|error| {
            let what = format!("its artifacts cannot be kept: {error}");
            TaskError::new(ErrorClass::Internal, what)
        })
    }

    fn put(&self, attempt: AttemptId) -> io::Result<()> {
        let file = read_log(&self.logs.folder, attempt)?;
        let file = file.ok_or_else(|| io::Error::other(format!("the log of {attempt} is gone")))?;
        // Fast: an end waits for it, and logs shrink to a tenth even so.
        let mut compressed = GzEncoder::new(file, Compression::fast());
        Ok(self.logs.blobs.put(BlobName::Log(attempt), &mut compressed)?)
    }
}

fn is_large(output: &Output) -> bool {
    output.inline().is_some_and(|json| !Output::fits_inline(json))
}

fn ended(report: &mut Report) -> Option<&mut Ended> {
    match &mut report.what {
        ReportKind::Ended(ended) | ReportKind::Reattached(_, Reattached::Ended(ended)) => {
            Some(ended)
        }
        _ => None,
    }
}

/// The log that a report brings, if it is in a file.
fn large_log(report: &mut Report) -> Option<&mut Log> {
    let log = match &mut report.what {
        ReportKind::Ended(ended) | ReportKind::Reattached(_, Reattached::Ended(ended)) => {
            &mut ended.log
        }
        ReportKind::Reattached(_, Reattached::Unknown { log }) => log,
        ReportKind::Started
        | ReportKind::Over
        | ReportKind::Refused(_)
        | ReportKind::Reattached(_, Reattached::Running | Reattached::NeverStarted) => return None,
    };
    log.as_mut().filter(|log| matches!(log, Log::File { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Event;
    use mainspring_core::ids::{RunKey, TaskRef, Ticket};
    use mainspring_store::{Memory, MemoryBlobs, Store};
    use std::time::Duration;

    struct Nobody;

    impl Observer for Nobody {
        fn committed(&self, _: &[Event]) {}
        fn loaded(&self, _: u64) {}
        fn log_stays(&self, _: AttemptId, _: &str) {}
        fn store_failed(&self, _: &str) {}
    }

    /// The world hears that the work is over before anybody has begun to put the log away.
    #[tokio::test]
    async fn work_is_over_however_long_its_log_takes() {
        let inbox = Arc::new(Inbox::default());
        let logs = LogPlaces { folder: "nowhere".into(), blobs: Arc::new(MemoryBlobs::new()) };
        // All hands are busy elsewhere.
        let desk = Mutex::new(Desk { at_work: AT_ONCE, ..Desk::default() });
        let runtime = tokio::runtime::Handle::current();
        let (at, observer) = (Arc::clone(&inbox), Arc::new(Nobody));
        let store = Arc::new(Memory::default()) as Arc<dyn Store>;
        let keeping = Arc::new(Keeping::new(&store, &logs));
        let shelf = Shelf(Arc::new(Parts { keeping, logs, inbox: at, observer, runtime, desk }));
        let task = TaskRef::plain(TaskNo(0));
        let ticket =
            Ticket { run: RunKey::new(1, 1), task, attempt: AttemptId::from_bytes([1; 16]) };
        let log = Some(Log::File { bytes: 5_000 });
        let ended = Ended {
            outcome: Outcome::Success(None),
            started: true,
            log,
            cache: None,
            artifacts: Vec::new(),
        };
        shelf.report(Report { ticket, what: ReportKind::Ended(ended) });
        let heard = inbox.take(0, Some(Duration::ZERO)).reports;
        assert_eq!(heard, [Report { ticket, what: ReportKind::Over }]);
    }
}
