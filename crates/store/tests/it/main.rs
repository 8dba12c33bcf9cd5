//! What every store does, and what a database file survives.
#![allow(clippy::unwrap_used)] // all of it is tests; clippy only sees those in `#[test]` functions

mod asking;
mod rows;
mod conformance;
mod chance;
mod chance_records;
mod differential;
mod child;
mod crash;
mod files;
mod servers;
mod outage;
mod answers;
mod private;
mod blob_places;
mod inventories;
