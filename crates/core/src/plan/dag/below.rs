//! What a cancelled task takes with it.

use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::rows::Rows;
use crate::plan::dag::edge::EdgeState;
use crate::plan::dag::plan::{Plan, Shape};
use crate::spec::definition::When;
use std::collections::BTreeMap;

/// How a task below a cancelled one gets its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Falls {
    /// By derivation: it needs something that now will never come.
    ByItself,
    /// It needs a row: everything it needed from above has come already.
    ByRow,
}

/// Everything below a task that is neither settled nor at work, except through edges that any end
/// satisfies. A group is at work from its opening on, and a task until its work has landed.
pub fn below(shape: Shape<'_>, plan: &Plan, rows: &Rows, no: TaskNo) -> BTreeMap<TaskNo, Falls> {
    let mut found = BTreeMap::new();
    let mut pending = vec![no];
    while let Some(at) = pending.pop() {
        for (edge, dependent) in shape.graph.dependents(at) {
            let untouched = *dependent != no
                && !plan.is_settled(rows, *dependent)
                && !is_at_work(rows.fact(*dependent));
            let when = shape.graph.edge(*edge).when;
            if when == When::Finished || !untouched {
                continue;
            }
            let falls = match plan.edge(*edge) {
                EdgeState::Satisfied => Falls::ByRow,
                // What was dispatched may still start before it is gone.
                EdgeState::Unmet if when == When::Started && is_at_work(rows.fact(at)) => {
                    Falls::ByRow
                }
                EdgeState::Unmet | EdgeState::Never(_) => Falls::ByItself,
            };
            match found.insert(*dependent, falls) {
                None => pending.push(*dependent),
                // One edge that never can be satisfied is enough.
                Some(Falls::ByItself) => {
                    found.insert(*dependent, Falls::ByItself);
                }
                Some(Falls::ByRow) => {}
            }
        }
    }
    found
}

fn is_at_work(fact: Fact) -> bool {
    fact.is_live() || matches!(fact, Fact::Open | Fact::WorkerDone)
}
