//! An executor with a folder of its own, and what it reports.

use mainspring_core::ids::{AttemptId, RunId, RunKey, TaskNo, TaskRef, Ticket};
use mainspring_core::json::Json;
use mainspring_core::kernel::row::{Log, Stopping};
use mainspring_core::limits::LOG_BYTES_DEFAULT;
use mainspring_core::spec::definition::OutputFrom;
use mainspring_core::time::Span;
use mainspring_core::work::{
    ArtifactIn, Ended, EnvPart, EnvValue, Launch, Outcome, ProcessWork, Program, Reattached,
    Report, ReportKind, Stop, Work,
};
use mainspring_exec::log::{LogLine, Stream, lines, read_log};
use mainspring_exec::{Executor, ProcessConfig, ProcessExecutor, Reports};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;

/// Far beyond anything a busy machine needs; a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Rig {
    pub executor: Owned,
    pub folder: Arc<tempfile::TempDir>,
    pub data_id: String,
    reports: Receiver<Report>,
    waits: Receiver<String>,
}

/// Leaves nothing behind when a test ends, whichever way.
pub struct Owned(ProcessExecutor);

impl std::ops::Deref for Owned {
    type Target = ProcessExecutor;
    fn deref(&self) -> &ProcessExecutor {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.kill_all().unwrap();
    }
}

struct Channel {
    reports: Sender<Report>,
    waits: Sender<String>,
}

impl Reports for Channel {
    fn report(&self, report: Report) {
        let _ = self.reports.send(report);
    }

    fn waits(&self, _: Ticket, why: &str) {
        let _ = self.waits.send(why.to_owned());
    }
}

pub fn runtime() -> &'static tokio::runtime::Runtime {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Runtime::new().unwrap())
}

/// A number no other test uses, in this process or another.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    (u64::from(std::process::id()) << 32) | NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Rig {
    pub fn new() -> Self {
        Self::passing(&[])
    }

    pub fn passing(pass_env: &[&str]) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::over(folder, format!("test-{}", unique()), pass_env, runtime().handle())
    }

    /// Branches are landed by this program.
    pub fn landing(program: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let program = program(folder.path());
        let config = Self::config(&folder, format!("test-{}", unique()), &[]);
        Self::with(ProcessConfig { git_merge: program, ..config }, folder, runtime().handle())
    }

    pub fn on(runtime: &tokio::runtime::Runtime) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::over(folder, format!("test-{}", unique()), &[], runtime.handle())
    }

    /// Ends the executor and returns what it still has to say, to the last report.
    pub fn rest(self) -> Vec<Report> {
        let Self { executor, reports, .. } = self;
        drop(executor);
        let mut rest = Vec::new();
        loop {
            match reports.recv_timeout(PATIENCE) {
                Ok(report) => rest.push(report),
                Err(RecvTimeoutError::Disconnected) => return rest,
                Err(RecvTimeoutError::Timeout) => panic!("something still holds the executor"),
            }
        }
    }

    /// A later life on the same folder.
    pub fn reborn(&self) -> Self {
        self.executor.kill_all().unwrap();
        Self::over(Arc::clone(&self.folder), self.data_id.clone(), &[], runtime().handle())
    }

    fn over(
        folder: Arc<tempfile::TempDir>,
        data_id: String,
        pass_env: &[&str],
        runtime: &Handle,
    ) -> Self {
        Self::with(Self::config(&folder, data_id, pass_env), folder, runtime)
    }

    fn config(folder: &tempfile::TempDir, data_id: String, pass_env: &[&str]) -> ProcessConfig {
        ProcessConfig {
            data_id,
            folder: folder.path().to_owned(),
            pass_env: pass_env.iter().map(|name| (*name).to_owned()).collect(),
            secrets_dir: Some(folder.path().join("secrets")),
            git_merge: crate::git::child_program(),
        }
    }

    fn with(config: ProcessConfig, folder: Arc<tempfile::TempDir>, runtime: &Handle) -> Self {
        let (sender, reports) = channel();
        let (say, waits) = channel();
        let data_id = config.data_id.clone();
        let channel = Arc::new(Channel { reports: sender, waits: say });
        let executor = ProcessExecutor::new(config, runtime.clone(), channel);
        Self { executor: Owned(executor.unwrap()), folder, data_id, reports, waits }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn next(&self) -> Report {
        self.reports.recv_timeout(PATIENCE).expect("a report")
    }

    /// Why something that was left has to wait.
    pub fn waits(&self) -> String {
        self.waits.recv_timeout(PATIENCE).expect("something that waits")
    }

    pub fn start(&self, launch: Launch) -> Ticket {
        let ticket = launch.ticket;
        self.executor.start(launch);
        ticket
    }

    /// Starts it and waits until it runs.
    pub fn started(&self, launch: Launch) -> Ticket {
        let ticket = self.start(launch);
        assert_eq!(self.next(), Report { ticket, what: ReportKind::Started });
        ticket
    }

    pub fn stop(&self, ticket: Ticket) {
        self.executor.stop(Stop { ticket, why: Stopping::Cancel });
    }

    /// The next report, which has to be the end of this attempt. That its work is over may have
    /// been said before.
    pub fn end_of(&self, ticket: Ticket) -> Ended {
        let mut report = self.next();
        if report.what == ReportKind::Over {
            report = self.next();
        }
        assert_eq!(report.ticket, ticket);
        match report.what {
            ReportKind::Ended(ended) => ended,
            other => panic!("not an end: {other:?}"),
        }
    }

    /// Starts it and waits for its end.
    pub fn run(&self, launch: Launch) -> Ended {
        let ticket = self.started(launch);
        self.end_of(ticket)
    }

    /// For what fails before it starts.
    pub fn fail(&self, launch: Launch) -> mainspring_core::error::TaskError {
        let ticket = self.start(launch);
        let ended = self.end_of(ticket);
        assert!(!ended.started && ended.log.is_none());
        match ended.outcome {
            Outcome::Failed(error) => error,
            other => panic!("not a failure: {other:?}"),
        }
    }

    pub fn reattached(&self, ticket: Ticket, life: mainspring_core::work::Life) -> Reattached {
        self.executor.reattach(mainspring_core::work::Question { ticket, number: 7 }, life);
        let report = self.next();
        assert_eq!(report.ticket, ticket);
        match report.what {
            ReportKind::Reattached(7, answer) => answer,
            other => panic!("not an answer: {other:?}"),
        }
    }

    /// The log of an ended attempt, wherever it is.
    pub fn log(&self, ticket: Ticket, log: Option<&Log>) -> Vec<u8> {
        match log {
            None => Vec::new(),
            Some(Log::Inline(bytes)) => bytes.to_vec(),
            Some(Log::File { bytes }) => {
                let read = self.live_log(ticket.attempt).unwrap();
                assert_eq!(read.len() as u64, *bytes);
                read
            }
            Some(Log::Blob { .. }) => panic!("an executor knows of no blobs: {log:?}"),
        }
    }

    pub fn live_log(&self, attempt: AttemptId) -> Option<Vec<u8>> {
        let mut read = Vec::new();
        read_log(self.folder.path(), attempt).unwrap()?.read_to_end(&mut read).unwrap();
        Some(read)
    }

    /// Runs it to success and returns what it wrote.
    pub fn written(&self, launch: Launch) -> Written {
        let ticket = launch.ticket;
        let ended = self.run(launch);
        assert_eq!(ended.outcome, Outcome::Success(None));
        Written::of(&self.log(ticket, ended.log.as_ref()))
    }

    /// Puts a secret where the executor looks for it.
    pub fn keep_secret(&self, name: &str, value: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.path("secrets")).unwrap();
        std::fs::write(self.path("secrets").join(name), value).unwrap();
    }

    pub fn files_in(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// A log as each stream's bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub notes: Vec<String>,
}

impl Written {
    pub fn of(log: &[u8]) -> Self {
        let records: Vec<LogLine<'_>> = lines(log).collect();
        let notes = records.iter().filter(|line| line.stream == Stream::Note);
        Self {
            stdout: stream(&records, Stream::Stdout),
            stderr: stream(&records, Stream::Stderr),
            notes: notes.map(|line| String::from_utf8_lossy(line.text).into_owned()).collect(),
        }
    }

    pub fn text(&self) -> String {
        assert_eq!((self.stderr.as_slice(), self.notes.len()), (&b""[..], 0));
        String::from_utf8(self.stdout.clone()).unwrap()
    }
}

fn stream(records: &[LogLine<'_>], stream: Stream) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in records.iter().filter(|line| line.stream == stream) {
        bytes.extend_from_slice(line.text);
        if line.complete {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// What it failed with, after it had started.
pub fn failure(ended: Ended) -> mainspring_core::error::TaskError {
    assert!(ended.started);
    match ended.outcome {
        Outcome::Failed(error) => error,
        other => panic!("not a failure: {other:?}"),
    }
}

pub fn ticket() -> Ticket {
    let unique = unique();
    let mut bytes = [7; 16];
    bytes[..8].copy_from_slice(&unique.to_be_bytes());
    let task = TaskRef::plain(TaskNo(0));
    Ticket { run: RunKey(1), task, attempt: AttemptId::from_bytes(bytes) }
}

pub fn shell(line: &str) -> Launch {
    launch(Program::Shell(line.into()))
}

pub fn argv(argv: &[&str]) -> Launch {
    launch(Program::Argv(argv.iter().map(|arg| (*arg).to_owned()).collect()))
}

fn launch(program: Program) -> Launch {
    Launch {
        ticket: ticket(),
        run: RunId::from_bytes([3; 16]),
        workflow: "nightly".into(),
        task: "load".into(),
        attempt: 1,
        finalizes: None,
        work: Work::Process(ProcessWork {
            program,
            env: Vec::new(),
            workdir: "/".to_owned(),
            workspace: None,
            output: OutputFrom::File,
            kill_grace: Span::from_secs(60),
            log_bytes_max: LOG_BYTES_DEFAULT,
            artifacts_wanted: Vec::new(),
            artifacts_in: Vec::new(),
            artifacts_out: Vec::new(),
        }),
        input: Json::empty_object(),
        run_input: Json::null(),
        instance: None,
        cache: None,
    }
}

/// Changes a process task's details.
pub trait With {
    fn with(self, change: impl FnOnce(&mut ProcessWork)) -> Self;
    fn env(self, name: &str, value: impl AsRef<Path>) -> Self;
    fn secret(self, variable: &str, name: &str) -> Self;
    fn workdir(self, path: &Path) -> Self;
    fn brings(self, path: &str, source: &Path) -> Self;
    fn leaves(self, path: &str) -> Self;
}

impl With for Launch {
    fn with(mut self, change: impl FnOnce(&mut ProcessWork)) -> Self {
        if let Work::Process(work) = &mut self.work {
            change(work);
        }
        self
    }

    fn env(self, name: &str, value: impl AsRef<Path>) -> Self {
        let value = value.as_ref().to_str().unwrap().to_owned();
        self.with(|work| work.env.push((name.to_owned(), EnvValue::Text(value))))
    }

    fn secret(self, variable: &str, name: &str) -> Self {
        let parts = vec![EnvPart::Secret(name.to_owned())];
        self.with(|work| work.env.push((variable.to_owned(), EnvValue::Parts(parts))))
    }

    fn workdir(self, path: &Path) -> Self {
        self.with(|work| work.workdir = path.to_str().unwrap().to_owned())
    }

    fn brings(self, path: &str, source: &Path) -> Self {
        let source = source.to_str().unwrap().to_owned();
        self.with(|work| {
            work.artifacts_in.push(ArtifactIn { path: path.to_owned(), source, executable: false });
        })
    }

    fn leaves(self, path: &str) -> Self {
        self.with(|work| work.artifacts_out.push(path.to_owned()))
    }
}

/// A fifo: a process that opens it waits for the test to open the other end, and the other way
/// round.
pub fn fifo(rig: &Rig, name: &str) -> PathBuf {
    let path = rig.path(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    path
}

/// Waits until a process has written to a fifo and closed it; returns what it wrote.
pub fn hear(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap().trim().to_owned()
}

/// Whether a process lives: zombies do not.
pub fn is_alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, Some(Some('Z' | 'X')))
}

/// Waits for something that another process or thread brings about soon.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + PATIENCE;
    while !holds() {
        assert!(std::time::Instant::now() < deadline, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
