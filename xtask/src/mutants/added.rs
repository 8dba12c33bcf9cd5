//! Breakages of what becomes of tasks that are added to a run.

use super::mutant::{Mutant, mutant};

const ADD: &str = "crates/core/src/world/add.rs";
const LOAD: &str = "crates/core/src/world/load.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("added-twice", "an addition builds on what is there", ADD, (
        "run.progress.additions != addition.after",
        "false",
    )),
    mutant("added-to-cancelling", "a run that is being cancelled takes no tasks", ADD, (
        "!matches!(status, RunStatus::Pending | RunStatus::Running | RunStatus::Paused)",
        "false",
    )),
    mutant("addition-unwritten", "an addition is stored with the run", ADD, (
        "self.draft.add(Change::NewAddition(key, row));",
        "drop(row);",
    )),
    mutant("added-unlooked", "what is added and may start is found", ADD, (
        "self.refill(key, now);",
        "let _ = now;",
    )),
    mutant("added-uncounted", "the counts of a run know what was added", ADD, (
        "self.progress.counts.total = u32::try_from(count).expect(\"bounded by TASKS_MAX\");",
        "let _ = count;",
    )),
    mutant("added-forgotten-by-load", "a load knows what was added", LOAD, (
        "progress.additions",
        "0",
    )),
];
