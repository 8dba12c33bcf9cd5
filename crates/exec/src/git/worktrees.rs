//! Worktrees of attempts: folders named by attempt id, each beside a note of the repository that
//! it belongs to. They are removed by hand: what a task did to its worktree, or to the file in it
//! that says where its repository is, can lead nowhere else.

use super::caller::{At, Caller, Group};
use super::error::GitError;
use super::lock::{self, Lock};
use super::repository::Repository;
use mainspring_core::ids::AttemptId;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the removal of a worktree waits for other writers of its repository.
const LOCK_WAIT: Duration = Duration::from_secs(60);
const NOTE: &str = "repository";

/// Where they are.
#[derive(Clone, Debug)]
pub(crate) struct Worktrees {
    /// Without symbolic links: git writes down its paths so.
    folder: Arc<Path>,
}

#[derive(Clone, Debug)]
pub(crate) struct Worktree {
    pub files: PathBuf,
    /// Its own part of the repository: HEAD, index.
    pub git_dir: PathBuf,
}

impl Worktree {
    pub fn at(&self) -> At<'_> {
        At::Worktree { git_dir: &self.git_dir, files: &self.files }
    }

    /// Makes the files what the commit is that is checked out; writes nothing that others share.
    pub fn fill(&self, caller: &Caller, commit: &str) -> Result<(), GitError> {
        caller.run(self.at(), &["reset", "--quiet", "--hard", commit])?.text().map(drop)
    }
}

impl Worktrees {
    /// Makes the folder, and has what a former life left in it removed.
    pub fn open(folder: &Path, runtime: &tokio::runtime::Handle) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let worktrees = Self { folder: folder.canonicalize()?.into() };
        let left = worktrees.left()?;
        if !left.is_empty() {
            let worktrees = worktrees.clone();
            // Large ones take their time; nobody uses their names again.
            drop(runtime.spawn_blocking(move || {
                left.iter().for_each(|name| worktrees.remove_named(name));
            }));
        }
        Ok(worktrees)
    }

    /// By a child that was told where they are.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder: folder.into() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn path(&self, attempt: AttemptId) -> PathBuf {
        self.folder.join(attempt.to_string())
    }

    fn left(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let name = name.strip_suffix(&format!(".{NOTE}")).unwrap_or(&name).to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// A worktree without files yet: of a branch by its name, or of a commit.
    pub fn add(
        &self,
        caller: &Caller,
        (repository, _lock): (&Repository, &Lock),
        attempt: AttemptId,
        head: Head<'_>,
    ) -> Result<Worktree, GitError> {
        let files = self.path(attempt);
        let note = self.note(&attempt.to_string());
        // Before it is made: whatever is left of it can be found.
        fs::write(&note, noted(repository, head))
            .map_err(GitError::io(format!("{} cannot be written", note.display())))?;
        let path = files.to_str().ok_or_else(|| {
            GitError::Wrong(format!("the data folder's path {} is not UTF-8", files.display()))
        })?;
        let mut args = vec!["worktree", "add", "--quiet", "--no-checkout", "--force"];
        match head {
            Head::Branch(name) => args.extend([path, name]),
            Head::Detached(commit) => args.extend(["--detach", path, commit]),
        }
        caller.run(repository.at(), &args)?.text()?;
        let args = ["rev-parse", "--absolute-git-dir"];
        let git_dir = PathBuf::from(caller.run(At::Folder(&files), &args)?.text()?);
        Ok(Worktree { files, git_dir })
    }

    fn note(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{NOTE}"))
    }

    /// Removes the worktree of an attempt, if it has one. What cannot be removed now goes in the
    /// next life.
    pub fn remove(&self, attempt: AttemptId) {
        self.remove_named(&attempt.to_string());
    }

    fn remove_named(&self, name: &str) {
        let files = self.folder.join(name);
        let note = self.note(name);
        let noted = fs::read(&note).ok().map(|bytes| Noted::read(&bytes));
        if let Some(Noted { common, branch: Some(branch) }) = &noted
            && let Err(GitError::Scarce(_) | GitError::Abandoned) = keep(common, &files, branch)
        {
            return;
        }
        if remove_all(&files).is_err() {
            return;
        }
        let Some(Noted { common, .. }) = noted else { return };
        if forget(&common, &files).is_ok() {
            let _ = fs::remove_file(note);
        }
    }
}

/// What is noted of a worktree: the repository, and for work the branch.
struct Noted {
    common: PathBuf,
    branch: Option<String>,
}

fn noted(repository: &Repository, head: Head<'_>) -> Vec<u8> {
    let common = repository.common().as_os_str().as_bytes();
    match head {
        // No path holds that byte.
        Head::Branch(name) => [common, name.as_bytes()].join(&0),
        Head::Detached(_) => common.to_owned(),
    }
}

impl Noted {
    fn read(bytes: &[u8]) -> Self {
        let mut parts = bytes.splitn(2, |byte| *byte == 0);
        let common = parts.next().unwrap_or_default().to_owned();
        let branch = parts.next().map(|name| String::from_utf8_lossy(name).into_owned());
        Self { common: PathBuf::from(std::ffi::OsString::from_vec(common)), branch }
    }
}

/// What a new worktree has checked out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Head<'a> {
    Branch(&'a str),
    Detached(&'a str),
}

/// Takes what the repository knows of a worktree out of it, as `git worktree prune` would, which
/// would do so to all others as well whose folders are not there just now.
fn forget(common: &Path, files: &Path) -> io::Result<()> {
    let known = common.join("worktrees");
    if !known.exists() {
        // The repository is gone, or has no worktrees.
        return Ok(());
    }
    let _lock = lock::take(common, &patient()).map_err(io::Error::other)?;
    for entry in own_parts(common, files)? {
        fs::remove_dir_all(entry)?;
    }
    // As git does: gone with the last.
    let _ = fs::remove_dir(known);
    Ok(())
}

/// For what is done when an attempt is over.
fn patient() -> Caller {
    let until = Instant::now() + LOCK_WAIT;
    Caller::new(std::env::vars_os(), Group::Own, move || Instant::now() < until)
}

/// The folders in which the repository has what it knows of a worktree: one, or none.
fn own_parts(common: &Path, files: &Path) -> io::Result<Vec<PathBuf>> {
    let link = files.join(".git");
    let mut found = Vec::new();
    for entry in fs::read_dir(common.join("worktrees"))? {
        let entry = entry?.path();
        let Ok(gitdir) = fs::read(entry.join("gitdir")) else { continue };
        if gitdir.trim_ascii_end() == link.as_os_str().as_bytes() {
            found.push(entry);
        }
    }
    Ok(found)
}

/// Keeps what was committed on no branch at all, in the middle of a rebase for example: with the
/// worktree goes the only thing that leads to it.
fn keep(common: &Path, files: &Path, branch: &str) -> Result<(), GitError> {
    let parts = own_parts(common, files).unwrap_or_default();
    for head in parts.iter().filter_map(|part| fs::read_to_string(part.join("HEAD")).ok()) {
        let commit = head.trim();
        if commit.starts_with("ref: ") {
            continue;
        }
        let caller = patient();
        let at = At::Store(common);
        let args = ["for-each-ref", "--count=1", "--format=%(refname)", "--contains", commit];
        if !caller.run(at, &args)?.text()?.is_empty() {
            continue;
        }
        let _lock = lock::take(common, &caller)?;
        let kept = kept(branch, commit);
        caller.run(at, &["update-ref", "-m", "mainspring: kept", &kept, commit])?.text()?;
    }
    Ok(())
}

const KEPT: &str = "refs/mainspring/kept/";

/// What a commit of a branch is kept under that is on it no more.
pub(super) fn kept(branch: &str, commit: &str) -> String {
    format!("{KEPT}{}/{commit}", branch.strip_prefix("mainspring/").unwrap_or(branch))
}

/// A folder and all below it, also what its owner made read-only.
fn remove_all(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(folder),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            allow(folder)?;
            fs::remove_dir_all(folder)
        }
        done => done,
    }
}

fn allow(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            allow(&entry.path())?;
        }
    }
    Ok(())
}
