//! Makes decisions durable. The only room that knows SQL; it knows nothing of HTTP, of
//! processes, and takes no decisions: a change is written as it is told.

mod contract;

pub use contract::{
    CommitError, Done, Fence, ReadError, Reading, Registration, RunsQuery, Store, StoredRun,
};
