//! Versions of the schema, in order. A migration that was released never changes.
//!
//! Everything is in the schema `mainspring`, so that a database can be shared with others.

use super::fault::Fault;
use super::lock;
use super::session::{Session, Step, WRITE};
use crate::upkeep::Migration;

pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_first", sql: include_str!("migrations/0001_first.sql") },
    Migration { name: "0002_blobs", sql: include_str!("migrations/0002_blobs.sql") },
    Migration { name: "0003_outputs", sql: include_str!("migrations/0003_outputs.sql") },
    Migration { name: "0004_limits", sql: include_str!("migrations/0004_limits.sql") },
    Migration { name: "0005_waits", sql: include_str!("migrations/0005_waits.sql") },
    Migration { name: "0006_reruns", sql: include_str!("migrations/0006_reruns.sql") },
    Migration { name: "0007_additions", sql: include_str!("migrations/0007_additions.sql") },
    Migration { name: "0008_graces", sql: include_str!("migrations/0008_graces.sql") },
    Migration { name: "0009_finalizers", sql: include_str!("migrations/0009_finalizers.sql") },
    Migration { name: "0010_children", sql: include_str!("migrations/0010_children.sql") },
    Migration { name: "0011_bulks", sql: include_str!("migrations/0011_bulks.sql") },
    Migration { name: "0012_kills", sql: include_str!("migrations/0012_kills.sql") },
];

/// Older servers lack what the statements here use.
const SERVER_VERSION_MIN: i32 = 140_000;

const SERVER: &str = "
    select current_setting('server_version_num')::integer, current_setting('server_encoding'),
           current_setting('server_version')";
const FOUND: &str = "
    select exists (select 1 from pg_namespace where nspname = 'mainspring'),
           exists (select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
                   where n.nspname = 'mainspring' and c.relkind in ('r', 'p', 'v', 'm')),
           to_regclass('mainspring.migrations') is not null";
const VERSION: &str = "select coalesce(max(number), 0) from migrations";
const RECORD: &str = "
    insert into migrations (number, applied_at)
    select $1, (extract(epoch from clock_timestamp()) * 1000000)::bigint";
const BEGINNING: &str = "
    create table migrations (number bigint primary key, applied_at bigint not null)";

/// Why the database cannot be used as it is.
#[derive(Debug)]
pub(super) enum Unfit {
    Newer {
        found: usize,
    },
    Older {
        found: usize,
    },
    /// The schema has tables, and they are not ours.
    Foreign,
    Empty,
    /// A sentence without its subject.
    Server(String),
    Fault(Fault),
}

impl<F: Into<Fault>> From<F> for Unfit {
    fn from(fault: F) -> Self {
        Self::Fault(fault.into())
    }
}

pub(super) const fn newest() -> usize {
    MIGRATIONS.len()
}

/// Brings the database up to date, under a lock from looking to the last change, so that two
/// programs that start at once do not both migrate.
pub(super) async fn migrate(session: &Session) -> Result<(), Unfit> {
    check_server(session).await?;
    session.client().batch_execute(WRITE).await?;
    let migrated = migrate_in_transaction(session).await;
    let end = if migrated.is_ok() { "commit" } else { "rollback" };
    let ended = session.client().batch_execute(end).await;
    migrated?;
    Ok(ended?)
}

async fn migrate_in_transaction(session: &Session) -> Result<(), Unfit> {
    lock::take_for_migration(session).await?;
    let client = session.client();
    // A migration takes as long as it takes.
    client.batch_execute("set local statement_timeout = 0").await?;
    let found = match look(session).await? {
        Found::Nothing => {
            client.batch_execute("create schema mainspring").await?;
            client.batch_execute(BEGINNING).await?;
            0
        }
        Found::EmptySchema => {
            client.batch_execute(BEGINNING).await?;
            0
        }
        Found::Version(found) => found,
    };
    for (at, migration) in MIGRATIONS.iter().enumerate().skip(found) {
        client.batch_execute(migration.sql).await?;
        let number = i64::try_from(at + 1).unwrap_or(i64::MAX);
        session.rows(&Step { sql: RECORD, params: vec![Box::new(number)] }).await?;
    }
    Ok(())
}

/// Looks without a change: a reader takes a database only as it is.
pub(super) async fn check(session: &Session) -> Result<(), Unfit> {
    check_server(session).await?;
    match look(session).await? {
        Found::Nothing | Found::EmptySchema => Err(Unfit::Empty),
        Found::Version(found) if found < newest() => Err(Unfit::Older { found }),
        Found::Version(_) => Ok(()),
    }
}

/// The schema's version; 0 where there is nothing yet.
pub(super) async fn look_at(session: &Session) -> Result<usize, Unfit> {
    check_server(session).await?;
    Ok(match look(session).await? {
        Found::Nothing | Found::EmptySchema => 0,
        Found::Version(found) => found,
    })
}

enum Found {
    Nothing,
    EmptySchema,
    Version(usize),
}

async fn look(session: &Session) -> Result<Found, Unfit> {
    let rows = session.client().query_typed(FOUND, &[]).await?;
    let row = rows.first().ok_or(Unfit::Foreign)?;
    match (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?) {
        (false, _, _) => return Ok(Found::Nothing),
        (true, false, _) => return Ok(Found::EmptySchema),
        (true, true, false) => return Err(Unfit::Foreign),
        (true, true, true) => {}
    }
    let rows = session.client().query_typed(VERSION, &[]).await?;
    let number: i64 = rows.first().ok_or(Unfit::Foreign)?.try_get(0)?;
    let found = usize::try_from(number).map_err(|_| Unfit::Foreign)?;
    if found > newest() { Err(Unfit::Newer { found }) } else { Ok(Found::Version(found)) }
}

async fn check_server(session: &Session) -> Result<(), Unfit> {
    let rows = session.client().query_typed(SERVER, &[]).await?;
    let row = rows.first().ok_or(Unfit::Foreign)?;
    let (number, encoding, version): (i32, String, String) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if number < SERVER_VERSION_MIN {
        return Err(Unfit::Server(format!(
            "runs on PostgreSQL {version}: Mainspring needs version 14 or later"
        )));
    }
    if encoding != "UTF8" {
        return Err(Unfit::Server(format!(
            "is encoded in {encoding}: create one with `createdb --encoding=UTF8 --template=template0`"
        )));
    }
    Ok(())
}
