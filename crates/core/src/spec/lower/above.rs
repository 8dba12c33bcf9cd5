//! What a task reads has to come from above it: from tasks it depends on, or they do.

use super::super::code::Code;
use super::super::place::Place;
use super::super::report::{Report, quoted};
use super::edges::Written;
use super::mention::Named;
use crate::ids::TaskNo;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Edges that are followed for all tasks of a text: a quarter of a second. Few texts name a task
/// that is not next to them, and then it is near.
const STEPS_MAX: usize = 20_000_000;

/// Refuses every task that is named by one it is not above.
pub fn check(
    names: &[&str],
    edges: &[Vec<Written>],
    named: &[(TaskNo, Vec<Named<'_>>)],
    report: &mut Report,
) {
    let mut search: Option<Search<'_>> = None;
    for (no, named) in named {
        let direct: BTreeSet<TaskNo> = upstream(edges, *no).collect();
        let mut far: BTreeMap<TaskNo, Vec<&Named<'_>>> = BTreeMap::new();
        for named in named.iter().filter(|named| !direct.contains(&named.task)) {
            far.entry(named.task).or_default().push(named);
        }
        if far.is_empty() {
            continue;
        }
        let search = search.get_or_insert_with(|| Search::new(edges));
        let found = search.above(*no, far.keys().copied().collect());
        for (task, named) in far.into_iter().filter(|(task, _)| !found.contains(task)) {
            let (own, other) = (quoted(names[no.position()]), names[task.position()]);
            let message = match search.steps_left {
                0 => {
                    format!("Whether {} comes before {own} takes too long to tell.", quoted(other))
                }
                _ => format!("{} does not come before {own}.", quoted(other)),
            };
            for named in named {
                // Places are not cheap to find, and what is not shown needs none.
                let place = if report.is_full() { Place::default() } else { named.spot.place() };
                report
                    .add(Code::NotAbove, place, message.clone())
                    .hint(format!("add `{other}` to its `depends_on`"));
            }
        }
    }
}

fn upstream(edges: &[Vec<Written>], no: TaskNo) -> impl Iterator<Item = TaskNo> {
    edges[no.position()].iter().map(|written| written.edge.upstream)
}

struct Search<'e> {
    edges: &'e [Vec<Written>],
    /// Longer than the way to any task above it; 0 in a circle, which is refused elsewhere.
    levels: Vec<u32>,
    steps_left: usize,
}

impl<'e> Search<'e> {
    fn new(edges: &'e [Vec<Written>]) -> Self {
        Self { edges, levels: levels(edges), steps_left: STEPS_MAX }
    }

    /// Those of the wanted tasks that come before this one. What is higher up than all of them
    /// is not looked at.
    fn above(&mut self, no: TaskNo, mut wanted: BTreeSet<TaskNo>) -> BTreeSet<TaskNo> {
        let level = |no: &TaskNo| self.levels[no.position()];
        let top = wanted.iter().map(level).min().unwrap_or(0);
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::from([no]));
        let mut pending = vec![no];
        while let Some(no) = pending.pop() {
            for next in upstream(self.edges, no) {
                if self.steps_left == 0 || wanted.is_empty() {
                    return found;
                }
                self.steps_left -= 1;
                if wanted.remove(&next) {
                    found.insert(next);
                }
                if self.levels[next.position()] > top && seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        found
    }
}

fn levels(edges: &[Vec<Written>]) -> Vec<u32> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    let mut open: Vec<usize> = edges.iter().map(Vec::len).collect();
    for (no, edges) in edges.iter().enumerate() {
        edges.iter().for_each(|written| below[written.edge.upstream.position()].push(no));
    }
    let mut levels = vec![0; edges.len()];
    let mut ready: VecDeque<usize> =
        open.iter().enumerate().filter(|(_, open)| **open == 0).map(|(no, _)| no).collect();
    while let Some(no) = ready.pop_front() {
        for &next in &below[no] {
            levels[next] = levels[next].max(levels[no] + 1);
            open[next] -= 1;
            if open[next] == 0 {
                ready.push_back(next);
            }
        }
    }
    levels
}
