//! Requests without a network: the router is asked directly, over the in-memory store and a real
//! engine. Workflows here are made of noops, so that no executor is needed.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod by_hand;
mod rig;
mod ui;
mod workflows;
mod runs;
mod reruns;
mod children;
mod additions;
mod bulk;
mod bulk_lives;
mod groups;
mod approvals;
mod explains;
mod outputs;
mod keys;
mod lengths;
mod leaving;
mod permissions;
mod tiers;
mod landed;
mod tokens;
mod hostile;
mod named;
mod streams;
mod codes;
mod log_parts;
mod described;
mod scope;
mod told;
