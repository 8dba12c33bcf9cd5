//! Makes a failing world smaller while it still breaks the same promise: fewer steps, fewer
//! tasks, fewer kinds of trouble.

use crate::sim::play::{Failure, play};
use crate::sim::scenario::Scenario;
use crate::sim::trouble::Trouble;

/// Rounds over everything that can be left out; what one round gains the next builds on.
const ROUNDS: u32 = 3;

pub fn shrink(failure: Box<Failure>) -> Box<Failure> {
    let mut smallest = failure;
    for _ in 0..ROUNDS {
        let before = smallest.scenario.clone();
        let steps = smallest.step.min(smallest.scenario.steps);
        for steps in [steps / 8, steps / 4, steps / 2, steps * 3 / 4, steps * 9 / 10, steps] {
            smallest = attempt(smallest, |scenario| scenario.steps = scenario.steps.min(steps));
        }
        for tasks in 1..smallest.scenario.tasks {
            smallest = attempt(smallest, |scenario| scenario.tasks = scenario.tasks.min(tasks));
        }
        for trouble in Trouble::ALL {
            smallest = attempt(smallest, |scenario| {
                scenario.without.insert(*trouble);
            });
        }
        if smallest.scenario == before {
            break;
        }
    }
    smallest
}

/// Keeps a change if the same promise is still broken.
fn attempt(failure: Box<Failure>, change: impl FnOnce(&mut Scenario)) -> Box<Failure> {
    let mut scenario = failure.scenario.clone();
    change(&mut scenario);
    if scenario == failure.scenario {
        return failure;
    }
    match play(&scenario) {
        Err(smaller) if smaller.broken.promise == failure.broken.promise => smaller,
        _ => failure,
    }
}
