//! The data folder as commands name it.

use crate::args::{DATA_DEFAULT, DataArgs};
use anyhow::{Context as _, Result};
use mainspring_engine::folder::DataFolder;
use mainspring_engine::logs::LogPlaces;
use mainspring_store::{FolderBlobs, Sqlite};
use std::path::Path;
use std::sync::Arc;

/// Opens the database for looking. Takes no lock: it also works while a run is under way.
pub fn open(data: &DataArgs) -> Result<Sqlite> {
    Ok(Sqlite::open_read_only(&DataFolder::database(&data.folder))?)
}

/// Where its logs are, for looking.
pub fn logs(data: &DataArgs) -> LogPlaces {
    let blobs = FolderBlobs::open_read_only(&DataFolder::blobs(&data.folder));
    LogPlaces { folder: data.folder.clone(), blobs: Arc::new(blobs) }
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
