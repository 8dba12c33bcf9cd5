//! From a decision to start an attempt to what its executor is told. Costs grow with the
//! payload, so it runs after the commit and off the deciding thread.

use crate::error::{ErrorClass, TaskError};
use crate::ids::{RunId, TaskNo, Ticket};
use crate::json::Json;
use crate::limits::TASK_INPUT_BYTES_MAX;
use crate::spec::definition::{Action, Definition, Process};
use crate::work::{Launch, ProcessWork, Work};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A decided start, holding everything by reference.
#[derive(Clone, Debug)]
pub struct StartAttempt {
    pub ticket: Ticket,
    pub run: RunId,
    pub attempt: u32,
    pub definition: Arc<Definition>,
    pub run_input: Json,
    /// The run's directory.
    pub workdir: Arc<str>,
    /// Direct upstream tasks and what they put out.
    pub upstream: Vec<(TaskNo, Option<Json>)>,
}

impl StartAttempt {
    /// Builds what the executor is told; an error is the attempt's outcome.
    pub fn render(&self) -> Result<Launch, TaskError> {
        let task = self.definition.task(self.ticket.task.no);
        let work = match &task.action {
            Action::Process(process) => Work::Process(self.process_work(process)),
            #[cfg(feature = "bench")]
            Action::Echo => Work::Echo,
            Action::Noop => unreachable!("a noop is settled where it is decided"),
        };
        Ok(Launch {
            ticket: self.ticket,
            run: self.run,
            workflow: Arc::clone(&self.definition.name),
            task: Arc::clone(&task.name),
            attempt: self.attempt,
            work,
            input: self.input()?,
            run_input: self.run_input.clone(),
        })
    }

    fn process_work(&self, process: &Process) -> ProcessWork {
        ProcessWork {
            program: process.program.clone(),
            env: process.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            workdir: join(&self.workdir, process.workdir.as_deref()),
            output: process.output,
            kill_grace: process.kill_grace,
            log_bytes_max: process.log_bytes_max,
        }
    }

    /// Upstream outputs by task name, overlaid with the task's own static input.
    fn input(&self) -> Result<Json, TaskError> {
        let own = &self.definition.task(self.ticket.task.no).input;
        if self.upstream.is_empty() {
            return Ok(own.clone());
        }
        let mut merged: BTreeMap<String, &RawValue> = BTreeMap::new();
        for (no, output) in &self.upstream {
            let text = output.as_ref().map_or("null", Json::as_str);
            merged.insert(self.definition.task(*no).name.to_string(), raw(text));
        }
        let own: BTreeMap<String, &RawValue> =
            serde_json::from_str(own.as_str()).expect("a task's input is an object");
        merged.extend(own);
        let text = serde_json::to_string(&merged).expect("raw values serialize");
        if text.len() > TASK_INPUT_BYTES_MAX {
            return Err(TaskError::new(
                ErrorClass::Logic,
                format!(
                    "the task's input, upstream outputs included, is {} bytes; at most {} are \
                     passed on. Pass large data as files and put their paths into the output",
                    text.len(),
                    TASK_INPUT_BYTES_MAX
                ),
            ));
        }
        Ok(Json::composed(text))
    }
}

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).expect("Json holds valid JSON")
}

/// A task's directory below the run's, unless it is absolute.
fn join(base: &str, workdir: Option<&str>) -> String {
    match workdir {
        None => base.to_owned(),
        Some(path) if path.starts_with('/') => path.to_owned(),
        Some(path) => format!("{}/{path}", base.trim_end_matches('/')),
    }
}
