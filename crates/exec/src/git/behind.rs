//! A checkout that could not be written when its branch moved: a full disk, a file that may not be
//! changed. Git gives up half way, and half of what landed would look like changes of the person
//! whose checkout it is. So its files are put back to what they were, and why it stays behind is
//! noted in its own part of the repository, for those who come upon it later.

use super::caller::{At, Caller};
use super::error::GitError;
use super::obstacles::Move;
use std::fs;
use std::path::{Path, PathBuf};

/// The commit whose files it has, and in the lines after that why.
const NOTE: &str = "mainspring.behind";

/// Puts back what a move has written before it failed; the index still is that of `old`.
pub(crate) fn put_back(
    caller: &Caller,
    checkout: &Path,
    change: &Move,
    (old, why): (&str, &str),
) -> Result<(), GitError> {
    let note = path(caller, checkout)?;
    // Without it all else is still worth doing.
    let _ = fs::write(note, format!("{old}\n{why}"));
    change.added().for_each(|path| remove(checkout, path));
    let paths: Vec<&str> = change.former().filter_map(Path::to_str).collect();
    let args = ["checkout-index", "--force", "--quiet", "--index", "-z", "--stdin"];
    caller.run_with(At::Folder(checkout), &args, Some(&paths.join("\0")))?.text().map(drop)
}

/// Why a checkout stays behind, if it still does.
pub(crate) fn why(caller: &Caller, checkout: &Path) -> Result<Option<String>, GitError> {
    let Ok(note) = fs::read_to_string(path(caller, checkout)?) else { return Ok(None) };
    let Some((old, why)) = note.split_once('\n') else { return Ok(None) };
    let args = ["diff-index", "--cached", "--quiet", old, "--"];
    let is_behind = caller.run(At::Folder(checkout), &args)?.status.success();
    Ok(is_behind.then(|| why.to_owned()))
}

/// It has caught up.
pub(crate) fn forget(caller: &Caller, checkout: &Path) -> Result<(), GitError> {
    let _ = fs::remove_file(path(caller, checkout)?);
    Ok(())
}

fn path(caller: &Caller, checkout: &Path) -> Result<PathBuf, GitError> {
    let args = ["rev-parse", "--path-format=absolute", "--git-path", NOTE];
    caller.run(At::Folder(checkout), &args)?.text().map(PathBuf::from)
}

/// A file that was not there before the move, and the folders that were made for it.
fn remove(checkout: &Path, file: &Path) {
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let above = file.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
    let above: Vec<PathBuf> = above.map(|path| checkout.join(path)).collect();
    // Never through a link, which leads to what is somebody else's.
    if !above.iter().all(|path| is_folder(path)) || is_folder(&checkout.join(file)) {
        return;
    }
    if fs::remove_file(checkout.join(file)).is_ok() {
        // As git does: those that hold nothing any more.
        let _ = above.iter().try_for_each(fs::remove_dir);
    }
}
