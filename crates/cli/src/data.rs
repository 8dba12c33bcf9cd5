//! The data folder as commands name it.

use crate::args::{DATA_DEFAULT, DataArgs, DatabaseArgs};
use anyhow::{Context as _, Result, bail};
use mainspring_engine::folder::DataFolder;
use mainspring_engine::logs::LogPlaces;
use mainspring_store::{FolderBlobs, Postgres, Sqlite, Store};
use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens the folder's own database for looking. Takes no lock: it also works while a run is
/// under way.
pub fn open_file(data: &DataArgs) -> Result<Sqlite> {
    Ok(Sqlite::open_read_only(&DataFolder::database(&data.folder))?)
}

/// The process that is at work in a folder, as it wrote itself down. None, too, if that cannot be
/// tried: then nobody could be told apart from somebody.
pub fn holder(folder: &Path) -> Option<String> {
    let mut lock = File::open(folder.join("lock")).ok()?;
    let Err(TryLockError::WouldBlock) = lock.try_lock_shared() else { return None };
    let mut pid = String::new();
    lock.read_to_string(&mut pid).ok()?;
    Some(pid.trim().to_owned())
}

/// Where secrets are unless somebody says otherwise.
pub fn secrets_dir(folder: &Path) -> PathBuf {
    folder.join("secrets")
}

/// What there is to look at when no server is there to ask.
pub struct Rows {
    pub store: Arc<dyn Store>,
    pub logs: LogPlaces,
}

/// Opens for looking: the database that is named, or the folder's own. Takes no lock.
pub fn open(data: &DataArgs, database: &DatabaseArgs) -> Result<Rows> {
    let folder = data.folder.clone();
    let Some(url) = &database.url else {
        let blobs = Arc::new(FolderBlobs::open_read_only(&DataFolder::blobs(&folder)));
        let store = Arc::new(open_file(data)?);
        return Ok(Rows { store, logs: LogPlaces { folder, blobs } });
    };
    let both = Arc::new(Postgres::open_read_only(postgres_url(url)?)?);
    Ok(Rows { store: Arc::clone(&both) as _, logs: LogPlaces { folder, blobs: both } })
}

/// The URL as it is, if it is one. Its text is not repeated: it may hold a password.
pub fn postgres_url(url: &str) -> Result<&str> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        bail!("--database: a URL like postgres://user@host/database");
    }
    Ok(url)
}

/// Waits for an answer of a store.
pub fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the asynchronous runtime cannot be started")?;
    runtime.block_on(work)
}

/// A command a person can copy: `mainspring` with these words.
pub fn command_alone(words: &[&str]) -> String {
    let words = words.iter().map(|word| format!(" {}", quoted(word)));
    std::iter::once("mainspring".to_owned()).chain(words).collect()
}

/// The same, and `--data` when it is needed.
pub fn command(words: &[&str], folder: &Path) -> String {
    let mut line = command_alone(words);
    if folder != Path::new(DATA_DEFAULT) {
        line.push_str(" --data ");
        line.push_str(&quoted(&folder.display().to_string()));
    }
    line
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@,+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_copied() {
        let words = ["logs", "last", "it's"];
        assert_eq!(command(&words, Path::new(DATA_DEFAULT)), r"mainspring logs last 'it'\''s'");
        assert_eq!(command(&["runs"], Path::new("a b")), "mainspring runs --data 'a b'");
    }
}
