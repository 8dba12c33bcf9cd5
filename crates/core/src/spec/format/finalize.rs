//! The fields of a finalizer: what lands the work of a task once that is done.

use super::git_merge::GIT_MERGE;
use super::shape::{SHELL_LINE_BYTES_MAX, Shape, Zero};
use super::table::{Entry, Group};
use super::task::{RETRIES, SECRET};
use crate::limits::{ENV_VALUE_BYTES_MAX, LOG_BYTES_MAX, RETRIES_MAX};

/// Exactly one of these is what a finalizer does.
pub const FINAL_ACTIONS: &[&str] = &["run", "command", "git_merge"];

pub const FINALIZE: Group = Group {
    of: "a finalizer",
    known: &[
        Entry {
            name: "run",
            about: "A line, or several, for `/bin/sh -c`.",
            default: None,
            examples: &["./merge.sh"],
            shape: Shape::Filled { bytes_max: SHELL_LINE_BYTES_MAX },
        },
        Entry {
            name: "command",
            about: "A program and its arguments, without a shell.",
            default: None,
            examples: &["[./merge.sh, main]"],
            shape: Shape::Argv,
        },
        Entry {
            name: "git_merge",
            about: "The built-in merge queue: lands the branch of the task's `workspace`, see [git.md](git.md#landing). One at a time for each repository and target, unless `queue` says otherwise.",
            default: None,
            examples: &["{ into: main, verify: ./verify.sh }"],
            shape: Shape::Map(&GIT_MERGE),
        },
        Entry {
            name: "queue",
            about: "Where it waits its turn: the limit `queue:<name>`, which lets one through at a time unless somebody sets it otherwise. Without it, there is no queue.",
            default: None,
            examples: &["main"],
            shape: Shape::Name,
        },
        Entry {
            name: "env",
            about: "Variables of its process; the task's own are not among them.",
            default: Some("{}"),
            examples: &["{ TOKEN: { secret: api-token } }"],
            shape: Shape::Env(&SECRET),
        },
        Entry {
            name: "workdir",
            about: "Directory of its process; a relative one is below the run's. Without it, the run's own.",
            default: None,
            examples: &["build"],
            shape: Shape::Filled { bytes_max: ENV_VALUE_BYTES_MAX },
        },
        Entry {
            name: "output",
            about: "Where its own output comes from, which is kept with its attempt. The task's output stays that of the work.",
            default: Some("file"),
            examples: &["stdout"],
            shape: Shape::Words(&[
                ("file", "what was written to `$MAINSPRING_OUTPUT`, as JSON"),
                ("stdout", "that; if nothing was written there, stdout, as JSON"),
            ]),
        },
        Entry {
            name: "retries",
            about: "How often it is tried again when it failed. The work is not done again.",
            default: Some("0"),
            examples: &["2", "{ max: 3, delay: 10s }"],
            shape: Shape::Retries { max: RETRIES_MAX, group: &RETRIES },
        },
        Entry {
            name: "on_lost",
            about: "What happens when the engine dies under it.",
            default: Some("retry"),
            examples: &["fail"],
            shape: Shape::Words(&[
                ("retry", "it is tried again, at most three times; this uses no retry"),
                ("fail", "it is not tried again, and the task fails"),
            ]),
        },
        Entry {
            name: "timeout",
            about: "Of one attempt at it, from its start.",
            default: Some("1h"),
            examples: &["5m"],
            shape: Shape::Duration(Zero::Refused),
        },
        Entry {
            name: "start_timeout",
            about: "How long it may take until an attempt starts. Waiting in its queue does not count.",
            default: Some("5m"),
            examples: &["30s"],
            shape: Shape::Duration(Zero::Refused),
        },
        Entry {
            name: "kill_grace",
            about: "Time between SIGTERM and SIGKILL.",
            default: Some("10s"),
            examples: &["1m"],
            shape: Shape::Duration(Zero::Allowed),
        },
        Entry {
            name: "log_limit",
            about: "What is kept of its log: the head and the tail.",
            default: Some("10MiB"),
            examples: &["512KiB"],
            shape: Shape::Size { bytes_max: LOG_BYTES_MAX },
        },
    ],
    required: &[],
    later: &[],
};
