//! Has the loops: offers inputs to the world, makes its decisions durable, carries them out,
//! answers whoever asked. Knows no SQL, no HTTP, no command lines, and decides nothing.
//!
//! ```text
//!   submit ──► bounded ──┐                       ┌──► act thread ──► executors
//!  executors ─► reports ─┼─► world thread ─► store│         │
//!   store ────► control ─┘    (the cycle) ◄─ done ┘         └─► reports
//! ```
//! A report that brings a large log or output goes by the shelf first, which puts it into the
//! blob store. What the world asks about payloads is worked out at the desk.

pub mod cycle;
pub mod clock;
pub mod folder;
pub mod events;
pub mod damage;
pub mod logs;
pub mod definitions;
pub mod outputs;
pub mod retention;
pub mod check;
pub mod explain;
mod inbox;
mod prefetch;
mod loading;
mod keeping;
mod artifacts;
mod rerun;
mod again;
mod shelf;
mod starts;
mod at_hand;
mod desk;
mod act;
mod trouble;
mod driver;
mod engine;

pub use act::Executors;
pub use engine::{Engine, EngineConfig, ExecutorsError, Load, NotDone, StartError, Stopped};
pub use mainspring_exec::{Executor, Reports};
pub use rerun::Rerun;
