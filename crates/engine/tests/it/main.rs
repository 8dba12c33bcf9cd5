//! The engine with real threads, a store that fails on demand and executors played by hand.

mod by_hand;
mod rig;
mod housekeeping;
mod bulks;
mod life;
mod large_logs;
mod contents;
mod failures;
mod away;
mod put_away;
mod handed_on;
mod anew;
