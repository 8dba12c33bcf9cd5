//! Conditions, as the answering side sees them. Those of sketches are true: what they come to is
//! said here, by what the tasks above put out, so that a question asked again has the same answer,
//! and rows alone show whether it was heeded.

use crate::sim::outputs::hash;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::evaluate::{Answer, Asked, Question};
use mainspring_core::output::Output;
use mainspring_core::spec::definition::Task;

/// What a condition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Run,
    Skip,
    /// It is neither true nor false.
    Nonsense,
}

pub fn has_condition(task: &Task) -> bool {
    task.condition.is_some()
}

/// By what the tasks it depends on put out, in the order of its edges.
pub fn says<'a>(task: &Task, above: impl Iterator<Item = Option<&'a Output>>) -> Says {
    if !has_condition(task) {
        return Says::Run;
    }
    let text: Vec<_> = above.map(|output| output.map(Output::to_text)).collect();
    match hash(&format!("{}{text:?}", task.name))[7] % 8 {
        0 | 1 => Says::Skip,
        2 => Says::Nonsense,
        _ => Says::Run,
    }
}

/// Whether the input of this instance cannot be worked out: of a group of noops, which have
/// conditions as well as templates.
pub fn is_nonsense(task: &Task, index: u32) -> bool {
    has_condition(task) && hash(&format!("{}/{index}", task.name))[7].is_multiple_of(4)
}

/// The answer that the condition gives, before anything else is looked at.
pub fn overrule(question: &Question, answer: Answer) -> Answer {
    let definition = &question.around.definition;
    match (&question.what, answer) {
        (Asked::Opening(no), answer) => {
            let task = definition.task(*no);
            let above = task.depends_on.iter().map(|edge| {
                let mut known = question.around.upstream.iter();
                known.find(|upstream| upstream.no == edge.upstream)?.output.as_ref()
            });
            match says(task, above) {
                Says::Run => answer,
                Says::Skip => Answer::Skip,
                Says::Nonsense => Answer::Failed(error()),
            }
        }
        (Asked::Noops { task, indexes, .. }, Answer::Noops(outcomes)) => {
            let task = definition.task(*task);
            let outcomes = indexes.clone().zip(outcomes);
            let judged =
                outcomes.map(
                    |(index, outcome)| {
                        if is_nonsense(task, index) { Err(error()) } else { outcome }
                    },
                );
            Answer::Noops(judged.collect())
        }
        (Asked::Noops { task, indexes, .. }, Answer::Parks(parkings)) => {
            let task = definition.task(*task);
            let judged = indexes.clone().zip(parkings).map(|(index, parking)| {
                if is_nonsense(task, index) { Err(error()) } else { parking }
            });
            Answer::Parks(judged.collect())
        }
        (_, answer) => answer,
    }
}

fn error() -> TaskError {
    TaskError::new(ErrorClass::Logic, "neither true nor false")
}
