//! What expressions name, and whether it is there where they are worked out.

use super::super::code::Code;
use super::super::place::Place;
use super::super::report::{Report, listed, quoted};
use super::super::tree::Node;
use super::edges::Numbers;
use super::name::is_secret;
use crate::expr::{Reference, Root, Step};
use crate::ids::TaskNo;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Where something is named. Found out when it has to be told: there may be very many.
#[derive(Clone, Debug)]
pub enum Spot<'n> {
    Here(Place),
    /// Bytes of a text.
    Within(Node<'n>, Range<usize>, Place),
}

impl Spot<'_> {
    pub fn place(&self) -> Place {
        match self {
            Self::Here(place) => *place,
            Self::Within(value, at, field) => value.place_within(at.clone(), *field),
        }
    }
}

/// A task that is named where only one above may be.
#[derive(Clone, Debug)]
pub struct Named<'n> {
    pub task: TaskNo,
    pub spot: Spot<'n>,
}

/// Something that an expression reads.
#[derive(Clone, Debug)]
pub struct Mention<'n> {
    pub reference: Reference,
    pub spot: Spot<'n>,
}

/// A value, and what its expressions read.
#[derive(Clone, Debug)]
pub struct Given<'n, T> {
    pub value: T,
    pub mentions: Arc<[Mention<'n>]>,
}

/// What can be seen where an expression is worked out.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a, 'n> {
    pub numbers: &'a Numbers<'n>,
    pub inputs: &'a Inputs,
    pub of: Of,
    pub secrets: Secrets,
    pub instance: Instance,
}

/// Whose expression it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Task(TaskNo),
    /// That of a task whose work is done: it sees what that put out.
    Finalizer(TaskNo),
    Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    Seen,
    Hidden,
}

/// What is known of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instance {
    /// There is none: it is no fan-out.
    None,
    /// It is worked out once, for all of them.
    Whole,
    Counted,
    WithItem,
}

/// Fields of the run's input, when there can be no others.
#[derive(Debug, Default)]
pub struct Inputs(Option<BTreeSet<String>>);

impl Inputs {
    pub fn of(schema: Option<&Value>) -> Self {
        let fields = schema.and_then(|schema| {
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            let plain = schema.get("patternProperties").is_none();
            let fields = schema.get("properties").and_then(Value::as_object);
            fields.filter(|_| closed && plain).map(|fields| fields.keys().cloned().collect())
        });
        Self(fields)
    }
}

impl<'n> Sight<'_, 'n> {
    /// Tells what is not there. Tasks that are named are gathered: whether they come before is
    /// seen when all are known.
    pub fn check(&self, mentions: &[Mention<'n>], named: &mut Vec<Named<'n>>, report: &mut Report) {
        for Mention { reference, spot } in mentions {
            match &reference.root {
                Root::Output(task) | Root::Status(task) => {
                    if let Some(task) = self.task(task, spot, report) {
                        named.push(Named { task, spot: spot.clone() });
                    }
                }
                Root::Item | Root::Index | Root::Count => self.instance(reference, spot, report),
                Root::Secret(name) => self.secret(name, spot, report),
                Root::Input => self.input(reference, spot, report),
                Root::RunId | Root::ScheduledFor => {}
            }
        }
    }

    fn task(&self, name: &str, spot: &Spot<'_>, report: &mut Report) -> Option<TaskNo> {
        let known = self.numbers.get(name).copied();
        if known.is_some_and(|no| self.of == Of::Finalizer(no)) {
            // It is not above its task, and yet there.
            return None;
        }
        if let (Some(no), Of::Task(own)) = (known, self.of)
            && no == own
        {
            let message = format!("The task {} cannot read what it puts out itself.", quoted(name));
            add(Code::UnknownReference, spot, message, None, report);
            return None;
        }
        if known.is_none() {
            let hint = report
                .did_you_mean(name, self.numbers.keys().copied())
                .or_else(|| listed("the tasks are", self.numbers.keys().copied()));
            let message = format!("There is no task {}.", quoted(name));
            add(Code::UnknownReference, spot, message, hint, report);
        }
        known
    }

    fn instance(&self, reference: &Reference, spot: &Spot<'_>, report: &mut Report) {
        let name = reference.root.to_string();
        let is_item = reference.root == Root::Item;
        let (message, hint) = match self.instance {
            Instance::WithItem => return,
            Instance::Counted if !is_item => return,
            Instance::Counted => {
                (format!("`{name}` is only there with `foreach`."), "`index` tells instances apart")
            }
            Instance::Whole if self.of == Of::Run => {
                (format!("`{name}` is not there: a run has no instances."), "name a task's output")
            }
            Instance::Whole => (
                format!("`{name}` is not there: this is worked out once, for all instances."),
                "leave it out, or make it a part of the work",
            ),
            Instance::None => (
                format!("`{name}` is only there in a fan-out."),
                if is_item { "add `foreach:`" } else { "add `foreach:` or `parallel:`" },
            ),
        };
        add(Code::UnknownReference, spot, message, Some(hint.to_owned()), report);
    }

    fn secret(&self, name: &str, spot: &Spot<'_>, report: &mut Report) {
        if self.secrets == Secrets::Hidden {
            let message = "A secret is only given to `env`.".to_owned();
            let hint = format!("write `env: {{ NAME: {{ secret: {name} }} }}`, and read `$NAME`");
            add(Code::UnknownReference, spot, message, Some(hint), report);
        } else if !is_secret(name) {
            let message = format!("{} is not the name of a secret.", quoted(name));
            let hint = "use letters, digits, `_`, `-` and `.`, and do not begin with a dot";
            add(Code::BadName, spot, message, Some(hint.to_owned()), report);
        }
    }

    fn input(&self, reference: &Reference, spot: &Spot<'_>, report: &mut Report) {
        let (Some(known), Some(Step::Field(name))) = (&self.inputs.0, reference.steps.first())
        else {
            return;
        };
        if !known.contains(&**name) {
            let names = || known.iter().map(String::as_str);
            let hint =
                report.did_you_mean(name, names()).or_else(|| listed("the schema has", names()));
            let message = format!("The workflow's `input` has no field {}.", quoted(name));
            add(Code::UnknownReference, spot, message, hint, report);
        }
    }
}

fn add(code: Code, spot: &Spot<'_>, message: String, hint: Option<String>, report: &mut Report) {
    // Places are not cheap to find, and what is not shown needs none.
    let place = if report.is_full() { Place::default() } else { spot.place() };
    report.add(code, place, message).maybe_hint(hint);
}
