//! One file for each table: its statements, and how its rows are written and read.

pub(super) mod schedulers;
pub(super) mod versions;
pub(super) mod runs;
pub(super) mod run_list;
pub(super) mod tasks;
pub(super) mod attempts;
pub(super) mod logs;
