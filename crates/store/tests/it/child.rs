//! This test program, started again as another process that writes or reads a database.
//!
//! ```text
//!  parent                                child
//!  spawn ──────────────────────────────► open, register
//!  wait for "ack n" ◄──────── stdout ─── commit n, n + 1, … (three on their way at once)
//!  SIGKILL ────────────────────────────►  ✗
//! ```

use crate::asking::{ask, register};
use crate::rows::{SCHEDULER, attempt_id, head, plain, progress, run_id, task};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::{Log, RunStatus};
use mainspring_core::world::batch::Change;
use mainspring_store::{Postgres, RunsQuery, Sqlite, Store, StoredRun};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use tempfile::TempDir;

const WRITE: &str = "MAINSPRING_STORE_TEST_WRITE";
const READ: &str = "MAINSPRING_STORE_TEST_READ";
/// Enough for a batch to fill many pages.
const TASKS: u32 = 100;
pub const ON_THEIR_WAY: usize = 3;

/// Batch `number` is whole when its run has all its tasks and its log, and the run before it
/// has ended.
pub fn batch(number: u64) -> Vec<Change> {
    let run = RunKey::new(1, number);
    let mut changes = vec![Change::NewRun(head(number), progress(RunStatus::Running, number))];
    if number > 1 {
        let former = RunKey::new(1, number - 1);
        changes.push(Change::PutRun(former, progress(RunStatus::Success, number)));
    }
    changes.extend((0..TASKS).map(|no| Change::PutTask(run, task(plain(no)))));
    changes.push(Change::NewLog(run, attempt_id(number), Log::File { bytes: number }));
    changes
}

pub fn assert_whole(store: &dyn Store, number: u64) -> StoredRun {
    let run = ask(store.run(run_id(number))).unwrap_or_else(|| panic!("run {number} is gone"));
    assert_eq!(run.tasks.len(), TASKS as usize, "run {number} is half there");
    let log = ask(store.log(run.head.key, attempt_id(number)));
    assert_eq!(log, Some(Log::File { bytes: number }));
    run
}

/// The number of the last batch in a store that holds whole batches only.
pub fn last_whole(store: &dyn Store) -> u64 {
    let newest = ask(store.runs(RunsQuery { limit: 2, ..RunsQuery::default() }));
    let Some((head, _)) = newest.first() else { return 0 };
    let statuses: Vec<RunStatus> = newest.iter().map(|(_, progress)| progress.status).collect();
    let expected = [RunStatus::Running, RunStatus::Success];
    assert_eq!(statuses, expected[..statuses.len()], "a batch is half there");
    head.key.sequence()
}

/// A database by its path or its URL.
pub fn open(place: &OsStr) -> Box<dyn Store> {
    match place.to_str().filter(|place| place.starts_with("postgres://")) {
        Some(url) => Box::new(Postgres::open(url).unwrap()),
        None => Box::new(Sqlite::open(Path::new(place)).unwrap()),
    }
}

/// Does nothing unless a parent asks for it.
#[test]
fn commits_until_it_is_killed() {
    let Some(place) = std::env::var_os(WRITE) else { return };
    let store = open(&place);
    let registration = register(&*store, SCHEDULER);
    let (free, slots) = mpsc::channel();
    (0..ON_THEIR_WAY).for_each(|_| free.send(()).unwrap());
    for number in registration.next_run.. {
        slots.recv().unwrap();
        let free = free.clone();
        let done = Box::new(move |result: Result<(), _>| {
            result.unwrap();
            // One write, so that a line is whole or not there.
            std::io::stdout().write_all(format!("\nack {number}\n").as_bytes()).unwrap();
            free.send(()).unwrap();
        });
        store.commit(registration.fence, batch(number), done);
    }
}

/// Does nothing unless a parent asks for it.
#[test]
fn reads_without_writing() {
    let Some(path) = std::env::var_os(READ) else { return };
    let said = match Sqlite::open_read_only(Path::new(&path)) {
        Ok(store) => format!("\nread {}\n", last_whole(&store)),
        Err(error) => format!("\nrefused {error}\n"),
    };
    std::io::stdout().write_all(said.as_bytes()).unwrap();
}

pub struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// What it was started from, if that is a copy.
    _copy: Option<TempDir>,
}

impl Process {
    pub fn writing(place: impl AsRef<OsStr>) -> Self {
        let mut command = command("child::commits_until_it_is_killed");
        Self::start(command.env(WRITE, place), None)
    }

    /// A reader for whom permissions count: they do not for root. Whoever stands in for root may
    /// not be able to enter the checkout, and gets a copy of this program.
    pub fn reading(path: &Path) -> Self {
        let mut command = command("child::reads_without_writing");
        command.env(READ, path);
        let is_root = fs::metadata(path).unwrap().uid() == 0;
        if !is_root {
            return Self::start(&mut command, None);
        }
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let copy = folder.path().join("reads");
        fs::copy(command.get_program(), &copy).unwrap();
        let mut copied = Command::new(&copy);
        copied.args(command.get_args()).env(READ, path).current_dir("/");
        Self::start(copied.uid(65_534).gid(65_534), Some(folder))
    }

    fn start(command: &mut Command, copy: Option<TempDir>) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, _copy: copy }
    }

    /// What follows `word` in the next line that begins with it; None when it has ended.
    pub fn next(&mut self, word: &str) -> Option<String> {
        self.lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix(word).map(|rest| rest.trim().to_owned()))
    }

    pub fn next_ack(&mut self) -> Option<u64> {
        self.next("ack ").map(|number| number.parse().unwrap())
    }

    /// SIGKILL; the last batch that it acknowledged, if it did any since.
    pub fn kill(mut self) -> Option<u64> {
        self.child.kill().unwrap();
        let mut last = None;
        while let Some(number) = self.next_ack() {
            last = Some(number);
        }
        self.child.wait().unwrap();
        last
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    command
}
