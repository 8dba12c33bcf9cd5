//! Makes decisions durable. The only room that knows SQL; it knows nothing of HTTP, of
//! processes, and takes no decisions: a change is written as it is told.

mod contract;
mod inventory;
mod upkeep;
mod grouped;
mod groups;
mod parent;
mod bulk_runs;
mod refused;
mod thread;
mod promise;
mod job;
mod wait;
mod blobs;
mod memory;
mod sqlite;
mod postgres;

pub use blobs::{
    BlobEntry, BlobError, BlobName, BlobReader, Blobs, Durability, FolderBlobs, MemoryBlobs,
    NotABlob,
};
pub use contract::{
    Audited, CommitError, Done, Expired, Fence, InstancesQuery, ReadError, Reading, Registration,
    RunsQuery, Store, StoredApproval, StoredLimits, StoredRun, VersionsQuery,
};
pub use inventory::{CachedSuccess, HeldKey, Inventory, KeyRange, Numbered, Stray, WholeRun};
pub use memory::{Memory, Model};
pub use postgres::{ConnectError, Postgres};
pub use sqlite::{OpenError, Sqlite};
pub use upkeep::{Schema, Vacuumed};
