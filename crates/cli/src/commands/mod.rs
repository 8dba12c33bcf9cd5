//! One file for each command.

mod dispatch;
mod trouble;
mod run;
mod rerun;
mod add;
mod bulk;
mod resume;
mod validate;
mod runs;
mod show;
mod show_task;
mod instances;
mod output;
mod logs;
mod workflows;
mod apply;
mod trigger;
mod watch;
mod orders;
mod approvals;
mod diff;
mod delete;
mod tiers;
mod tokens;
mod audit;
mod completions;
mod db;
mod doctor;
mod explain;
mod explain_code;
mod graph;
mod schema;

pub use dispatch::main;
