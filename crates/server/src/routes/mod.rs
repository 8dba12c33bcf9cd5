//! One file for each thing that routes are about.

pub mod page;
pub mod workflows;
pub mod deploy;
pub mod versions;
pub mod diff;
pub mod runs;
pub mod trigger;
pub mod orders;
pub mod tasks;
pub mod instances;
pub mod attempts;
pub mod outputs;
pub mod logs;
pub mod tokens;
pub mod session;
pub mod audit;
pub mod health;
pub mod problems;
pub mod absent;
pub mod openapi;
pub mod unasked;
pub mod router;
