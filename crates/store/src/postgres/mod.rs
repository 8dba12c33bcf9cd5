//! PostgreSQL 14 or later: one server, one connection that writes.
//!
//! ```text
//!  commit(), register(), ping() ── queue ──► writer thread ──► one connection, which also holds
//!                                               │              the lock that keeps a second
//!                                               │              server out
//!                                               ├─► begin, fence, rows, commit: one round trip
//!                                               └─► done()
//!  reads ───────────────────────── queue ──► reader threads (2), 2 read-only connections each
//!  blobs put and removed ───────── queue ──► filer thread, 2 connections; read like the rest
//! ```
//! A lost connection is opened again, the writer's with its lock; what was on its way is
//! answered as failed and never sent twice. Nothing here decides: a batch is written as it is
//! told, or refused as a whole.

mod text;
mod place;
mod tls;
mod fault;
mod session;
mod lock;
mod schema;
mod cells;
mod columns;
mod tables;
mod transaction;
mod link;
mod writer;
mod reader;
mod filer;
mod open;
mod store;
mod blobs;
mod inventory;
mod upkeep;
#[cfg(test)]
mod plans;

pub use open::ConnectError;
pub use store::Postgres;
