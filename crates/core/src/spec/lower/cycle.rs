//! Tasks that wait for each other. Each knot of such tasks is told once, by a shortest circle in
//! it. Nothing recurses: a chain may have 100,000 tasks.

use super::super::code::Code;
use super::super::report::Report;
use super::edges::Written;
use std::collections::{BTreeMap, VecDeque};

/// Names of a circle that are printed; a longer one is cut in its middle.
const SHOWN_MAX: usize = 12;

pub fn check(names: &[&str], edges: &[Vec<Written>], report: &mut Report) {
    let knots = knots(edges);
    let mut told = vec![false; names.len()];
    for start in 0..names.len() {
        let knot = knots[start];
        if told[knot] {
            continue;
        }
        let Some(circle) = circle(start, edges, &knots) else { continue };
        told[knot] = true;
        tell(&circle, names, edges, report);
    }
}

fn tell(circle: &[usize], names: &[&str], edges: &[Vec<Written>], report: &mut Report) {
    let place = |from: usize, to: usize| {
        edges[from].iter().find(|w| w.edge.upstream.position() == to).map(|w| w.place)
    };
    let mut shown: Vec<String> = circle.iter().map(|&task| names[task].to_owned()).collect();
    if shown.len() > SHOWN_MAX {
        let cut = shown.len() - SHOWN_MAX;
        shown.splice(SHOWN_MAX / 2..SHOWN_MAX / 2 + cut, [format!("… {cut} more …")]);
    }
    shown.push(names[circle[0]].to_owned());
    let next = circle.get(1).copied().unwrap_or(circle[0]);
    let at = place(circle[0], next).unwrap_or_default();
    let message = format!("These tasks wait for each other: {}.", shown.join(" -> "));
    let draft = report.add(Code::Cycle, at, message);
    draft.hint("take one of these dependencies out");
    for (position, &from) in circle.iter().enumerate().take(SHOWN_MAX) {
        let to = circle.get(position + 1).copied().unwrap_or(circle[0]);
        if let Some(at) = place(from, to) {
            draft.related(at, format!("`{}` waits for `{}`", names[from], names[to]));
        }
    }
}

/// A shortest way from `start` back to itself, without leaving its knot.
fn circle(start: usize, edges: &[Vec<Written>], knots: &[usize]) -> Option<Vec<usize>> {
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(task) = queue.pop_front() {
        for next in upstream(&edges[task]).filter(|&next| knots[next] == knots[start]) {
            if next == start {
                let mut way = vec![task];
                while let Some(&before) = came_from.get(&way[way.len() - 1]) {
                    way.push(before);
                }
                way.reverse();
                return Some(way);
            }
            if let std::collections::btree_map::Entry::Vacant(entry) = came_from.entry(next) {
                entry.insert(task);
                queue.push_back(next);
            }
        }
    }
    None
}

fn upstream(edges: &[Written]) -> impl Iterator<Item = usize> {
    edges.iter().map(|written| written.edge.upstream.position())
}

/// Tarjan's strongly connected components: for each task the number of its knot, which is the
/// number of one of its tasks.
fn knots(edges: &[Vec<Written>]) -> Vec<usize> {
    let mut search = Search {
        edges,
        order: vec![UNSEEN; edges.len()],
        low: vec![0; edges.len()],
        knot: vec![UNSEEN; edges.len()],
        stack: Vec::new(),
        next: 0,
    };
    for task in 0..edges.len() {
        if search.order[task] == UNSEEN {
            search.visit(task);
        }
    }
    search.knot
}

const UNSEEN: usize = usize::MAX;

struct Search<'e> {
    edges: &'e [Vec<Written>],
    order: Vec<usize>,
    low: Vec<usize>,
    knot: Vec<usize>,
    stack: Vec<usize>,
    next: usize,
}

impl Search<'_> {
    fn visit(&mut self, root: usize) {
        // (task, its edges already followed): the call stack of the recursive form.
        let mut calls = vec![(root, 0)];
        self.enter(root);
        while let Some((task, followed)) = calls.last_mut() {
            let task = *task;
            let Some(written) = self.edges[task].get(*followed) else {
                calls.pop();
                self.leave(task, calls.last().map(|(caller, _)| *caller));
                continue;
            };
            *followed += 1;
            let next = written.edge.upstream.position();
            if self.order[next] == UNSEEN {
                self.enter(next);
                calls.push((next, 0));
            } else if self.knot[next] == UNSEEN {
                self.low[task] = self.low[task].min(self.order[next]);
            }
        }
    }

    fn enter(&mut self, task: usize) {
        self.order[task] = self.next;
        self.low[task] = self.next;
        self.next += 1;
        self.stack.push(task);
    }

    fn leave(&mut self, task: usize, caller: Option<usize>) {
        if let Some(caller) = caller {
            self.low[caller] = self.low[caller].min(self.low[task]);
        }
        if self.low[task] != self.order[task] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.knot[member] = task;
            if member == task {
                return;
            }
        }
    }
}
