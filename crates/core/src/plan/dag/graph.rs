//! The shape of a definition: edges both ways and an order in which causes come first.
//! Made once for each version and shared by its runs.

use crate::ids::TaskNo;
use crate::spec::definition::{Definition, Edge};
use std::ops::Range;

/// An edge's position in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeNo(pub u32);

impl EdgeNo {
    pub fn position(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub struct Graph {
    /// All edges, those of one dependent together.
    edges: Vec<Edge>,
    /// Where the edges of each task begin, and where the last one's end.
    starts: Vec<u32>,
    /// For each task the edges that leave it and whom they lead to.
    out: Vec<Vec<(EdgeNo, TaskNo)>>,
    /// Upstream before downstream.
    order: Vec<TaskNo>,
    /// Tasks that run also after a cancel.
    always: Vec<TaskNo>,
}

impl Graph {
    /// The definition has been checked: there is no cycle.
    pub fn new(definition: &Definition) -> Self {
        let count = definition.tasks.len();
        let (mut edges, mut starts) = (Vec::new(), Vec::with_capacity(count + 1));
        let mut out = vec![Vec::new(); count];
        for (position, task) in definition.tasks.iter().enumerate() {
            starts.push(number(edges.len()));
            for edge in &task.depends_on {
                let no = EdgeNo(number(edges.len()));
                out[edge.upstream.position()].push((no, TaskNo::from_position(position)));
                edges.push(*edge);
            }
        }
        starts.push(number(edges.len()));
        let mut graph =
            Self { edges, starts, out, order: Vec::with_capacity(count), always: Vec::new() };
        graph.always = graph.tasks().filter(|no| definition.task(*no).is_always()).collect();
        graph.sort();
        graph
    }

    fn sort(&mut self) {
        let mut unmet: Vec<usize> = self.tasks().map(|no| self.upstream(no).len()).collect();
        let mut order: Vec<TaskNo> = self.tasks().filter(|no| unmet[no.position()] == 0).collect();
        let mut next = 0;
        while let Some(no) = order.get(next).copied() {
            next += 1;
            for (_, dependent) in self.dependents(no) {
                let left = &mut unmet[dependent.position()];
                *left -= 1;
                if *left == 0 {
                    order.push(*dependent);
                }
            }
        }
        assert_eq!(order.len(), self.out.len(), "a checked definition has no cycle");
        self.order = order;
    }

    pub fn tasks(&self) -> impl Iterator<Item = TaskNo> + use<> {
        (0..self.out.len()).map(TaskNo::from_position)
    }

    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    pub fn edge(&self, no: EdgeNo) -> Edge {
        self.edges[no.position()]
    }

    /// Positions of the edges that lead into a task.
    pub fn range(&self, no: TaskNo) -> Range<usize> {
        self.starts[no.position()] as usize..self.starts[no.position() + 1] as usize
    }

    pub fn upstream(&self, no: TaskNo) -> &[Edge] {
        &self.edges[self.range(no)]
    }

    pub fn dependents(&self, no: TaskNo) -> &[(EdgeNo, TaskNo)] {
        &self.out[no.position()]
    }

    /// Tasks that run also after their run was cancelled or has timed out.
    pub fn always(&self) -> &[TaskNo] {
        &self.always
    }

    pub fn order(&self) -> &[TaskNo] {
        &self.order
    }
}

fn number(position: usize) -> u32 {
    u32::try_from(position).expect("a definition of 4 MiB has fewer than 2^32 edges")
}
