//! One run of many: its order, carried out once whatever the store does meanwhile.

use super::filter::{Action, BulkBody};
use super::job::{Bulk, Past};
use crate::app::App;
use crate::auth::who::Who;
use crate::change::Held;
use crate::idempotency::Claim;
use crate::problem::{Code, Problem};
use crate::routes::rerun::{RerunBody, again};
use mainspring_core::ids::RunId;
use mainspring_core::kernel::record::IdempotencyKey;
use mainspring_core::world::input::{Command, Input, Order, Verb};
use std::ops::ControlFlow;
use std::time::Duration;

/// Between two tries, while the store is away or much is to be done.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// What came of it.
#[derive(Clone, Debug)]
pub enum Outcome {
    Done,
    /// By a rule: it does not apply to this run.
    Refused(Problem),
    Failed(Problem),
    /// The server is about to end.
    Left,
}

impl Outcome {
    /// None: nothing is known, try again.
    fn of(problem: Problem) -> Option<Self> {
        match problem.status {
            403 | 404 | 409 | 422 => Some(Self::Refused(problem)),
            503 if problem.code == Code::Stopping.word() => Some(Self::Left),
            503 => None,
            _ => Some(Self::Failed(problem)),
        }
    }
}

/// Longer each time.
#[derive(Debug)]
pub struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(PAUSE_MIN)
    }
}

impl Pause {
    /// Waits, unless the server is about to end.
    pub async fn wait(&mut self, app: &App) -> ControlFlow<()> {
        let mut draining = app.draining.subscribe();
        let pause = self.0;
        self.0 = (pause * 2).min(PAUSE_MAX);
        tokio::select! {
            () = tokio::time::sleep(pause) => ControlFlow::Continue(()),
            _ = draining.wait_for(|draining| *draining) => ControlFlow::Break(()),
        }
    }
}

impl Bulk {
    /// Tries until it is known what came of it.
    pub async fn carry_out(&self, app: &App, run: RunId) -> Outcome {
        let (mut past, mut pause) = (self.past, Pause::default());
        loop {
            if let Some(outcome) = self.try_once(app, run, past).await {
                return outcome;
            }
            if pause.wait(app).await.is_break() {
                return Outcome::Left;
            }
            // It may have been done, though nobody said so.
            app.engine.loaded().await;
            past = Past::Former;
        }
    }

    /// What was done is found under its key. None: nothing is known.
    async fn try_once(&self, app: &App, run: RunId, past: Past) -> Option<Outcome> {
        let key = self.key_of(run);
        if past == Past::Former {
            match app.store.key(&key).await {
                Ok(None) => {}
                Ok(Some(_)) => return Some(Outcome::Done),
                Err(error) => return Outcome::of(error.into()),
            }
        }
        match order(app, &self.who, (run, &self.body), key).await {
            Ok(()) => Some(Outcome::Done),
            Err(problem) => Outcome::of(problem),
        }
    }

    /// Stored in the commit that carries the order out.
    fn key_of(&self, run: RunId) -> IdempotencyKey {
        IdempotencyKey {
            principal: self.who.principal(),
            route: "bulk".into(),
            key: format!("{} {run}", self.id).into(),
            body: [0; 32],
        }
    }
}

async fn order(
    app: &App,
    who: &Who,
    (run, body): (RunId, &BulkBody),
    key: IdempotencyKey,
) -> Result<(), Problem> {
    let claim = Some(Claim::of(app, key));
    let (action, verb) = match body.action {
        Action::Rerun => {
            let rerun = RerunBody { from: body.from.clone(), version: body.version };
            return again(app, who, (run, rerun), claim).await.map(drop);
        }
        Action::Retry => ("run.retry", Verb::Retry),
        Action::Cancel => ("run.cancel", Verb::Cancel),
        Action::Pause => ("run.pause", Verb::Pause),
        Action::Resume => ("run.resume", Verb::Resume),
    };
    let record = who.record_with(action, format!("run {run}"), claim.as_ref());
    let command = Command { run, order: Order::Run(verb), by: who.name.to_string() };
    let held = Held { claim, ..Held::default() };
    app.submit(record, Input::Command(command), held).await.map(drop)
}
