//! What an explanation looks like to programs.

use super::reason::Reason;
use crate::ids::RunId;
use crate::kernel::row::RunStatus;
use crate::time::Timestamp;
use crate::view::word::Word;
use serde::Serialize;

/// Why each task of a run that has no outcome is not running now.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    pub run: RunId,
    pub workflow: String,
    pub status: RunStatus,
    /// The moment that sentences speak of.
    pub at: Timestamp,
    /// What keeps the run as a whole: empty for one that goes on.
    pub reasons: Vec<Told>,
    /// How many tasks have no outcome.
    pub unsettled: u32,
    /// In the order of the definition.
    pub tasks: Vec<Explained>,
    /// The task that another page begins with, if not all are on this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One task, or one instance of a fan-out.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    pub status: Word,
    /// Never empty.
    pub reasons: Vec<Told>,
    /// Instances of a fan-out that have been opened and have no outcome: the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(no_recursion, required = false))]
    pub instances: Vec<Explained>,
}

/// A reason, and its sentence.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    #[serde(flatten)]
    pub reason: Reason,
    pub text: String,
}

impl Told {
    pub fn all(reasons: Vec<Reason>, now: Timestamp) -> Vec<Self> {
        let told = |reason: Reason| Self { text: reason.sentence(now), reason };
        reasons.into_iter().map(told).collect()
    }
}
