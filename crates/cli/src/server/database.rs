//! Which store a server works on: the file in its data folder, or the database that is named.

use anyhow::{Result, bail};
use mainspring_engine::folder::DataFolder;
use mainspring_store::{Postgres, Sqlite, Store};
use std::sync::Arc;

pub fn open(url: Option<&str>, folder: &DataFolder) -> Result<Arc<dyn Store>> {
    match url {
        None => Ok(Arc::new(Sqlite::open(&DataFolder::database(folder.path()))?)),
        Some(url) if is_postgres(url) => Ok(Arc::new(Postgres::open(url)?)),
        // The URL itself may hold a password.
        Some(_) => bail!("--database: a URL like postgres://user@host/database"),
    }
}

pub fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}
