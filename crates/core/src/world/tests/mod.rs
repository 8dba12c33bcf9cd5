//! Worlds played by hand: a sketch, a script, and what is shown at the end.

mod stage;
mod edges;
mod endings;
mod fans;
mod trouble;
mod holds;
mod waits;
mod cancels;
mod retries;
mod reruns;
mod additions;
mod permits;
mod tiers;
mod gates;
mod reload;
mod versions;
mod gathers;
mod abandons;
mod drains;
mod housekeeping;
mod asleep;
