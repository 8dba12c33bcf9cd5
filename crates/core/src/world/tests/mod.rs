//! Worlds played by hand: a sketch, a script, and what is shown at the end.

mod stage;
mod edges;
mod endings;
mod fans;
mod trouble;
mod holds;
mod cancels;
mod retries;
mod permits;
mod reload;
mod versions;
mod gathers;
mod abandons;
mod drains;
mod housekeeping;
