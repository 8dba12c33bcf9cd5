//! From a decision to start an attempt to what its executor is told. Costs grow with the
//! payload, so it runs after the commit and off the deciding thread.

use crate::error::{ErrorClass, TaskError};
use crate::evaluate::{
    Answer, Asked, Desk, Instance, Outputs, OutputsError, Question, Stop, Surroundings, error_of,
    scope, work_out,
};
use crate::expr::{Known, Scope, Trouble};
use crate::ids::{AttemptId, TaskNo, Ticket};
use crate::json::Json;
use crate::limits::TASK_INPUT_BYTES_MAX;
use crate::output::Output;
use crate::render::{Base, render_process, render_target, render_workspace};
use crate::spec::definition::{Action, Cache, FinalAction, Landing, Process, Task, Workspace};
use crate::work::{CacheNote, Launch, ProcessWork, Work};
use crate::work_git::{GitMerge, GitWorkspace, branch_of};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

type Merged = BTreeMap<String, Box<RawValue>>;

/// A decided start, holding everything by reference.
#[derive(Clone, Debug)]
pub struct StartAttempt {
    pub ticket: Ticket,
    pub attempt: u32,
    /// The run's directory.
    pub workdir: Arc<str>,
    pub around: Arc<Surroundings>,
    /// For an instance of a group.
    pub instance: Option<Instance>,
    /// For a finalizer: the attempt that did the work.
    pub finalizes: Option<AttemptId>,
}

/// Why there is nothing to tell an executor.
#[derive(Debug)]
pub enum NotLaunched {
    /// The attempt's outcome.
    Failed(TaskError),
    /// What it needs cannot be reached: to be tried later.
    Later(String),
}

impl From<OutputsError> for NotLaunched {
    fn from(error: OutputsError) -> Self {
        match error {
            OutputsError::Lost(what) => Self::Failed(TaskError::new(ErrorClass::Internal, what)),
            OutputsError::Unreachable(what) => Self::Later(what),
        }
    }
}

impl From<Stop> for NotLaunched {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Failed(error) => Self::Failed(error),
            Stop::Outputs(error) => error.into(),
        }
    }
}

impl From<Trouble> for NotLaunched {
    fn from(trouble: Trouble) -> Self {
        Stop::from(trouble).into()
    }
}

impl NotLaunched {
    fn logic(message: impl Into<String>) -> Self {
        Stop::logic(message).into()
    }
}

impl StartAttempt {
    /// Builds what the executor is told.
    pub fn render(&self, outputs: &dyn Outputs) -> Result<Launch, NotLaunched> {
        match self.lacks_items() {
            true => self.with_items(outputs)?.rendered(outputs),
            false => self.rendered(outputs),
        }
    }

    /// Its list is not at hand: the world that starts it was loaded after it had been dispatched.
    pub fn lacks_items(&self) -> bool {
        let task = self.around.definition.task(self.ticket.task.no);
        let has_items = task.fan_out.as_ref().is_some_and(|fan_out| fan_out.foreach.is_some());
        has_items && self.instance.as_ref().is_some_and(|instance| instance.items.is_none())
    }

    fn with_items(&self, outputs: &dyn Outputs) -> Result<Self, NotLaunched> {
        let what = Asked::Items(self.ticket.task.no);
        let around = Arc::clone(&self.around);
        let question = Question { run: self.ticket.run, number: (0, 0), what, around, child: None };
        match work_out(&question, outputs)? {
            Answer::Fan { items, .. } => {
                let instance = self.instance.clone().map(|instance| Instance { items, ..instance });
                Ok(Self { instance, ..self.clone() })
            }
            answer => Err(NotLaunched::Failed(error_of(answer))),
        }
    }

    fn rendered(&self, outputs: &dyn Outputs) -> Result<Launch, NotLaunched> {
        let task = self.around.definition.task(self.ticket.task.no);
        let desk = Desk { around: &self.around, outputs };
        let known = Known::new(&desk);
        let scope = scope(&known, self.instance.as_ref());
        let work = match self.finalizes {
            Some(_) => self.landing(task, &scope)?,
            None => self.work(task, &scope)?,
        };
        // What the work left is remembered when all of it has landed, and looked for before.
        let cache = task.cache.as_ref().filter(|_| self.finalizes.is_none());
        Ok(Launch {
            ticket: self.ticket,
            run: self.around.run,
            workflow: Arc::clone(&self.around.definition.name),
            task: Arc::clone(&task.name),
            attempt: self.attempt,
            finalizes: self.finalizes,
            work,
            input: self.input(task, &scope, outputs)?,
            instance: self.instance.as_ref().map(|instance| (instance.index, instance.count)),
            run_input: self.around.run_input.clone(),
            cache: cache.map(|cache| note(cache, &scope)).transpose()?,
        })
    }

    fn work(&self, task: &Task, scope: &Scope<'_>) -> Result<Work, NotLaunched> {
        Ok(match &task.action {
            Action::Process(process) => Work::Process(self.process(task, process, scope)?),
            #[cfg(feature = "bench")]
            Action::Echo => Work::Echo,
            Action::Noop | Action::Control(_) => {
                unreachable!("nobody carries it out: it is settled or parked where it is decided")
            }
        })
    }

    fn landing(&self, task: &Task, scope: &Scope<'_>) -> Result<Work, NotLaunched> {
        let finalize =
            task.finalize.as_deref().expect("only a task with a finalizer has one start");
        Ok(match &finalize.action {
            FinalAction::Process(process) => Work::Process(self.process(task, process, scope)?),
            FinalAction::GitMerge(landing) => Work::GitMerge(self.merge(task, landing, scope)?),
        })
    }

    /// A process of a task, in its workspace if it has one.
    fn process(
        &self,
        task: &Task,
        process: &Process,
        scope: &Scope<'_>,
    ) -> Result<ProcessWork, NotLaunched> {
        let Some(workspace) = &task.workspace else {
            return Ok(render_process(process, Base::Directory(&self.workdir), scope)?);
        };
        let work = render_process(process, Base::Workspace, scope)?;
        let workspace = self.workspace(task, workspace, scope)?;
        Ok(ProcessWork { workspace: Some(workspace), ..work })
    }

    fn workspace(
        &self,
        task: &Task,
        workspace: &Workspace,
        scope: &Scope<'_>,
    ) -> Result<GitWorkspace, NotLaunched> {
        let index = self.instance.as_ref().map(|instance| instance.index);
        let branch = branch_of(self.around.run, &task.name, index);
        let into = match task.finalize.as_ref().map(|finalize| &finalize.action) {
            // One that names what its own task puts out is known only then.
            Some(FinalAction::GitMerge(landing)) => render_target(&landing.into, scope).ok(),
            _ => None,
        };
        let workspace = render_workspace(workspace, &self.workdir, branch, scope)?;
        Ok(GitWorkspace { into, ..workspace })
    }

    /// What landing the branch of a task comes to.
    fn merge(
        &self,
        task: &Task,
        landing: &Landing,
        scope: &Scope<'_>,
    ) -> Result<GitMerge, NotLaunched> {
        let workspace = task.workspace.as_ref().expect("nothing else has a branch to land");
        let GitWorkspace { repo, base, branch, .. } = self.workspace(task, workspace, scope)?;
        let index = self.instance.as_ref().map(|instance| format!("/{}", instance.index));
        let (workflow, run) = (&self.around.definition.name, self.around.run);
        Ok(GitMerge {
            repo,
            branch,
            into: render_target(&landing.into, scope)?,
            base,
            verify: landing.verify.as_deref().map(str::to_owned),
            strategy: landing.strategy,
            update_checkout: landing.update_checkout,
            attempt: self.finalizes.expect("only finalizers land"),
            message: format!(
                "{workflow}: {}{}\n\nLanded by run {run}.",
                task.name,
                index.unwrap_or_default()
            ),
            workdir: self.workdir.to_string(),
            kill_grace_ms: landing.kill_grace.as_ms(),
            log_bytes_max: landing.log_bytes_max,
        })
    }

    /// Upstream outputs by task name, for a finalizer what its own task put out among them,
    /// overlaid with the task's own input, and for an instance with what tells it from the others.
    fn input(
        &self,
        task: &Task,
        scope: &Scope<'_>,
        outputs: &dyn Outputs,
    ) -> Result<Json, NotLaunched> {
        let own = task.input.render(scope, "input")?;
        let alone = task.depends_on.is_empty() && self.instance.is_none();
        if alone && self.finalizes.is_none() {
            return bounded(own);
        }
        let mut merged = Merged::new();
        for edge in &task.depends_on {
            let name = self.around.definition.task(edge.upstream).name.to_string();
            merged.insert(name, raw(self.upstream(edge.upstream, outputs)?));
        }
        if self.finalizes.is_some() {
            let done = self.upstream(self.ticket.task.no, outputs)?;
            merged.insert(task.name.to_string(), raw(done));
        }
        let own: Merged = serde_json::from_str(own.as_str()).expect("a task's input is an object");
        let own_names: BTreeSet<String> = own.keys().cloned().collect();
        merged.extend(own);
        if let Some(instance) = &self.instance {
            merged.insert("index".to_owned(), raw(instance.index.to_string()));
            merged.insert("count".to_owned(), raw(instance.count.to_string()));
            if let Some(item) = instance.item() {
                merged.insert("item".to_owned(), raw(item.to_owned()));
            }
        }
        let input = composed(&merged);
        match input.as_str().len().checked_sub(TASK_INPUT_BYTES_MAX) {
            None | Some(0) => Ok(input),
            Some(excess) => {
                self.refer(&mut merged, &own_names, excess, outputs)?;
                bounded(composed(&merged))
            }
        }
    }

    /// Many small outputs may be too much together: the largest are passed on as if they were
    /// large, until so many bytes are saved.
    fn refer(
        &self,
        merged: &mut Merged,
        own: &BTreeSet<String>,
        mut excess: usize,
        outputs: &dyn Outputs,
    ) -> Result<(), OutputsError> {
        let definition = &self.around.definition;
        let task = definition.task(self.ticket.task.no);
        let mut given: Vec<(&str, &Json)> = task
            .depends_on
            .iter()
            .filter_map(|edge| {
                let name = &*definition.task(edge.upstream).name;
                let found = self.around.upstream.iter().find(|it| it.no == edge.upstream)?;
                Some((name, found.output.as_ref()?.inline()?)).filter(|_| !own.contains(name))
            })
            .collect();
        given.sort_by_key(|(_, json)| std::cmp::Reverse(json.as_str().len()));
        for (name, json) in given {
            if excess == 0 {
                return Ok(());
            }
            let bytes = json.as_str().len();
            let place = file(&outputs.written(self.around.run, json)?, bytes as u64);
            if place.len() >= bytes {
                return Ok(());
            }
            excess = excess.saturating_sub(bytes - place.len());
            merged.insert(name.to_owned(), raw(place));
        }
        Ok(())
    }

    /// What a task above put out; where that is, when it is large.
    fn upstream(&self, no: TaskNo, outputs: &dyn Outputs) -> Result<String, OutputsError> {
        let found = self.around.upstream.iter().find(|upstream| upstream.no == no);
        Ok(match found.and_then(|upstream| upstream.output.as_ref()) {
            None => "null".to_owned(),
            Some(Output::Inline(json)) => json.as_str().to_owned(),
            Some(Output::Blob(blob)) => {
                let path = outputs.file(self.around.run, blob)?;
                file(&path, blob.bytes)
            }
        })
    }
}

/// What is passed on of an output that is in a file.
fn file(path: &str, bytes: u64) -> String {
    serde_json::json!({ "$file": path, "bytes": bytes }).to_string()
}

fn composed(merged: &Merged) -> Json {
    Json::composed(serde_json::to_string(merged).expect("raw values serialize"))
}

fn bounded(input: Json) -> Result<Json, NotLaunched> {
    let bytes = input.as_str().len();
    if bytes <= TASK_INPUT_BYTES_MAX {
        return Ok(input);
    }
    Err(NotLaunched::logic(format!(
        "the task's input is {bytes} bytes, and would be more if outputs of tasks above were not \
         passed on as files already; at most {TASK_INPUT_BYTES_MAX} are passed on. Keep large data \
         in files and put their paths into `input`"
    )))
}

/// What a success is remembered under.
fn note(cache: &Cache, scope: &Scope<'_>) -> Result<CacheNote, NotLaunched> {
    let key = cache.key.render(scope).map_err(|trouble| trouble.at("cache.key"))?;
    // Whatever has no key would be taken for each other.
    if key.trim().is_empty() {
        return Err(NotLaunched::logic("`cache.key` is empty with its values put in"));
    }
    Ok(CacheNote { hash: Sha256::digest(key.as_bytes()).into(), ttl: cache.ttl })
}

fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).expect("Json holds valid JSON")
}
