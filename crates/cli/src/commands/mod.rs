//! One file for each command.

mod dispatch;
mod run;
mod resume;
mod runs;
mod show;
mod logs;
mod validate;
mod explain_code;
mod graph;
mod schema;

pub use dispatch::main;
