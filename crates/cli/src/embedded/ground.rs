//! What a life stands on: the folder is ours, nothing of a former life runs, the database is open.

use anyhow::{Context as _, Error, Result, bail};
use mainspring_core::ids::RunId;
use mainspring_core::kernel::row::RunHead;
use mainspring_engine::folder::{DataFolder, FolderError};
use mainspring_engine::logs::LogPlaces;
use mainspring_exec::kill_leftovers;
use mainspring_store::{FolderBlobs, ReadError, Sqlite, Store as _};
use std::path::Path;
use std::sync::Arc;

#[derive(Debug)]
pub struct Ground {
    pub folder: DataFolder,
    pub store: Arc<Sqlite>,
    pub logs: LogPlaces,
}

impl Ground {
    pub fn take(path: &Path) -> Result<Self> {
        let folder = hold(path)?;
        let store = Sqlite::open(&DataFolder::database(folder.path()))?;
        let blobs = Arc::new(FolderBlobs::open(&DataFolder::blobs(folder.path()))?);
        let logs = LogPlaces { folder: folder.path().to_owned(), blobs };
        Ok(Self { folder, store: Arc::new(store), logs })
    }

    /// Runs that are not final and nobody's children, oldest first.
    pub async fn unfinished(&self) -> Result<Vec<RunId>> {
        let found = self.store.unfinished(self.folder.id()).await?;
        let mut roots = Vec::new();
        for (_, id) in found {
            let stored = self.store.outline(id).await?;
            if stored.is_some_and(|stored| stored.head.parent.is_none()) {
                roots.push(id);
            }
        }
        Ok(roots)
    }
}

/// The run that a child goes on with, and ends with.
pub async fn root(store: &Sqlite, mut head: RunHead) -> Result<RunId, ReadError> {
    while let Some(parent) = head.parent_run() {
        let above = store.outline(parent).await?;
        let missing = || ReadError::Damaged(format!("the parent of run {} is gone", head.id));
        head = above.ok_or_else(missing)?.head;
    }
    Ok(head.id)
}

/// Takes the data folder and ends whatever a former life left running.
pub fn hold(path: &Path) -> Result<DataFolder> {
    // Tasks are told where to write in a variable, and those are text.
    if std::path::absolute(path).is_ok_and(|path| path.to_str().is_none()) {
        bail!("the data folder {} is not UTF-8: name another with --data", path.display());
    }
    let folder = DataFolder::hold(path).map_err(|error| match &error {
        FolderError::Held { .. } => Error::new(error).context(
            "another mainspring works in this data folder: wait until it has ended, name another \
             folder with --data, or let that one do it, if it is a server: `mainspring apply` and \
             `mainspring trigger` with --server URL",
        ),
        FolderError::Io { .. } => Error::new(error).context(
            "the data folder cannot be used: make it writable, free some space, or name \
                 another folder with --data",
        ),
        FolderError::BadId { .. } => Error::new(error),
    })?;
    kill_leftovers(&folder.id().to_string())
        .context("processes of a former run cannot be ended")?;
    Ok(folder)
}
