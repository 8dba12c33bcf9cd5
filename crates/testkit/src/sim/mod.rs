//! Simulated worlds: the real core and the real cycle, driven by a seed instead of a clock, a
//! store and executors. Everything that can happen, happens in an order that the seed picks:
//! commits fail before or after they are durable, the process dies, reports come late, twice
//! or never, people pause, cancel and retry at any moment.
//!
//! ```text
//!          seed ─► luck ─► what happens next
//!                              │
//!   people ─► cycle ─► store (a model that fails) ─► hands ─► executors ─┬─┐
//!               ▲                                         └─► desk ───────┘ │
//!               └───── reports and answers, reordered and repeated ◄───────┘
//!   after every step: the promises, checked
//! ```
//!
//! A world that breaks a promise prints its seed; the same seed breaks it again.

mod scenario;
mod trouble;
mod tally;
mod library;
mod sketches;
mod outputs;
mod conditions;
mod desk;
mod executors;
mod store;
mod life;
mod people;
mod promise;
mod oracle;
mod promises;
mod watch;
mod sleepers;
mod play;
mod steps;
mod inputs;
mod shrink;

pub use play::{Failure, Story, play, tell};
pub use promise::{Broken, Promise};
pub use scenario::Scenario;
pub use shrink::shrink;
pub use tally::{Tally, Thing};
pub use trouble::Trouble;
