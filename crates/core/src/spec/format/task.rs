//! The fields of a task, and of the maps inside it.

use super::control::{APPROVAL, SLEEP, WAIT};
use super::finalize::{FINAL_ACTIONS, FINALIZE};
use super::later::TASK_LATER;
use super::shape::{SHELL_LINE_BYTES_MAX, Shape, Zero};
use super::table::{Entry, Group};
use super::workspace::WORKSPACE;
use crate::limits::{ENV_VALUE_BYTES_MAX, FANOUT_MAX, LOG_BYTES_MAX, PRIORITY_MAX, RETRIES_MAX};

/// Exactly one of them says what a task does.
pub const ACTIONS: &[&str] = &[
    "run",
    "command",
    "noop",
    "sleep",
    "wait",
    "approval",
    "workflow",
    #[cfg(feature = "bench")]
    "echo",
];

/// Beside actions, what makes a task what it is: no default for all.
pub const OWN_ONLY: &[&str] = &[
    "depends_on",
    "foreach",
    "parallel",
    "artifacts",
    "always",
    "checkpoint",
    "finalize",
    "version",
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
    "cache",
    "artifacts",
    "workspace",
];

pub const TASK: Group = Group {
    of: "a task",
    known: &[
        Entry {
            name: "run",
            about: "A line, or several, for `/bin/sh -c`. A template becomes a variable: no value is ever read as code.",
            default: None,
            examples: &["./fetch.sh --all"],
            shape: Shape::Filled { bytes_max: SHELL_LINE_BYTES_MAX },
        },
        Entry {
            name: "command",
            about: "A program and its arguments, without a shell.",
            default: None,
            examples: &["[python3, load.py]"],
            shape: Shape::Argv,
        },
        Entry {
            name: "noop",
            about: "Nothing: a place where edges meet. Its output is its own `input`, with values put in.",
            default: None,
            examples: &["{}"],
            shape: Shape::Nothing,
        },
        Entry {
            name: "sleep",
            about: "Waits: a duration, or `{until: moment}`. A restart does not begin it anew.",
            default: None,
            examples: &["5m", "{ until: \"2030-01-31T06:00:00Z\" }"],
            shape: Shape::Sleep(&SLEEP),
        },
        Entry {
            name: "wait",
            about: "Waits for a signal, whose value is the output.",
            default: None,
            examples: &["{ signal: paid, timeout: 24h }"],
            shape: Shape::Map(&WAIT),
        },
        Entry {
            name: "approval",
            about: "Waits for a person, who approves or rejects.",
            default: None,
            examples: &["{ message: Ship it?, timeout: 24h }"],
            shape: Shape::Map(&APPROVAL),
        },
        Entry {
            name: "workflow",
            about: "Runs another workflow as a child run. Its `input` is the child's, and what the child puts out is its output.",
            default: None,
            examples: &["convert-one"],
            shape: Shape::Name,
        },
        Entry {
            name: "version",
            about: "Beside `workflow`: the version that is run. Without it, the latest when the child begins.",
            default: None,
            examples: &["3"],
            shape: Shape::Whole { min: 1, max: u32::MAX as i64 },
        },
        #[cfg(feature = "bench")]
        Entry { name: "echo", about: "", default: None, examples: &[], shape: Shape::Unlisted },
        Entry {
            name: "depends_on",
            about: "Tasks that come first: names, or `{task: name, when: condition}`. One alone needs no list.",
            default: Some("[]"),
            examples: &["[fetch, load]", "[{ task: fetch, when: started }]"],
            shape: Shape::Dependencies(&DEPENDENCY),
        },
        Entry {
            name: "on_failure",
            about: "What happens when something it depends on did not go well.",
            default: Some("skip"),
            examples: &["run"],
            shape: Shape::Words(&[
                (
                    "skip",
                    "it needs every dependency satisfied, and is settled without running otherwise",
                ),
                (
                    "run",
                    "a *finally*: it starts when everything it depends on is settled, however that went",
                ),
            ]),
        },
        Entry {
            name: "always",
            about: "Like `on_failure: run`, and it also runs after the run was cancelled or has timed out, for at most its `grace`: for what has to be cleaned up.",
            default: Some("false"),
            examples: &["true"],
            shape: Shape::Bool,
        },
        Entry {
            name: "grace",
            about: "How long an `always` task may go on in a run that was cancelled or has timed out, from when all other tasks are settled. What is left of it then is stopped.",
            default: Some("5m"),
            examples: &["30s"],
            shape: Shape::Duration(Zero::Refused),
        },
        Entry {
            name: "allow_failure",
            about: "Its failure does not fail the run, and lets its dependents run.",
            default: Some("false"),
            examples: &["true"],
            shape: Shape::Bool,
        },
        Entry {
            name: "checkpoint",
            about: "After its success the run is paused, until somebody resumes it.",
            default: Some("false"),
            examples: &["true"],
            shape: Shape::Bool,
        },
        Entry {
            name: "if",
            about: "An expression: when it comes to false, the task is skipped. Worked out once, when its dependencies are satisfied.",
            default: Some("true"),
            examples: &["input.day == 'monday'"],
            shape: Shape::Condition,
        },
        Entry {
            name: "input",
            about: "Values that it sees as input, beside the outputs of the tasks it depends on.",
            default: Some("{}"),
            examples: &["{ day: monday, limit: 10 }"],
            shape: Shape::AnyMap,
        },
        Entry {
            name: "env",
            about: "Variables of the process: text, or `{secret: name}`. Names that begin with `MAINSPRING_` are taken.",
            default: Some("{}"),
            examples: &["{ LANG: C.UTF-8, TOKEN: { secret: api-token } }"],
            shape: Shape::Env(&SECRET),
        },
        Entry {
            name: "workdir",
            about: "Directory of the process; a relative one is below the run's. Without it, the run's own.",
            default: None,
            examples: &["build"],
            shape: Shape::Filled { bytes_max: ENV_VALUE_BYTES_MAX },
        },
        Entry {
            name: "workspace",
            about: "Where its attempts work instead, see [git.md](git.md). `workdir` is then below it.",
            default: None,
            examples: &["{ git: { repo: ., base: main } }"],
            shape: Shape::Map(&WORKSPACE),
        },
        Entry {
            name: "output",
            about: "Where its output comes from.",
            default: Some("file"),
            examples: &["stdout"],
            shape: Shape::Words(&[
                ("file", "what was written to `$MAINSPRING_OUTPUT`, as JSON"),
                ("stdout", "that; if nothing was written there, stdout, as JSON"),
            ]),
        },
        Entry {
            name: "foreach",
            about: "One instance for each element of a list: a place in what a task above puts out, or a list.",
            default: None,
            examples: &["discover.files", "[north, south]"],
            shape: Shape::Each,
        },
        Entry {
            name: "parallel",
            about: "So many instances; with `foreach`, so many for each element. A number, or a place in what a task above puts out.",
            default: None,
            examples: &["4", "discover.count"],
            shape: Shape::Times { max: FANOUT_MAX },
        },
        Entry {
            name: "concurrency",
            about: "How many of its instances may be at work at once. Without it, only limits bound them.",
            default: None,
            examples: &["4"],
            shape: Shape::Whole { min: 1, max: FANOUT_MAX as i64 },
        },
        Entry {
            name: "failure_strategy",
            about: "What the failure of an instance means.",
            default: Some("collect_errors"),
            examples: &["fail_fast"],
            shape: Shape::Words(&[
                ("collect_errors", "the other instances go on, then the task fails"),
                ("fail_fast", "the other instances are cancelled, and the task fails"),
                ("ignore_errors", "the task succeeds; in its output, a failed instance is null"),
            ]),
        },
        Entry {
            name: "outputs",
            about: "JSON Schema of its output; of a fan-out, of each instance's. An output that does not match fails the task, class `logic`.",
            default: None,
            examples: &["{ type: object, required: [rows] }"],
            shape: Shape::JsonSchema,
        },
        Entry {
            name: "cache",
            about: "A success is taken again, and nothing is run, while the key is the same and its time is not up.",
            default: None,
            examples: &["{ key: v1-monday, ttl: 12h }"],
            shape: Shape::Map(&CACHE),
        },
        Entry {
            name: "artifacts",
            about: "Files that it leaves for other tasks, and files of other tasks that it wants.",
            default: None,
            examples: &["{ out: [report.csv] }"],
            shape: Shape::Map(&ARTIFACTS),
        },
        Entry {
            name: "finalize",
            about: "A second step that lands its work, such as a merge: run once the work is done, in turn with others. The task succeeds when it has landed.",
            default: None,
            examples: &["{ queue: main, run: ./merge.sh }"],
            shape: Shape::OneOf(&FINALIZE, FINAL_ACTIONS),
        },
        Entry {
            name: "retries",
            about: "How often a failed attempt is followed by another: a number, or a map. `2` means at most three attempts that fail.",
            default: Some("0"),
            examples: &["2", "{ max: 3, delay: 2s, factor: 2, on: [exit, timeout] }"],
            shape: Shape::Retries { max: RETRIES_MAX, group: &RETRIES },
        },
        Entry {
            name: "on_lost",
            about: "What happens when the engine dies under it.",
            default: Some("retry"),
            examples: &["fail"],
            shape: Shape::Words(&[
                ("retry", "it is tried again, at most three times; this uses no retry"),
                ("fail", "it is not tried again: for work that must not run twice"),
            ]),
        },
        Entry {
            name: "timeout",
            about: "Of one attempt, from its start.",
            default: Some("1h"),
            examples: &["5m", "1h30m"],
            shape: Shape::Duration(Zero::Refused),
        },
        Entry {
            name: "start_timeout",
            about: "How long it may take until an attempt starts. Waiting for a tier does not count.",
            default: Some("5m"),
            examples: &["30s"],
            shape: Shape::Duration(Zero::Refused),
        },
        Entry {
            name: "kill_grace",
            about: "Time between SIGTERM and SIGKILL.",
            default: Some("10s"),
            examples: &["1m", "0s"],
            shape: Shape::Duration(Zero::Allowed),
        },
        Entry {
            name: "log_limit",
            about: "What is kept of its log: the head and the tail.",
            default: Some("10MiB"),
            examples: &["512KiB", "4096"],
            shape: Shape::Size { bytes_max: LOG_BYTES_MAX },
        },
        Entry {
            name: "tier",
            about: "The tier that it counts against: one of the workflow's `tiers`, or one of the server's.",
            default: None,
            examples: &["gpu"],
            shape: Shape::TierName,
        },
        Entry {
            name: "priority",
            about: "Higher goes first when permits are short.",
            default: Some("0"),
            examples: &["10"],
            shape: Shape::Whole { min: -(PRIORITY_MAX as i64), max: PRIORITY_MAX as i64 },
        },
        Entry {
            name: "labels",
            about: "For people: names with short text.",
            default: Some("{}"),
            examples: &["{ team: data }"],
            shape: Shape::Labels,
        },
        Entry {
            name: "description",
            about: "For people.",
            default: None,
            examples: &["Loads the files into the database"],
            shape: Shape::Text,
        },
    ],
    required: &[],
    later: TASK_LATER,
};

pub const DEPENDENCY: Group = Group {
    of: "a dependency",
    known: &[
        Entry {
            name: "task",
            about: "The name of the other task.",
            default: None,
            examples: &["fetch"],
            shape: Shape::TaskName,
        },
        Entry {
            name: "when",
            about: "When the dependency is satisfied: once the other task …",
            default: Some("merged"),
            examples: &["started"],
            shape: Shape::Words(&[
                ("merged", "succeeded"),
                ("success", "succeeded: another spelling of `merged`"),
                ("completed", "has done its work, though its finalizer may not have landed"),
                ("started", "has started, ever: the two may overlap"),
                (
                    "failed",
                    "failed. The task that runs then *handles* the failure: if it succeeds, the run is not failed by it",
                ),
                ("finished", "is settled, in any way"),
            ]),
        },
    ],
    required: &["task"],
    later: &[],
};

pub const RETRIES: Group = Group {
    of: "`retries`",
    known: &[
        Entry {
            name: "max",
            about: "Attempts after the first that may fail.",
            default: None,
            examples: &["3"],
            shape: Shape::Whole { min: 0, max: RETRIES_MAX as i64 },
        },
        Entry {
            name: "delay",
            about: "Before the first retry.",
            default: Some("1s"),
            examples: &["2s"],
            shape: Shape::Duration(Zero::Allowed),
        },
        Entry {
            name: "factor",
            about: "What each delay is multiplied by to give the next.",
            default: Some("2"),
            examples: &["1", "1.5"],
            shape: Shape::NumberFrom(1.0),
        },
        Entry {
            name: "max_delay",
            about: "No delay is longer.",
            default: Some("60s"),
            examples: &["10m"],
            shape: Shape::Duration(Zero::Allowed),
        },
        Entry {
            name: "jitter",
            about: "Each delay is anything from zero to what it would be, by chance, so that many tasks do not come back at once.",
            default: Some("false"),
            examples: &["true"],
            shape: Shape::Bool,
        },
        Entry {
            name: "on",
            about: "Only these classes of errors are retried. Not beside `except`.",
            default: None,
            examples: &["[exit, timeout]"],
            shape: Shape::Classes { min: 1 },
        },
        Entry {
            name: "except",
            about: "These classes of errors are not retried. Not beside `on`.",
            default: None,
            examples: &["[logic]"],
            shape: Shape::Classes { min: 0 },
        },
    ],
    required: &["max"],
    later: &[],
};

/// `noop: {}` says nothing more.
pub const NOTHING: Group = Group { of: "this action", known: &[], required: &[], later: &[] };

/// Instead of the text of a variable.
pub const SECRET: Group = Group {
    of: "a variable",
    known: &[Entry {
        name: "secret",
        about: "The name of a secret.",
        default: None,
        examples: &["api-token"],
        shape: Shape::SecretName,
    }],
    required: &["secret"],
    later: &[],
};

pub const CACHE: Group = Group {
    of: "a cache",
    known: &[
        Entry {
            name: "key",
            about: "What the work depends on, as text.",
            default: None,
            examples: &["v1-monday"],
            shape: Shape::Filled { bytes_max: ENV_VALUE_BYTES_MAX },
        },
        Entry {
            name: "ttl",
            about: "How long a success is taken again.",
            default: Some("1d"),
            examples: &["12h"],
            shape: Shape::Duration(Zero::Refused),
        },
    ],
    required: &["key"],
    later: &[],
};

pub const ARTIFACTS: Group = Group {
    of: "artifacts",
    known: &[
        Entry {
            name: "out",
            about: "Paths of files, below its directory, that a success leaves.",
            default: Some("[]"),
            examples: &["[report.csv, logs/all.txt]"],
            shape: Shape::Paths,
        },
        Entry {
            name: "in",
            about: "Tasks above whose files are put into its directory before it starts: `task` for all of them, `task/path` for one.",
            default: Some("[]"),
            examples: &["[build, test/report.xml]"],
            shape: Shape::Wanted,
        },
    ],
    required: &[],
    later: &[],
};
