//! The worktree that an attempt works in, on the branch of its task.
//!
//! The first attempt begins at `base`. So does every other: what a former one committed is kept
//! under `refs/mainspring/kept/<run>/<task>/<commit>`, and the branch begins anew. A finalizer goes
//! on where the work ended. What a success has left uncommitted is committed for it; of an attempt
//! that failed only its commits are kept.

use super::caller::{Caller, IDENTITY};
use super::error::GitError;
use super::lock::Lock;
use super::repository::{NOTHING, Repository, Swap};
use super::worktrees::{Head, Worktree, Worktrees, kept};
use mainspring_core::ids::AttemptId;
use mainspring_core::work_git::GitWorkspace;
use std::path::Path;

/// Paths that are named when something is wrong with them.
const NAMED_MAX: usize = 10;

/// Where an attempt begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    AtBase,
    /// A finalizer: where the work ended.
    WhereItEnded,
}

#[derive(Debug)]
pub(crate) struct Workspace {
    worktree: Worktree,
    repository: Repository,
    branch: String,
    reference: String,
    /// Nobody has told git who commits here.
    anonymous: bool,
}

impl Workspace {
    pub fn make(
        caller: &Caller,
        worktrees: &Worktrees,
        given: &GitWorkspace,
        attempt: AttemptId,
        begin: Begin,
    ) -> Result<Self, GitError> {
        let repository = Repository::open(caller, &given.repo)?;
        let branch = given.branch.clone();
        let reference = format!("refs/heads/{branch}");
        let lock = repository.lock(caller)?;
        let commit = match begin {
            Begin::AtBase => begin_anew(caller, (&repository, &lock), given)?,
            Begin::WhereItEnded => tip(caller, &repository, &branch)?,
        };
        let head = Head::Branch(&branch);
        let worktree = worktrees.add(caller, (&repository, &lock), attempt, head)?;
        drop(lock);
        worktree.fill(caller, &commit)?;
        let email = caller.run(worktree.at(), &["config", "--get", "user.email"])?;
        let anonymous = !email.status.success();
        Ok(Self { worktree, repository, branch, reference, anonymous })
    }

    pub fn files(&self) -> &Path {
        &self.worktree.files
    }

    /// The git folder that all worktrees of its repository share, without symbolic links.
    pub fn repository(&self) -> &Path {
        self.repository.common()
    }

    /// What its process is told of it.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let files = self.worktree.files.to_string_lossy().into_owned();
        let mut variables =
            vec![("MAINSPRING_WORKSPACE", files), ("MAINSPRING_BRANCH", self.branch.clone())];
        if self.anonymous {
            variables.extend(IDENTITY.map(|(name, value)| (name, value.to_owned())));
        }
        variables
    }

    /// Commits what a success has left, but for files that were only lent to it.
    pub fn commit(&self, caller: &Caller, message: &str, lent: &[String]) -> Result<(), GitError> {
        self.check_head(caller)?;
        let lent: Vec<String> =
            lent.iter().map(|path| format!(":(exclude,top,literal){path}")).collect();
        let mut args = vec!["add", "--all", "--", "."];
        args.extend(lent.iter().map(String::as_str));
        caller.run(self.worktree.at(), &args)?.text()?;
        let at = self.worktree.at();
        if caller.run(at, &["diff", "--cached", "--quiet", "HEAD"])?.answer()? {
            return Ok(());
        }
        self.check_added(caller)?;
        let _lock = self.repository.lock(caller)?;
        let args = ["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"];
        caller.run_with(at, &args, Some(message))?.text().map(drop)
    }

    /// It has to be where it began: what is elsewhere would not be landed.
    fn check_head(&self, caller: &Caller) -> Result<(), GitError> {
        let at = self.worktree.at();
        let head = caller.run(at, &["symbolic-ref", "--quiet", "HEAD"])?;
        let head = head.status.success().then(|| head.text()).transpose()?;
        if head.as_deref() != Some(&self.reference) {
            let found = head.as_deref().map_or("no branch at all", short);
            return Err(GitError::Wrong(format!(
                "the task has left its worktree on {found}, not on its branch {}: only what is on \
                 that branch counts. Finish or abort what git is in the middle of, and switch back",
                self.branch
            )));
        }
        let unmerged = caller.run(at, &["diff", "--name-only", "--diff-filter=U"])?.text()?;
        if !unmerged.is_empty() {
            return Err(GitError::Wrong(format!(
                "the task has left conflicts in its worktree: {}. Resolve them, or abort the merge",
                listed(&unmerged)
            )));
        }
        Ok(())
    }

    /// A repository inside would be committed as a mere link to it, and its content lost.
    fn check_added(&self, caller: &Caller) -> Result<(), GitError> {
        let args = ["diff", "--cached", "--raw", "--no-renames", "--diff-filter=A", "HEAD"];
        let added = caller.run(self.worktree.at(), &args)?.text()?;
        let links: Vec<&str> = added
            .lines()
            .filter(|line| line.starts_with(":000000 160000 "))
            .filter_map(|line| line.split_once('\t').map(|(_, path)| path))
            .collect();
        if links.is_empty() {
            return Ok(());
        }
        Err(GitError::Wrong(format!(
            "the task has left a git repository of its own in its worktree, which cannot be \
             committed: {}. Remove it, add it to .gitignore, or make it a submodule and commit that",
            listed(&links.join("\n"))
        )))
    }
}

fn short(reference: &str) -> &str {
    reference.strip_prefix("refs/heads/").unwrap_or(reference)
}

/// Paths, one on each line, for a message.
pub(super) fn listed(paths: &str) -> String {
    let count = paths.lines().count();
    let named: Vec<&str> = paths.lines().take(NAMED_MAX).collect();
    match count.checked_sub(NAMED_MAX) {
        None | Some(0) => named.join(", "),
        Some(more) => format!("{} and {more} more", named.join(", ")),
    }
}

/// Puts the branch at its base, and what was on it aside.
fn begin_anew(
    caller: &Caller,
    (repository, lock): (&Repository, &Lock),
    given: &GitWorkspace,
) -> Result<String, GitError> {
    let GitWorkspace { base, branch, .. } = given;
    let Some(commit) = repository.commit(caller, base)? else {
        return Err(GitError::Wrong(format!(
            "there is no commit {base} in {}: `base` is a branch, a tag or a commit, and a \
             repository needs at least one commit",
            repository.name()
        )));
    };
    let reference = format!("refs/heads/{branch}");
    repository.unlock_own(lock, &reference);
    let former = repository.commit(caller, &reference)?;
    if let Some(former) = &former
        && !repository.is_ancestor(caller, [former, &commit])?
    {
        let kept = kept(branch, former);
        repository.unlock_own(lock, &kept);
        let why = "mainspring: kept of a former attempt";
        caller.run(repository.at(), &["update-ref", "-m", why, &kept, former])?.text()?;
    }
    let old = former.as_deref().unwrap_or(NOTHING);
    match repository.swap(caller, &reference, [&commit, old], "mainspring: begins")? {
        Swap::Done => Ok(commit),
        Swap::Moved => Err(GitError::Wrong(format!(
            "somebody else has moved the branch {branch} while it was being prepared"
        ))),
    }
}

fn tip(caller: &Caller, repository: &Repository, branch: &str) -> Result<String, GitError> {
    let commit = repository.commit(caller, &format!("refs/heads/{branch}"))?;
    commit.ok_or_else(|| {
        GitError::Wrong(format!(
            "the branch {branch} of the finished work is not in {} any more: somebody has deleted \
             it. Restore it (git reflog), or retry the task",
            repository.name()
        ))
    })
}
