//! A store in memory that fails in the way a test says, and a place for logs beside it.

mod blobs;
mod store;

pub use blobs::ShakyBlobs;
pub use store::{FULL, Fate, Fault, Shaky, Stop};
