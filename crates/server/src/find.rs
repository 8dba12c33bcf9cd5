//! Runs and tasks by the words of a path, with what is needed to show them.

use crate::app::{App, now};
use crate::definitions::Version;
use crate::problem::{Code, Problem};
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::kernel::rows::Rows;
use mainspring_core::view::shapes::{RunView, TaskView, show};
use mainspring_store::StoredRun;
use std::sync::Arc;

/// A run with its rows and the definition it is pinned to.
#[derive(Debug)]
pub struct Found {
    pub run: StoredRun,
    pub version: Arc<Version>,
}

impl Found {
    /// As its owner would show it.
    pub fn show(&self) -> (RunView, Vec<TaskView>) {
        let definition = &self.version.definition;
        let mut rows = Rows::new(definition.tasks.len());
        for row in &self.run.tasks {
            rows.put(row.clone());
        }
        show(definition, (&self.run.head, &self.run.progress), &rows, now())
    }

    pub fn task_no(&self, name: &str) -> Result<TaskNo, Problem> {
        self.version.definition.task_no(name).ok_or_else(|| {
            Problem::new(Code::TaskNotFound, format!("the run has no task '{name}'"))
        })
    }

    pub fn row(&self, no: TaskNo) -> Option<&TaskRow> {
        self.run.tasks.iter().find(|row| row.task.no == no)
    }
}

pub fn run_id(text: &str) -> Result<RunId, Problem> {
    text.parse().map_err(|_| Problem::new(Code::RunNotFound, "a run's id is a UUID"))
}

impl App {
    pub async fn found(&self, id: RunId) -> Result<Found, Problem> {
        let missing = || Problem::new(Code::RunNotFound, format!("there is no run {id}"));
        let run = self.store.run(id).await?.ok_or_else(missing)?;
        let version = self.version(&run.head.workflow, run.head.version).await?;
        Ok(Found { run, version })
    }
}
