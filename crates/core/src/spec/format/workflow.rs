//! The fields of a workflow.

use super::later::WORKFLOW_LATER;
use super::shape::{Shape, Zero};
use super::table::{Entry, Group};
use crate::limits::{ACTIVE_RUNS_MAX, EXPR_BYTES_MAX, FANOUT_MAX, TIER_PERMITS_MAX};

pub const WORKFLOW: Group = Group {
    of: "a workflow",
    known: &[
        Entry {
            name: "name",
            about: "What the workflow is called: letters, digits, `.`, `_` and `-`, at most 128 of them.",
            default: None,
            examples: &["nightly-report"],
            shape: Shape::Name,
        },
        Entry {
            name: "description",
            about: "For people.",
            default: None,
            examples: &["Fetches what arrived and loads it"],
            shape: Shape::Text,
        },
        Entry {
            name: "labels",
            about: "For people: names with short text.",
            default: Some("{}"),
            examples: &["{ team: data }"],
            shape: Shape::Labels,
        },
        Entry {
            name: "input",
            about: "JSON Schema of the run's input. Defaults are filled in, then the result is checked before the run starts. Only references within the schema are allowed. Without it, any object is taken.",
            default: None,
            examples: &["{ type: object, properties: { day: { type: string, default: today } } }"],
            shape: Shape::JsonSchema,
        },
        Entry {
            name: "timeout",
            about: "Of the whole run, from its last opening. Then live tasks are stopped and the run is failed, class `timeout`. Without it, a run may take as long as it takes.",
            default: None,
            examples: &["2h", "1h30m"],
            shape: Shape::Duration(Zero::Refused),
        },
        Entry {
            name: "tiers",
            about: "Named limits: how many tasks that name one may run at once, over all runs of the workflow, and how many may start in a time. The latest version's numbers count.",
            default: Some("{}"),
            examples: &["{ gpu: 2 }", "{ api: { limit: 5, rate: 100/1m } }"],
            shape: Shape::Tiers(&TIER),
        },
        Entry {
            name: "max_active_runs",
            about: "How many runs may be active at once: running, paused or being cancelled. Others are pending, by priority, then by age. The latest version's number counts; child runs do not.",
            default: None,
            examples: &["1"],
            shape: Shape::Whole { min: 1, max: ACTIVE_RUNS_MAX as i64 },
        },
        Entry {
            name: "concurrency_group",
            about: "Runs with the same key, of whichever workflow, keep out of each other's way.",
            default: None,
            examples: &["{ key: \"deploy-${{ input.env }}\" }"],
            shape: Shape::Map(&CONCURRENCY_GROUP),
        },
        Entry {
            name: "max_fanout",
            about: "How many instances one fan-out may have.",
            default: Some("100000"),
            examples: &["1000"],
            shape: Shape::Whole { min: 1, max: FANOUT_MAX as i64 },
        },
        Entry {
            name: "outputs",
            about: "What the run puts out when it is a success: names with values, which may read all tasks.",
            default: None,
            examples: &["{ day: \"${{ input.day }}\" }"],
            shape: Shape::AnyMap,
        },
        Entry {
            name: "defaults",
            about: "Fields for every task: any but its action, `depends_on`, `foreach`, `parallel`, `artifacts` and `finalize`. A task's own field wins, whole.",
            default: Some("{}"),
            examples: &["{ retries: 1, timeout: 10m }"],
            shape: Shape::Defaults,
        },
        TASKS,
    ],
    required: &["name", "tasks"],
    later: WORKFLOW_LATER,
};

const TASKS: Entry = Entry {
    name: "tasks",
    about: "The tasks by name, at least one. `item`, `index` and `count` are reserved.",
    default: None,
    examples: &["{ greet: { run: echo hello } }"],
    shape: Shape::Tasks,
};

/// What is added to a run while it lives.
pub const ADDITION: Group =
    Group { of: "an addition", known: &[TASKS], required: &["tasks"], later: &[] };

pub const CONCURRENCY_GROUP: Group = Group {
    of: "a concurrency group",
    known: &[
        Entry {
            name: "key",
            about: "What the group is called. Templates may name `input` and `run.scheduled_for`: it is worked out before the run begins.",
            default: None,
            examples: &["deploy-${{ input.env }}"],
            shape: Shape::Filled { bytes_max: EXPR_BYTES_MAX },
        },
        Entry {
            name: "limit",
            about: "How many runs of the group may be active at once.",
            default: Some("1"),
            examples: &["2"],
            shape: Shape::Whole { min: 1, max: TIER_PERMITS_MAX as i64 },
        },
        Entry {
            name: "on_conflict",
            about: "What becomes of a run for which the group has no place.",
            default: Some("queue"),
            examples: &["skip"],
            shape: Shape::Words(&[
                ("queue", "it is pending until there is one"),
                ("skip", "its trigger is refused"),
                (
                    "cancel_previous",
                    "the oldest runs are cancelled, and it begins when they are gone",
                ),
            ]),
        },
    ],
    required: &["key"],
    later: &[],
};

pub const TIER: Group = Group {
    of: "a tier",
    known: &[
        Entry {
            name: "limit",
            about: "How many tasks of this tier may run at once.",
            default: None,
            examples: &["2"],
            shape: Shape::Whole { min: 1, max: TIER_PERMITS_MAX as i64 },
        },
        Entry {
            name: "rate",
            about: "How many attempts of tasks of this tier may start in any time of this length.",
            default: None,
            examples: &["100/1m"],
            shape: Shape::Rate,
        },
    ],
    required: &["limit"],
    later: &[],
};
