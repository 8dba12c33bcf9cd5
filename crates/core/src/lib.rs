//! Decides. Everything here is a pure function of its arguments: no clock, no chance, no
//! files, no threads, no environment. What is decided is made durable by `store`, carried
//! out by `exec`, and driven by `engine`.

pub mod ids;
pub mod time;
pub mod limits;
pub mod error;
pub mod json;
pub mod output;

pub mod expr;
pub mod spec;
pub mod kernel;
pub mod plan;
pub mod work;
pub mod work_git;
pub mod items;
pub mod evaluate;
mod render;
pub mod launch;
pub mod world;
pub mod view;
pub mod check;
#[cfg(feature = "schema")]
mod schema;
pub mod graph;

#[cfg(any(test, feature = "sketch"))]
pub mod sketch;
