//! Files below a folder, and never outside it. Whoever writes into the folder may have put a
//! symbolic link anywhere on the way, and may change it at any moment: links are followed by hand,
//! every step from the folder that was reached, so that the kernel is never asked to leave it.

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, readlinkat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path};

/// Links followed on one way, as many as the kernel follows; a folder made on the way counts too.
const TURNS_MAX: usize = 40;
/// Folders below each other: one descriptor is open for each while a path is walked.
const DEPTH_MAX: usize = 64;

/// Why a path below a folder leads to no file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotReached {
    #[error("it leads out of the folder")]
    Outside,
    #[error("it is a folder")]
    AFolder,
    #[error("it is not a plain file")]
    NotAFile,
    #[error(transparent)]
    Io(io::Error),
}

impl From<Errno> for NotReached {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

impl NotReached {
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Io(error) => Errno::from_io_error(error),
            Self::Outside | Self::AFolder | Self::NotAFile => None,
        }
    }
}

/// An open folder.
pub(crate) struct Folder(OwnedFd);

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Folder {
    pub fn open(path: &Path) -> Result<Self, Errno> {
        rustix::fs::open(path, FOLDER, Mode::empty()).map(Self)
    }

    /// Opens a plain file for reading; links that stay inside are followed.
    pub fn file(&self, path: &Path) -> Result<File, NotReached> {
        let mut walk = Walk::new(self, path)?;
        loop {
            let name = walk.reach_last(Parents::AreThere)?;
            // Without NONBLOCK a fifo would hold us up.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            match openat(walk.here(), &name, flags, Mode::empty()) {
                Ok(file) => return plain(file.into()),
                Err(Errno::LOOP) => walk.follow(&name)?,
                Err(Errno::NXIO) => return Err(NotReached::NotAFile),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// A new file that takes its place below the folder once it is whole; folders on the way to it
    /// are made. `temporary` is its name until then, and nobody else's.
    pub fn replace(&self, path: &Path, temporary: &str) -> Result<Replacement, NotReached> {
        let mut walk = Walk::new(self, path)?;
        let name = walk.reach_last(Parents::AreMade)?;
        let folder = walk.here().try_clone_to_owned().map_err(NotReached::Io)?;
        // What a crash left of it is of no use to anyone.
        let _ = unlinkat(&folder, temporary, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&folder, temporary, flags, Mode::from_raw_mode(0o666))?;
        let temporary = temporary.to_owned();
        Ok(Replacement { file: file.into(), folder, temporary, name, placed: false })
    }
}

fn plain(file: File) -> Result<File, NotReached> {
    let found = file.metadata().map_err(NotReached::Io)?.file_type();
    match (found.is_file(), found.is_dir()) {
        (true, _) => Ok(file),
        (_, true) => Err(NotReached::AFolder),
        _ => Err(NotReached::NotAFile),
    }
}

/// A file that is not yet where it belongs; gone when it is dropped before that.
pub(crate) struct Replacement {
    pub file: File,
    folder: OwnedFd,
    temporary: String,
    name: OsString,
    placed: bool,
}

impl Replacement {
    /// Whatever file or link has the name is replaced, at once: nobody sees half a file.
    pub fn place(mut self) -> Result<(), Errno> {
        renameat(&self.folder, &self.temporary, &self.folder, &self.name)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.placed {
            // Gone already: so much the better.
            let _ = unlinkat(&self.folder, &self.temporary, AtFlags::empty());
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parents {
    AreThere,
    AreMade,
}

/// On the way down a path.
struct Walk<'a> {
    root: &'a Folder,
    /// Entered so far: `..` goes back to the one before, wherever the last has been moved.
    entered: Vec<OwnedFd>,
    /// What is still to go, the next part last.
    ahead: Vec<OsString>,
    turns: usize,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Folder, path: &Path) -> Result<Self, NotReached> {
        let mut walk = Self { root, entered: Vec::new(), ahead: Vec::new(), turns: 0 };
        walk.go(path)?;
        Ok(walk)
    }

    fn go(&mut self, path: &Path) -> Result<(), NotReached> {
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.ahead.push(name.to_owned()),
                Component::ParentDir => self.ahead.push("..".into()),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(NotReached::Outside),
            }
        }
        Ok(())
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.entered.last().unwrap_or(&self.root.0).as_fd()
    }

    /// Goes as far as the folder that the last part of the path is in.
    fn reach_last(&mut self, parents: Parents) -> Result<OsString, NotReached> {
        loop {
            // A path that ends with `..`, or is empty, names a folder.
            let part = self.ahead.pop().ok_or(NotReached::AFolder)?;
            if part == ".." {
                self.entered.pop().ok_or(NotReached::Outside)?;
            } else if self.ahead.is_empty() {
                return Ok(part);
            } else {
                self.enter(part, parents)?;
            }
        }
    }

    fn enter(&mut self, name: OsString, parents: Parents) -> Result<(), NotReached> {
        if self.entered.len() == DEPTH_MAX {
            return Err(Errno::NAMETOOLONG.into());
        }
        match openat(self.here(), &name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(folder) => self.entered.push(folder),
            Err(Errno::NOENT) if parents == Parents::AreMade => {
                self.turn()?;
                match mkdirat(self.here(), &name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => self.ahead.push(name),
                    Err(errno) => return Err(errno.into()),
                }
            }
            // What the kernel says of a link here.
            Err(Errno::NOTDIR | Errno::LOOP) => self.follow(&name)?,
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), NotReached> {
        self.turn()?;
        let target = match readlinkat(self.here(), name, Vec::new()) {
            Ok(target) => OsString::from_vec(target.into_bytes()),
            Err(Errno::INVAL) => return Err(Errno::NOTDIR.into()),
            Err(errno) => return Err(errno.into()),
        };
        self.go(Path::new(&target))
    }

    fn turn(&mut self) -> Result<(), NotReached> {
        self.turns += 1;
        if self.turns > TURNS_MAX { Err(Errno::LOOP.into()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;

    fn text(folder: &Folder, path: &str) -> Result<String, NotReached> {
        let mut text = String::new();
        folder.file(Path::new(path))?.read_to_string(&mut text).map_err(NotReached::Io)?;
        Ok(text)
    }

    fn stage() -> (tempfile::TempDir, Folder) {
        let outer = tempfile::tempdir().unwrap();
        std::fs::write(outer.path().join("outside"), "no").unwrap();
        let inner = outer.path().join("inner");
        std::fs::create_dir_all(inner.join("a/b")).unwrap();
        std::fs::write(inner.join("a/b/file"), "yes").unwrap();
        let folder = Folder::open(&inner).unwrap();
        (outer, folder)
    }

    #[test]
    fn links_inside_are_followed_and_others_are_not() {
        let (outer, folder) = stage();
        let inner = outer.path().join("inner");
        let link = |target: &str, name: &str| symlink(target, inner.join(name)).unwrap();
        link("b/../b/file", "a/near");
        link("a", "folder");
        link("../outside", "up");
        link("a/../../outside", "around");
        link("..", "above");
        link("/etc/passwd", "far");
        link("/", "root");
        link("loop", "loop");
        link("nowhere", "dangling");
        for path in ["a/b/file", "./a//b/file", "a/near", "folder/b/file", "a/../folder/near"] {
            assert_eq!(text(&folder, path).unwrap(), "yes", "{path}");
        }
        for path in ["up", "around", "above/outside", "../outside", "far", "root/etc/passwd", "/x"]
        {
            let found = text(&folder, path);
            assert!(matches!(found, Err(NotReached::Outside)), "{path}: {found:?}");
        }
        for (path, errno) in [
            ("loop", Errno::LOOP),
            ("dangling", Errno::NOENT),
            ("a/b/file/x", Errno::NOTDIR),
            ("no/x", Errno::NOENT),
        ] {
            assert_eq!(text(&folder, path).unwrap_err().errno(), Some(errno), "{path}");
        }
    }

    #[test]
    fn only_plain_files_are_opened() {
        let (outer, folder) = stage();
        let fifo = outer.path().join("inner/fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(outer.path().join("inner/socket"));
        for path in ["a", "a/b/..", ".", ""] {
            let found = text(&folder, path);
            assert!(matches!(found, Err(NotReached::AFolder)), "{path}: {found:?}");
        }
        for path in ["fifo", "socket"] {
            let found = text(&folder, path);
            assert!(matches!(found, Err(NotReached::NotAFile)), "{path}: {found:?}");
        }
    }

    #[test]
    fn a_replacement_is_seen_when_it_is_whole() {
        let (outer, folder) = stage();
        let inner = outer.path().join("inner");
        symlink("../../outside", inner.join("a/link")).unwrap();
        for path in ["a/b/file", "a/link", "new/folders/file", "plain"] {
            // As a crash would leave it.
            std::mem::forget(folder.replace(Path::new(path), "part").unwrap());
            drop(folder.replace(Path::new(path), "part").unwrap());
            let mut replacement = folder.replace(Path::new(path), "part").unwrap();
            replacement.file.write_all(b"new").unwrap();
            assert_ne!(text(&folder, path).ok().as_deref(), Some("new"), "{path}");
            replacement.place().unwrap();
            assert_eq!(text(&folder, path).unwrap(), "new");
        }
        // The link was replaced, not what it led to.
        assert_eq!(std::fs::read_to_string(outer.path().join("outside")).unwrap(), "no");
        assert!(folder.replace(Path::new("a/b"), "part").unwrap().place().is_err(), "a folder");
        symlink("..", inner.join("above")).unwrap();
        for path in ["above/x", "../x", "/x", "above/made/x"] {
            let found = folder.replace(Path::new(path), "part").err();
            assert!(matches!(found, Some(NotReached::Outside)), "{path}: {found:?}");
        }
        let left = std::fs::read_dir(&inner).unwrap().filter_map(|entry| entry.ok());
        assert!(left.into_iter().all(|entry| entry.file_name() != "part"));
        assert!(!outer.path().join("made").exists());
    }

    #[test]
    fn a_path_of_many_folders_ends() {
        let (_outer, folder) = stage();
        let deep = format!("{}x", "d/".repeat(5_000));
        let found = folder.replace(Path::new(&deep), "part").err().unwrap();
        assert!(matches!(found.errno(), Some(Errno::NAMETOOLONG | Errno::LOOP)), "{found:?}");
    }
}
