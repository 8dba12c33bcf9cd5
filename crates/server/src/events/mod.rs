//! Streams of states: the hub keeps the latest of each run, readers take what is new to them.
//!
//! ```text
//!  engine ─ committed ─► hub: ring of (stamp, run) + latest state of each
//!                         │ one watched number: the last stamp
//!            ┌────────────┼────────────┐
//!         reader       reader       reader     each holds a cursor and nothing else; one that
//!            │            │            │       falls behind the ring catches up from the store
//! ```

pub mod hub;
pub mod follow;
pub mod follow_text;
pub mod pace;
pub mod place;
pub mod reader;
pub mod stream;
