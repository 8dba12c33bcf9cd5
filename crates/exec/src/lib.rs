//! Starts work in the world and says what became of it. Knows nothing of SQL, of HTTP
//! servers, and takes no decisions: what to start and when to stop is told to it.

mod contract;

pub use contract::{Executor, Reports};
