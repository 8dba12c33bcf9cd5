//! What Mainspring costs, measured through its public API: a real engine on a real SQLite file
//! with real executors, and the whole program over HTTP. Beside every figure stands a floor that was taken in the same round,
//! because machines differ and shared ones change from minute to minute: figures are for this
//! machine, ratios for any. Nothing here passes or fails: it prints, people judge.

mod approvals;
mod chain;
mod definitions;
mod fanout;
mod foreach;
mod floors;
mod http;
mod memory;
mod processes;
mod procfs;
mod report;
mod rig;
mod sample;
mod sizes;
mod start;
mod workload;

pub use report::{Line, json, table};
pub use sizes::Sizes;
pub use workload::{Ground, Workload};
