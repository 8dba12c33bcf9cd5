//! Speaks to a server over HTTP: at an address, or through the socket in a data folder. Knows
//! the shapes of its answers, and nothing of how they are shown.
//!
//! ```text
//!  arguments ─► place ─┬─► client ─► connect (TCP, TLS, socket) ─► request ─► answer | problem
//!                      │     └─► stream ─► server-sent events, taken up again when cut off
//!                      └─► folder: nobody is at work there; reading goes to the database
//! ```

mod error;
mod target;
mod tls;
mod connect;
mod ask;
mod key;
mod patience;
mod http;
mod page;
mod sse;
mod stream;
mod place;
mod run_id;
pub mod wire;

pub use ask::Ask;
pub use error::ClientError;
pub use http::Client;
pub use key::new_key;
pub use page::items;
pub use place::{Place, changing, has_left, look, reading};
pub use run_id::run_id;
pub use stream::{Heard, Stream};
