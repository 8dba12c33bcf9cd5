//! All active runs of one scheduler: told what happened, decides what follows. No I/O, no
//! clock, no chance of its own.
//!
//! ```text
//!  needs ─► apply ─► change ─► follow ─► agenda ─► ready ─► dispatch
//!                      │  rows and the indexes over them       │
//!                      └────────────► draft ◄──────────────────┘
//!                                       │ take_batch
//!                                       ▼
//!                             changes, then effects
//! ```

pub mod input;
pub mod batch;
pub mod snapshot;
pub mod state;
pub mod run;
pub mod blueprint;
mod apply;
mod accept;
mod admit;
mod gate;
mod active;
mod report;
mod orders;
mod always;
mod checkpoint;
mod retry;
mod rerun;
mod add;
mod overdue;
mod abandon;
mod drain;
mod housekeeping;
mod tiers;
mod advance;
mod ask;
mod group;
mod worked;
pub mod instances;
mod park;
mod finalize;
mod child;
mod said;
pub mod parked;
mod take;
mod load;
pub mod asleep;
pub mod memory;
mod verify;
mod draft;
mod gather;
pub mod ready;
mod line;
pub mod timers;
pub mod chance;

#[cfg(test)]
mod tests;

pub use state::{World, WorldConfig};
