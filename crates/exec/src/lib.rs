//! Starts work in the world and says what became of it. Knows nothing of SQL, of HTTP
//! servers, and takes no decisions: what to start and when to stop is told to it.

mod contract;
mod clock;
mod beneath;
pub mod secrets;
pub mod log;
mod git;
mod process;
#[cfg(feature = "bench")]
mod echo;

pub use clock::now;
pub use contract::{Executor, Reports};
#[cfg(feature = "bench")]
pub use echo::EchoExecutor;
pub use git::{CHILD_FAILED, carry_out as land_branch};
pub use process::{
    ARTIFACT_BYTES_MAX, ProcessConfig, ProcessExecutor, SetupError, StillAlive, attempts_within,
    kill_leftovers, left_beside, open_files_min, raise_open_files,
};
