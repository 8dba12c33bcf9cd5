//! How git is called: with an environment of its own, without hooks, housekeeping or questions,
//! and by someone who can give up waiting for it.

use super::error::GitError;
use crate::process::{filled, spare};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What the configuration of the machine, a person or the repository may not decide. Filters and
/// merge drivers stay theirs: without them the files would not be those that people have.
const OPTIONS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "core.quotePath=false",
    // A branch that is said to have landed is on the disk.
    "core.fsync=committed",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "merge.ff=true",
    "merge.log=false",
    "merge.verifySignatures=false",
    "rerere.enabled=false",
    "submodule.recurse=false",
    "log.showSignature=false",
    "advice.detachedHead=false",
    "branch.autoSetupMerge=false",
    "worktree.useRelativePaths=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "color.ui=false",
];

/// Who has made what git makes for us.
pub(crate) const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Mainspring"),
    ("GIT_AUTHOR_EMAIL", "mainspring@localhost"),
    ("GIT_COMMITTER_NAME", "Mainspring"),
    ("GIT_COMMITTER_EMAIL", "mainspring@localhost"),
];

/// Between two looks at whether anybody still waits.
const LOOK: Duration = Duration::from_millis(50);
/// For git to take its lock files away when it is stopped.
const GRACE: Duration = Duration::from_secs(2);
/// What is read of what it says; lists of conflicts are far below.
const SAID_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The last of what it complained about.
const WHY_BYTES_MAX: usize = 1_500;

/// Which process group git runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// One of its own: the server's is not to be signalled.
    Own,
    /// The caller's, which is signalled as a whole.
    Callers,
}

pub(crate) struct Caller {
    env: Vec<(OsString, OsString)>,
    group: Group,
    wanted: Box<dyn Fn() -> bool + Send + Sync>,
}

/// Where git works.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'a> {
    /// It looks for the repository of this folder.
    Folder(&'a Path),
    /// The repository itself; no files.
    Store(&'a Path),
    /// A worktree, by both its places: whatever somebody did to its `.git` leads nowhere else.
    Worktree { git_dir: &'a Path, files: &'a Path },
}

/// How it ended, and what it said.
#[derive(Debug)]
pub(crate) struct Done {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    stderr: Vec<u8>,
    what: String,
}

impl Caller {
    /// `env` is all there is, but for what begins with `GIT_`.
    pub fn new(
        env: impl IntoIterator<Item = (OsString, OsString)>,
        group: Group,
        wanted: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        let is_gits = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_");
        let env = env.into_iter().filter(|(name, _)| !is_gits(name)).collect();
        Self { env, group, wanted: Box::new(wanted) }
    }

    pub fn is_wanted(&self) -> bool {
        (self.wanted)()
    }

    /// Runs git to its end, whichever that is.
    pub fn run(&self, at: At<'_>, args: &[&str]) -> Result<Done, GitError> {
        self.run_with(at, args, None)
    }

    /// The same, and it reads `input`.
    pub fn run_with(
        &self,
        at: At<'_>,
        args: &[&str],
        input: Option<&str>,
    ) -> Result<Done, GitError> {
        if !self.is_wanted() {
            return Err(GitError::Abandoned);
        }
        let scarce = |errno: rustix::io::Errno| GitError::Scarce(errno.into());
        let stdout = memory().map_err(scarce)?;
        let stderr = memory().map_err(scarce)?;
        let stdin = match input {
            Some(text) => Stdio::from(filled(text).map_err(scarce)?),
            None => Stdio::null(),
        };
        let mut command = self.command(at, args);
        command.stdin(stdin).stdout(copy(&stdout)?).stderr(copy(&stderr)?);
        if self.group == Group::Own {
            command.process_group(0);
        }
        let mut child = command.spawn().map_err(|error| self.unstarted(error))?;
        // Dropped by the reaper of orphans only when it has been waited for here.
        let _spared = spare(child.id());
        let status = self.wait(&mut child)?;
        let what = args.first().copied().unwrap_or_default().to_owned();
        Ok(Done { status, stdout: said(stdout)?, stderr: said(stderr)?, what })
    }

    fn command(&self, at: At<'_>, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command.env_remove("LC_ALL").env_remove("LANGUAGE").env("LC_MESSAGES", "C");
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
        command.envs(IDENTITY);
        for option in OPTIONS {
            command.args(["-c", option]);
        }
        match at {
            At::Folder(folder) => command.arg("-C").arg(folder),
            At::Store(git_dir) => command.arg("--git-dir").arg(git_dir),
            At::Worktree { git_dir, files } => {
                command.arg("-C").arg(files).arg("--git-dir").arg(git_dir);
                command.arg("--work-tree").arg(files)
            }
        };
        command.args(args);
        command
    }

    fn unstarted(&self, error: io::Error) -> GitError {
        if error.kind() != io::ErrorKind::NotFound {
            return GitError::Scarce(error);
        }
        let path = self.env.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, path)| path.to_string_lossy().into_owned());
        GitError::Missing { path: path.unwrap_or_default() }
    }

    fn wait(&self, child: &mut Child) -> Result<ExitStatus, GitError> {
        let pid = Pid::from_child(child);
        let unwatched = GitError::io("git cannot be watched");
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(errno) => {
                self.kill(pid, Signal::KILL);
                let _ = child.wait();
                return Err(unwatched(errno.into()));
            }
        };
        while !has_ended(&pidfd, LOOK) {
            if !self.is_wanted() {
                self.kill(pid, Signal::TERM);
                let until = Instant::now() + GRACE;
                while !has_ended(&pidfd, LOOK) && Instant::now() < until {}
                self.kill(pid, Signal::KILL);
                let _ = child.wait();
                return Err(GitError::Abandoned);
            }
        }
        // What it has started goes with it, before its number may be someone else's.
        if self.group == Group::Own {
            self.kill(pid, Signal::KILL);
        }
        child.wait().map_err(GitError::io("git's end cannot be told"))
    }

    /// Of a child that is not reaped yet.
    fn kill(&self, pid: Pid, signal: Signal) {
        // It has ended by itself: as good.
        let _ = match self.group {
            Group::Own => kill_process_group(pid, signal),
            Group::Callers => kill_process(pid, signal),
        };
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("group", &self.group).finish_non_exhaustive()
    }
}

fn has_ended(pidfd: &OwnedFd, within: Duration) -> bool {
    let mut watched = [PollFd::new(pidfd, PollFlags::IN)];
    let within = Timespec { tv_sec: 0, tv_nsec: i64::from(within.subsec_nanos()) };
    matches!(poll(&mut watched, Some(&within)), Ok(1))
}

/// Files in memory instead of pipes: nobody has to read while it writes.
fn memory() -> rustix::io::Result<OwnedFd> {
    memfd_create("mainspring-git", MemfdFlags::CLOEXEC)
}

fn copy(fd: &OwnedFd) -> Result<Stdio, GitError> {
    Ok(Stdio::from(fd.try_clone().map_err(GitError::Scarce)?))
}

fn said(fd: OwnedFd) -> Result<Vec<u8>, GitError> {
    let mut file = File::from(fd);
    let mut text = Vec::new();
    let read = file.rewind().and_then(|()| file.take(SAID_BYTES_MAX).read_to_end(&mut text));
    read.map_err(GitError::io("what git said cannot be read"))?;
    Ok(text)
}

impl Done {
    /// What it said on stdout, without the last newline; an error unless it succeeded.
    pub fn text(self) -> Result<String, GitError> {
        match self.status.success() {
            true => Ok(String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()),
            false => Err(self.into_error()),
        }
    }

    /// For questions: 0 is yes, 1 is no.
    pub fn answer(self) -> Result<bool, GitError> {
        match self.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.into_error()),
        }
    }

    pub fn into_error(self) -> GitError {
        let why = self.complaint();
        GitError::Failed { what: self.what, why }
    }

    /// The last of what it wrote to stderr, or how it ended if it wrote nothing.
    pub fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let text = text.trim();
        if text.is_empty() {
            return self.status.to_string();
        }
        text[text.ceil_char_boundary(text.len().saturating_sub(WHY_BYTES_MAX))..].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(path: &str) -> Caller {
        Caller::new([("PATH".into(), path.into())], Group::Own, || true)
    }

    #[test]
    fn where_there_is_no_git_that_is_said() {
        let error = caller("/nowhere").run(At::Folder(Path::new("/")), &["version"]);
        let error = error.expect_err("there is none");
        assert!(error.to_string().starts_with("git was not found on PATH (/nowhere)"), "{error}");
    }

    #[test]
    fn its_own_variables_are_left_out() {
        let env = [("GIT_DIR", "/nowhere"), ("PATH", "/usr/bin:/bin"), ("KEPT", "1")];
        let env = env.map(|(name, value)| (name.into(), value.into()));
        let caller = Caller::new(env, Group::Own, || true);
        let args = ["-c", "alias.variables=!env", "variables"];
        let said = caller.run(At::Folder(Path::new("/")), &args).expect("git runs");
        let said = said.text().expect("it succeeds");
        assert!(said.contains("KEPT=1") && !said.contains("GIT_DIR=/nowhere"), "{said}");
    }
}
