//! The fields of a workspace: where the attempts of a task work.

use super::shape::Shape;
use super::table::{Entry, Group};
use crate::limits::ENV_VALUE_BYTES_MAX;

pub const WORKSPACE: Group = Group {
    of: "a workspace",
    known: &[Entry {
        name: "git",
        about: "A worktree of its own for each attempt, on the branch `mainspring/<run>/<task>`.",
        default: None,
        examples: &["{ repo: ., base: main }"],
        shape: Shape::Map(&GIT_WORKSPACE),
    }],
    required: &["git"],
    later: &[],
};

pub const GIT_WORKSPACE: Group = Group {
    of: "a git workspace",
    known: &[
        Entry {
            name: "repo",
            about: "The repository: a folder of it, or a bare one. A relative path is below the run's directory.",
            default: Some("."),
            examples: &["/srv/app"],
            shape: Shape::Filled { bytes_max: ENV_VALUE_BYTES_MAX },
        },
        Entry {
            name: "base",
            about: "Where the branch begins: a branch, a tag or a commit.",
            default: Some("HEAD"),
            examples: &["main"],
            shape: Shape::Filled { bytes_max: ENV_VALUE_BYTES_MAX },
        },
    ],
    required: &[],
    later: &[],
};
