//! One server per database: a lock that the writer's connection holds for its life.
//!
//! It is the connection that writes which holds it, and no other: when the lock is lost nothing
//! can be written any more, and what can be written is protected by it.

use super::fault::Fault;
use super::session::{Backend, Session, Step};
use tokio_postgres::error::SqlState;

/// "Main" in ASCII; the second number tells Mainspring's locks apart.
const CLASS: i32 = 0x4d61_696e;
const SERVER: i32 = 1;
const MIGRATION: i32 = 2;

const TRY: &str = "select pg_try_advisory_lock($1, $2)";
const WAIT: &str = "select pg_advisory_lock($1, $2)";
const WAIT_IN_TRANSACTION: &str = "select pg_advisory_xact_lock($1, $2)";
const HOLDER: &str = "
    select activity.pid, activity.backend_start::text, activity.application_name,
           host(activity.client_addr)
    from pg_locks locks join pg_stat_activity activity on activity.pid = locks.pid
    where locks.locktype = 'advisory' and locks.granted
      and locks.classid::bigint = $1::int and locks.objid::bigint = $2::int and locks.objsubid = 2
      and activity.datname = current_database()";
const TERMINATE: &str = "select pg_terminate_backend($1)";

/// How long the backend of a process that was just killed may take to notice.
const PATIENCE: &str = "set lock_timeout = '2s'";
const USUAL: &str = "set lock_timeout = '10s'";

/// Takes the lock. `ours` are the backends of connections that were lost or given up, if there
/// were any: where the network failed, the server may not know yet that they are dead.
pub(super) async fn take(session: &Session, ours: &[Backend]) -> Result<(), Fault> {
    let taken = session.row(&Step { sql: TRY, params: server() }).await?;
    if taken.is_some_and(|row| row.get(0)) {
        return Ok(());
    }
    let holder = holder(session).await?;
    match &holder {
        Some(Holder { backend, .. }) if backend.since.is_some() && ours.contains(backend) => {
            let params: Vec<_> = vec![Box::new(backend.pid) as _];
            session.rows(&Step { sql: TERMINATE, params }).await?;
        }
        // Another one works here already; no need to wait for it.
        Some(_) if !ours.is_empty() => return Err(Fault::Taken(taken_by(holder.as_ref()))),
        _ => {}
    }
    session.client().batch_execute(PATIENCE).await?;
    let waited = session.rows(&Step { sql: WAIT, params: server() }).await;
    session.client().batch_execute(USUAL).await?;
    match waited {
        Ok(_) => Ok(()),
        Err(Fault::Sql(error)) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            Err(Fault::Taken(taken_by(holder.as_ref())))
        }
        Err(fault) => Err(fault),
    }
}

/// Until the end of the transaction, so that two programs do not both migrate.
pub(super) async fn take_for_migration(session: &Session) -> Result<(), Fault> {
    let params: Vec<_> = vec![Box::new(CLASS) as _, Box::new(MIGRATION) as _];
    session.rows(&Step { sql: WAIT_IN_TRANSACTION, params }).await.map(drop)
}

fn server() -> super::session::Params<'static> {
    vec![Box::new(CLASS), Box::new(SERVER)]
}

struct Holder {
    backend: Backend,
    name: Option<String>,
    address: Option<String>,
}

async fn holder(session: &Session) -> Result<Option<Holder>, Fault> {
    let row = session.row(&Step { sql: HOLDER, params: server() }).await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Holder {
        backend: Backend { pid: row.try_get(0)?, since: row.try_get(1)? },
        name: row.try_get(2)?,
        address: row.try_get(3)?,
    }))
}

fn taken_by(holder: Option<&Holder>) -> String {
    let who = match holder {
        None => "another server".to_owned(),
        Some(Holder { backend, name, address }) => format!(
            "another server ({} on {}, backend {})",
            name.as_deref().unwrap_or("unnamed"),
            address.as_deref().unwrap_or("the database's own machine"),
            backend.pid
        ),
    };
    format!("{who} works on this database: stop it first, or give each server its own database")
}
