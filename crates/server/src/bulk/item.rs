//! One run of many: its order, carried out once whatever the store does meanwhile.

use super::filter::{Action, BulkBody};
use super::job::Bulk;
use crate::app::App;
use crate::auth::who::Who;
use crate::change::Held;
use crate::idempotency::Claim;
use crate::problem::{Code, Problem};
use crate::routes::rerun::{RerunBody, again};
use mainspring_core::ids::RunId;
use mainspring_core::kernel::record::IdempotencyKey;
use mainspring_core::world::input::{Command, Input, Order, Verb};
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

impl Bulk {
    /// Tries until it is known what came of it.
    pub async fn carry_out(&self, app: &App, run: RunId) -> Outcome {
        let key = self.key_of(run);
        let mut pause = PAUSE_MIN;
        loop {
            let problem = match order(app, &self.who, (run, &self.body), key.clone()).await {
                Ok(()) => return Outcome::Done,
                Err(problem) => problem,
            };
            match problem.status {
                403 | 404 | 409 | 422 => return Outcome::Refused(problem),
                503 if problem.code == Code::Stopping.word() => return Outcome::Left,
                503 => {}
                _ => return Outcome::Failed(problem),
            }
            let mut draining = app.draining.subscribe();
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = draining.wait_for(|draining| *draining) => return Outcome::Left,
            }
            pause = (pause * 2).min(PAUSE_MAX);
            // It may have been done, though nobody said so.
            app.engine.loaded().await;
            if matches!(app.store.key(&key).await, Ok(Some(_))) {
                return Outcome::Done;
            }
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
