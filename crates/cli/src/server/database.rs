//! What a server works on: the file and the folder of blobs in its data folder, or the database
//! that is named, which holds both.

use crate::data::postgres_url;
use anyhow::Result;
use mainspring_engine::folder::DataFolder;
use mainspring_store::{Blobs, FolderBlobs, Postgres, Sqlite, Store};
use std::sync::Arc;

/// Open files that PostgreSQL takes more than a database file: seven connections and what their
/// four threads wait with. Counted: 37 where a file takes 20.
pub const POSTGRES_FILES: u64 = 20;

pub fn open(url: Option<&str>, folder: &DataFolder) -> Result<(Arc<dyn Store>, Arc<dyn Blobs>)> {
    match url {
        None => {
            let store = Sqlite::open(&DataFolder::database(folder.path()))?;
            let blobs = FolderBlobs::open(&DataFolder::blobs(folder.path()))?;
            Ok((Arc::new(store), Arc::new(blobs)))
        }
        Some(url) => {
            let both = Arc::new(Postgres::open(postgres_url(url)?)?);
            Ok((Arc::clone(&both) as _, both))
        }
    }
}
