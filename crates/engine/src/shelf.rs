//! Large logs go into the blob store before the world hears of the end that brings them, so that
//! the row of the end says where the log is.
//!
//! ```text
//!  executors ─► report ─┬─ no log, or a small one ───────────────────► inbox
//!                       └─ large ─► `Over` to the inbox, and
//!                                   queue ─► 2 at once: compress, put ─► inbox   Log::Blob
//!                                                          └─ failed ──► inbox   Log::File
//!  act thread ─► settled: the end is durable ─► the file goes, if its blob is there
//! ```
//! Whoever has no large log pays one look at its report. A crash in between leaves the file, and
//! perhaps a blob that no row knows: the next life puts the log again under the same name.

use crate::engine::EngineConfig;
use crate::events::Observer;
use crate::inbox::Inbox;
use crate::logs::LogPlaces;
use flate2::Compression;
use flate2::read::GzEncoder;
use mainspring_core::ids::AttemptId;
use mainspring_core::kernel::row::Log;
use mainspring_core::work::{Reattached, Report, ReportKind};
use mainspring_exec::Reports;
use mainspring_exec::log::{read_log, remove_log};
use mainspring_store::BlobName;
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Compressing is work for a core, and there are few; a database has as many connections for it.
const AT_ONCE: usize = 2;

#[derive(Clone)]
pub(crate) struct Shelf(Arc<Parts>);

struct Parts {
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
    is_closed: bool,
}

impl Shelf {
    pub fn new(config: &EngineConfig, inbox: Arc<Inbox>) -> Self {
        Self(Arc::new(Parts {
            logs: config.logs.clone(),
            inbox,
            observer: Arc::clone(&config.observer),
            runtime: tokio::runtime::Handle::current(),
            desk: Mutex::default(),
        }))
    }

    /// The end of this attempt is durable: nobody needs the file of a log that is in the blob
    /// store. Whoever reads it keeps it open.
    pub fn settled(&self, attempt: AttemptId) {
        if self.0.desk().stored.remove(&attempt) {
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
        match large_log(&mut report) {
            None => self.0.inbox.report(report),
            Some(_) => self.take(report),
        }
    }

    fn report_all(&self, mut reports: Vec<Report>) {
        let large = reports.extract_if(.., |report| large_log(report).is_some());
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
        self.inbox.report(report);
    }

    fn put(&self, attempt: AttemptId) -> io::Result<()> {
        let file = read_log(&self.logs.folder, attempt)?;
        let file = file.ok_or_else(|| io::Error::other(format!("the log of {attempt} is gone")))?;
        // Fast: an end waits for it, and logs shrink to a tenth even so.
        let mut compressed = GzEncoder::new(file, Compression::fast());
        Ok(self.logs.blobs.put(BlobName::Log(attempt), &mut compressed)?)
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
    use mainspring_core::ids::{RunKey, TaskNo, TaskRef, Ticket};
    use mainspring_core::work::{Ended, Outcome};
    use mainspring_store::MemoryBlobs;
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
        let shelf = Shelf(Arc::new(Parts { logs, inbox: at, observer, runtime, desk }));
        let task = TaskRef::plain(TaskNo(0));
        let ticket =
            Ticket { run: RunKey::new(1, 1), task, attempt: AttemptId::from_bytes([1; 16]) };
        let log = Some(Log::File { bytes: 5_000 });
        let ended = Ended { outcome: Outcome::Success(None), started: true, log };
        shelf.report(Report { ticket, what: ReportKind::Ended(ended) });
        let heard = inbox.take(0, Some(Duration::ZERO)).reports;
        assert_eq!(heard, [Report { ticket, what: ReportKind::Over }]);
    }
}
