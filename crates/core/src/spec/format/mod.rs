//! The file format as data: every field with what it means, its default and its shape. The
//! lowering takes names from here, and so do did-you-mean hints; the JSON Schema and the
//! reference pages are made from it. Nothing here reads a text: what a value means is decided
//! by `lower`, and tests hold the two against each other.

pub mod table;
pub mod shape;
mod workflow;
mod task;
mod control;
mod finalize;
mod git_merge;
mod workspace;
mod later;
mod synonym;
mod pattern;
mod schema;
mod reference;

pub use control::{APPROVAL, NO_EFFECT_ON_WAITS, NOT_BESIDE_WORKFLOW, SLEEP, WAIT};
pub use finalize::{FINAL_ACTIONS, FINALIZE};
pub use git_merge::{GIT_MERGE, NO_EFFECT_ON_MERGES};
pub use later::{ACTIONS_LATER, RESERVED_TASK_NAMES};
pub use reference::{Page, markdown};
pub use schema::schema;
pub use synonym::synonym;
pub use table::{Entry, Group};
pub use task::{
    ACTIONS, ARTIFACTS, CACHE, DEPENDENCY, NO_EFFECT_ON_NOOP, NOTHING, OWN_ONLY, RETRIES, SECRET,
    TASK,
};
pub use workflow::{ADDITION, CONCURRENCY_GROUP, TIER, WORKFLOW};
pub use workspace::{GIT_WORKSPACE, WORKSPACE};
