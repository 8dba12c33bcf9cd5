//! Breakages of what waits: when a wait is over, what it comes to, and who hears of it.

use super::mutant::{Mutant, mutant};

const ASLEEP: &str = "crates/core/src/world/asleep.rs";
const PARK: &str = "crates/core/src/world/park.rs";
const PARKED: &str = "crates/core/src/world/parked.rs";
const SAID: &str = "crates/core/src/world/said.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("rejection-goes-on", "a rejection fails its task unless it says otherwise", PARK, (
        "*verdict == Verdict::Rejected && approval.on_reject == OnReject::Fail",
        "*verdict == Verdict::Rejected && approval.on_reject == OnReject::Fail && false",
    )),
    mutant("rejection-approves", "a rejection never looks like an approval", PARK, (
        "*verdict == Verdict::Approved",
        "true",
    )),
    mutant("decided-twice", "an approval is decided once", SAID, (
        "Err(Refusal::Decided)",
        "Ok(vec![task])",
    )),
    mutant("signal-taken-again", "no signal is taken twice by one task", PARK, (
        "signal.number > wait.map_or(0, |wait| wait.taken)",
        "signal.number >= wait.map_or(0, |wait| wait.taken)",
    )),
    mutant("held-wait-ends", "what comes while a task is held is kept", PARK, (
        "        if «self.is_held(task)» {",
        "false",
    )),
    mutant("sleep-cut-short", "a sleep takes its time", PARK, (
        "is_late.then_some(Over::Time)",
        "Some(Over::Time)",
    )),
    mutant("signal-not-kept", "a signal that nothing waits for is kept", SAID, (
        "        run.signals.insert(Arc::clone(&row.key), row.clone());",
        "        run.signals.remove(&row.key);",
    )),
    mutant("signal-not-stored", "a signal is durable", SAID, (
        "        self.draft.add(Change::NewSignal(key, row));",
        "        drop(row);",
    )),
    mutant("approval-listed-for-ever", "what is decided is not listed", PARKED, (
        "draft.add(Change::UnlistApproval(place(since)))",
        "()",
    )),
    mutant("wait-not-indexed", "a signal finds what waits for it", PARKED, (
        "drop(self.awaiting.insert((key, task)))",
        "drop(key)",
    )),
    mutant("sleeper-never-roused", "the timer of a run that left memory brings it back", ASLEEP, (
        "timers.iter().map(|timer| timer.at).min()",
        "None",
    )),
    mutant("sleeper-read-too-early", "nothing is taken for the newest that is older", ASLEEP, (
        "        self.check_newest(id, snapshot.progress.stamp)?;",
        "        self.check_newest(id, u64::MAX)?;",
    )),
    mutant("sleeper-may-start", "what can go on by itself stays in memory", ASLEEP, (
        "(self.progress.status == RunStatus::Paused || !may_start())",
        "(self.progress.status == RunStatus::Paused || !may_start() || true)",
    )),
];
