//! The fields of what a control task waits for.

use super::shape::{Shape, Zero};
use super::table::{Entry, Group};
use crate::limits::ENV_VALUE_BYTES_MAX;

/// Without effect on a task that waits and does nothing else.
pub const NO_EFFECT_ON_WAITS: &[&str] = &[
    "input",
    "outputs",
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

/// Nothing that a child run could make something of: its own workflow says all that.
pub const NOT_BESIDE_WORKFLOW: &[&str] = &[
    "outputs",
    "env",
    "workdir",
    "output",
    "on_lost",
    "start_timeout",
    "kill_grace",
    "log_limit",
    "tier",
    "priority",
    "cache",
    "artifacts",
    "workspace",
];

/// Instead of a duration.
pub const SLEEP: Group = Group {
    of: "`sleep`",
    known: &[Entry {
        name: "until",
        about: "A moment, in RFC 3339. One that has passed is no wait at all.",
        default: None,
        examples: &["\"2030-01-31T06:00:00Z\""],
        shape: Shape::Filled { bytes_max: ENV_VALUE_BYTES_MAX },
    }],
    required: &["until"],
    later: &[],
};

pub const WAIT: Group = Group {
    of: "`wait`",
    known: &[
        Entry {
            name: "signal",
            about: "The key of the signal. Its value is the output.",
            default: None,
            examples: &["paid"],
            shape: Shape::Filled { bytes_max: ENV_VALUE_BYTES_MAX },
        },
        TIMEOUT,
        Entry {
            name: "on_timeout",
            about: "What happens then.",
            default: Some("fail"),
            examples: &["continue"],
            shape: Shape::Words(&[
                ("fail", "the task fails, class `timeout`"),
                ("continue", "the task succeeds, and its output is null"),
            ]),
        },
    ],
    required: &["signal"],
    later: &[],
};

pub const APPROVAL: Group = Group {
    of: "`approval`",
    known: &[
        Entry {
            name: "message",
            about: "What a person is asked.",
            default: None,
            examples: &["Ship it?"],
            shape: Shape::Filled { bytes_max: ENV_VALUE_BYTES_MAX },
        },
        Entry {
            name: "by",
            about: "Who may decide: names of tokens, or the roles `operator` and `admin`, an `admin` being an `operator` too. One alone needs no list. Without it, whoever may steer runs. A `viewer` may not.",
            default: None,
            examples: &["[ann, admin]", "admin"],
            shape: Shape::Deciders,
        },
        TIMEOUT,
        Entry {
            name: "on_timeout",
            about: "What happens then.",
            default: Some("reject"),
            examples: &["fail"],
            shape: Shape::Words(&[
                ("reject", "as if somebody had rejected it"),
                ("approve", "as if somebody had approved it"),
                ("fail", "the task fails, class `timeout`"),
            ]),
        },
        Entry {
            name: "on_reject",
            about: "What a rejection means.",
            default: Some("fail"),
            examples: &["continue"],
            shape: Shape::Words(&[
                (
                    "fail",
                    "the task fails, class `rejected`, so that nothing that depends on it runs",
                ),
                ("continue", "the task succeeds, and its output says `approved: false`"),
            ]),
        },
    ],
    required: &["message"],
    later: &[],
};

const TIMEOUT: Entry = Entry {
    name: "timeout",
    about: "How long it waits. Without it, for ever.",
    default: None,
    examples: &["24h"],
    shape: Shape::Duration(Zero::Refused),
};
