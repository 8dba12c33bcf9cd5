//! What is promised of stored rows, as pure functions from rows to what is wrong with them. Says
//! nothing twice that is decided elsewhere: readiness is the planner's, words are the view's, the
//! outcome of a run is the one it would end with.

mod violation;
mod run;
mod row;
mod group;
mod history;

pub use run::{Rows, check};
pub use violation::{Promise, Violation};
