//! Breakages of the cycle.

use super::mutant::{Mutant, mutant};

const CYCLE: &str = "crates/engine/src/cycle.rs";

#[rustfmt::skip] // One below the other, the passage and what takes its place.
pub const MUTANTS: &[Mutant] = &[
    mutant("acts-before-commit", "effects wait for their commit", CYCLE, (
        "        if !self.may_take() {
            return Step::Rest;
        }",
        "        if let Some((_, done)) = self.in_flight.front_mut().filter(|(_, done)| !done.effects.is_empty()) {
            let effects = std::mem::take(&mut done.effects);
            let (forget, answers, events) = (Vec::new(), Vec::new(), Vec::new());
            return Step::Act(Done { effects, forget, answers, events });
        }
        if !self.may_take() {
            return Step::Rest;
        }",
    )),
    mutant("answers-before-commit", "answers wait for the commit of what they say", CYCLE, (
        "        if !self.may_take() {
            return Step::Rest;
        }",
        "        if !self.may_take() {
            return self.step_without_changes();
        }",
    )),
    mutant("empty-batch-overtakes", "what follows from a batch waits for it, changes or none", CYCLE, (
        "batch.changes.is_empty() && !self.is_committing()",
        "batch.changes.is_empty()",
    )),
    mutant("departed-too-early", "a run is remembered until the batch it left with is durable", CYCLE, (
        "self.world.forget_departed(number)",
        "self.world.forget_departed(u64::MAX)",
    )),
    mutant("late-ends-never-settled", "an end that comes too late is settled all the same", CYCLE, (
        "self.late.push(ticket)",
        "drop(ticket)",
    )),
    mutant("askers-forgotten", "after a failed commit everybody who waits is told", CYCLE, (
        "in_flight.chain(self.gathering).map(|(ask, _)| ask).collect()",
        "in_flight.map(|(ask, _)| ask).collect()",
    )),
    mutant("old-reading-accepted", "what was read for a world that is gone is read again", CYCLE, (
        "reading.epoch != self.world.epoch()",
        "reading.epoch > self.world.epoch()",
    )),
    mutant("outdated-answered", "an outdated reading is read again, not answered", CYCLE, (
        "(&answer, again, ended)",
        "(&answer, again.filter(|_| !matches!(answer, Err(Refusal::Outdated))), ended)",
    )),
    mutant("departed-forgotten", "what left memory is remembered while something is read", CYCLE, (
        "self.readings == 0",
        "true",
    )),
    mutant("timers-never-fire", "what is due is decided", CYCLE, (
        "        self.world.wake(now);",
        "",
    )),
];
