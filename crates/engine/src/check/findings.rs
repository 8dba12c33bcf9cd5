//! What was looked at, and what was found.

use mainspring_core::check::{Promise, Violation};
use mainspring_store::ReadError;

/// Kept at most: a damaged file may break a promise a million times.
const KEPT_MAX: usize = 1_000;

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    pub runs: u64,
    pub unfinished_runs: u64,
    pub tasks: u64,
    pub attempts: u64,
    pub logs: u64,
    /// Those of the logs whose files were read.
    pub log_files: u64,
    /// Large outputs and artifacts that were read.
    pub contents: u64,
    pub workflows: u64,
    pub versions: u64,
    pub keys: u64,
    pub tokens: u64,
    pub audit: u64,
}

/// One promise that does not hold, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A run's id, or its key where the id cannot be read.
    pub run: Option<String>,
    pub violation: Violation,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub looked: Looked,
    pub found: Vec<Finding>,
    /// How many there were besides.
    pub more: u64,
}

impl Findings {
    pub fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn add(&mut self, run: Option<&str>, violation: Violation) {
        match self.found.len() < KEPT_MAX {
            true => self.found.push(Finding { run: run.map(str::to_owned), violation }),
            false => self.more += 1,
        }
    }

    /// What was read; None, and a finding, when it is damaged. Anything else ends the check.
    pub(super) fn readable<T>(
        &mut self,
        run: Option<&str>,
        answer: Result<T, ReadError>,
    ) -> Result<Option<T>, ReadError> {
        match answer {
            Ok(read) => Ok(Some(read)),
            Err(ReadError::Damaged(what)) => {
                self.add(run, Violation::new(Promise::Readable, what));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
