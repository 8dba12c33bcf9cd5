//! The fields of the built-in merge queue.

use super::shape::{SHELL_LINE_BYTES_MAX, Shape};
use super::table::{Entry, Group};
use crate::limits::ENV_VALUE_BYTES_MAX;

/// Of a finalizer: without effect on a merge, which has no process of its own.
pub const NO_EFFECT_ON_MERGES: &[&str] = &["env", "workdir", "output"];

pub const GIT_MERGE: Group = Group {
    of: "a git merge",
    known: &[
        Entry {
            name: "into",
            about: "The branch that the work lands on.",
            default: None,
            examples: &["main"],
            shape: Shape::Filled { bytes_max: ENV_VALUE_BYTES_MAX },
        },
        Entry {
            name: "verify",
            about: "A line for `/bin/sh -c` that is run on the merged files. Nothing lands unless it ends with 0.",
            default: None,
            examples: &["./verify.sh"],
            shape: Shape::Filled { bytes_max: SHELL_LINE_BYTES_MAX },
        },
        Entry {
            name: "strategy",
            about: "What lands.",
            default: Some("squash"),
            examples: &["merge"],
            shape: Shape::Words(&[
                ("squash", "one commit with all the work"),
                ("merge", "a merge commit, which keeps the commits of the branch"),
            ]),
        },
        Entry {
            name: "update_checkout",
            about: "What happens when somebody has the target checked out.",
            default: Some("never"),
            examples: &["clean"],
            shape: Shape::Words(&[
                ("never", "the merge waits until nobody has"),
                (
                    "clean",
                    "a checkout without changes of its own goes along; others are waited for",
                ),
            ]),
        },
    ],
    required: &["into"],
    later: &[],
};
