//! Keeping the database up: looking at its schema, giving room back.

use super::fault::Fault;
use super::open::ConnectError;
use super::place::Place;
use super::schema::{self, Unfit};
use super::session::{Role, Session, Step};
use super::store::Postgres;
use super::writer::Writer;
use crate::upkeep::{Schema, Vacuumed};
use std::sync::Arc;
use tokio::runtime::Builder;

const SIZE: &str = "
    select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'mainspring' and c.relkind = 'r'";
const TABLES: &str = "
    select format('%I.%I', n.nspname, c.relname)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'mainspring' and c.relkind = 'r' order by c.relname";
/// It takes as long as it takes, and it is no question.
const UNHURRIED: &str = "set statement_timeout = 0; set default_transaction_read_only = off";

impl Postgres {
    /// Which schema the database has. Changes nothing; a newer one is refused.
    pub fn schema(url: &str) -> Result<Schema, ConnectError> {
        let found = visit(url, async |session| schema::look_at(session).await)?;
        Ok(Schema::of(found, schema::MIGRATIONS))
    }

    /// Brings the database up to date, with every server kept out meanwhile.
    pub fn migrate(url: &str) -> Result<Schema, ConnectError> {
        let before = Self::schema(url)?;
        if !before.pending.is_empty() {
            Writer::start(&Arc::new(Place::parse(url)?))?;
        }
        Ok(before)
    }

    /// Has PostgreSQL give back the room of what is gone and look at its tables anew. Servers
    /// may go on meanwhile.
    pub fn vacuum(url: &str) -> Result<Vacuumed, ConnectError> {
        visit(url, async |session| {
            schema::check(session).await?;
            let before_bytes = size(session).await?;
            session.client().batch_execute(UNHURRIED).await?;
            let tables = session.rows(&Step { sql: TABLES, params: Vec::new() }).await?;
            for table in tables {
                let name: String = table.try_get(0)?;
                session.client().batch_execute(&format!("vacuum (analyze) {name}")).await?;
            }
            Ok(Vacuumed { before_bytes, after_bytes: size(session).await? })
        })
    }

    /// The URL without the password in it, and the password: for programs of PostgreSQL's own,
    /// whose command lines others can see.
    pub fn without_password(url: &str) -> Result<(String, Option<String>), ConnectError> {
        Ok(Place::parse(url)?.without_password(url))
    }
}

async fn size(session: &Session) -> Result<u64, Fault> {
    let row = session.row(&Step { sql: SIZE, params: Vec::new() }).await?;
    let bytes: i64 = row.map_or(Ok(0), |row| row.try_get(0))?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// One connection, for as long as it takes.
fn visit<T>(
    url: &str,
    work: impl AsyncFnOnce(&Session) -> Result<T, Unfit>,
) -> Result<T, ConnectError> {
    let place = Place::parse(url)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ConnectError::thread(error, &place))?;
    let done = runtime.block_on(async {
        let session = Session::connect(&place, Role::Reader).await?;
        work(&session).await
    });
    done.map_err(|unfit| ConnectError::of(unfit, &place))
}
