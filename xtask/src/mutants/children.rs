//! Breakages of child runs: how they begin, how they end, and what their parents hand down.

use super::mutant::{Mutant, mutant};

const CHILD: &str = "crates/core/src/world/child.rs";
const GATE: &str = "crates/core/src/world/gate.rs";
const PARK: &str = "crates/core/src/world/park.rs";
const TAKE: &str = "crates/core/src/world/take.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("child-goes-on", "a child is cancelled with its parent", CHILD, (
        "        let _ = self.cancel_run(now, child, &by);",
        "        let _ = (child, by);",
    )),
    mutant("child-failure-succeeds", "a failed child fails its attempt", CHILD, (
        "(None, End::Failed(error)) => «self.child_failed(now, ticket, error)»",
        "{
                drop(error);
                self.close_attempt(now, ticket, AttemptEnd::Success, |row| {
                    waits_no_more(row);
                    step(row, Event::Succeeded);
                    row.hold = None;
                });
            }",
    )),
    mutant("child-begun-twice", "each start is one child", PARK, (
        "self.begin_child(now, key, task, *begin)?",
        "{
                    let _ = self.begin_child(now, key, task, (*begin).clone());
                    self.begin_child(now, key, task, *begin)?
                }",
    )),
    mutant("hold-stays-above", "a hold of the parent is its children's", CHILD, (
        "RunStatus::Running if is_held => «drop(self.pause_run(now, key, &by))»",
        "()",
    )),
    mutant("child-end-unheard", "the end of a child ends the wait for it", CHILD, (
        "row.filter(|row| row.child() == Some(id))",
        "row.filter(|row| row.child() == Some(id) && row.task.no.0 == 0)",
    )),
    mutant("child-counted", "a child passes a group that an ancestor holds", "crates/core/src/world/admit.rs", (
        "run.head.group.as_ref() == Some(group)",
        "run.head.group.as_ref() == Some(group) && run.head.parent.is_some()",
    )),
    mutant("child-counted-as-run", "a child does not count for max_active_runs", GATE, (
        "run.head.parent.is_none().then(|| Arc::clone(&run.head.workflow))",
        "Some(Arc::clone(&run.head.workflow))",
    )),
    mutant("full-batch-leaves-parents", "what follows from the end of a child is in its batch", TAKE, (
        "!self.ending.is_empty() || !(self.agenda.is_empty() || self.is_full())",
        "!(self.ending.is_empty() && self.agenda.is_empty() || self.is_full())",
    )),
    mutant("child-retries-for-ever", "a child's failure is counted", CHILD, (
        "            row.tries = tries;",
        "            row.tries = 0;",
    )),
];
