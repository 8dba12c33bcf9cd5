//! `db migrate`: from the schema that is there to the newest.

use super::kept::{Database, Kept};
use crate::args::Format;
use crate::exit::Exit;
use crate::print::document;
use anyhow::Result;
use mainspring_store::{Postgres, Schema, Sqlite};
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    from: usize,
    to: usize,
    migrations: Vec<&'static str>,
    /// False: this is what would be done.
    done: bool,
}

/// `--dry-run`.
pub fn look(kept: &Kept, output: Format) -> Result<Exit> {
    print(found(kept)?, Tense::WouldBe, output)
}

pub fn migrate(kept: &Kept, output: Format) -> Result<Exit> {
    // Where there is nothing to do, nobody has to leave for it.
    if found(kept)?.pending.is_empty() {
        return print(found(kept)?, Tense::Done, output);
    }
    let before = match &kept.database {
        Database::Sqlite(path) => {
            let _folder = kept.hold()?;
            Sqlite::migrate(path)?
        }
        Database::Postgres { url } => Postgres::migrate(url)?,
    };
    print(before, Tense::Done, output)
}

fn found(kept: &Kept) -> Result<Schema> {
    Ok(match &kept.database {
        Database::Sqlite(path) => Sqlite::schema(path)?,
        Database::Postgres { url } => Postgres::schema(url)?,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tense {
    WouldBe,
    Done,
}

fn print(schema: Schema, tense: Tense, output: Format) -> Result<Exit> {
    let Schema { found, known, pending } = schema;
    let whole =
        Document { from: found, to: known, migrations: pending, done: tense == Tense::Done };
    document(output, &whole, || {
        let names = whole.migrations.join(", ");
        Ok(match (whole.migrations.is_empty(), tense) {
            (true, _) => format!("schema {known} is the newest: nothing to do\n"),
            (false, Tense::Done) => format!("schema {found} → {known}: {names}\n"),
            (false, Tense::WouldBe) => {
                format!("schema {found} → {known}, not done yet: {names}\n")
            }
        })
    })?;
    Ok(Exit::Success)
}
