//! Large things by name, beside the rows: kept whole, read as a stream, never held in memory.
//! Nothing here knows what is in them. PostgreSQL's are with the rest of it.

mod name;
mod contract;
mod memory;
mod folder;

pub use contract::{BlobEntry, BlobError, BlobReader, Blobs};
pub use folder::FolderBlobs;
pub use memory::MemoryBlobs;
pub use name::{BlobName, Durability, NotABlob};
