//! Large logs and outputs go into the blob store before the world hears of the end that brings
//! them, so that the row of the end says where they are. Outputs are checked against their schema
//! here, and a success is told what it is to be remembered under.
//!
//! ```text
//!  executors ─► report ─┬─ nothing to do ────────────────────────────► inbox
//!                       └─ large ─► `Over` to the inbox, and
//!                                   queue ─► 2 at once: compress, put ─► inbox   Log::Blob
//!                                     ▲                    ├─ failed ──► inbox   Log::File
//!                                     │                    └─ failed ──► later   outputs, files
//!                                     └──────── a pause, longer each time ─┘
//!  act thread ─► settled: the end is durable ─► the file goes, if its blob is there
//!             └► cancelled: nobody wants what it left
//! ```
//! What an executor itself has no room for waits in the same way: it says so, and tells the end
//! when it could keep it. Work that was done well does not fail because there is no room for what it left, or nobody
//! there to take it: its attempt stays live until that is put away, however long it takes. No
//! timeout counts that time, which would be the store's and not the task's; a person who does not
//! want to wait cancels. When the program ends first the attempt is a loss like any other.
//!
//! Whoever has no large log pays one look at its report. A crash in between leaves the file, and
//! perhaps a blob that no row knows: the next life puts the log again under the same name.

use crate::again::{Again, Wait};
use crate::artifacts::{self, Left};
use crate::engine::EngineConfig;
use crate::events::Observer;
use crate::inbox::Inbox;
use crate::keeping::Keeping;
use crate::logs::LogPlaces;
use flate2::Compression;
use flate2::read::GzEncoder;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::evaluate::{Outputs as _, OutputsError, Surroundings};
use mainspring_core::ids::{AttemptId, TaskNo, Ticket};
use mainspring_core::kernel::row::{Log, Stopping};
use mainspring_core::launch::StartAttempt;
use mainspring_core::output::Output;
use mainspring_core::work::{
    ArtifactOut, CacheNote, Ended, Outcome, Reattached, Report, ReportKind, Stop,
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
    again: Again,
    runtime: tokio::runtime::Handle,
    desk: Mutex<Desk>,
}

/// An end that is not told yet.
struct Parcel {
    report: Report,
    /// It was tried before.
    wait: Option<Wait>,
}

#[derive(Default)]
struct Desk {
    /// Never more than live attempts.
    waiting: VecDeque<Parcel>,
    /// What the store keeps waiting.
    later: BTreeMap<AttemptId, Parcel>,
    /// Attempts whose executor has no room for what they left.
    unkept: BTreeMap<AttemptId, Wait>,
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
    /// A finalizer: nobody has said what it is to put out.
    finalizes: bool,
    cache: Option<CacheNote>,
    /// It was cancelled: nobody wants what it leaves.
    is_cancelled: bool,
}

impl Expected {
    /// An end without what it left. What has landed has landed, whatever it put out.
    fn unwanted(&self, mut report: Report) -> Report {
        if let Some(ended) = ended(&mut report) {
            ended.outcome = match self.finalizes {
                true => Outcome::Success(None),
                false => Outcome::Stopped,
            };
            ended.artifacts.clear();
        }
        report
    }
}

impl Shelf {
    pub fn new(
        config: &EngineConfig,
        keeping: Arc<Keeping>,
        inbox: Arc<Inbox>,
        again: Again,
    ) -> Self {
        Self(Arc::new(Parts {
            keeping,
            logs: config.logs.clone(),
            inbox,
            observer: Arc::clone(&config.observer),
            again,
            runtime: tokio::runtime::Handle::current(),
            desk: Mutex::default(),
        }))
    }

    /// An executor is about to be given this attempt.
    pub fn expect(&self, start: &StartAttempt, cache: Option<CacheNote>) {
        let task = start.ticket.task.no;
        let finalizes = start.finalizes.is_some();
        if finalizes || start.around.definition.task(task).action.puts_out() {
            let around = Arc::clone(&start.around);
            let expected = Expected { around, task, finalizes, cache, is_cancelled: false };
            self.0.desk().expected.insert(start.ticket.attempt, expected);
        }
    }

    /// The end of this attempt is durable: nobody needs the file of a log that is in the blob
    /// store. Whoever reads it keeps it open.
    pub fn settled(&self, attempt: AttemptId) {
        let mut desk = self.0.desk();
        desk.expected.remove(&attempt);
        desk.later.remove(&attempt);
        desk.unkept.remove(&attempt);
        let is_stored = desk.stored.remove(&attempt);
        drop(desk);
        if is_stored {
            // A file that stays goes with its run.
            let _ = remove_log(&self.0.logs.folder, attempt);
        }
    }

    /// An attempt is to be stopped. If its work is over and only what it left is waiting, there is
    /// nothing left to wait for, unless it may go on after all.
    pub fn stop(&self, stop: &Stop) {
        if stop.why != Stopping::Cancel {
            return;
        }
        let mut desk = self.0.desk();
        let later = desk.later.remove(&stop.ticket.attempt);
        let Some(expected) = desk.expected.get_mut(&stop.ticket.attempt) else { return };
        expected.is_cancelled = true;
        if let Some(parcel) = later {
            let report = expected.unwanted(parcel.report);
            drop(desk);
            self.0.inbox.report(report);
        }
    }

    /// Begins nothing more: what waits is found again by the next life.
    pub fn close(&self) {
        let mut desk = self.0.desk();
        desk.is_closed = true;
        desk.waiting.clear();
        desk.later.clear();
        desk.unkept.clear();
    }

    fn take(&self, report: Report) {
        let mut desk = self.0.desk();
        if desk.is_closed {
            return;
        }
        // However long the log takes, the work did not take longer.
        self.0.inbox.report(Report { ticket: report.ticket, what: ReportKind::Over });
        // The same end, told once more.
        desk.later.remove(&report.ticket.attempt);
        self.0.push(desk, Parcel { report, wait: None });
    }
}

impl Reports for Shelf {
    fn report(&self, mut report: Report) {
        match self.0.has_work(&mut report) {
            false => self.0.inbox.report(report),
            true => self.take(report),
        }
    }

    fn waits(&self, ticket: Ticket, why: &str) {
        let former = self.0.desk().unkept.remove(&ticket.attempt);
        let wait = self.0.again.wait(former, why);
        let mut desk = self.0.desk();
        if !desk.is_closed {
            desk.unkept.insert(ticket.attempt, wait);
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

    fn push(self: &Arc<Self>, mut desk: MutexGuard<'_, Desk>, parcel: Parcel) {
        desk.waiting.push_back(parcel);
        if desk.at_work < AT_ONCE {
            desk.at_work += 1;
            let parts = Arc::clone(self);
            self.runtime.spawn_blocking(move || parts.work());
        }
    }

    fn work(self: &Arc<Self>) {
        loop {
            let mut desk = self.desk();
            let Some(parcel) = desk.waiting.pop_front() else {
                desk.at_work -= 1;
                return;
            };
            drop(desk);
            self.keep(parcel);
        }
    }

    fn keep(self: &Arc<Self>, parcel: Parcel) {
        let Parcel { mut report, wait } = parcel;
        // A log is tried once: where it is it can be read as well.
        if wait.is_none() {
            self.keep_log(&mut report);
        }
        match self.keep_output(&mut report) {
            Ok(()) => self.inbox.report(report),
            Err(why) => {
                let wait = self.again.wait(wait, &why);
                self.put_off(report, wait);
            }
        }
    }

    /// Back to the end of the queue, after a pause that takes nobody's place.
    fn put_off(self: &Arc<Self>, report: Report, wait: Wait) {
        let attempt = report.ticket.attempt;
        let pause = wait.pause();
        let mut desk = self.desk();
        match desk.expected.get(&attempt) {
            Some(expected) if expected.is_cancelled => {
                let report = expected.unwanted(report);
                drop(desk);
                return self.inbox.report(report);
            }
            Some(_) if !desk.is_closed => {}
            _ => return,
        }
        desk.later.insert(attempt, Parcel { report, wait: Some(wait) });
        drop(desk);
        let parts = Arc::clone(self);
        self.runtime.spawn(async move {
            tokio::time::sleep(pause).await;
            let mut desk = parts.desk();
            if let Some(parcel) = desk.later.remove(&attempt) {
                parts.push(desk, parcel);
            }
        });
    }

    fn keep_log(&self, report: &mut Report) {
        let attempt = report.ticket.attempt;
        let Some(log) = large_log(report) else { return };
        match self.put(attempt) {
            Ok(()) => {
                let Log::File { bytes } = *log else { unreachable!("only these are large") };
                *log = Log::Blob { bytes };
                self.desk().stored.insert(attempt);
            }
            Err(error) => self.observer.log_stays(attempt, &error.to_string()),
        }
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
            let has_schema = !expected.finalizes && task.has_output_schema();
            is_large || has_files || has_schema || expected.cache.is_some()
        })
    }

    /// An error says why that has to wait: nothing of it is lost.
    fn keep_output(&self, report: &mut Report) -> Result<(), String> {
        let attempt = report.ticket.attempt;
        let Some(ended) = ended(report) else { return Ok(()) };
        let Outcome::Success(output) = &ended.outcome else { return Ok(()) };
        let desk = self.desk();
        let Some(expected) = desk.expected.get(&attempt) else { return Ok(()) };
        let Expected { task, finalizes, cache, .. } = *expected;
        let around = Arc::clone(&expected.around);
        drop(desk);
        let schema = (!finalizes).then_some(task);
        let kept = self.checked(&around, schema, output.as_ref()).and_then(|output| {
            let key = cache.map(|note| note.key(&around.definition, task));
            let (run, key) = (around.run, key.as_ref());
            let left = Left { run, attempt, key, output: output.as_ref() };
            self.keep_files(&left, &ended.artifacts)?;
            Ok(output)
        });
        let kept = match kept {
            Ok(output) => Ok(output),
            Err(Unkept::Failed(error)) => Err(error),
            Err(Unkept::Later(why)) => return Err(why),
        };
        ended.artifacts.clear();
        ended.cache = cache.filter(|_| kept.is_ok());
        ended.outcome = kept.map_or_else(Outcome::Failed, Outcome::Success);
        Ok(())
    }

    /// The output as it goes into the row, held against the schema of this task if it is its.
    fn checked(
        &self,
        around: &Surroundings,
        schema: Option<TaskNo>,
        output: Option<&Output>,
    ) -> Result<Option<Output>, Unkept> {
        let given = output.and_then(Output::inline);
        let checked = schema.map(|task| around.definition.task(task).check_output(given));
        let failed = |what| Unkept::Failed(TaskError::new(ErrorClass::Logic, what));
        checked.transpose().map_err(failed)?;
        let Some(json) = given else { return Ok(output.cloned()) };
        let kept = self.keeping.keep(around.run, json.clone());
        kept.map(Some).map_err(|error| unkept(&error, "its output"))
    }

    fn keep_files(&self, left: &Left<'_>, files: &[ArtifactOut]) -> Result<(), Unkept> {
        if files.is_empty() {
            return Ok(());
        }
        let kept = artifacts::keep(&self.keeping, left, files);
        kept.map_err(|error| unkept(&error, "what it left"))
    }

    fn put(&self, attempt: AttemptId) -> io::Result<()> {
        let file = read_log(&self.logs.folder, attempt)?;
        let file = file.ok_or_else(|| io::Error::other(format!("the log of {attempt} is gone")))?;
        // Fast: an end waits for it, and logs shrink to a tenth even so.
        let mut compressed = GzEncoder::new(file, Compression::fast());
        Ok(self.logs.blobs.put(BlobName::Log(attempt), &mut compressed)?)
    }
}

/// Why what a success left is not put away.
enum Unkept {
    /// It never will be.
    Failed(TaskError),
    /// Not yet.
    Later(String),
}

fn unkept(error: &OutputsError, what: &str) -> Unkept {
    let why = format!("{what} cannot be put away: {error}");
    match error {
        OutputsError::Lost(_) => Unkept::Failed(TaskError::new(ErrorClass::Internal, why)),
        OutputsError::Unreachable(_) => Unkept::Later(why),
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
    use crate::engine::Load;
    use crate::events::Event;
    use mainspring_core::ids::{RunKey, SchedulerId, TaskRef};
    use mainspring_store::{Memory, MemoryBlobs, Store};
    use std::time::Duration;

    /// Remembers what waits.
    #[derive(Default)]
    struct Listener(Mutex<Vec<String>>);

    impl Observer for Listener {
        fn committed(&self, _: &[Event]) {}
        fn loaded(&self, _: u64) {}
        fn log_stays(&self, _: AttemptId, _: &str) {}
        fn store_failed(&self, _: &str) {}

        fn content_waits(&self, why: &str) {
            self.0.lock().unwrap().push(why.to_owned());
        }
    }

    fn shelf() -> (Shelf, Arc<Inbox>, Arc<Listener>) {
        let inbox = Arc::new(Inbox::default());
        let listener = Arc::new(Listener::default());
        let logs = LogPlaces { folder: "nowhere".into(), blobs: Arc::new(MemoryBlobs::new()) };
        let store = Arc::new(Memory::default()) as Arc<dyn Store>;
        let keeping = Arc::new(Keeping::new(&store, &logs));
        let config = EngineConfig {
            store,
            logs,
            scheduler: SchedulerId::from_bytes([1; 16]),
            limits: Vec::new(),
            load: Load::All,
            observer: Arc::clone(&listener) as Arc<dyn Observer>,
            store_patience: None,
        };
        let again = Again::new(&config, &inbox);
        (Shelf::new(&config, keeping, Arc::clone(&inbox), again), inbox, listener)
    }

    fn ticket(no: u8) -> Ticket {
        let task = TaskRef::plain(TaskNo(0));
        Ticket { run: RunKey::new(1, 1), task, attempt: AttemptId::from_bytes([no; 16]) }
    }

    #[tokio::test]
    async fn what_an_executor_has_no_room_for_is_said_once() {
        let (shelf, _, listener) = shelf();
        for no in [1, 1, 2, 1] {
            shelf.waits(ticket(no), "full");
        }
        let said = || listener.0.lock().unwrap().len();
        assert_eq!(said(), 1, "for all that waits");
        shelf.settled(ticket(1).attempt);
        shelf.waits(ticket(2), "full");
        assert_eq!(said(), 1);
        shelf.settled(ticket(2).attempt);
        shelf.waits(ticket(3), "full again");
        assert_eq!(*listener.0.lock().unwrap(), ["full", "full again"]);
    }

    /// The world hears that the work is over before anybody has begun to put the log away.
    #[tokio::test]
    async fn work_is_over_however_long_its_log_takes() {
        let (shelf, inbox, _) = shelf();
        // All hands are busy elsewhere.
        shelf.0.desk().at_work = AT_ONCE;
        let ticket = ticket(1);
        let log = Some(Log::File { bytes: 5_000 });
        let ended = Ended { log, ..Ended::of(Outcome::Success(None)) };
        shelf.report(Report { ticket, what: ReportKind::Ended(ended) });
        let heard = inbox.take(0, Some(Duration::ZERO)).reports;
        assert_eq!(heard, [Report { ticket, what: ReportKind::Over }]);
    }
}
