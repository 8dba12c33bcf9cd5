//! From the tree to the definition, by hand: a mirror of the types in serde would stop at the
//! first mistake. Each function answers `None` for a value it refused and reported, and the
//! rest goes on.

mod fields;
pub mod expect;
pub mod duration;
mod size;
pub mod name;
mod label;
mod tier;
mod group;
mod mention;
mod template;
mod env;
mod retries;
mod control;
mod action;
mod settings;
mod finalize;
mod edges;
mod fan;
mod above;
mod artifacts;
mod workspace;
mod git_merge;
mod cycle;
mod task;
mod workflow;
mod added;

pub use added::{Base, added};
pub use workflow::definition;
