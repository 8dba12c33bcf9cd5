//! What is drawn of a workflow, whatever it is drawn with.

use crate::spec::definition::{Action, Definition, OnFailure, Task, When};

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
    pub tier: Option<&'d str>,
    /// A *finally*: it runs however the tasks before it ended.
    pub on_failure: OnFailure,
    pub allow_failure: bool,
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
            nodes: definition.tasks.iter().map(Node::of).collect(),
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
    fn of(task: &'d Task) -> Self {
        Self {
            name: &task.name,
            description: task.description.as_deref(),
            kind: match task.action {
                Action::Noop => Kind::Noop,
                _ => Kind::Process,
            },
            tier: task.tier.as_deref(),
            on_failure: task.on_failure,
            allow_failure: task.allow_failure,
        }
    }

    /// What is said about the task below its name, shortest first.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.tier.map(|tier| format!("tier {tier}")));
        if self.on_failure == OnFailure::Run {
            notes.push("on_failure: run".to_owned());
        }
        if self.allow_failure {
            notes.push("allow_failure".to_owned());
        }
        notes
    }
}
