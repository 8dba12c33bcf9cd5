//! Goes through a whole database and says what of it is not as promised. Reads only, takes no
//! lock, and may run beside a server: whatever belongs together is read in one state.
//!
//! ```text
//!  store ─┬─ integrity ─────────────────────────────┐
//!         ├─ versions ── hash, numbers, readable ────┤
//!         ├─ runs ─ one by one ─ core::check ─ blobs ┼─► findings
//!         ├─ rows of no run ─────────────────────────┤
//!         └─ keys, tokens, audit ────────────────────┘
//! ```

mod findings;
mod whole;
mod runs;
mod kin;
mod contents;
mod versions;
mod records;

pub use findings::{Finding, Findings, Looked};
pub use whole::{Home, check};
