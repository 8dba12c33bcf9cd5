//! What a field's value may be. Written once for the schema; the lowering has its own code.

use super::table::Group;

/// Linux takes no single argument of 128 KiB or more, its final NUL included.
pub const SHELL_LINE_BYTES_MAX: usize = 128 * 1024 - 1;
/// Room for an address or a commit; labels are copied into lists and indexes.
pub const LABEL_VALUE_BYTES_MAX: usize = 256;
/// Variables that begin with it are set by Mainspring for every program.
pub const OWN_VARIABLES: &str = "MAINSPRING_";

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Any text.
    Text,
    /// Text that is not blank and has at most so many bytes.
    Filled {
        bytes_max: usize,
    },
    /// A name that is safe in a path, an address and a terminal.
    Name,
    /// One of these words, each with what it means.
    Words(&'static [(&'static str, &'static str)]),
    Bool,
    Whole {
        min: i64,
        max: i64,
    },
    /// Any number from here on.
    NumberFrom(f64),
    Duration(Zero),
    Size {
        bytes_max: u64,
    },
    /// Names with short text.
    Labels,
    /// Variables of a process: text, or a map with these fields.
    Env(&'static Group),
    /// An expression that comes to true or false.
    Condition,
    /// The name of a secret.
    SecretName,
    /// A map with these fields.
    Map(&'static Group),
    /// A map with these fields, and exactly one of these among them.
    OneOf(&'static Group, &'static [&'static str]),
    /// Paths below a task's directory.
    Paths,
    /// Tasks, or files of tasks.
    Wanted,
    /// A duration, or a map with these fields.
    Sleep(&'static Group),
    /// A name or a role, or several.
    Deciders,
    /// A map of any values.
    AnyMap,
    /// A JSON Schema.
    JsonSchema,
    /// Program and arguments.
    Argv,
    /// A map without fields.
    Nothing,
    /// Names of tasks, or maps with these fields.
    Dependencies(&'static Group),
    /// A number of retries, or a map.
    Retries {
        max: u32,
        group: &'static Group,
    },
    /// Classes of errors that may be retried.
    Classes {
        min: usize,
    },
    /// A list, or where one is in what a task puts out.
    Each,
    /// A number, or where one is in what a task puts out.
    Times {
        max: u32,
    },
    /// A task of the workflow.
    TaskName,
    /// A tier that was named before.
    TierName,
    /// Starts in a time.
    Rate,
    /// Limits by name: a number, or a map with these fields.
    Tiers(&'static Group),
    /// Fields of a task that tasks may share.
    Defaults,
    /// Tasks by name.
    Tasks,
    /// Measured by benchmarks; in no schema and on no page.
    Unlisted,
}

/// Whether a duration may be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    Allowed,
    Refused,
}
