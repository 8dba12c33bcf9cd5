//! One file, one writer.
//!
//! ```text
//!  commit(), register() ── queue ──► writer thread ──► begin immediate … commit ──► done()
//!                                        │ pages in the WAL
//!                                        ▼
//!                                 checkpoint thread    passive when it is over 4 MiB,
//!                                                      truncate when nobody writes
//!  reads ──────────────── queue ──► reader threads (2), query-only connections ──► answer
//! ```
//! Nothing here decides: a batch is written as it is told, or refused as a whole.

mod fault;
mod identity;
mod connection;
mod schema;
mod cells;
mod tables;
mod transaction;
mod checkpoint;
mod writer;
mod reader;
mod frozen;
mod open;
mod store;
mod inventory;
mod upkeep;

pub use open::OpenError;
pub use store::Sqlite;
