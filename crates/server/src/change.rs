//! A change that somebody asked for. From here on it no longer matters whether they still
//! listen: what others wait for is held, and what follows from the commit is done, by a task of
//! its own.
//!
//! ```text
//!  handler ─► submit ─┬─► task: engine ─► commit ─► what follows ─► answer
//!     ▲               │                └─► not known ─► loaded again ─► read from the store
//!     └── answer ◄────┘                     (claim and turn are held until then)
//! ```

use crate::app::App;
use crate::bulk::job::Past;
use crate::config::Scope;
use crate::idempotency::Claim;
use crate::problem::{Code, Problem};
use mainspring_core::ids::{RunId, TokenId};
use mainspring_core::kernel::bulk::BulkRow;
use mainspring_core::kernel::record::{Admin, Record, TokenRow};
use mainspring_core::world::input::{Command, Input, Order, Reply};
use mainspring_engine::NotDone;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tracing::error;

/// Between two tries to read what became of a change.
const READ_AGAIN: Duration = Duration::from_millis(500);

/// Long enough for a queue of many, each of which takes a commit.
const TURN_TIME_MAX: Duration = Duration::from_secs(5);

/// What others wait for while a change is under way.
#[derive(Debug, Default)]
pub struct Held {
    /// The request's key.
    pub claim: Option<Claim>,
    /// The turn to change tokens, to add tasks, or to begin an order on many runs.
    pub turn: Option<OwnedMutexGuard<()>>,
}

/// What memory has to learn once a change is durable.
#[derive(Debug)]
enum Follows {
    Nothing,
    Workflow(Arc<str>),
    NewToken(TokenRow),
    Revoked(TokenId),
    /// It has to be worked on.
    NewBulk(Box<BulkRow>),
}

impl Follows {
    fn of(input: &Input) -> Self {
        match input {
            Input::Deploy(deploy) => Self::Workflow(Arc::clone(&deploy.definition.name)),
            Input::DeleteWorkflow(delete) => Self::Workflow(Arc::clone(&delete.name)),
            Input::Admin(Admin::NewToken(row)) => Self::NewToken(row.clone()),
            Input::Admin(Admin::RevokeToken(id)) => Self::Revoked(*id),
            Input::Admin(Admin::NewBulk(row)) => Self::NewBulk(row.clone()),
            _ => Self::Nothing,
        }
    }

    fn apply(self, app: &App) {
        match self {
            Self::Nothing => {}
            Self::Workflow(name) => app.definitions.forget(&name),
            Self::NewToken(row) => app.tokens.add(row),
            Self::Revoked(id) => app.tokens.remove(id),
            Self::NewBulk(row) => begin(app, &row),
        }
    }
}

impl App {
    /// Waits until nobody else changes tokens. Not for ever: a change waits for the store.
    pub async fn turn_to_change_tokens(&self) -> Result<Held, Problem> {
        let Ok(turn) = tokio::time::timeout(TURN_TIME_MAX, self.tokens.turn()).await else {
            let detail = "another change of tokens is under way, and waits for the store";
            return Err(Problem::new(Code::Busy, detail));
        };
        Ok(Held { claim: None, turn: Some(turn) })
    }

    /// Waits until nobody else adds tasks to a run. Not for ever: that waits for the store.
    pub async fn turn_to_add(&self) -> Result<OwnedMutexGuard<()>, Problem> {
        let turn = Arc::clone(&self.adding).lock_owned();
        tokio::time::timeout(TURN_TIME_MAX, turn).await.map_err(|_| {
            let detail = "tasks are being added to another run, which waits for the store";
            Problem::new(Code::Busy, detail)
        })
    }

    /// Waits until nobody else begins an order on many runs, so that not too many are at work. Not
    /// for ever: that waits for the store.
    pub async fn turn_to_begin_bulk(&self) -> Result<OwnedMutexGuard<()>, Problem> {
        let turn = Arc::clone(&self.bulks.adding).lock_owned();
        tokio::time::timeout(TURN_TIME_MAX, turn).await.map_err(|_| {
            let detail = "another such request is being stored, and waits for the store";
            Problem::new(Code::Busy, detail)
        })
    }

    /// Has an input decided and made durable, with a record of who asked. Once this has been
    /// polled the change goes on, and is followed up, even if nobody polls it again.
    pub async fn submit(&self, record: Record, input: Input, held: Held) -> Result<Reply, Problem> {
        let is_about = |run| match &input {
            // Whoever shows its progress knows its tasks from the beginning.
            Input::Command(Command { order: Order::Add(_), .. }) => false,
            Input::Command(command) => command.run == run,
            // Whatever is at work is held by limits too.
            Input::SetTier(_) => true,
            _ => false,
        };
        if let Scope::OneRun(run) = self.config.scope
            && !is_about(run)
            && !self.is_about_a_child(run, &input).await?
        {
            let detail = format!(
                "`mainspring run` is at work here, on run {run} and on nothing else: for the \
                 rest start `mainspring server` when it has ended"
            );
            return Err(Problem::new(Code::OneRun, detail));
        }
        let follows = Follows::of(&input);
        let input = Input::Recorded(Box::new(record), Box::new(input));
        let carried_out = tokio::spawn(carry_out(self.clone(), input, follows, held)).await;
        let broken = || Problem::new(Code::Internal, "the change could not be carried out");
        Ok(carried_out.map_err(|_| broken())??)
    }
}

impl App {
    /// Children of the one run are carried on with it.
    async fn is_about_a_child(&self, run: RunId, input: &Input) -> Result<bool, Problem> {
        let Input::Command(Command { run: asked, order, .. }) = input else {
            return Ok(false);
        };
        let mut below = *asked;
        if matches!(order, Order::Add(_)) {
            return Ok(false);
        }
        while let Some(stored) = self.store.outline(below).await? {
            let Some(parent) = stored.head.parent_run() else { return Ok(false) };
            if parent == run {
                return Ok(true);
            }
            below = parent;
        }
        Ok(false)
    }
}

async fn carry_out(app: App, input: Input, follows: Follows, held: Held) -> Result<Reply, NotDone> {
    let answer = app.engine.submit(input).await;
    match &answer {
        Ok(_) => follows.apply(&app),
        // Whoever asked need not wait for that.
        Err(NotDone::UnknownOutcome) => drop(tokio::spawn(learn(app, follows, held))),
        Err(_) => {}
    }
    answer
}

/// It may have been done or not: only the store knows, once nothing earlier can still land.
async fn learn(app: App, follows: Follows, held: Held) {
    app.engine.loaded().await;
    match follows {
        Follows::Nothing => {}
        Follows::Workflow(name) => app.definitions.forget(&name),
        Follows::NewToken(_) | Follows::Revoked(_) => {
            while app.read_tokens().await.is_err() && pause(&app).await.is_continue() {}
        }
        Follows::NewBulk(row) => {
            let mut found = app.store.bulk(row.id).await;
            while found.is_err() && pause(&app).await.is_continue() {
                found = app.store.bulk(row.id).await;
            }
            if let Ok(Some(row)) = found {
                begin(&app, &row);
            }
        }
    }
    drop(held);
}

/// Until the store may answer again, unless the server ends.
async fn pause(app: &App) -> ControlFlow<()> {
    let mut draining = app.draining.subscribe();
    tokio::select! {
        () = tokio::time::sleep(READ_AGAIN) => ControlFlow::Continue(()),
        _ = draining.wait_for(|draining| *draining) => ControlFlow::Break(()),
    }
}

fn begin(app: &App, row: &BulkRow) {
    if let Err(problem) = app.take_up_bulk(row, Past::None) {
        error!(bulk = %row.id, problem.detail, "it cannot be worked on");
    }
}
