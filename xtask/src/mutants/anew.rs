//! Breakages of what is taken over when a run is run anew.

use super::mutant::{Mutant, mutant};

const KEPT: &str = "crates/core/src/plan/dag/kept.rs";
const RERUN: &str = "crates/core/src/world/rerun.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("beginning-kept", "a rerun runs the task that it begins from", KEPT, (
        "no == begin.from",
        "false",
    )),
    mutant("kept-on-nothing", "what stands on something that runs again is not copied", KEPT, (
        "above.all(|stays| stays.is_some())",
        "true",
    )),
    mutant("failure-kept", "what had not succeeded runs anew", KEPT, (
        "self.former.rows.fact(was)",
        "match self.former.rows.fact(was) {
            Fact::Failed => Fact::Success,
            fact => fact,
        }",
    )),
    mutant("skip-kept-by-another", "another version looks at conditions again", KEPT, (
        "begin.pinned == Pinned::Same",
        "true",
    )),
    mutant("copy-without-output", "a copy has the output of the former run", KEPT, (
        "row.output.clone()",
        "row.output.clone().filter(|_| no.0 > 0)",
    )),
    mutant("unmet-kept", "what now waits for something else runs again", KEPT, (
        "is_alike && self.is_satisfied(task)",
        "is_alike",
    )),
    mutant("rerun-of-live", "a run that is not over is not run anew", RERUN, (
        "return Err(Refusal::RunIs(run.progress.status));",
        "let _ = run;",
    )),
    mutant("copy-unwritten", "what is copied is stored with the run", RERUN, (
        "self.draft.task(key, task);",
        "self.draft.run(key);",
    )),
    mutant("copy-unplanned", "what waits for a copy is ready", RERUN, (
        "self.run_mut(key).replan();",
        "self.run_mut(key).unread.recounted = true;",
    )),
];
