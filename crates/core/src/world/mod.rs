//! All active runs of one scheduler.

pub mod batch;
pub mod snapshot;
