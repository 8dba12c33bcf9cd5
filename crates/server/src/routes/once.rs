//! Orders that are carried out once, however often the same request comes.

use crate::app::App;
use crate::auth::who::Who;
use crate::change::Held;
use crate::extract::Body;
use crate::idempotency::{Turn, claim};
use crate::problem::Problem;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use mainspring_core::ids::RunId;
use mainspring_core::world::input::{Command, Input, Order};

/// A request as it came: with its key, if it has one, it is the same when it comes again.
#[derive(Debug)]
pub struct Asked {
    headers: HeaderMap,
    pub body: Body,
}

impl FromRequest<App> for Asked {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let headers = request.headers().clone();
        Ok(Self { headers, body: Body::from_request(request, app).await? })
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
        let claim = match claim(app, who, &self.headers, (&route, &self.body.bytes)).await? {
            Turn::Again(_) => return Ok(()),
            Turn::New(claim) => claim,
        };
        let record = who.record_with(action, target, claim.as_ref());
        let command = Command { run, order, by: who.name.to_string() };
        let held = Held { claim, ..Held::default() };
        app.submit(record, Input::Command(command), held).await.map(drop)
    }
}
