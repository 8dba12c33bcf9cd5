//! Where everything is kept: a folder, with a database in it or elsewhere.

use crate::args::KeptArgs;
use crate::data::postgres_url;
use crate::server;
use anyhow::{Error, Result};
use clap::ArgMatches;
use mainspring_engine::folder::{DataFolder, FolderError};
use std::path::PathBuf;

#[derive(Debug)]
pub struct Kept {
    pub folder: PathBuf,
    pub database: Database,
}

#[derive(Debug)]
pub enum Database {
    /// The file in the folder.
    Sqlite(PathBuf),
    Postgres {
        url: String,
    },
}

impl Kept {
    pub fn find(args: &KeptArgs, given: &ArgMatches) -> Result<Self> {
        let (folder, url) = server::kept(args, given)?;
        let database = match url {
            None => Database::Sqlite(DataFolder::database(&folder)),
            Some(url) => Database::Postgres { url: postgres_url(&url)?.to_owned() },
        };
        Ok(Self { folder, database })
    }

    /// Keeps everybody else out, for what may not be done beside a server.
    pub fn hold(&self) -> Result<DataFolder> {
        DataFolder::hold(&self.folder).map_err(|error| match &error {
            FolderError::Held { .. } => Error::new(error).context(
                "this cannot be done while somebody works in the data folder: end it first",
            ),
            FolderError::Io { .. } | FolderError::BadId { .. } => Error::new(error),
        })
    }
}
