//! Copies of files: of what is written meanwhile, as much as is there.

use anyhow::{Context as _, Result, bail};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// What of a data folder belongs to its runs beside the database. `work` is for what runs just
/// now; `lock` and the socket are whose who is at work.
const FOLDERS: [&str; 2] = ["logs", "blobs"];

/// A folder in the making: it gets its name when it is whole.
#[derive(Debug)]
pub struct Making {
    pub path: PathBuf,
    dest: PathBuf,
}

impl Making {
    pub fn begin(dest: &Path) -> Result<Self> {
        let is_free = match fs::read_dir(dest) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_free {
            bail!("{} is there already: name a folder that is not, or empty", dest.display());
        }
        let mut name = dest.file_name().context("name a folder for the copy")?.to_owned();
        name.push(format!(".partial-{}", std::process::id()));
        let path = dest.with_file_name(name);
        let mut builder = DirBuilder::new();
        builder.mode(0o700).create(&path).with_context(|| {
            format!("{} cannot be made: check that its parent is there", path.display())
        })?;
        Ok(Self { path, dest: dest.to_owned() })
    }

    /// Durable, under its name.
    pub fn finish(self) -> Result<()> {
        let done = File::open(&self.path)
            .and_then(|folder| folder.sync_all())
            .and_then(|()| fs::rename(&self.path, &self.dest))
            .and_then(|()| File::open(parent(&self.dest))?.sync_all());
        done.with_context(|| format!("{} cannot be put in its place", self.dest.display()))
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Drop for Making {
    /// Half a copy is no copy. Under its own name it stays.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Copies log files and blobs that are not there yet, or have grown; how many there are then.
pub fn copy_all(from: &Path, to: &Path) -> Result<u64> {
    let mut files = 0;
    for name in FOLDERS {
        let (from, to) = (from.join(name), to.join(name));
        files += copy_folder(&from, &to)
            .with_context(|| format!("{} cannot be copied to {}", from.display(), to.display()))?;
    }
    Ok(files)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<u64> {
    let Some(entries) = unless_gone(fs::read_dir(from))? else { return Ok(0) };
    DirBuilder::new().recursive(true).mode(0o700).create(to)?;
    let mut files = 0;
    for entry in entries {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            files += copy_folder(&from, &to)?;
        } else if kind.is_file() && copy_file(&from, &to)? {
            files += 1;
        }
    }
    File::open(to)?.sync_all()?;
    Ok(files)
}

/// Whether it was there.
fn copy_file(from: &Path, to: &Path) -> io::Result<bool> {
    let Some(mut source) = unless_gone(File::open(from))? else { return Ok(false) };
    let is_same = fs::metadata(to)
        .is_ok_and(|known| source.metadata().is_ok_and(|found| found.len() == known.len()));
    if !is_same {
        let mut copy =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
        io::copy(&mut source, &mut copy)?;
        copy.sync_all()?;
    }
    Ok(true)
}

/// Retention may take a file at any moment.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
