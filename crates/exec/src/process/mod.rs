//! Attempts as child processes.
//!
//! ```text
//!  start ─► Table ─► (prepare: files) ─► spawn threads (2, immortal) ─► clone + exec ─► child, own group
//!             │            │ Started / Refused / never started         │ pidfd, two pipes
//!  stop ──────┤            ▼                                           ▼
//!             └──────► follow: one task for each live attempt ◄────────┘
//!                          │ stop: whom to kill?      │ end: kill the group, reap
//!                          ▼                          ▼
//!                       Keeper (one thread): /proc    Ended, kept in the Table until settle
//! ```
//! Knows Linux. Takes no decisions: retries, timeouts and limits are somebody else's.

mod executor;
mod config;
mod table;
mod environment;
mod command;
mod clone;
mod spawner;
mod work_files;
mod clearing;
mod worktree;
mod prepare;
mod launch;
mod pipes;
mod leader;
mod follow;
mod output;
mod artifacts;
mod harvest;
mod procfs;
mod keeper;
mod adopted;
mod leftovers;
mod open_files;

pub(crate) use adopted::spare;
pub(crate) use pipes::filled;

pub use artifacts::ARTIFACT_BYTES_MAX;
pub use config::{ProcessConfig, SetupError};
pub use executor::ProcessExecutor;
pub use leftovers::{StillAlive, kill_leftovers};
pub use open_files::{attempts_within, left_beside, open_files_min, raise_open_files};
