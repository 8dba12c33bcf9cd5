//! One action on many runs, chosen by a filter: at work in the background, a few runs at a time, and
//! as told by whoever asks for its progress. It is in memory only, and ends with the server: what was
//! done is done, and to ask once more is safe.
//!
//! ```text
//!  filter ─► runs, read page by page ─► 202 with an id
//!                     │
//!                     └─► 4 at a time ─► order ─► done | refused | failed ─► progress
//!                                          └─ the store is away: later
//! ```

pub mod filter;
pub mod item;
pub mod job;
pub mod told;

pub use job::{Bulk, Bulks};
