//! `tasks:` workflows: a graph of dependencies. A task opens when all its edges are
//! satisfied and is doomed as soon as one of them never can be.

pub mod graph;
pub mod edge;
pub mod plan;
pub mod outcome;
pub mod below;
pub mod unlanded;
pub mod back;
pub mod kept;
