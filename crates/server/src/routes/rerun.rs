//! `POST /runs/{id}/rerun`: a final run once more, as a new run, from the beginning or from one of
//! its tasks.

use super::trigger::{accepted, group};
use crate::app::App;
use crate::auth::who::{Operator, Who};
use crate::change::Held;
use crate::definitions::{Version, deleted};
use crate::extract::{Body, Path};
use crate::find::{Found, run_id};
use crate::idempotency::{Claim, IdempotencyKeyHeader, Turn, claim};
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::kernel::record::KeyAnswer;
use mainspring_core::kernel::row::RunHead;
use mainspring_core::plan::dag::kept::Pinned;
use mainspring_core::spec::definition::Definition;
use mainspring_core::view::shapes::RunView;
use mainspring_core::world::input::{Input, Refusal, Reply, Trigger};
use mainspring_engine::Rerun;
use mainspring_engine::definitions::additions;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Where to begin, and with which version.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RerunBody {
    /// This task and everything below it run again; what else had succeeded is copied. Everything
    /// runs again if not said.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub from: Option<Arc<str>>,
    /// `same` if not said.
    #[serde(default)]
    pub version: Option<RerunVersion>,
}

/// The version that the new run is pinned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(rename_all = "snake_case")]
pub enum RerunVersion {
    /// That of the run.
    Same,
    /// The workflow's latest; tasks are found in it by their names.
    Latest,
}

impl<'de> Deserialize<'de> for RerunVersion {
    /// People write a number here.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(from)?;
        match given.as_str() {
            Some("same") => Ok(Self::Same),
            Some("latest") => Ok(Self::Latest),
            _ => Err(D::Error::custom(format!(
                "version: {given} is neither `same`, which is the run's, nor `latest`"
            ))),
        }
    }
}

/// Runs a final run anew: a new run with the same input.
#[utoipa::path(post, path = "/runs/{id}/rerun", operation_id = "rerunRun", tag = "runs",
    params(("id" = RunId, Path), IdempotencyKeyHeader),
    request_body = RerunBody,
    responses((status = 202, body = RunView)))]
pub async fn rerun(
    State(app): State<App>,
    Operator(who): Operator,
    Path(id): Path<String>,
    key: IdempotencyKeyHeader,
    body: Body,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let run = run_id(&id)?;
    let turn = claim(&app, &who, &key, (&format!("rerun {run}"), &body.bytes)).await?;
    let new = match turn {
        Turn::Again(KeyAnswer::Run(run)) => run,
        Turn::Again(_) => return Err(Problem::new(Code::KeyReused, "it was no run's")),
        Turn::New(claim) => again(&app, &who, (run, body.json()?), claim).await?,
    };
    Ok((StatusCode::ACCEPTED, Json(accepted(&app, new).await?)))
}

/// Starts the new run.
pub async fn again(
    app: &App,
    who: &Who,
    (run, body): (RunId, RerunBody),
    claim: Option<Claim>,
) -> Result<RunId, Problem> {
    let Found { run: former, version: was, definition } = former(app, run).await?;
    let RunHead { workflow, labels, priority, workdir, .. } = former.head.clone();
    let latest = body.version == Some(RerunVersion::Latest);
    let version = if latest { app.latest(&workflow).await? } else { Arc::clone(&was) };
    // The latest version is what was deployed: what was added to the run is no part of it, whether
    // or not anything was deployed since.
    let is_whole = !latest || former.progress.additions == 0;
    let is_same = version.row.number == was.row.number && is_whole;
    let new = if is_same { Arc::clone(&definition) } else { Arc::clone(&version.definition) };
    let from = body.from.map(|name| beginning(&version, &new, &name)).transpose()?;
    let input = version.check_input(&former.head.input)?;
    let group = group(app, &version, &input).await?;
    let added = match is_same {
        true => additions(&*app.store, &former.head, &former.progress).await?,
        false => Vec::new(),
    };
    let pinned = if is_same { Pinned::Same } else { Pinned::Other };
    let rerun = Rerun { former, was: definition, definition: new, pinned, from, added };
    let again = app.engine.take_over(rerun).await?;
    let record = who.record_with("run.rerun", format!("run {run}"), claim.as_ref());
    let trigger = Trigger {
        workflow: Arc::clone(&workflow),
        version: Some(version.row.number),
        input,
        labels,
        priority,
        triggered_by: who.name.to_string(),
        workdir,
        group,
        again: Some(Box::new(again)),
    };
    let held = Held { claim, ..Held::default() };
    let done = app.submit(record, Input::Trigger(trigger), held).await;
    match done.map_err(|problem| deleted(problem, &workflow))? {
        Reply::Accepted { run } => Ok(run),
        _ => unreachable!("a trigger is answered by a run"),
    }
}

/// The run, which must be over.
async fn former(app: &App, run: RunId) -> Result<Found, Problem> {
    let found = app.found(run).await?;
    let status = found.run.progress.status;
    match status.is_final() {
        true => Ok(found),
        false => Err(Refusal::RunIs(status).into()),
    }
}

fn beginning(version: &Version, definition: &Definition, name: &str) -> Result<TaskNo, Problem> {
    definition.task_no(name).ok_or_else(|| {
        let (number, workflow) = (version.row.number, &version.row.workflow);
        let detail = format!("version {number} of '{workflow}' has no task '{name}'");
        Problem::new(Code::TaskNotFound, detail)
    })
}
