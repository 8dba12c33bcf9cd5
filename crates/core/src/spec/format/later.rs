//! Names that are spoken for.

/// Actions that come later: a task that has one of them is not without an action.
pub const ACTIONS_LATER: &[&str] = &["service", "job", "cloud_run", "kubernetes", "http", "script"];

/// Fields of a task that come later, its actions included.
pub const TASK_LATER: &[&str] = &[
    "service",
    "job",
    "cloud_run",
    "kubernetes",
    "http",
    "script",
    "on_lost_contact",
    "heartbeat_timeout",
    "runs_on",
    "resources",
    "image",
    "failover",
];

pub const WORKFLOW_LATER: &[&str] = &["schedule", "on", "notify", "retention"];

/// Added to the input of instances, so no task's output may have these names.
pub const RESERVED_TASK_NAMES: &[&str] = &["item", "index", "count"];
