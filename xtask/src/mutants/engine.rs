//! Breakages of the cycle.

use super::mutant::Mutant;

const CYCLE: &str = "crates/engine/src/cycle.rs";

pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "acts-before-commit",
        breaks: "effects wait for their commit",
        file: CYCLE,
        old: "        if self.is_committing() {
            return Step::Rest;
        }",
        new: "        if let Some(done) = &mut self.in_flight {
            if done.effects.is_empty() {
                return Step::Rest;
            }
            let effects = std::mem::take(&mut done.effects);
            let (forget, answers, events) = (Vec::new(), Vec::new(), Vec::new());
            return Step::Act(Done { effects, forget, answers, events });
        }",
    },
    Mutant {
        name: "answers-before-commit",
        breaks: "answers wait for the commit of what they say",
        file: CYCLE,
        old: "        if self.is_committing() {
            return Step::Rest;
        }",
        new: "        if self.is_committing() {
            return self.step_without_changes();
        }",
    },
    Mutant {
        name: "late-ends-never-settled",
        breaks: "an end that comes too late is settled all the same",
        file: CYCLE,
        old: "(Err(Refusal::Stale), _, Some(ticket)) => self.late.push(ticket),",
        new: "(Err(Refusal::Stale), _, Some(_)) => {}",
    },
    Mutant {
        name: "askers-forgotten",
        breaks: "after a failed commit everybody who waits is told",
        file: CYCLE,
        old: "in_flight.chain(self.gathering).map(|(ask, _)| ask).collect()",
        new: "in_flight.map(|(ask, _)| ask).collect()",
    },
    Mutant {
        name: "old-reading-accepted",
        breaks: "what was read for a world that is gone is read again",
        file: CYCLE,
        old: "if reading.epoch != self.world.epoch() {",
        new: "if reading.epoch > self.world.epoch() {",
    },
    Mutant {
        name: "outdated-answered",
        breaks: "an outdated reading is read again, not answered",
        file: CYCLE,
        old: "            (Err(Refusal::Outdated), Some(input), _) => {",
        new: "            (Err(Refusal::NotOwned), Some(input), _) => {",
    },
];
