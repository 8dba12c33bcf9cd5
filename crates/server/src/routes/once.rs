//! Orders that are carried out once, however often the same request comes.

use crate::app::App;
use crate::auth::who::Who;
use crate::change::Held;
use crate::extract::Body;
use crate::idempotency::{IdempotencyKeyHeader, Turn, claim};
use crate::problem::{Code, Problem};
use axum::extract::{FromRequest, Request};
use mainspring_core::ids::RunId;
use mainspring_core::world::input::{Command, Input, Order};
use std::sync::Arc;

/// A request as it came: with its key, if it has one, it is the same when it comes again.
#[derive(Debug)]
pub struct Asked {
    key: IdempotencyKeyHeader,
    pub body: Body,
}

impl FromRequest<App> for Asked {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let key = IdempotencyKeyHeader::read(request.headers())?;
        Ok(Self { key, body: Body::from_request(request, app).await? })
    }
}

impl Asked {
    /// Gives an order about a run, unless it was given under the same key before. Whoever asks
    /// again is told how things stand, as they were the first time.
    pub async fn order(
        &self,
        (app, who): (&App, &Who),
        (action, target): (&'static str, String),
        (run, order): (RunId, Order),
    ) -> Result<(), Problem> {
        let route = format!("{action} {target}");
        let claim = match claim(app, who, &self.key, (&route, &self.body.bytes)).await? {
            Turn::Again(_) => return Ok(()),
            Turn::New(claim) => claim,
        };
        let record = who.record_with(action, target, claim.as_ref());
        let command = Command { run, order, by: who.name.to_string() };
        let held = Held { claim, ..Held::default() };
        let task = match &command.order {
            Order::Task(named, _) | Order::Rule(named, _) => Some(Arc::clone(&named.task)),
            _ => None,
        };
        match (app.submit(record, Input::Command(command), held).await, task) {
            // A name that is wrong is wrong whatever the run's state.
            (Err(problem), Some(task)) if problem.code == Code::RunState.word() => {
                app.found(run).await?.task_no(&task)?;
                Err(problem)
            }
            (done, _) => done.map(drop),
        }
    }
}
