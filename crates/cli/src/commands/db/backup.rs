//! `db backup`: a data folder's copy, of one moment.
//!
//! ```text
//!  logs, blobs ─► database, at one moment ─► logs, blobs that came meanwhile ─► its name
//! ```
//! Logs come before and after: what the database names was there when it was copied, and what
//! retention takes meanwhile has been copied before.

use super::dump;
use super::files::{Making, copy_all};
use super::kept::{Database, Kept};
use crate::args::Format;
use crate::exit::Exit;
use crate::print::{document, size};
use crate::{data, out};
use anyhow::{Context as _, Result};
use mainspring_engine::folder::DataFolder;
use mainspring_store::Sqlite;
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Document {
    dest: String,
    database_bytes: u64,
    /// Log files and blobs.
    files: u64,
}

pub fn backup(kept: &Kept, dest: &Path, output: Format) -> Result<Exit> {
    let copied = match &kept.database {
        Database::Sqlite(path) => sqlite(kept, path, dest)?,
        Database::Postgres { url } => postgres(kept, url, dest)?,
    };
    document(output, &copied, || {
        let (bytes, files) = (size(copied.database_bytes), copied.files);
        Ok(format!("{}: database {bytes}, {files} files\n", copied.dest))
    })?;
    out::say(&out::dim(&hint(kept, dest)));
    let secrets = data::secrets_dir(&kept.folder);
    if holds_something(&secrets) {
        out::say(&format!("{}: {}", out::yellow("note"), without_secrets(&secrets, dest)));
    }
    Ok(Exit::Success)
}

fn holds_something(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// Copies go to places that are less well guarded.
fn without_secrets(secrets: &Path, dest: &Path) -> String {
    format!(
        "the secrets are not copied: before work goes on there, put those of {} into {}, or name \
         their folder with --secrets-dir\n",
        secrets.display(),
        data::secrets_dir(dest).display()
    )
}

fn sqlite(kept: &Kept, path: &Path, dest: &Path) -> Result<Document> {
    // Nothing is made where nothing is.
    Sqlite::schema(path)?;
    let making = Making::begin(dest)?;
    copy_all(&kept.folder, &making.path)?;
    let there = DataFolder::identify(&making.path)?;
    let here = DataFolder::id_of(&kept.folder)?.unwrap_or(there);
    let copy = DataFolder::database(&making.path);
    Sqlite::back_up(path, &copy, (here, there))?;
    finish(kept, making, (&copy, dest))
}

fn postgres(kept: &Kept, url: &str, dest: &Path) -> Result<Document> {
    let making = Making::begin(dest)?;
    copy_all(&kept.folder, &making.path)?;
    let copy = making.path.join(dump::FILE);
    dump::dump(url, &copy)?;
    // The dump names its scheduler: a server on it has to be the same.
    if let Some(id) = DataFolder::id_of(&kept.folder)? {
        std::fs::write(making.path.join("id"), format!("{id}\n"))
            .context("the id of the data folder cannot be copied")?;
    }
    finish(kept, making, (&copy, dest))
}

fn finish(kept: &Kept, making: Making, (copy, dest): (&Path, &Path)) -> Result<Document> {
    let files = copy_all(&kept.folder, &making.path)?;
    let database_bytes = std::fs::metadata(copy).map_or(0, |found| found.len());
    making.finish()?;
    Ok(Document { dest: dest.display().to_string(), database_bytes, files })
}

fn hint(kept: &Kept, dest: &Path) -> String {
    match &kept.database {
        Database::Sqlite(_) => format!(
            "it is a data folder of its own: {}\nwhat was not finished goes on there when a \
             server is started\n",
            data::command(&["server"], dest)
        ),
        Database::Postgres { .. } => format!(
            "to bring it back into an empty database: pg_restore --no-owner --dbname=URL {}\n\
             then, in place of the old server: {} --database URL\n",
            dest.join(dump::FILE).display(),
            data::command(&["server"], dest)
        ),
    }
}
