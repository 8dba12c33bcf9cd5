//! Blobs as files of one folder, beside the database.
//!
//! ```text
//!  blobs/new/<name>.<n>     being written; whatever a crash left here goes at the next start
//!          │ renamed
//!          ▼
//!  blobs/3f/<name>          whole, in one of 256 folders
//!  blobs/3f/<run>/<name>    contents of a run, in a folder of its own
//! ```
//! Nothing is created before the first blob. A run that put nothing out here costs one look when
//! it goes, however many blobs there are.

use super::contract::{BlobEntry, BlobError, BlobReader, Blobs};
use super::name::{self, BlobName, Durability};
use mainspring_core::ids::RunId;
use mainspring_core::time::Timestamp;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug)]
pub struct FolderBlobs {
    root: PathBuf,
    /// Tells what is being written apart, should one name be put twice at once.
    next: AtomicU64,
}

impl FolderBlobs {
    /// For the one process that may put blobs here: clears away what a crash left.
    pub fn open(root: &Path) -> Result<Self, BlobError> {
        let blobs = Self::open_read_only(root);
        let new = blobs.root.join(NEW);
        missing_is_fine(fs::remove_dir_all(&new))
            .map_err(|error| failed(&new, "cannot be cleared", error))?;
        Ok(blobs)
    }

    /// For looking: changes nothing, whether or not there is a folder.
    pub fn open_read_only(root: &Path) -> Self {
        Self { root: root.to_owned(), next: AtomicU64::new(0) }
    }

    fn place(&self, name: BlobName) -> PathBuf {
        let folder = match name {
            BlobName::Log(_) => self.shelf(name.spread()),
            BlobName::Content(run, _) => self.folder_of(run),
        };
        folder.join(name.to_string())
    }

    fn shelf(&self, spread: u8) -> PathBuf {
        self.root.join(format!("{spread:02x}"))
    }

    fn folder_of(&self, run: RunId) -> PathBuf {
        self.shelf(name::spread(run)).join(run.to_string())
    }

    fn write(&self, new: &Path, name: BlobName, content: &mut dyn Read) -> io::Result<()> {
        let open = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(new);
        let mut file = in_folder_of(new, open)?;
        io::copy(content, &mut file)?;
        let place = self.place(name);
        match name.durability() {
            Durability::Unsynced => in_folder_of(&place, || fs::rename(new, &place)),
            Durability::Synced => {
                file.sync_all()?;
                in_folder_of(&place, || fs::rename(new, &place))?;
                self.sync_folders_of(&place)
            }
        }
    }

    /// Any of them may be new, the root too.
    fn sync_folders_of(&self, place: &Path) -> io::Result<()> {
        let above_root = self.root.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folders = place.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        folders.chain(above_root).try_for_each(|folder| File::open(folder)?.sync_all())
    }

    /// What is in one of the folders after this name, in order.
    fn names(&self, spread: u8, after: Option<BlobName>) -> io::Result<Vec<BlobName>> {
        let mut names = Vec::new();
        for file in files(&self.shelf(spread))? {
            match (file.parse::<BlobName>(), run_of(&file)) {
                (Ok(name @ BlobName::Log(_)), _) => names.push(name),
                (_, Some(run)) if is_after(run, after) => names.extend(self.contents(run)?),
                // Whatever else somebody put here is not ours.
                _ => {}
            }
        }
        let is_wanted = |name: &BlobName| name.spread() == spread && Some(*name) > after;
        names.retain(is_wanted);
        names.sort_unstable();
        Ok(names)
    }

    fn contents(&self, run: RunId) -> io::Result<impl Iterator<Item = BlobName> + use<>> {
        let is_its = move |name: &BlobName| matches!(name, BlobName::Content(of, _) if *of == run);
        let names = files(&self.folder_of(run))?.into_iter().filter_map(|file| file.parse().ok());
        Ok(names.filter(is_its))
    }

    fn take_contents(&self, run: RunId, limit: usize) -> io::Result<usize> {
        let mut removed = 0;
        for name in self.contents(run)?.take(limit) {
            missing_is_fine(fs::remove_file(self.place(name)))?;
            removed += 1;
        }
        self.leave(run);
        Ok(removed)
    }

    /// Removes the folder of a run if nothing is in it any more.
    fn leave(&self, run: RunId) {
        let _ = fs::remove_dir(self.folder_of(run));
    }

    /// None when it is gone by now.
    fn put_at(&self, name: BlobName) -> io::Result<Option<Timestamp>> {
        match fs::metadata(self.place(name)) {
            Ok(found) => found.modified().map(moment).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn find(&self, after: Option<BlobName>, limit: usize) -> io::Result<Vec<BlobEntry>> {
        let mut found = Vec::new();
        for spread in after.map_or(0, BlobName::spread)..=u8::MAX {
            for name in self.names(spread, after.filter(|after| after.spread() == spread))? {
                if found.len() >= limit {
                    return Ok(found);
                }
                let put_at = self.put_at(name)?;
                found.extend(put_at.map(|put_at| BlobEntry { name, put_at }));
            }
        }
        Ok(found)
    }
}

/// Where blobs are while they are written.
const NEW: &str = "new";

impl Blobs for FolderBlobs {
    fn put(&self, name: BlobName, content: &mut dyn Read) -> Result<(), BlobError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let new = self.root.join(NEW).join(format!("{name}.{number}"));
        self.write(&new, name, content).map_err(|error| {
            // Half a blob is of no use, and on a full disk it is in the way.
            let _ = fs::remove_file(&new);
            failed(&self.place(name), "cannot be written", error)
        })
    }

    fn open(&self, name: BlobName) -> Result<Option<BlobReader>, BlobError> {
        let place = self.place(name);
        match File::open(&place) {
            Ok(file) => Ok(Some(Box::new(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&place, "cannot be read", error)),
        }
    }

    fn remove(&self, name: BlobName, put_before: Timestamp) -> Result<(), BlobError> {
        let place = self.place(name);
        let removed = self.put_at(name).and_then(|put_at| match put_at {
            Some(put_at) if put_at < put_before => missing_is_fine(fs::remove_file(&place)),
            _ => Ok(()),
        });
        if let BlobName::Content(run, _) = name {
            self.leave(run);
        }
        removed.map_err(|error| failed(&place, "cannot be removed", error))
    }

    fn remove_contents(&self, run: RunId, limit: usize) -> Result<usize, BlobError> {
        let removed = self.take_contents(run, limit);
        removed.map_err(|error| failed(&self.folder_of(run), "cannot be cleared", error))
    }

    fn list(&self, after: Option<BlobName>, limit: usize) -> Result<Vec<BlobEntry>, BlobError> {
        self.find(after, limit).map_err(|error| failed(&self.root, "cannot be listed", error))
    }
}

/// The names in a folder; none when it is not there.
fn files(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        // A file is something of somebody else's.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
    names.filter_map(io::Result::transpose).collect()
}

/// Whose folder this is.
fn run_of(file: &str) -> Option<RunId> {
    file.parse::<RunId>().ok().filter(|run| run.to_string() == file)
}

/// Whether a run has contents after this name, if it has any.
fn is_after(run: RunId, after: Option<BlobName>) -> bool {
    after.is_none_or(|after| after < BlobName::Content(run, [0xff; 32]))
}

/// Does something to a file whose folder may not be there yet.
fn in_folder_of<T>(place: &Path, act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match act() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = place.parent().expect("it is below the root");
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            act()
        }
        done => done,
    }
}

fn missing_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

pub(super) fn moment(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

fn failed(place: &Path, what: &str, error: io::Error) -> BlobError {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space there",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "make it writable",
        _ => "check the disk and the folder",
    };
    let what = format!("{} {what} ({error}): {remedy}", place.display());
    BlobError { what, source: Some(error.into()) }
}
