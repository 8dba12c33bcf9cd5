//! What there is to work something out with: the run's payloads, wherever they are.

use super::outputs::{Outputs, OutputsError};
use super::question::{Instance, Surroundings};
use crate::error::{ErrorClass, TaskError};
use crate::expr::{Known, Place, Scope, Source, Trouble, Unread};
use crate::ids::TaskNo;
use crate::json::Json;
use crate::output::Output;

/// The surroundings of a task or a run, and outputs that are not at hand.
#[derive(Clone, Copy)]
pub(crate) struct Desk<'a> {
    pub around: &'a Surroundings,
    pub outputs: &'a dyn Outputs,
}

/// Why there is nothing but an error.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The definition, or what a task put out, is wrong.
    Failed(TaskError),
    Outputs(OutputsError),
}

impl From<OutputsError> for Stop {
    fn from(error: OutputsError) -> Self {
        Self::Outputs(error)
    }
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Wrong(why) => Self::logic(why),
            Trouble::Unread(Unread::Lost(what)) => Self::Outputs(OutputsError::Lost(what)),
            Trouble::Unread(Unread::Later(what)) => Self::Outputs(OutputsError::Unreachable(what)),
        }
    }
}

impl Stop {
    pub fn logic(message: impl Into<String>) -> Self {
        Self::Failed(TaskError::new(ErrorClass::Logic, message.into()))
    }
}

impl Desk<'_> {
    /// What a task above put out, as a value.
    pub fn value_of(&self, no: TaskNo) -> Result<Option<Json>, OutputsError> {
        let found = self.around.upstream.iter().find(|upstream| upstream.no == no);
        self.value(found.and_then(|upstream| upstream.output.as_ref()))
    }

    pub fn value(&self, output: Option<&Output>) -> Result<Option<Json>, OutputsError> {
        match output {
            None => Ok(None),
            Some(Output::Inline(json)) => Ok(Some(json.clone())),
            Some(Output::Blob(blob)) => Ok(Some(self.outputs.load(self.around.run, blob)?)),
        }
    }
}

impl Source for Desk<'_> {
    fn input(&self) -> Json {
        self.around.run_input.clone()
    }

    fn run_id(&self) -> String {
        self.around.run.to_string()
    }

    fn scheduled_for(&self) -> Option<String> {
        None
    }

    fn output(&self, task: &str) -> Result<Option<Json>, Unread> {
        let definition = &self.around.definition;
        let mut upstream = self.around.upstream.iter();
        let found = upstream.find(|upstream| &*definition.task(upstream.no).name == task);
        let value = self.value(found.and_then(|upstream| upstream.output.as_ref()));
        value.map_err(|error| match error {
            OutputsError::Lost(what) => Unread::Lost(what),
            OutputsError::Unreachable(what) => Unread::Later(what),
        })
    }

    fn status(&self, task: &str) -> &str {
        let definition = &self.around.definition;
        let mut upstream = self.around.upstream.iter();
        let found = upstream.find(|upstream| &*definition.task(upstream.no).name == task);
        // What a task reads is always among them.
        found.map_or("pending", |upstream| upstream.word.text())
    }
}

/// What the expressions of an instance, or of a task that is none, can see.
pub(crate) fn scope<'k>(known: &'k Known<'k>, instance: Option<&'k Instance>) -> Scope<'k> {
    match instance {
        None => known.scope(),
        Some(instance) => known.instance(Place {
            index: instance.index,
            count: instance.count,
            item: instance.item(),
        }),
    }
}
