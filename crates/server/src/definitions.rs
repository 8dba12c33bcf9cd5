//! Versions as they are used by requests: parsed once, their input schemas compiled once.

use crate::app::App;
use crate::problem::{Code, Fault, Problem};
use mainspring_core::ids::RunId;
use mainspring_core::json::Json;
use mainspring_core::kernel::row::{VersionRow, WorkflowRow};
use mainspring_core::spec;
use mainspring_core::spec::definition::Definition;
use mainspring_core::spec::input::{InputSchema, check_input};
use mainspring_engine::definitions::of_run;
use mainspring_store::StoredRun;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Versions kept; beyond that all are dropped and read again as they are needed.
const KEPT_MAX: usize = 1_000;
/// The same for runs that tasks were added to.
const EXTENDED_MAX: usize = 100;

#[derive(Debug)]
pub struct Version {
    pub row: VersionRow,
    pub definition: Arc<Definition>,
    schema: Option<InputSchema>,
}

impl Version {
    /// The input with its defaults, or everything that is wrong with it.
    pub fn check_input(&self, given: &Json) -> Result<Json, Problem> {
        let checked = match &self.schema {
            Some(schema) => schema.check(given),
            None => check_input(None, given),
        };
        checked.map_err(|problems| {
            let faults = problems.into_iter().map(|problem| Fault {
                code: None,
                message: problem.message,
                path: Some(format!("/input{}", problem.path)),
                line: None,
                column: None,
                hint: None,
            });
            let faults: Vec<Fault> = faults.collect();
            let first = faults.first().map_or_else(String::new, |fault| {
                format!("{}: {}", fault.path.as_deref().unwrap_or_default(), fault.message)
            });
            Problem::new(Code::BadInput, first).with(faults)
        })
    }
}

#[derive(Debug, Default)]
pub struct Definitions(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    versions: BTreeMap<(Arc<str>, u32), Arc<Version>>,
    /// Numbers of the latest versions of workflows that are not hidden.
    latest: BTreeMap<Arc<str>, u32>,
    /// Of runs that tasks were added to, so often.
    extended: BTreeMap<(RunId, u32), Arc<Definition>>,
    /// How often something was forgotten: what was read before is not kept after.
    forgotten: u64,
}

impl Definitions {
    /// Something about this workflow has changed.
    pub fn forget(&self, workflow: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.latest.remove(workflow);
        kept.forgotten += 1;
    }

    /// The number, or what to give to `keep_latest` with what the store says.
    fn latest(&self, workflow: &str) -> Result<u32, u64> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.latest.get(workflow).copied().ok_or(kept.forgotten)
    }

    fn get(&self, workflow: &str, number: u32) -> Option<Arc<Version>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.versions.get(&(workflow.into(), number)).cloned()
    }

    fn keep(&self, version: &Arc<Version>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.versions.len() >= KEPT_MAX {
            kept.versions.clear();
        }
        let key = (Arc::clone(&version.row.workflow), version.row.number);
        kept.versions.insert(key, Arc::clone(version));
    }

    fn keep_latest(&self, workflow: &WorkflowRow, forgotten: u64) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.forgotten != forgotten {
            return;
        }
        if kept.latest.len() >= KEPT_MAX {
            kept.latest.clear();
        }
        kept.latest.insert(Arc::clone(&workflow.name), workflow.latest);
    }
}

impl Definitions {
    fn extended(&self, run: RunId, additions: u32) -> Option<Arc<Definition>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extended.get(&(run, additions)).cloned()
    }

    fn keep_extended(&self, run: RunId, additions: u32, definition: &Arc<Definition>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.extended.len() >= EXTENDED_MAX {
            kept.extended.clear();
        }
        kept.extended.insert((run, additions), Arc::clone(definition));
    }
}

fn not_found(workflow: &str) -> Problem {
    let detail =
        format!("there is no workflow '{workflow}': `GET /workflows` lists those there are");
    Problem::new(Code::WorkflowNotFound, detail)
}

/// The engine's refusal does not know the name that was asked for.
pub fn named(problem: Problem, workflow: &str) -> Problem {
    match problem.code == Code::WorkflowNotFound.word() {
        true => not_found(workflow),
        false => problem,
    }
}

/// The same where a version of it has been found: then it was deleted.
pub fn deleted(problem: Problem, workflow: &str) -> Problem {
    match problem.code == Code::WorkflowNotFound.word() {
        true => {
            let detail = format!(
                "workflow '{workflow}' was deleted, and starts no runs: deploy it again first"
            );
            Problem::new(Code::WorkflowNotFound, detail)
        }
        false => problem,
    }
}

impl App {
    /// What a run goes by: its version's, with what was added to the run.
    pub async fn definition_of(
        &self,
        run: &StoredRun,
        version: &Version,
    ) -> Result<Arc<Definition>, Problem> {
        let (id, additions) = (run.head.id, run.progress.additions);
        if let Some(known) = self.definitions.extended(id, additions) {
            return Ok(known);
        }
        let of = (&*version.row.text, &version.definition);
        let made = of_run(&*self.store, (&run.head, &run.progress), of).await?;
        if additions > 0 {
            self.definitions.keep_extended(id, additions, &made);
        }
        Ok(made)
    }

    /// A workflow that is not hidden.
    pub async fn workflow(&self, name: &str) -> Result<WorkflowRow, Problem> {
        let row = self.store.workflow(name).await?;
        row.filter(|row| row.deleted_at.is_none()).ok_or_else(|| not_found(name))
    }

    /// The latest version of a workflow that is not hidden.
    pub async fn latest(&self, workflow: &str) -> Result<Arc<Version>, Problem> {
        let forgotten = match self.definitions.latest(workflow) {
            Ok(number) => return self.version(workflow, number).await,
            Err(forgotten) => forgotten,
        };
        let row = self.workflow(workflow).await?;
        self.definitions.keep_latest(&row, forgotten);
        self.version(workflow, row.latest).await
    }

    pub async fn version(&self, workflow: &str, number: u32) -> Result<Arc<Version>, Problem> {
        if let Some(known) = self.definitions.get(workflow, number) {
            return Ok(known);
        }
        let missing = || {
            let detail = format!("there is no version {number} of workflow '{workflow}'");
            Problem::new(Code::WorkflowNotFound, detail)
        };
        let row = self.store.version(workflow, Some(number)).await?.ok_or_else(missing)?;
        let version = Arc::new(parse(row)?);
        self.definitions.keep(&version);
        Ok(version)
    }
}

fn parse(row: VersionRow) -> Result<Version, Problem> {
    let unreadable = |what: &str| {
        let detail = format!("version {} of '{}' {what}", row.number, row.workflow);
        Problem::new(Code::Internal, detail)
    };
    let parsed = spec::parse(&row.text, &spec::Context::STORED)
        .map_err(|_| unreadable("cannot be read by this server"))?;
    let schema = parsed.definition.input_schema.as_ref().map(InputSchema::compile).transpose();
    let schema = schema.map_err(|_| unreadable("has an input schema that cannot be used"))?;
    Ok(Version { definition: Arc::new(parsed.definition), schema, row })
}
