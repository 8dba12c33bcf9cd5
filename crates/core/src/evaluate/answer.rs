//! From a question to its answer.

use super::child::Kin;
use super::desk::{Desk, Stop, scope};
use super::fan::fan;
use super::list::list;
use super::outputs::{Outputs, OutputsError};
use super::park::parking;
use super::question::{Answer, Asked, Instance, KnownChild, Parking, Question};
use crate::error::{ErrorClass, TaskError};
use crate::expr::{Known, Scope};
use crate::ids::TaskNo;
use crate::json::Json;
use crate::output::Output;
use crate::spec::control::Control;
use crate::spec::definition::{Action, Task};

/// The answer to a question. An error is nobody's fault but the store's: ask again.
pub fn work_out(question: &Question, outputs: &dyn Outputs) -> Result<Answer, OutputsError> {
    let desk = Desk { around: &question.around, outputs };
    let kin = question.child.as_ref();
    let answer = match &question.what {
        Asked::Opening(no) => desk.opening(*no, kin),
        Asked::Parking(no) => desk.parking(*no, kin).map(Answer::Park),
        Asked::Items(no) => fan(&desk, *no),
        Asked::Noops { task, indexes, count, items } => {
            let instances = indexes.clone().map(|index| Instance {
                index,
                count: *count,
                items: items.clone(),
            });
            desk.instances(*task, instances, kin)
        }
        Asked::List { task, count } | Asked::Work { task, count } => list(&desk, (*task, *count)),
        Asked::RunOutput => desk.run_output(),
    };
    match answer {
        Ok(answer) => Ok(answer),
        Err(Stop::Failed(error)) => Ok(Answer::Failed(error)),
        Err(Stop::Outputs(OutputsError::Lost(what))) => Ok(Answer::Failed(lost(what))),
        Err(Stop::Outputs(later)) => Err(later),
    }
}

/// The failure of one is its own; that something is out of reach is everybody's.
fn each<T>(
    results: impl Iterator<Item = Result<T, Stop>>,
) -> Result<Vec<Result<T, TaskError>>, Stop> {
    let own = |result| match result {
        Ok(good) => Ok(Ok(good)),
        Err(Stop::Failed(error)) => Ok(Err(error)),
        Err(Stop::Outputs(OutputsError::Lost(what))) => Ok(Err(lost(what))),
        Err(later) => Err(later),
    };
    results.map(own).collect()
}

fn lost(what: String) -> TaskError {
    TaskError::new(ErrorClass::Internal, what)
}

impl Desk<'_> {
    /// Whether a task runs; if it does, as how many, and what it puts out if it does nothing.
    fn opening(&self, no: TaskNo, kin: Option<&KnownChild>) -> Result<Answer, Stop> {
        let task = self.around.definition.task(no);
        let known = Known::new(self);
        if let Some(condition) = &task.condition
            && !condition.truth(&known.scope()).map_err(|trouble| trouble.at("if"))?
        {
            return Ok(Answer::Skip);
        }
        match (&task.fan_out, &task.action) {
            (Some(_), _) => fan(self, no),
            (None, Action::Noop) => self.noop(task, &known.scope()).map(Answer::Noop),
            (None, Action::Control(_)) => self.parking(no, kin).map(Answer::Park),
            (None, _) => Ok(Answer::Go),
        }
    }

    /// What a control task waits for.
    fn parking(&self, no: TaskNo, kin: Option<&KnownChild>) -> Result<Parking, Stop> {
        let task = self.around.definition.task(no);
        let known = Known::new(self);
        match task.control() {
            Some(Control::Child(child)) => {
                Kin::find(child, kin, self.outputs)?.begin(task, &known.scope())
            }
            Some(control) => parking(control, &known.scope()),
            None => Err(Stop::logic("it waits for nothing")),
        }
    }

    /// The output of a task that does nothing: its input, values put in.
    fn noop(&self, task: &Task, scope: &Scope<'_>) -> Result<Output, Stop> {
        let output = task.input.render(scope, "input")?;
        task.check_output(Some(&output)).map_err(Stop::logic)?;
        Ok(self.outputs.keep(self.around.run, output)?)
    }

    fn instances(
        &self,
        no: TaskNo,
        instances: impl Iterator<Item = Instance>,
        kin: Option<&KnownChild>,
    ) -> Result<Answer, Stop> {
        let task = self.around.definition.task(no);
        // What instances have in common is read once.
        let known = Known::new(self);
        match &task.action {
            Action::Control(Control::Child(child)) => {
                // What is wrong with their workflow is wrong with each of them.
                let kin = match Kin::find(child, kin, self.outputs) {
                    Err(Stop::Failed(error)) => {
                        let all = instances.map(|_| Err(error.clone()));
                        return Ok(Answer::Parks(all.collect()));
                    }
                    found => found?,
                };
                let begin = |it: Instance| kin.begin(task, &scope(&known, Some(&it)));
                each(instances.map(begin)).map(Answer::Parks)
            }
            Action::Control(control) => {
                let park = |it: Instance| parking(control, &scope(&known, Some(&it)));
                each(instances.map(park)).map(Answer::Parks)
            }
            _ => {
                let noop = |it: Instance| self.noop(task, &scope(&known, Some(&it)));
                each(instances.map(noop)).map(Answer::Noops)
            }
        }
    }

    fn run_output(&self) -> Result<Answer, Stop> {
        let known = Known::new(self);
        let outputs = self.around.definition.outputs.as_ref();
        let value = match outputs {
            Some(outputs) => outputs.values.render(&known.scope(), "outputs")?,
            None => Json::empty_object(),
        };
        let output = self.outputs.keep(self.around.run, value.clone())?;
        // What is large is named after its run: the parent reads its own.
        if let (Output::Blob(_), Some(parent)) = (&output, self.around.parent) {
            self.outputs.keep(parent, value)?;
        }
        Ok(Answer::Value(output))
    }
}
