//! Readiness, kept as counts: an event costs the edges it touches. `Plan::new` computes the
//! same from nothing but rows, which is how a run is loaded and how the counts are checked.

use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::row::RunProgress;
use crate::kernel::rows::Rows;
use crate::plan::dag::edge::{Doom, EdgeState, Standing, edge_state};
use crate::plan::dag::graph::{EdgeNo, Graph};
use crate::spec::definition::Definition;

/// The shape of a version, as the planner reads it.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    pub definition: &'a Definition,
    pub graph: &'a Graph,
}

/// Which tasks of a run may begin at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    All,
    /// The run was cancelled or has timed out: only `always` tasks.
    Always,
}

impl Course {
    pub const fn of(progress: &RunProgress) -> Self {
        if progress.cancel.is_some() { Self::Always } else { Self::All }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    edges: Vec<EdgeState>,
    /// Edges of each task that are not satisfied.
    unmet: Vec<u32>,
    /// The strongest reason why a task never can run.
    doom: Vec<Option<Doom>>,
}

/// What follows from an event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Tasks whose last dependency was satisfied.
    pub opened: Vec<TaskNo>,
    /// Tasks that could have started and must not any more: work that was done has not landed.
    pub closed: Vec<TaskNo>,
    /// Tasks that were settled without a row: nothing is stored for them.
    pub doomed: u32,
}

impl Plan {
    /// From rows alone, causes first.
    pub fn new(shape: Shape<'_>, rows: &Rows, course: Course) -> Self {
        let count = shape.definition.tasks.len();
        let mut plan = Self {
            edges: vec![EdgeState::Unmet; shape.graph.edge_count()],
            unmet: vec![0; count],
            doom: vec![None; count],
        };
        for no in shape.graph.order() {
            let is_over = course == Course::Always && !shape.definition.task(*no).is_always();
            plan.doom[no.position()] = is_over.then_some(Doom::RunOver);
            plan.recount(shape, rows, *no);
        }
        plan
    }

    fn recount(&mut self, shape: Shape<'_>, rows: &Rows, no: TaskNo) {
        for position in shape.graph.range(no) {
            let edge = shape.graph.edge(EdgeNo(u32::try_from(position).expect("edges fit u32")));
            let state = edge_state(edge.when, self.standing(shape, rows, edge.upstream));
            self.edges[position] = state;
            match state {
                EdgeState::Satisfied => {}
                EdgeState::Unmet => self.unmet[no.position()] += 1,
                EdgeState::Never(doom) => {
                    self.unmet[no.position()] += 1;
                    let known = &mut self.doom[no.position()];
                    *known = (*known).max(Some(doom));
                }
            }
        }
    }

    fn standing(&self, shape: Shape<'_>, rows: &Rows, no: TaskNo) -> Standing {
        let doom = self.doom[no.position()];
        Standing {
            allow_failure: shape.definition.task(no).allow_failure,
            ..Standing::of(rows.stands_as(no), rows.ever_started(no), doom)
        }
    }

    /// A task's row changed: follow its edges, and those of every task that this dooms.
    pub fn touched(&mut self, shape: Shape<'_>, rows: &Rows, no: TaskNo) -> Moves {
        let mut moves = Moves::default();
        let mut pending = vec![no];
        while let Some(no) = pending.pop() {
            let standing = self.standing(shape, rows, no);
            for (edge, dependent) in shape.graph.dependents(no) {
                let state = edge_state(shape.graph.edge(*edge).when, standing);
                let before = std::mem::replace(&mut self.edges[edge.position()], state);
                if before == state {
                    continue;
                }
                if before == EdgeState::Satisfied {
                    moves.closed.extend(self.is_open(*dependent).then_some(*dependent));
                    self.unmet[dependent.position()] += 1;
                }
                match state {
                    EdgeState::Satisfied => self.satisfied(rows, *dependent, &mut moves),
                    EdgeState::Never(doom) => {
                        if self.dooms(rows, *dependent, doom, &mut moves) {
                            pending.push(*dependent);
                        }
                    }
                    EdgeState::Unmet => {}
                }
            }
        }
        moves
    }

    fn satisfied(&mut self, rows: &Rows, no: TaskNo, moves: &mut Moves) {
        let unmet = &mut self.unmet[no.position()];
        *unmet = unmet.checked_sub(1).expect("an edge is satisfied once");
        if self.is_open(no) && rows.fact(no) == Fact::None {
            moves.opened.push(no);
        }
    }

    /// Whether this changed how the task looks to its own dependents.
    fn dooms(&mut self, rows: &Rows, no: TaskNo, doom: Doom, moves: &mut Moves) -> bool {
        let known = &mut self.doom[no.position()];
        if *known >= Some(doom) {
            return false;
        }
        let first = known.is_none();
        *known = Some(doom);
        if rows.fact(no) != Fact::None {
            return false;
        }
        moves.doomed += u32::from(first);
        true
    }

    /// All dependencies are satisfied.
    pub fn is_open(&self, no: TaskNo) -> bool {
        self.unmet[no.position()] == 0
    }

    pub fn doom(&self, no: TaskNo) -> Option<Doom> {
        self.doom[no.position()]
    }

    pub fn edge(&self, no: EdgeNo) -> EdgeState {
        self.edges[no.position()]
    }

    /// It has an outcome: its own, or derived because it has no row that says otherwise.
    pub fn is_settled(&self, rows: &Rows, no: TaskNo) -> bool {
        let fact = rows.fact(no);
        fact.is_settled() || (fact == Fact::None && self.doom(no).is_some())
    }
}
