//! Landing a branch on its target, in the child process that was started for it.
//!
//! ```text
//!  landed before? ──yes──────────────────────────────────────────────► merged
//!    │ no
//!    ▼
//!  target's tip, branch's tip ─► merge in the scratch worktree ─► verify there
//!    ▲                             │ conflicted, no changes          │ failed
//!    │                             ▼                                 ▼
//!    └── moved meanwhile ◄── compare-and-swap, under the lock ─► confirmed ─► branch deleted
//! ```
//! Whenever a checkout turns out to be in the way, it ends: waiting for a person takes no permits.

use super::caller::Caller;
use super::checkout::{self, Checkouts};
use super::error::GitError;
use super::landed::{self, TIP, TRAILER};
use super::lock::Lock;
use super::obstacles::Move;
use super::order::{Order, Verdict};
use super::repository::{Repository, Swap};
use super::scratch::{Merged, Scratch};
use super::worktrees::Worktrees;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::work_git::{GitMerge, UpdateCheckout};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Merges one after the other while others move the target: each is verified anew.
const ROUNDS_MAX: u32 = 5;
/// What a verification gets of our variables, and must not: it would write into our output.
const NOT_VERIFYS: &[&str] = &["MAINSPRING_OUTPUT", "MAINSPRING_INPUT", "MAINSPRING_INPUT_FILE"];

/// Whether a merge can be begun now, as far as can be told before it is. What has landed need not
/// wait.
pub(crate) fn check_start(caller: &Caller, merge: &GitMerge) -> Result<(), GitError> {
    let repository = Repository::open(caller, &merge.repo)?;
    let (target, tip) = target(caller, &repository, merge)?;
    if landed::in_target(caller, &repository, merge, &tip)?.is_some() {
        return Ok(());
    }
    let lock = repository.lock(caller)?;
    let checkouts = Checkouts::look(caller, (&repository, &lock), &target, merge.update_checkout)?;
    let branch = repository.commit(caller, &format!("refs/heads/{}", merge.branch))?;
    match branch {
        Some(branch) if !checkouts.is_empty() => {
            checkouts.check_room(&Move::expected(caller, &repository, [&tip, &branch])?)
        }
        _ => Ok(()),
    }
}

/// Lands it.
pub(crate) fn land(caller: &Caller, order: &Order) -> Result<Verdict, GitError> {
    let merge = &order.merge;
    let repository = Repository::open(caller, &merge.repo)?;
    let worktrees = Worktrees::at(order.worktrees.clone());
    let (target, tip) = target(caller, &repository, merge)?;
    let landing = Landing { caller, merge, repository, target, say: log };
    if let Some(verdict) = landing.conclude(&tip)? {
        return Ok(verdict);
    }
    let scratch = Scratch::make(caller, &worktrees, &landing.repository, (order.attempt, &tip))?;
    let verdict = landing.rounds(&scratch);
    // Also when it failed; whoever started us looks after it once more.
    worktrees.remove(order.attempt);
    verdict
}

/// Does what is left to do about a merge that has landed, if it has: whoever landed it may have
/// been killed before.
pub(crate) fn conclude(caller: &Caller, merge: &GitMerge) -> Result<Option<Verdict>, GitError> {
    let repository = Repository::open(caller, &merge.repo)?;
    let (target, tip) = target(caller, &repository, merge)?;
    let landing = Landing { caller, merge, repository, target, say: |_| {} };
    landing.conclude(&tip)
}

/// The target's reference, and where it is.
fn target(
    caller: &Caller,
    repository: &Repository,
    merge: &GitMerge,
) -> Result<(String, String), GitError> {
    let target = repository.branch(caller, &merge.into)?;
    let tip = match &target {
        Some(target) => repository.commit(caller, target)?,
        None => None,
    };
    let (Some(target), Some(tip)) = (target, tip) else {
        return Err(GitError::Wrong(format!(
            "there is no branch {into} in {name} to merge into: make it (git branch {into}), or \
             correct `into`",
            into = merge.into,
            name = repository.name()
        )));
    };
    Ok((target, tip))
}

struct Landing<'a> {
    caller: &'a Caller,
    merge: &'a GitMerge,
    repository: Repository,
    target: String,
    /// To whom what happens is told.
    say: fn(&str),
}

/// What became of moving the target.
enum Moved {
    Landed,
    /// Somebody else was faster.
    Overtaken,
}

impl Landing<'_> {
    fn conclude(&self, tip: &str) -> Result<Option<Verdict>, GitError> {
        let Self { caller, merge, repository, .. } = self;
        let Some(commit) = landed::in_target(caller, repository, merge, tip)? else {
            return Ok(None);
        };
        self.say(&format!("{} has landed already", merge.branch));
        let old = repository.commit(caller, &format!("{commit}^1"))?.unwrap_or_default();
        let branch_tip = landed::tip(caller, repository, &commit)?;
        self.quietly(self.follow([&old, &commit]));
        Ok(Some(self.merged(&commit, &branch_tip)))
    }

    fn say(&self, line: &str) {
        (self.say)(line);
    }

    fn rounds(&self, scratch: &Scratch<'_>) -> Result<Verdict, GitError> {
        let Self { caller, merge, repository, target, .. } = self;
        let branch = format!("refs/heads/{}", merge.branch);
        for _ in 0..ROUNDS_MAX {
            let (_, old) = self::target(caller, repository, merge)?;
            let Some(tip) = repository.commit(caller, &branch)? else {
                return Err(GitError::Wrong(format!(
                    "the branch {} is not in {} any more, and has not landed: somebody has deleted \
                     it. Restore it (git reflog), or retry the task",
                    merge.branch,
                    repository.name()
                )));
            };
            if repository.is_ancestor(caller, [&tip, &old])? {
                return Ok(self.no_changes(&old, &tip));
            }
            self.say(&format!("merging {} ({tip}) into {} ({old})", merge.branch, merge.into));
            let new = match scratch.merge(merge, [&tip, &old], &message(merge, &tip))? {
                Merged::Commit(commit) => commit,
                Merged::NoChanges => return Ok(self.no_changes(&old, &tip)),
                Merged::Conflicted(paths) => return Ok(self.conflicted(&paths, &tip)),
            };
            // Before it is verified, which may take long.
            self.checkouts(&repository.lock(caller)?, [&old, &new])?;
            if let Some(error) = self.verify(scratch.files(), &new)? {
                return Ok(Verdict::failed("verify_failed", error));
            }
            match self.move_target([&old, &new])? {
                Moved::Landed => return Ok(self.merged(&new, &tip)),
                Moved::Overtaken => self.say(&format!("{target} has moved: merging anew")),
            }
        }
        let message = format!(
            "{} was moved by others {ROUNDS_MAX} times while {} was being merged and verified",
            merge.into, merge.branch
        );
        Ok(Verdict::failed("overtaken", TaskError::new(ErrorClass::Transient, message)))
    }

    fn conflicted(&self, paths: &str, tip: &str) -> Verdict {
        let GitMerge { branch, into, .. } = self.merge;
        let message = format!(
            "conflicted: {branch} ({tip}) and {into} have both changed {paths}. The branch is \
             kept: merge it by hand, or retry the task, which begins anew at its base"
        );
        Verdict::failed("conflicted", TaskError::new(ErrorClass::Logic, message))
    }

    /// Why what would land is no good, if it is not.
    fn verify(&self, files: &Path, commit: &str) -> Result<Option<TaskError>, GitError> {
        let Some(line) = &self.merge.verify else { return Ok(None) };
        self.say(&format!("verifying {commit}: {line}"));
        let gits = std::env::vars_os().map(|(name, _)| name).filter(is_gits);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).current_dir(files).stdin(Stdio::null());
        gits.for_each(|name| {
            command.env_remove(name);
        });
        for name in NOT_VERIFYS {
            command.env_remove(name);
        }
        command.env("MAINSPRING_WORKSPACE", files).env("MAINSPRING_COMMIT", commit);
        command.env("MAINSPRING_BRANCH", &self.merge.branch);
        let status = command.status().map_err(GitError::Scarce)?;
        if !self.caller.is_wanted() {
            return Err(GitError::Abandoned);
        }
        if status.success() {
            return Ok(None);
        }
        let message = format!("verify_failed: `{line}` ended with {status}; nothing has landed");
        let error = TaskError::new(ErrorClass::Exit, message);
        Ok(Some(TaskError { exit_code: status.code(), ..error }))
    }

    /// Moves the target if no checkout is in the way, and sees that it has moved.
    fn move_target(&self, [old, new]: [&str; 2]) -> Result<Moved, GitError> {
        let Self { caller, merge, repository, target, .. } = self;
        let lock = repository.lock(caller)?;
        let checkouts = self.checkouts(&lock, [old, new])?;
        let why = format!("mainspring: merge {}", merge.branch);
        if repository.swap(caller, target, [new, old], &why)? == Swap::Moved {
            return Ok(Moved::Overtaken);
        }
        self.confirm(new)?;
        self.quietly(self.follow_all(&checkouts, [old, new]));
        Ok(Moved::Landed)
    }

    /// Those that go along.
    fn checkouts(&self, lock: &Lock, [old, new]: [&str; 2]) -> Result<Checkouts, GitError> {
        let Self { caller, merge, repository, target, .. } = self;
        let found = Checkouts::look(caller, (repository, lock), target, merge.update_checkout)?;
        if !found.is_empty() {
            found.check_room(&Move::between(caller, repository, [old, new])?)?;
            found.check_follow(caller, [old, new])?;
        }
        Ok(found)
    }

    /// Before anybody hears that it has landed.
    fn confirm(&self, commit: &str) -> Result<(), GitError> {
        let Self { caller, repository, target, .. } = self;
        let tip = repository.commit(caller, target)?.unwrap_or_default();
        match repository.is_ancestor(caller, [commit, &tip])? {
            true => Ok(()),
            false => Err(GitError::Failed {
                what: "update-ref".to_owned(),
                why: format!("{target} is at {tip}, which does not contain {commit}"),
            }),
        }
    }

    /// Checkouts that a killed merge may not have taken along.
    fn follow(&self, [old, new]: [&str; 2]) -> Result<(), GitError> {
        let Self { caller, merge, repository, target, .. } = self;
        let lock = repository.lock(caller)?;
        if repository.commit(caller, target)?.as_deref() != Some(new) {
            return Ok(());
        }
        if merge.update_checkout == UpdateCheckout::Never {
            return Ok(());
        }
        self.follow_all(&Checkouts::all(caller, (repository, &lock), target)?, [old, new])
    }

    fn follow_all(&self, checkouts: &Checkouts, [old, new]: [&str; 2]) -> Result<(), GitError> {
        let Self { caller, repository, target, .. } = self;
        if checkouts.is_empty() {
            return Ok(());
        }
        let change = Move::between(caller, repository, [old, new])?;
        for path in checkouts.iter() {
            if let Some(why) = checkout::follow(caller, (path, target), &change, [old, new])? {
                self.say(&format!(
                    "the checkout in {} stays behind: {why}. `git -C {0} status` shows what landed \
                     as undone; `git -C {0} stash` keeps your changes and catches up",
                    path.display()
                ));
            }
        }
        Ok(())
    }

    fn no_changes(&self, target: &str, tip: &str) -> Verdict {
        self.say(&format!("{} has no changes for {}", self.merge.branch, self.merge.into));
        self.quietly(self.delete_branch(tip));
        Verdict::success("no_changes", self.merge, target)
    }

    fn merged(&self, commit: &str, tip: &str) -> Verdict {
        self.say(&format!("{} has landed on {} as {commit}", self.merge.branch, self.merge.into));
        self.quietly(self.delete_branch(tip));
        Verdict::success("merged", self.merge, commit)
    }

    /// Its work is on the target. One that somebody has moved since stays.
    fn delete_branch(&self, tip: &str) -> Result<(), GitError> {
        let Self { caller, repository, .. } = self;
        let lock = repository.lock(caller)?;
        let branch = format!("refs/heads/{}", self.merge.branch);
        if repository.commit(caller, &branch)?.as_deref() != Some(tip) {
            return Ok(());
        }
        repository.unlock_own(&lock, &branch);
        repository.delete(caller, &branch, tip)
    }

    /// What is done after it has landed: that it landed stands, whatever becomes of this.
    fn quietly(&self, done: Result<(), GitError>) {
        if let Err(error) = done {
            self.say(&format!("it has landed all the same: {error}"));
        }
    }
}

fn is_gits(name: &OsString) -> bool {
    name.as_encoded_bytes().starts_with(b"GIT_")
}

fn message(merge: &GitMerge, tip: &str) -> String {
    let (text, attempt) = (merge.message.trim_end(), merge.attempt);
    format!("{text}\n\n{TRAILER}: {attempt}\n{TIP}: {tip}\n")
}

/// Into the log of the attempt.
fn log(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
