//! Real processes, driven through the executor's contract. Nothing sleeps: tests wait for reports,
//! and processes say where they are through fifos.

#![allow(clippy::unwrap_used)]

mod rig;
mod outcomes;
mod surroundings;
mod logs;
mod secrets;
mod masks;
mod artifacts;
mod full;
mod shells;
mod stops;
mod lives;
mod orphans;
mod git;
mod workspaces;
mod merges;
mod merges_checked_out;
mod starved;
#[cfg(feature = "bench")]
mod echo;
