//! Breakages of what lands work: when it starts, how it counts, and what its end means.

use super::mutant::{Mutant, mutant};

const FINALIZE: &str = "crates/core/src/world/finalize.rs";
const LINE: &str = "crates/core/src/world/line.rs";
const ORDERS: &str = "crates/core/src/world/orders.rs";
const BLUEPRINT: &str = "crates/core/src/world/blueprint.rs";
const EDGE: &str = "crates/core/src/plan/dag/edge.rs";
const LAUNCH: &str = "crates/core/src/launch.rs";
const WORKED: &str = "crates/core/src/kernel/group.rs";
const GROUPED: &str = "crates/core/src/world/group.rs";
const AGAIN: &str = "crates/core/src/world/worked.rs";
const REPORT: &str = "crates/core/src/world/report.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("queue-unheeded", "one at a time lands in a queue", BLUEPRINT, (
        "set.extend(finalize.queue.as_ref().map(|queue| limits.named(&queue_name(queue))));",
        "let _ = queue_name;",
    )),
    mutant("landing-counts-as-work", "what lands work counts against its queue", BLUEPRINT, (
        "self.final_permits(row, limits).expect(\"only tasks with a finalizer land\")",
        "PermitSet::clone(self.permits(row.task.no))",
    )),
    mutant("merge-in-any-name", "what lands names the attempt that did the work", LAUNCH, (
        "self.finalizes.expect(\"only finalizers land\")",
        "self.ticket.attempt",
    )),
    mutant("youngest-lands-first", "in a queue the oldest lands first", LINE, (
        "free.filter_map(|(_, line)| line.first()).min().copied()",
        "free.filter_map(|(_, line)| line.last()).max().copied()",
    )),
    mutant("merged-by-work", "dependents on merged wait until it has landed", EDGE, (
        "(When::Merged | When::Started, Standpoint::WorkerDone) => «Unmet»",
        "Satisfied",
    )),
    mutant("completed-unheeded", "dependents on completed go on when the work is done", EDGE, (
        "(When::Completed, Standpoint::WorkerDone) => «Satisfied»",
        "Unmet",
    )),
    mutant("work-of-some", "a fan-out is done when all its instances are", WORKED, (
        "self.success + self.worker_done + failed == self.count",
        "self.success + self.worker_done + failed + 1 >= self.count",
    )),
    mutant("work-unheard", "whoever waits for the work of a fan-out goes on when it is done", GROUPED, (
        "            self.look_at_work(now, key, no);",
        "",
    )),
    mutant("work-stays-done", "work that does not land is not done any more", AGAIN, (
        "        self.rows.entry(no).forget_work();",
        "",
    )),
    mutant("queue-of-any-repository", "merges queue up by their repository", FINALIZE, (
        "Finalizer { queue, ..Finalizer::queued(now, cache) }",
        "Finalizer { queue: queue.filter(|_| false), ..Finalizer::queued(now, cache) }",
    )),
    mutant("lost-landing-fails", "a loss of what lands work is not a try", FINALIZE, (
        "row.finalizer.as_mut().expect(\"the ticket was checked\").losses = losses;",
        "row.finalizer.as_mut().expect(\"the ticket was checked\").tries = losses;",
    )),
    mutant("landing-without-end", "what lands work has its own bound on tries", FINALIZE, (
        "finalizer.tries + 1",
        "finalizer.tries",
    )),
    mutant("held-lands", "holding a task holds what lands its work", FINALIZE, (
        "is_due && self.lets_start(task.no) && !self.is_held(task)",
        "is_due && self.lets_start(task.no)",
    )),
    mutant("paused-lands", "a paused run lands nothing new", FINALIZE, (
        "is_due && self.lets_start(task.no) && !self.is_held(task)",
        "is_due && !self.is_held(task)",
    )),
    mutant("withdrawn-and-landed", "a cancel takes what is queued out of its line", ORDERS, (
        "«self.line.remove_task(key, no);»
        self.change(key, TaskRef::plain(no), |row| {",
        "",
    )),
    mutant("landed-and-cancelled", "what lands while it is being stopped has landed", FINALIZE, (
        "self.landed(now, ticket, output);",
        "if stopping == Some(Stopping::Cancel) {
            self.finish_finalizer(now, ticket, (AttemptEnd::Cancelled, None), cancel);
        } else {
            self.landed(now, ticket, output);
        }",
    )),
    mutant("stopped-landing-goes-on", "a cancelled finalizer is not tried again", FINALIZE, (
        "self.finish_finalizer(now, ticket, (AttemptEnd::Cancelled, None), cancel);",
        "self.finalizer_lost(now, ticket, None);",
    )),
    mutant("landing-unasked", "the work is done only when it has landed", REPORT, (
        "self.task(ticket).finalize.is_some()",
        "self.task(ticket).finalize.is_some() && ticket.task.index.is_none()",
    )),
    mutant("hindrance-fails", "what is in the way of a merge is no failure of it", FINALIZE, (
        "self.finalizer_hindered(now, ticket, what)",
        "self.finalizer_failed(now, ticket, TaskError::new(ErrorClass::Transient, what))",
    )),
    mutant("hindrance-has-an-end", "what is in the way of a merge is waited for without an end", FINALIZE, (
        "self.finalizer_hindered(now, ticket, what)",
        "self.finalizer_refused(now, ticket, what)",
    )),
    mutant("hindered-number-lost", "one that had started when it was hindered keeps its number", FINALIZE, (
        "row.attempts -= u32::from(!started);",
        "row.attempts -= 1;",
    )),
    mutant("landing-lost-by-history", "every attempt at landing is in the history", FINALIZE, (
        "            self.draft.add(Change::NewAttempt(key, past));",
        "            drop(past);",
    )),
];
