//! What is drawn of a workflow, whatever it is drawn with.

use crate::expr::Expr;
use crate::items::Items;
use crate::spec::control::Control;
use crate::spec::definition::{
    Action, Definition, Each, FanOut, OnFailure, Path, Task, Times, When,
};

/// A workflow's tasks and edges, by number.
#[derive(Debug)]
pub struct Graph<'d> {
    pub title: &'d str,
    pub nodes: Vec<Node<'d>>,
    pub edges: Vec<Edge>,
}

#[derive(Debug)]
pub struct Node<'d> {
    pub name: &'d str,
    pub description: Option<&'d str>,
    pub kind: Kind,
    /// What it waits for, if it does nothing else.
    pub waits: Option<&'static str>,
    pub tier: Option<&'d str>,
    /// A *finally*: it runs however the tasks before it ended.
    pub on_failure: OnFailure,
    /// It runs after a cancel as well.
    pub always: bool,
    pub allow_failure: bool,
    /// The run is paused after it.
    pub checkpoint: bool,
    /// It runs only if this is true.
    pub condition: Option<&'d str>,
    /// A stack of instances: how many, as far as the text says.
    pub fan_out: Option<String>,
}

/// What a task does, as far as a picture shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Process,
    Noop,
}

/// `to` waits for `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub when: When,
}

impl<'d> Graph<'d> {
    pub fn of(definition: &'d Definition) -> Self {
        let tasks = definition.tasks.iter().enumerate();
        let edges = tasks.flat_map(|(to, task)| {
            task.depends_on.iter().map(move |edge| Edge {
                from: edge.upstream.position(),
                to,
                when: edge.when,
            })
        });
        Self {
            title: &definition.name,
            edges: edges.collect(),
            nodes: definition.tasks.iter().map(|task| Node::of(definition, task)).collect(),
        }
    }

    /// What stands beside an edge: nothing for what everyone expects. That a *finally* waits for
    /// the end of everything is said by the task itself.
    pub fn label(&self, edge: &Edge) -> Option<&'static str> {
        let is_finally = self.nodes[edge.to].on_failure == OnFailure::Run;
        (edge.when != When::Merged && !is_finally).then(|| edge.when.word())
    }
}

impl<'d> Node<'d> {
    fn of(definition: &'d Definition, task: &'d Task) -> Self {
        Self {
            name: &task.name,
            description: task.description.as_deref(),
            kind: match task.action {
                Action::Noop => Kind::Noop,
                _ => Kind::Process,
            },
            waits: task.control().map(Control::word),
            tier: task.tier.as_deref(),
            on_failure: task.on_failure,
            always: task.always.is_some(),
            allow_failure: task.allow_failure,
            checkpoint: task.checkpoint,
            condition: task.condition.as_ref().map(Expr::source),
            fan_out: task.fan_out.as_ref().map(|fan_out| times(definition, fan_out)),
        }
    }

    /// What is said about the task below its name, shortest first.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.waits.iter().map(|&waits| waits.to_owned()).collect();
        notes.extend(self.fan_out.iter().cloned());
        notes.extend(self.condition.map(|condition| format!("if {}", shortened(condition))));
        notes.extend(self.tier.map(|tier| format!("tier {tier}")));
        if self.always {
            notes.push("always".to_owned());
        } else if self.on_failure == OnFailure::Run {
            notes.push("on_failure: run".to_owned());
        }
        if self.allow_failure {
            notes.push("allow_failure".to_owned());
        }
        if self.checkpoint {
            notes.push("checkpoint".to_owned());
        }
        notes
    }
}

/// A condition may be as long as a page.
fn shortened(condition: &str) -> String {
    const CHARS_MAX: usize = 40;
    let line = condition.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CHARS_MAX) {
        None => line,
        Some((cut, _)) => format!("{}…", &line[..cut]),
    }
}

/// `× files × 3`: one for each of the files, three times.
fn times(definition: &Definition, fan_out: &FanOut) -> String {
    let path = |path: &Path| match path.fields.last() {
        Some(field) => field.to_string(),
        None => definition.task(path.task).name.to_string(),
    };
    let each = fan_out.foreach.as_ref().map(|each| match each {
        Each::Fixed(list) => Items::of(list.clone()).map_or(0, |items| items.len()).to_string(),
        Each::From(from) => path(from),
    });
    let parallel = fan_out.parallel.as_ref().map(|times| match times {
        Times::Fixed(count) => count.to_string(),
        Times::From(from) => path(from),
    });
    let factors: Vec<String> = each.into_iter().chain(parallel).collect();
    format!("× {}", factors.join(" × "))
}
