//! `db vacuum`: room that nothing needs any more is given back.

use super::kept::{Database, Kept};
use crate::args::Format;
use crate::exit::Exit;
use crate::print::{document, size};
use anyhow::Result;
use mainspring_store::{Postgres, Sqlite, Vacuumed};
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    before_bytes: u64,
    after_bytes: u64,
}

pub fn vacuum(kept: &Kept, output: Format) -> Result<Exit> {
    let Vacuumed { before_bytes, after_bytes } = match &kept.database {
        Database::Sqlite(path) => {
            // Makes nothing where nothing is.
            Sqlite::schema(path)?;
            let _folder = kept.hold()?;
            Sqlite::vacuum(path)?
        }
        Database::Postgres { url } => Postgres::vacuum(url)?,
    };
    let whole = Document { before_bytes, after_bytes };
    document(output, &whole, || {
        Ok(format!("{} before, {} after\n", size(before_bytes), size(after_bytes)))
    })?;
    Ok(Exit::Success)
}
