//! Git on behalf of an attempt: the worktree it works in, what of it is committed at its end, and
//! what has become of a merge. All of it may take long, and none of it is done on a spawn thread.

use super::environment::{ATTEMPT_ID, DATA_ID};
use super::keeper::{self, Prey};
use super::table::Shared;
use crate::git::{Begin, Caller, GitError, Group, Order, Verdict, Workspace, Worktrees, conclude};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::AttemptId;
use mainspring_core::spec::definition::OutputFrom;
use mainspring_core::time::Span;
use mainspring_core::work::{Launch, Outcome, ProcessWork, Program, Work};
use mainspring_core::work_git::{GitMerge, GitWorkspace, Lands};
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;

/// Attempts that are prepared by git at once. The rest wait without a thread: most of them would
/// only wait for each other's locks.
const AT_ONCE: usize = 8;
/// Notes of merges that nobody has asked after for so long belong to nobody.
const NOTES_KEPT: Duration = Duration::from_secs(30 * 86_400);
/// Between two tries to ask git something when no process is to be had.
const ASK_AGAIN: Duration = Duration::from_millis(200);
/// Between two looks for survivors.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// What an executor needs for git.
#[derive(Debug)]
pub(super) struct GitDesk {
    pub worktrees: Worktrees,
    pub turns: Arc<Semaphore>,
    /// One note for each merge that was started and is not settled.
    merges: PathBuf,
    /// Lands a branch, told on stdin.
    program: Arc<[String]>,
}

impl GitDesk {
    pub fn open(
        folder: &Path,
        program: Vec<String>,
        runtime: &tokio::runtime::Handle,
    ) -> io::Result<Self> {
        let merges = folder.join("merges");
        std::fs::create_dir_all(&merges)?;
        for entry in std::fs::read_dir(&merges)?.flatten() {
            let written = entry.metadata().and_then(|found| found.modified());
            let is_old = |at: SystemTime| at.elapsed().is_ok_and(|age| age > NOTES_KEPT);
            if written.is_ok_and(is_old) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        let worktrees = Worktrees::open(&folder.join("worktrees"), runtime)?;
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        Ok(Self { worktrees, turns, merges, program: program.into() })
    }

    fn note(&self, attempt: AttemptId) -> PathBuf {
        self.merges.join(format!("{attempt}.json"))
    }

    /// Notes down what is about to be landed, so that a later life can tell whether it has.
    pub fn write_note(&self, attempt: AttemptId, merge: &GitMerge) -> io::Result<()> {
        std::fs::write(self.note(attempt), serde_json::to_string(merge)?)
    }

    /// Whether it is a merge, of this life or a former one, that is not settled.
    pub fn has_note(&self, attempt: AttemptId) -> bool {
        self.note(attempt).exists()
    }

    fn read_note(&self, attempt: AttemptId) -> Option<GitMerge> {
        let text = std::fs::read_to_string(self.note(attempt)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Nothing is left of an attempt when this is over. May take long.
    pub fn clear(&self, attempt: AttemptId) {
        self.forget(attempt);
        self.worktrees.remove(attempt);
    }

    /// The note alone.
    pub fn forget(&self, attempt: AttemptId) {
        let _ = std::fs::remove_file(self.note(attempt));
    }

    /// The child that lands a branch, and what it is told on stdin.
    pub fn merge_work(
        &self,
        attempt: AttemptId,
        merge: &GitMerge,
    ) -> Result<(ProcessWork, String), TaskError> {
        if self.program.is_empty() {
            return Err(TaskError::new(ErrorClass::Logic, "this executor lands no branches"));
        }
        let worktrees = self.worktrees.folder().to_owned();
        let order = Order { merge: merge.clone(), attempt, worktrees };
        let work = ProcessWork {
            program: Program::Argv(Arc::clone(&self.program)),
            env: Vec::new(),
            workdir: merge.workdir.clone(),
            workspace: None,
            output: OutputFrom::File,
            kill_grace: Span::from_ms(merge.kill_grace_ms),
            log_bytes_max: merge.log_bytes_max,
            artifacts_in: Vec::new(),
            artifacts_wanted: Vec::new(),
            artifacts_out: Vec::new(),
        };
        Ok((work, serde_json::to_string(&order).expect("plain data serializes")))
    }
}

impl Shared {
    /// Calls git for an attempt; whatever is started can be found by its id.
    pub fn git(
        self: &Arc<Self>,
        attempt: AttemptId,
        wanted: impl Fn(&Self) -> bool + Send + Sync + 'static,
    ) -> Caller {
        let own = [
            (OsString::from(DATA_ID), OsString::from(&self.data_id)),
            (OsString::from(ATTEMPT_ID), OsString::from(attempt.to_string())),
        ];
        let env = self.provisions.inherited.variables().chain(own);
        let shared = Arc::clone(self);
        Caller::new(env, Group::Own, move || wanted(&shared))
    }

    /// What a former life may have landed without anybody hearing of it; None for what was no
    /// merge.
    pub fn landed_before(self: &Arc<Self>, attempt: AttemptId) -> Option<Landed> {
        let merge = self.git.read_note(attempt)?;
        Some(self.landed(attempt, &merge))
    }

    /// Whether a merge has landed, however its process ended. Asks for as long as there is no
    /// process to ask with: whoever is told that it has not landed may call it cancelled.
    pub fn landed(self: &Arc<Self>, attempt: AttemptId, merge: &GitMerge) -> Landed {
        let caller = self.git(attempt, |shared| !shared.is_shutting_down());
        loop {
            match conclude(&caller, merge) {
                Ok(Some(verdict)) => return Landed::Yes(verdict.to_outcome()),
                Err(GitError::Abandoned) => return Landed::Unsaid,
                Err(GitError::Scarce(_)) => std::thread::sleep(ASK_AGAIN),
                // Of a repository that cannot be read, nobody will ever know.
                Ok(None) | Err(_) => return Landed::No,
            }
        }
    }
}

/// What is known of a merge whose process is gone.
#[derive(Debug)]
pub(super) enum Landed {
    Yes(Outcome),
    No,
    /// The executor ends before it could be found out: nothing may be said about it.
    Unsaid,
}

/// A workspace and what is done with it when its attempt has succeeded.
#[derive(Debug)]
pub(super) struct Working {
    pub workspace: Workspace,
    into: Option<String>,
    /// None for a finalizer: what it leaves is no work.
    message: Option<String>,
    /// Files that were brought to it: they are not its work.
    lent: Vec<String>,
}

impl Working {
    /// Makes the worktree of an attempt, and says where in it the process starts.
    pub fn make(
        caller: &Caller,
        worktrees: &Worktrees,
        launch: &mut Launch,
        given: &GitWorkspace,
    ) -> Result<Self, GitError> {
        let begin = match launch.finalizes {
            None => Begin::AtBase,
            Some(_) => Begin::WhereItEnded,
        };
        let attempt = launch.ticket.attempt;
        let workspace = Workspace::make(caller, worktrees, given, attempt, begin)?;
        let message = launch.finalizes.is_none().then(|| message(launch));
        let mut lent = Vec::new();
        if let Work::Process(work) = &mut launch.work {
            let workdir = workspace.files().join(&work.workdir);
            if let Ok(below) = workdir.strip_prefix(workspace.files()) {
                let path = |path: &String| below.join(path).to_string_lossy().into_owned();
                lent.extend(work.artifacts_in.iter().map(|artifact| path(&artifact.path)));
            }
            work.workdir = workdir.to_string_lossy().into_owned();
        }
        Ok(Self { workspace, into: given.into.clone(), message, lent })
    }

    /// Where what it does is to land.
    pub fn lands(&self) -> Lands {
        let repository = self.workspace.repository().to_string_lossy().into_owned();
        Lands { repository, into: self.into.clone() }
    }

    pub fn commit(&self, caller: &Caller) -> Result<(), GitError> {
        match &self.message {
            Some(message) => self.workspace.commit(caller, message, &self.lent),
            None => Ok(()),
        }
    }
}

fn message(launch: &Launch) -> String {
    let Launch { workflow, task, run, .. } = launch;
    let index = launch.instance.map(|(index, _)| format!("/{index}")).unwrap_or_default();
    format!("{workflow}: {task}{index}\n\nMainspring-Run: {run}\nMainspring-Task: {task}{index}\n")
}

/// What the child that landed nothing says about it; None when it says nothing.
pub(super) fn verdict(output: &Path) -> Option<Outcome> {
    let text = std::fs::read_to_string(output).ok()?;
    Some(serde_json::from_str::<Verdict>(&text).ok()?.to_outcome())
}

/// Kills what git may have started and left behind; returns when nobody is left.
pub(super) fn hunt_down(attempt: AttemptId) {
    loop {
        let found = keeper::hunt(Prey { attempt, group: None, signal: Signal::KILL });
        // The keeper lives as long as the process.
        if found.blocking_recv().unwrap_or(0) == 0 {
            return;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
