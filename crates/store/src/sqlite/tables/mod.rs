//! One file for each table: its statements, and how its rows are written and read.

pub(super) mod schedulers;
pub(super) mod versions;
pub(super) mod workflows;
pub(super) mod runs;
pub(super) mod run_list;
pub(super) mod run_drop;
pub(super) mod tasks;
pub(super) mod instances;
pub(super) mod attempts;
pub(super) mod logs;
pub(super) mod signals;
pub(super) mod additions;
pub(super) mod approvals;
pub(super) mod cache;
pub(super) mod limits;
pub(super) mod idempotency_keys;
pub(super) mod audit;
pub(super) mod tokens;
pub(super) mod bulks;
pub(super) mod inventory;

#[cfg(test)]
mod plans;
