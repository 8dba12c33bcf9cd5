//! How far an order on many runs has come, as it is told and as it is kept at its end.

use super::filter::{Action, BulkBody};
use super::item::Outcome;
use crate::problem::Problem;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::bulk::{BulkEnd, BulkRow, BulkState};
use mainspring_core::time::Timestamp;
use mainspring_store::ReadError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Problems that are told one by one; the rest are counted.
const TOLD_MAX: usize = 20;

/// How far a request on many runs has come.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BulkView {
    pub id: String,
    pub action: Action,
    /// Runs that were meant when it was asked for.
    pub matched: u64,
    #[serde(flatten)]
    pub tally: BulkTally,
    pub started_at: Timestamp,
    /// Absent while it is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
}

/// What came of it so far. Counted anew when a server is started anew.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct BulkTally {
    pub done: u64,
    /// Runs that it did not apply to any more.
    pub refused: u64,
    pub failed: u64,
    /// How often each code was the answer.
    pub reasons: BTreeMap<String, u64>,
    /// The first that were not done.
    pub problems: Vec<BulkProblem>,
}

/// Why something was not done.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BulkProblem {
    pub run: RunId,
    pub code: String,
    pub detail: String,
}

impl BulkView {
    /// Of one that was read. What has been done of one at work only its server knows.
    pub fn of(row: &BulkRow) -> Result<Self, Problem> {
        let (tally, finished_at) = match &row.state {
            BulkState::AtWork(_) => (BulkTally::default(), None),
            BulkState::Over(BulkEnd { at, result }) => {
                (kept(row, "result", result.as_str())?, Some(*at))
            }
        };
        let BulkBody { action, .. } = asked(row)?;
        let (id, started_at) = (row.id.to_string(), row.created_at);
        Ok(Self { id, action, matched: row.matched, tally, started_at, finished_at })
    }
}

impl BulkTally {
    pub fn note(&mut self, run: RunId, outcome: Outcome) {
        let problem = match outcome {
            Outcome::Done => {
                self.done += 1;
                return;
            }
            Outcome::Left => return,
            Outcome::Refused(problem) => {
                self.refused += 1;
                problem
            }
            Outcome::Failed(problem) => {
                self.failed += 1;
                problem
            }
        };
        let Problem { code, detail, .. } = problem;
        let code = code.to_owned();
        *self.reasons.entry(code.clone()).or_default() += 1;
        if self.problems.len() < TOLD_MAX {
            self.problems.push(BulkProblem { run, code, detail });
        }
    }
}

/// What was asked for, as it is kept.
pub fn asked(row: &BulkRow) -> Result<BulkBody, Problem> {
    kept(row, "asked", row.asked.as_str())
}

fn kept<T: DeserializeOwned>(row: &BulkRow, column: &str, text: &str) -> Result<T, Problem> {
    serde_json::from_str(text).map_err(|error| {
        let what = format!("bulks (id {}): column {column} cannot be read: {error}", row.id);
        ReadError::Damaged(what).into()
    })
}
