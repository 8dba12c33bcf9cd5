//! What a child run begins with: its workflow, wherever that is, and its input, checked as for any
//! other run.

use super::desk::Stop;
use super::group_key::group_key;
use super::outputs::Outputs;
use super::question::{Begin, KnownChild, Parking};
use crate::expr::Scope;
use crate::json::Json;
use crate::spec::control::ChildOf;
use crate::spec::definition::Task;
use crate::spec::input::{InputProblem, InputSchema, check_input};
use crate::world::input::KnownWorkflow;

/// What children of one task are runs of: found once for all instances.
pub(super) struct Kin {
    workflow: Option<KnownWorkflow>,
    version: KnownChild,
    /// Compiled once.
    schema: Option<InputSchema>,
}

impl Kin {
    /// In memory, or stored.
    pub fn find(
        child: &ChildOf,
        known: Option<&KnownChild>,
        outputs: &dyn Outputs,
    ) -> Result<Self, Stop> {
        let (workflow, version) = match known {
            Some(known) => (None, known.clone()),
            None => stored(child, outputs)?,
        };
        let schema = version.definition.input_schema.as_ref();
        let schema = schema.map(InputSchema::compile).transpose();
        let schema = schema.map_err(|problems| wrong(&child.workflow, &problems))?;
        Ok(Self { workflow, version, schema })
    }

    /// The child of a task, or of one of its instances. Outputs of tasks above are its input only
    /// where the task's own `input` says so: the child has a schema of its own.
    pub fn begin(&self, task: &Task, scope: &Scope<'_>) -> Result<Parking, Stop> {
        let definition = &self.version.definition;
        let given = task.input.render(scope, "input")?;
        let checked = self.checked(&given);
        let input = checked.map_err(|problems| wrong(&definition.name, &problems))?;
        let group = group_key(definition, &input).map_err(|bad| {
            Stop::logic(format!("the workflow '{}' takes no such input: {bad}", definition.name))
        })?;
        let (workflow, version) = (self.workflow.clone(), self.version.clone());
        Ok(Parking::Child(Box::new(Begin { workflow, version, input, group })))
    }

    fn checked(&self, given: &Json) -> Result<Json, Vec<InputProblem>> {
        self.schema.as_ref().map_or_else(|| check_input(None, given), |it| it.check(given))
    }
}

fn stored(
    child: &ChildOf,
    outputs: &dyn Outputs,
) -> Result<(Option<KnownWorkflow>, KnownChild), Stop> {
    let name = &child.workflow;
    let found = outputs.workflow(name, child.version)?;
    let workflow = found.workflow.filter(|workflow| workflow.row.deleted_at.is_none());
    let workflow = workflow.ok_or_else(|| unknown(name))?;
    let version = match child.version {
        None => Some(workflow.latest.clone()),
        Some(number) if number == workflow.latest.number => Some(workflow.latest.clone()),
        Some(_) => found.version,
    };
    let version = version.ok_or_else(|| {
        let (number, latest) = (child.version.unwrap_or(0), workflow.latest.number);
        Stop::logic(format!(
            "the workflow '{name}' has no version {number}: its latest is {latest}. Change \
             `version`, or deploy it as often, then retry"
        ))
    })?;
    let version = KnownChild { number: version.number, definition: version.definition };
    Ok((Some(workflow), version))
}

fn unknown(name: &str) -> Stop {
    Stop::logic(unknown_workflow(name))
}

/// For a person who has to deploy it.
pub(crate) fn unknown_workflow(name: &str) -> String {
    format!("there is no workflow '{name}': deploy it, then retry this task")
}

/// Everything that is wrong with an input, each with its path.
fn wrong(workflow: &str, problems: &[InputProblem]) -> Stop {
    let told = problems.iter().map(|InputProblem { path, message }| match path.is_empty() {
        true => message.clone(),
        false => format!("{path}: {message}"),
    });
    let told = told.collect::<Vec<_>>().join("; ");
    Stop::logic(format!("`input` is not what the workflow '{workflow}' takes: {told}"))
}
