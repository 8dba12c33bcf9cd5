//! The fields of a definition: those that this version knows, and those that are designed and
//! come later, so that the answer to them is not 'unknown'.

#[derive(Debug)]
pub struct Vocabulary {
    /// What has these fields, for messages.
    pub of: &'static str,
    pub known: &'static [&'static str],
    pub later: &'static [&'static str],
}

pub const WORKFLOW: Vocabulary = Vocabulary {
    of: "a workflow",
    known: &["name", "description", "labels", "input", "timeout", "tiers", "defaults", "tasks"],
    later: &[
        "schedule",
        "on",
        "notify",
        "max_active_runs",
        "concurrency_group",
        "outputs",
        "max_fanout",
        "retention",
    ],
};

pub const TASK: Vocabulary = Vocabulary {
    of: "a task",
    known: &[
        "run",
        "command",
        "noop",
        #[cfg(feature = "bench")]
        "echo",
        "depends_on",
        "on_failure",
        "allow_failure",
        "input",
        "env",
        "workdir",
        "output",
        "retries",
        "on_lost",
        "timeout",
        "start_timeout",
        "kill_grace",
        "log_limit",
        "tier",
        "priority",
        "labels",
        "description",
    ],
    later: &[
        "service",
        "job",
        "cloud_run",
        "kubernetes",
        "http",
        "script",
        "workflow",
        "approval",
        "wait",
        "sleep",
        "if",
        "always",
        "grace",
        "foreach",
        "parallel",
        "concurrency",
        "failure_strategy",
        "on_lost_contact",
        "heartbeat_timeout",
        "runs_on",
        "resources",
        "outputs",
        "finalize",
        "workspace",
        "checkpoint",
        "cache",
        "artifacts",
        "image",
        "failover",
    ],
};

/// Actions that this version knows.
pub const ACTIONS: &[&str] = &[
    "run",
    "command",
    "noop",
    #[cfg(feature = "bench")]
    "echo",
];

/// Actions that come later: a task that has one of them is not without an action.
pub const ACTIONS_LATER: &[&str] = &[
    "service",
    "job",
    "cloud_run",
    "kubernetes",
    "http",
    "script",
    "workflow",
    "approval",
    "wait",
    "sleep",
];

/// Without effect on a task that is settled where it is decided.
pub const NO_EFFECT_ON_NOOP: &[&str] = &[
    "env",
    "workdir",
    "output",
    "retries",
    "on_lost",
    "timeout",
    "start_timeout",
    "kill_grace",
    "log_limit",
    "tier",
    "priority",
];

pub const DEPENDENCY: Vocabulary =
    Vocabulary { of: "a dependency", known: &["task", "when"], later: &[] };

pub const RETRIES: Vocabulary = Vocabulary {
    of: "`retries`",
    known: &["max", "delay", "factor", "max_delay", "jitter", "on", "except"],
    later: &[],
};

pub const TIER: Vocabulary = Vocabulary { of: "a tier", known: &["limit"], later: &["rate"] };

/// `noop: {}` says nothing more.
pub const NOTHING: Vocabulary = Vocabulary { of: "this action", known: &[], later: &[] };
