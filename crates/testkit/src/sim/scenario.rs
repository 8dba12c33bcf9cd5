//! Which world to play: a seed, and for a smaller one of the same kind less trouble.

use crate::sim::sketches::Wide;
use crate::sim::trouble::Trouble;
use std::collections::BTreeSet;
use std::fmt;

/// Steps with everything that can go wrong.
const STEPS: u32 = 400;
const TASKS: u64 = 7;

/// How the world of a seed is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    pub seed: u64,
    /// Steps with trouble, before peace.
    pub steps: u32,
    /// At most this many tasks in a workflow.
    pub tasks: u64,
    pub without: BTreeSet<Trouble>,
}

impl Scenario {
    pub fn of(seed: u64) -> Self {
        Self { seed, steps: STEPS, tasks: TASKS, without: BTreeSet::new() }
    }

    /// Now and then a world with a workflow that no batch can hold. Each of its steps is dear,
    /// so it has fewer.
    pub fn wide(&self) -> Option<Wide> {
        match self.seed % 1_000 {
            499 => Some(Wide::Tasks),
            999 => Some(Wide::Group),
            _ => None,
        }
    }
}

impl fmt::Display for Scenario {
    /// As options of the command that plays it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--seed {}", self.seed)?;
        if self.steps != STEPS {
            write!(f, " --steps {}", self.steps)?;
        }
        if self.tasks != TASKS {
            write!(f, " --tasks {}", self.tasks)?;
        }
        if !self.without.is_empty() {
            let names: Vec<&str> = self.without.iter().map(|trouble| trouble.name()).collect();
            write!(f, " --without {}", names.join(","))?;
        }
        Ok(())
    }
}
