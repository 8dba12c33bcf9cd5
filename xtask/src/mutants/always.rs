//! Breakages of what runs always, of checkpoints, and of explanations.

use super::mutant::{Mutant, mutant};

const ALWAYS: &str = "crates/core/src/world/always.rs";
const BACK: &str = "crates/core/src/plan/dag/back.rs";
const CHECKPOINT: &str = "crates/core/src/world/checkpoint.rs";
const EXPLAINED: &str = "crates/core/src/view/explain/task.rs";
const LOAD: &str = "crates/core/src/world/load.rs";
const ORDERS: &str = "crates/core/src/world/orders.rs";
const PLAN: &str = "crates/core/src/plan/dag/plan.rs";
const SEEN: &str = "crates/core/src/view/explain/seen.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("cancel-spares-all", "a cancel stops what does not run always", ORDERS, (
        "had_begun && definition.task(*no).is_always()",
        "had_begun && (definition.task(*no).is_always() || no.0 > 2)",
    )),
    mutant("cancel-spares-none", "a cancel leaves what runs always", ORDERS, (
        "had_begun && definition.task(*no).is_always()",
        "had_begun && no.0 > 1_000 && definition.task(*no).is_always()",
    )),
    mutant("cancelled-may-begin", "what had not begun before a cancel never does", PLAN, (
        "course == Course::Always && !shape.definition.task(*no).is_always()",
        "course == Course::Always && no.0 > 1 && !shape.definition.task(*no).is_always()",
    )),
    mutant("grace-forgotten", "a grace has an end", ALWAYS, (
        "self.arm_run(key);",
        "let _ = key;",
    )),
    mutant("grace-begins-anew", "a restart does not prolong a grace", LOAD, (
        "progress.counts = Counts { total: progress.counts.total, ..Counts::default() };",
        "progress.counts = Counts { total: progress.counts.total, ..Counts::default() };
        progress.alone_since = None;",
    )),
    mutant("grace-too-early", "a grace counts from when the others are settled", ALWAYS, (
        "self.unsettled == left",
        "self.unsettled >= left",
    )),
    mutant("cleanup-outlives-retry", "what ran because of a cancel goes back with it", BACK, (
        "ways.extend(over.map(|no| (no, Way::Revived)));",
        "drop(over);",
    )),
    mutant("checkpoint-ignored", "a run is paused after a checkpoint", CHECKPOINT, (
        "task.checkpoint",
        "(task.checkpoint && no.0 > 1_000)",
    )),
    mutant("checkpoint-by-failure", "a failure is no checkpoint", CHECKPOINT, (
        "run.rows.fact(no) == Fact::Success",
        "run.rows.fact(no).is_settled()",
    )),
    mutant("limit-unexplained", "a task that waits for a limit says so", SEEN, (
        "it.is_full() && names.contains(&it.name)",
        "it.is_full() && names.is_empty()",
    )),
    mutant("dependency-unexplained", "a task that waits for another says so", EXPLAINED, (
        "self.plan.edge(edge) == EdgeState::Satisfied",
        "self.plan.edge(edge) != EdgeState::Unmet || position > 0",
    )),
    mutant("wait-unexplained", "a parked task says what it waits for", EXPLAINED, (
        "stops.into_iter().chain(awaited).chain(held).collect()",
        "stops.into_iter().chain(awaited.into_iter().take(0)).chain(held).collect()",
    )),
];
