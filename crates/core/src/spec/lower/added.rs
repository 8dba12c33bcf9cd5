//! Tasks that are added to a run: read as those of a workflow are, after those that it has.

use super::super::code::Code;
use super::super::definition::{Definition, Task};
use super::super::format::{ADDITION, WORKFLOW};
use super::super::parse::Context;
use super::super::place::Place;
use super::super::report::{Report, quoted};
use super::super::tree::{Field, Node};
use super::fields::Fields;
use super::mention::Inputs;
use super::task::Around;
use super::tier;
use super::workflow::{given_tasks, lower_all, read_defaults};
use crate::ids::TaskNo;

/// What an addition is added to.
#[derive(Clone, Copy, Debug)]
pub struct Base<'n> {
    /// The version's text, which was checked when it was deployed: its defaults count.
    pub workflow: Node<'n>,
    /// The run's tasks so far.
    pub definition: &'n Definition,
}

/// The new tasks. `None`: something was refused, and the report says what.
pub fn added<'n>(
    root: Node<'n>,
    base: Base<'n>,
    context: &Context<'n>,
    report: &mut Report,
) -> Option<Vec<Task>> {
    let place = root.place();
    let start = Place { start: place.start, end: place.start };
    if !root.is_map() && !root.is_broken() {
        let message = format!("An addition must be a map, not {}.", root.what());
        report.add(Code::WrongType, start, message).hint("begin with `tasks:`");
        return None;
    }
    let root = Field { name: "", name_place: start, value: root };
    let fields = Fields::read(root, &ADDITION, report)?;
    let field = fields.required("tasks", "An addition", report)?;
    let already = &base.definition.tasks;
    let given = given_tasks(field, already.len(), report)?;
    let names: Vec<&str> =
        already.iter().map(|task| &*task.name).chain(given.iter().map(|task| task.name)).collect();
    // Of two of a name the first counts: it is there.
    let numbered = names.iter().enumerate().rev();
    let numbers = numbered.map(|(at, name)| (*name, TaskNo::from_position(at))).collect();
    refuse_doubles(&given, &numbers, already.len(), report);
    // Whatever is wrong with the version has been told to whoever deployed it.
    let mut unsaid = Report::default();
    let workflow = Field { name: "", name_place: start, value: base.workflow };
    let workflow = Fields::read(workflow, &WORKFLOW, &mut unsaid)?;
    let own = tier::own_names(workflow.get("tiers"));
    let known = tier::Known { own, server: context.server_tiers };
    let defaults = read_defaults(&workflow, (&known, names.len()), &mut unsaid);
    let schema = base.definition.input_schema.as_ref().map(|schema| schema.to_value());
    let around = Around {
        defaults: &defaults,
        tiers: &known,
        numbers: &numbers,
        names: &names,
        max_fanout: base.definition.max_fanout,
        inputs: &Inputs::of(schema.as_ref()),
    };
    lower_all(&given, already, &around, report)
}

fn refuse_doubles(
    given: &[Field<'_>],
    numbers: &super::edges::Numbers<'_>,
    already: usize,
    report: &mut Report,
) {
    let is_there = |name| numbers.get(name).is_some_and(|no| no.position() < already);
    for task in given.iter().filter(|task| is_there(task.name)) {
        let message = format!("The run has a task {} already.", quoted(task.name));
        report
            .add(Code::DuplicateKey, task.name_place, message)
            .hint("give it another name: what is there does not change");
    }
}
