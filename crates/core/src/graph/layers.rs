//! Which column a task stands in: after everything it waits for. An edge that passes columns gets
//! a bend in each, so that it has a way between the tasks there.

use super::model::{Edge, Graph};

/// Bends of one picture; beyond, edges are drawn straight across. A chain of 10,000 tasks that all
/// depend on the first would have 50 million.
const BENDS_MAX: usize = 20_000;

/// Tasks and bends in columns. Items are numbered: the tasks first, then the bends.
#[derive(Debug)]
pub struct Grid {
    /// The items of each column, from the top.
    pub columns: Vec<Vec<usize>>,
    /// How many items are tasks.
    pub tasks: usize,
    /// For each item those of the column before and after that it is joined with.
    pub before: Vec<Vec<usize>>,
    pub after: Vec<Vec<usize>>,
    /// For each edge the items it goes through.
    pub ways: Vec<Vec<usize>>,
}

impl Grid {
    pub fn of(graph: &Graph<'_>) -> Self {
        let tasks = graph.nodes.len();
        let column_of = columns(tasks, &graph.edges);
        let count = column_of.iter().max().map_or(0, |last| last + 1);
        let mut columns = vec![Vec::new(); count];
        for (task, column) in column_of.iter().enumerate() {
            columns[*column].push(task);
        }
        let mut grid = Self {
            columns,
            tasks,
            before: vec![Vec::new(); tasks],
            after: vec![Vec::new(); tasks],
            ways: Vec::with_capacity(graph.edges.len()),
        };
        let passed = |edge: &Edge| column_of[edge.to] - column_of[edge.from] - 1;
        let bent = graph.edges.iter().map(passed).sum::<usize>() <= BENDS_MAX;
        for edge in &graph.edges {
            let columns = column_of[edge.from] + 1..column_of[edge.to];
            let way = match bent || columns.is_empty() {
                true => grid.join(edge, columns),
                false => vec![edge.from, edge.to],
            };
            grid.ways.push(way);
        }
        grid
    }

    fn join(&mut self, edge: &Edge, columns: std::ops::Range<usize>) -> Vec<usize> {
        let mut way = vec![edge.from];
        for column in columns {
            let bend = self.before.len();
            self.before.push(Vec::new());
            self.after.push(Vec::new());
            self.columns[column].push(bend);
            way.push(bend);
        }
        way.push(edge.to);
        for pair in way.windows(2) {
            self.after[pair[0]].push(pair[1]);
            self.before[pair[1]].push(pair[0]);
        }
        way
    }
}

/// The column of each task: one after the last of those that it waits for. A task that waits for
/// nothing stands just before the first that waits for it.
fn columns(tasks: usize, edges: &[Edge]) -> Vec<usize> {
    let mut after = vec![Vec::new(); tasks];
    let mut waits = vec![0_usize; tasks];
    for edge in edges {
        after[edge.from].push(edge.to);
        waits[edge.to] += 1;
    }
    let first: Vec<usize> = (0..tasks).filter(|&task| waits[task] == 0).collect();
    let mut column = vec![0; tasks];
    let mut open = first.clone();
    while let Some(task) = open.pop() {
        for &next in &after[task] {
            column[next] = column[next].max(column[task] + 1);
            waits[next] -= 1;
            if waits[next] == 0 {
                open.push(next);
            }
        }
    }
    for task in first {
        let nearest = after[task].iter().map(|&next| column[next] - 1).min();
        column[task] = nearest.unwrap_or(0);
    }
    column
}
