//! What a parked task waits for, as it is shown.

use crate::ids::RunId;
use crate::kernel::row::TaskRow;
use crate::kernel::wait::{Awaited, Decision};
use crate::spec::control::{Approval, Control, Decider};
use crate::spec::definition::Task;
use crate::time::Timestamp;
use serde::Serialize;

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct Awaits {
    pub since: Timestamp,
    /// When it is over whatever happens, if ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The key of a signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// A child run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// What a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Who may decide, if not everybody who may steer runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>, required = false))]
    pub by: Option<Vec<String>>,
    /// What happens when nobody decides until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<&'static str>,
    /// `approved` or `rejected`: it takes effect when the task is resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<&'static str>,
}

impl Awaits {
    pub fn of(task: &Task, row: &TaskRow) -> Option<Self> {
        let on = row.awaited()?;
        let plain = Self {
            since: row.attempt.as_ref()?.dispatched_at,
            until: row.until,
            signal: None,
            run: None,
            message: None,
            by: None,
            on_timeout: None,
            decided: None,
        };
        Some(match (on, task.control()) {
            (Awaited::Signal { key }, _) => Self { signal: Some(key.to_string()), ..plain },
            (Awaited::Approval { message, decision }, Some(Control::Approval(approval))) => Self {
                message: Some(message.to_string()),
                by: deciders(approval),
                on_timeout: row.until.map(|_| approval.on_timeout.word()),
                decided: decision.as_deref().map(decided),
                ..plain
            },
            (Awaited::Child { run }, _) => Self { run: Some(*run), ..plain },
            _ => plain,
        })
    }
}

fn deciders(approval: &Approval) -> Option<Vec<String>> {
    let by: Vec<String> = approval.by.iter().map(|it| Decider::word(it).to_owned()).collect();
    (!by.is_empty()).then_some(by)
}

const fn decided(decision: &Decision) -> &'static str {
    decision.verdict.word()
}
