//! Runs, tasks and instances by the words of a path, with what is needed to show them.

use crate::app::{App, now};
use crate::definitions::Version;
use crate::problem::{Code, Problem};
use axum::http::StatusCode;
use mainspring_core::ids::{RunId, RunKey, TaskNo, TaskRef};
use mainspring_core::kernel::row::{Attempt, TaskRow};
use mainspring_core::kernel::rows::Rows;
use mainspring_core::spec::definition::Definition;
use mainspring_core::view::shapes::{RunView, TaskView, instance, latest, show};
use mainspring_core::world::input::{Named, Refusal};
use mainspring_store::StoredRun;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// Which instance of a fan-out is meant.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct IndexQuery {
    /// Of a fan-out, the instance with this index, from 0; the fan-out as a whole if not said.
    pub index: Option<u32>,
}

/// A run with the rows of its tasks, not of instances, and the definition it is pinned to.
#[derive(Debug)]
pub struct Found {
    pub run: StoredRun,
    pub version: Arc<Version>,
    /// The version's, with what was added to the run.
    pub definition: Arc<Definition>,
}

impl Found {
    /// As its owner would show it.
    pub fn show(&self) -> (RunView, Vec<TaskView>) {
        let definition = &self.definition;
        let mut rows = Rows::new(definition.tasks.len());
        for row in &self.run.tasks {
            rows.put(row.clone());
        }
        show(definition, (&self.run.head, &self.run.progress), &rows, now())
    }

    pub fn task_no(&self, name: &str) -> Result<TaskNo, Problem> {
        self.named(name, None).map(|task| task.no)
    }

    /// What a path and an index name. What is not there is not found, whatever it would be
    /// refused for if it were an order.
    pub fn named(&self, name: &str, index: Option<u32>) -> Result<TaskRef, Problem> {
        let named = Named { task: name.into(), index };
        let found = named.find(&self.definition, |no| self.row(no));
        found.map_err(|refusal| Problem::from(refusal).with_status(StatusCode::NOT_FOUND))
    }

    pub fn row(&self, no: TaskNo) -> Option<&TaskRow> {
        self.run.tasks.iter().find(|row| row.task == TaskRef::plain(no))
    }
}

pub fn run_id(text: &str) -> Result<RunId, Problem> {
    text.parse().map_err(|_| Problem::new(Code::RunNotFound, "a run's id is a UUID"))
}

impl App {
    pub async fn found(&self, id: RunId) -> Result<Found, Problem> {
        let missing = || Problem::new(Code::RunNotFound, format!("there is no run {id}"));
        let run = self.store.outline(id).await?.ok_or_else(missing)?;
        let version = self.version(&run.head.workflow, run.head.version).await?;
        let definition = self.definition_of(&run, &version).await?;
        Ok(Found { run, version, definition })
    }

    /// The row of a task or of an instance. None while there is nothing to say of a task.
    pub async fn row(&self, found: &Found, task: TaskRef) -> Result<Option<TaskRow>, Problem> {
        let Some(index) = task.index else { return Ok(found.row(task.no).cloned()) };
        let row = self.store.instance(found.run.head.key, task.no, index).await?;
        // Its group may have gone back between the two looks.
        let gone = || Problem::from(Refusal::NotStarted(index)).with_status(StatusCode::NOT_FOUND);
        row.ok_or_else(gone).map(Some)
    }

    /// The last attempt of a task or an instance, at whichever of its steps.
    pub async fn last_attempt(
        &self,
        run: RunKey,
        row: &TaskRow,
    ) -> Result<Option<Attempt>, Problem> {
        if row.finalizer.is_none() {
            return Ok(row.attempt.clone());
        }
        let history = self.store.attempts_of(run, row.task).await?;
        Ok(latest(&history, row))
    }

    /// The attempt with this number, or the last one. None when the task has not run. A refused
    /// start leaves its number to the next attempt.
    pub async fn attempt(
        &self,
        found: &Found,
        task: TaskRef,
        wanted: Option<u32>,
    ) -> Result<Option<Attempt>, Problem> {
        let run = found.run.head.key;
        let current = match self.row(found, task).await? {
            None => None,
            Some(row) => match wanted {
                // The one at its work is asked for by its number.
                Some(number) if row.attempt.as_ref().is_some_and(|it| it.number == number) => {
                    return Ok(row.attempt);
                }
                _ => self.last_attempt(run, &row).await?,
            },
        };
        let Some(wanted) = wanted else { return Ok(current) };
        if current.as_ref().is_some_and(|attempt| attempt.number == wanted) {
            return Ok(current);
        }
        let history = self.store.attempts_of(run, task).await?;
        let own = history.into_iter().map(|past| past.attempt);
        let past = own.filter(|attempt| attempt.number == wanted).last();
        let last = current.map_or(0, |attempt| attempt.number);
        let missing = || {
            let detail = match last {
                0 => format!("there is no attempt {wanted}: the task has not run yet"),
                1 => format!("there is no attempt {wanted}: there is 1"),
                last => format!("there is no attempt {wanted}: they are numbered from 1 to {last}"),
            };
            Problem::new(Code::AttemptNotFound, detail)
        };
        past.ok_or_else(missing).map(Some)
    }

    /// A task or an instance as its owner would show it.
    pub async fn task(&self, found: &Found, task: TaskRef) -> Result<TaskView, Problem> {
        Ok(self.task_and_row(found, task).await?.0)
    }

    pub async fn task_and_row(
        &self,
        found: &Found,
        task: TaskRef,
    ) -> Result<(TaskView, Option<TaskRow>), Problem> {
        let row = self.row(found, task).await?;
        let view = match (task.index, found.row(task.no), &row) {
            (Some(_), Some(group), Some(row)) => instance(&found.definition, (group, row), now()),
            _ => found.show().1.swap_remove(task.no.position()),
        };
        Ok((view, row))
    }
}
