//! Knows HTTP and wire JSON, and nothing of SQL or processes. A request becomes an input of the
//! engine or a question to the store; the answer becomes JSON.
//!
//! ```text
//!  connection ─► request id ─► who asks ─► route ─┬─► engine.submit ─► commit ─► answer
//!                                                 └─► store ─► view ─► answer
//!  commits ─► hub ─► readers of /events
//! ```

pub mod config;
pub mod app;
pub mod problem;
pub mod room;
mod query;
mod length;
pub mod extract;
pub mod whole;
pub mod cursor;
pub mod auth;
pub mod idempotency;
pub mod change;
pub mod definitions;
pub mod find;
pub mod bulk;
mod byte_range;
mod log_body;
pub mod routes;
pub mod events;
pub mod metrics;
mod narrate;
pub mod access;
pub mod socket;
pub mod serve;
pub mod tls;
mod stall;

pub use app::App;
pub use config::{Config, Listen, Scope};
pub use events::hub::Hub;
pub use serve::{Doors, ServeError, Server};
