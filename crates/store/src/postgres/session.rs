//! One connection: its settings, its prepared statements, and several requests in one round
//! trip.

use super::fault::Fault;
use super::place::Place;
use std::cell::RefCell;
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use tokio::sync::watch;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

/// For every connection. Each statement has an index made for it, so that the planner is told
/// what it would only learn from statistics, which a young table does not have: walk that index.
/// One plan per statement then serves for ever, and JIT would only be misled by the costs.
const EVERYONE: &str = "
    set search_path = mainspring;
    set default_transaction_read_only = on;
    set plan_cache_mode = force_generic_plan;
    set enable_seqscan = off;
    set enable_bitmapscan = off;
    set enable_hashjoin = off;
    set enable_mergejoin = off;
    set enable_sort = off;
    set jit = off;
    set idle_in_transaction_session_timeout = '60s';";

/// Should this machine vanish, the server notices within half a minute and lets go of its lock.
/// A database whose owner gave durability away for all others still gives it to us.
const WRITER: &str = "
    set statement_timeout = '30s';
    set lock_timeout = '10s';
    set tcp_keepalives_idle = 10;
    set tcp_keepalives_interval = 5;
    set tcp_keepalives_count = 3;
    set tcp_user_timeout = '15s';
    select set_config('synchronous_commit', 'on', false)
    where current_setting('synchronous_commit') = 'off';";

const READER: &str = "set statement_timeout = '60s';";

/// Only a transaction that says so writes: when `begin` itself fails, what was sent behind it
/// is refused statement by statement instead of being written one by one.
pub(super) const WRITE: &str = "begin read write";
/// Several questions about one state of the database.
const SNAPSHOT: &str = "begin isolation level repeatable read";

const WHO: &str = "
    select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Writer,
    Reader,
    /// Writes blobs, and nothing else: beside the writer, without its lock.
    Filer,
}

/// The server's process behind a connection, and since when it is this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Backend {
    pub pid: i32,
    pub since: Option<String>,
}

pub(super) type Params<'a> = Vec<Box<dyn ToSql + Sync + 'a>>;

/// A statement and its values.
pub(super) struct Step<'a> {
    pub sql: &'a str,
    pub params: Params<'a>,
}

/// Why a transaction did not go through. Nothing of it is there, unless the connection is lost.
pub(super) struct Broken {
    /// Which of its steps was refused; None for its begin and its end.
    pub step: Option<usize>,
    pub error: Error,
}

pub(super) struct Session {
    client: Client,
    statements: RefCell<HashMap<String, Statement>>,
    backend: Backend,
    ended: watch::Receiver<()>,
}

impl Session {
    pub async fn connect(place: &Place, role: Role) -> Result<Self, Fault> {
        let mut config = place.config();
        config.application_name(format!("mainspring, process {}", std::process::id()));
        let (client, connection) = config.connect(place.tls()).await?;
        let (alive, ended) = watch::channel(());
        tokio::spawn(async move {
            // Whoever waits for an answer is told of the error.
            let _ = connection.await;
            drop(alive);
        });
        let own = match role {
            Role::Writer | Role::Filer => WRITER,
            Role::Reader => READER,
        };
        let settings = format!("{EVERYONE}{own}");
        let (set, who) =
            tokio::join!(biased; client.batch_execute(&settings), client.query_typed(WHO, &[]));
        set?;
        let backend = match who?.first() {
            Some(row) => Backend { pid: row.try_get(0)?, since: row.try_get(1)? },
            None => Backend { pid: 0, since: None },
        };
        Ok(Self { client, statements: RefCell::default(), backend, ended })
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    pub fn is_lost(&self) -> bool {
        self.client.is_closed()
    }

    /// Returns when the connection is lost.
    pub async fn lost(&mut self) {
        // Nothing is ever sent: it fails when the connection's task is over.
        let _ = self.ended.changed().await;
    }

    pub async fn rows(&self, step: &Step<'_>) -> Result<Vec<Row>, Fault> {
        let statement = self.prepared(step.sql).await?;
        Ok(self.client.query(&statement, &by_reference(&step.params)).await?)
    }

    pub async fn row(&self, step: &Step<'_>) -> Result<Option<Row>, Fault> {
        Ok(self.rows(step).await?.into_iter().next())
    }

    /// The answers of several questions, all about one state.
    pub async fn snapshot(&self, steps: &[Step<'_>]) -> Result<Vec<Vec<Row>>, Fault> {
        self.transaction(SNAPSHOT, steps).await.map_err(|broken| broken.error.into())
    }

    /// All steps in one transaction and one round trip.
    ///
    /// A step that is refused makes the server refuse what comes after it and roll back at the
    /// `commit`, which then is no error: every answer counts, not only the last.
    pub async fn transaction(
        &self,
        begin: &str,
        steps: &[Step<'_>],
    ) -> Result<Vec<Vec<Row>>, Broken> {
        let mut statements = Vec::with_capacity(steps.len());
        for (at, step) in steps.iter().enumerate() {
            let prepared = self.prepared(step.sql).await;
            statements.push(prepared.map_err(|error| Broken { step: Some(at), error })?);
        }
        let params: Vec<_> = steps.iter().map(|step| by_reference(&step.params)).collect();
        let mut requests: Vec<Request<'_>> = Vec::with_capacity(steps.len() + 2);
        requests.push(Box::pin(self.plain(begin)));
        for (statement, params) in statements.iter().zip(&params) {
            requests.push(Box::pin(self.client.query(statement, params)));
        }
        requests.push(Box::pin(self.plain("commit")));
        let mut answers = Vec::with_capacity(steps.len());
        for (at, answer) in in_one_go(requests).await.into_iter().enumerate() {
            let step = at.checked_sub(1).filter(|step| *step < steps.len());
            let rows = answer.map_err(|error| Broken { step, error })?;
            if step.is_some() {
                answers.push(rows);
            }
        }
        Ok(answers)
    }

    async fn plain(&self, sql: &str) -> Result<Vec<Row>, Error> {
        self.client.batch_execute(sql).await.map(|()| Vec::new())
    }

    async fn prepared(&self, sql: &str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Every statement so far, with the number of its values.
    #[cfg(test)]
    pub fn prepared_so_far(&self) -> Vec<(String, usize)> {
        let statements = self.statements.borrow();
        statements.iter().map(|(sql, known)| (sql.clone(), known.params().len())).collect()
    }
}

fn by_reference<'a>(params: &'a Params<'_>) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
}

type Request<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + 'a>>;

/// Polls each in order, so that all are sent before the first is waited for.
async fn in_one_go(mut requests: Vec<Request<'_>>) -> Vec<Result<Vec<Row>, Error>> {
    let mut answers: Vec<Option<Result<Vec<Row>, Error>>> = Vec::new();
    answers.resize_with(requests.len(), || None);
    poll_fn(|context| {
        let mut waiting = false;
        for (request, answer) in requests.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match request.as_mut().poll(context) {
                    Poll::Ready(result) => *answer = Some(result),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}
