//! A throw-away PostgreSQL: real, on a Unix socket only, gone when nobody needs it.
//!
//! ```text
//!  runner (nextest, cargo test) ── lives ─────────────────────────────► ends
//!    ├─ test process: first one starts the server, under a file lock     │
//!    ├─ test process: finds it there, has a database of its own          ▼
//!    └─ …                                              watcher: stops it, removes its folder
//! ```
//! Starting one takes a second and a half, a database a fifth of that: tests share the server
//! of their runner. A test that kills its server starts one for itself.
//!
//! Never part of the product. It knows no other room, so that each can use it for its tests
//! without building the others.

mod programs;
mod server;
mod shared;
mod encrypted;

pub use encrypted::Encrypted;
pub use server::{Durability, Server};
pub use shared::{Database, database};
