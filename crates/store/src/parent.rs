//! Where a child run comes from, as it is stored: the parent's id has a column of its own, because
//! children are looked for by it; the rest is one small structure.

use mainspring_core::ids::{RunId, TaskNo, TaskRef};
use mainspring_core::kernel::row::Parent;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ParentTask {
    no: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    index: Option<u32>,
    name: String,
    attempt: u32,
}

impl ParentTask {
    pub fn of(parent: &Parent) -> Self {
        let Parent { run: _, task, name, attempt } = parent;
        Self { no: task.no.0, index: task.index, name: name.to_string(), attempt: *attempt }
    }

    pub fn in_run(self, run: RunId) -> Parent {
        let Self { no, index, name, attempt } = self;
        Parent { run, task: TaskRef { no: TaskNo(no), index }, name: name.into(), attempt }
    }
}
