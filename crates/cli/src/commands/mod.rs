//! One file for each command.

mod dispatch;
mod run;
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
mod diff;
mod delete;
mod tokens;
mod audit;
mod completions;
mod db;
mod doctor;
mod explain_code;
mod graph;
mod schema;

pub use dispatch::main;
