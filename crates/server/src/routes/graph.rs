//! `/workflows/{name}/versions/{number}/graph` and `/runs/{id}/graph`: tasks and what they wait
//! for, for whoever draws them.

use crate::app::App;
use crate::auth::who::Viewer;
use crate::extract::Path;
use crate::find::run_id;
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::graph::Graph;
use mainspring_core::ids::RunId;
use mainspring_core::spec::definition::{Definition, OnFailure, When};
use mainspring_core::view::shapes::kind;
use serde::Serialize;
use utoipa::ToSchema;

/// The tasks of a version.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GraphView {
    pub workflow: String,
    pub version: u32,
    /// In the order of the definition.
    pub tasks: Vec<GraphTask>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GraphTask {
    pub name: String,
    /// What carries it out.
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Of a fan-out, how many instances it has, as far as the text says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<String>,
    /// It runs only if this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// `run`: it runs however the tasks before it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<&'static str>,
    /// It runs also after the run was cancelled or has timed out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub always: bool,
    /// The run is paused after its success.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub checkpoint: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub allow_failure: bool,
    /// Of a run: it is not in its version, and was added since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub added: bool,
    pub depends_on: Vec<GraphEdge>,
}

/// What a task waits for.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GraphEdge {
    pub task: String,
    #[schema(value_type = String)]
    pub when: &'static str,
}

impl GraphView {
    pub fn of(definition: &Definition, (workflow, version): (String, u32)) -> Self {
        let graph = Graph::of(definition);
        let tasks = graph.nodes.iter().zip(&definition.tasks).map(|(node, task)| GraphTask {
            name: node.name.to_owned(),
            kind: kind(&task.action),
            description: node.description.map(str::to_owned),
            fan_out: node.fan_out.clone(),
            condition: node.condition.map(str::to_owned),
            tier: node.tier.map(str::to_owned),
            on_failure: (node.on_failure == OnFailure::Run).then_some("run"),
            always: node.always,
            checkpoint: node.checkpoint,
            allow_failure: node.allow_failure,
            added: false,
            depends_on: task
                .depends_on
                .iter()
                .map(|edge| GraphEdge {
                    task: definition.task(edge.upstream).name.to_string(),
                    when: When::word(edge.when),
                })
                .collect(),
        });
        Self { workflow, version, tasks: tasks.collect() }
    }
}

/// Shows a run's tasks and what they wait for: those of its version, then those that were added.
#[utoipa::path(get, path = "/runs/{id}/graph", operation_id = "getRunGraph", tag = "runs",
    params(("id" = RunId, Path)),
    responses((status = 200, body = GraphView)))]
pub async fn of_run(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path(id): Path<String>,
) -> Result<Json<GraphView>, Problem> {
    let found = app.found(run_id(&id)?).await?;
    let version = (found.run.head.workflow.to_string(), found.run.head.version);
    let mut view = GraphView::of(&found.definition, version);
    for task in view.tasks.iter_mut().skip(found.version.definition.tasks.len()) {
        task.added = true;
    }
    Ok(Json(view))
}

/// Shows a version's tasks and what they wait for. That of a run is there for as long as the run,
/// whatever has become of the workflow since.
#[utoipa::path(get, path = "/workflows/{name}/versions/{number}/graph", operation_id = "getGraph", tag = "workflows",
    params(("name" = String, Path), ("number" = String, Path, description = "a number, or `latest`")),
    responses((status = 200, body = GraphView)))]
pub async fn get(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path((name, number)): Path<(String, String)>,
) -> Result<Json<GraphView>, Problem> {
    let version = match number.as_str() {
        "latest" => app.latest(&name).await?,
        text => {
            let unknown =
                || Problem::new(Code::WorkflowNotFound, "a version is a number, or `latest`");
            app.version(&name, text.parse().map_err(|_| unknown())?).await?
        }
    };
    Ok(Json(GraphView::of(&version.definition, (name, version.row.number))))
}
