//! Branches that somebody is in the middle of, without having them checked out: a rebase stands on
//! no branch while it lasts, and its abort puts the branch back to where it was. What landed on it
//! meanwhile would be on no branch at all. Git counts these as in use by the same files.

use super::error::GitError;
use super::lock::Lock;
use super::repository::Repository;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Name, line by line, the references that a rebase puts where they belong when it ends.
const REBASED: &[&str] =
    &["rebase-merge/head-name", "rebase-merge/update-refs", "rebase-apply/head-name"];
/// Names the branch that is returned to when a bisect ends; it lasts as long as the log.
const BISECTED: [&str; 2] = ["BISECT_START", "BISECT_LOG"];

/// What somebody is in the middle of with a branch, and how that is ended.
pub(crate) fn with(
    repository: &Repository,
    _lock: &Lock,
    target: &str,
) -> Result<Option<String>, GitError> {
    let common = repository.common();
    let unknown = || format!("what is under way in {} cannot be told", common.display());
    find(common, target).map_err(GitError::io(unknown()))
}

fn find(common: &Path, target: &str) -> io::Result<Option<String>> {
    if let Some(what) = within(common, target)? {
        return Ok(Some(said(&what, target, &main_files(common))));
    }
    let linked = match fs::read_dir(common.join("worktrees")) {
        Err(error) if is_absent(&error) => return Ok(None),
        found => found?,
    };
    for entry in linked {
        let own = entry?.path();
        let Some(what) = within(&own, target)? else { continue };
        let files = linked_files(&own)?;
        // One whose folder is gone ends nothing any more, unless it is to come back.
        if files.exists() || own.join("locked").exists() {
            return Ok(Some(said(&what, target, &files)));
        }
    }
    Ok(None)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Rebase,
    Bisect,
}

/// What is under way by a worktree's own part of the repository.
fn within(own: &Path, target: &str) -> io::Result<Option<What>> {
    for name in REBASED {
        let refs = read(&own.join(name))?;
        if refs.split(|byte| *byte == b'\n').any(|line| line == target.as_bytes()) {
            return Ok(Some(What::Rebase));
        }
    }
    let [start, log] = BISECTED.map(|name| own.join(name));
    let began = read(&start)?;
    let is_it = target.strip_prefix("refs/heads/").map(str::as_bytes) == Some(began.trim_ascii());
    Ok((is_it && log.exists()).then_some(What::Bisect))
}

fn said(what: &What, target: &str, files: &Path) -> String {
    let branch = target.strip_prefix("refs/heads/").unwrap_or(target);
    let files = files.display();
    match what {
        What::Rebase => format!(
            "a rebase of {branch} is under way in {files}: finish or abort it there (git rebase \
             --continue, git rebase --abort)"
        ),
        What::Bisect => format!(
            "a bisect that began on {branch} is under way in {files}: end it there (git bisect \
             reset)"
        ),
    }
}

fn main_files(common: &Path) -> PathBuf {
    match (common.file_name(), common.parent()) {
        (Some(name), Some(files)) if name == ".git" => files.to_owned(),
        _ => common.to_owned(),
    }
}

/// Where the files of a linked worktree are; its own part if nothing says so.
fn linked_files(own: &Path) -> io::Result<PathBuf> {
    let link = read(&own.join("gitdir"))?;
    // Git may have noted it relative to its own part.
    let link = own.join(OsStr::from_bytes(link.trim_ascii_end()));
    let files = link.parent().unwrap_or(own);
    Ok(files.canonicalize().unwrap_or_else(|_| files.to_owned()))
}

/// What is in a file; nothing if there is none.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        found => found,
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
