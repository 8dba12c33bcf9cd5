//! What an executor of processes is told when it is made.

use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct ProcessConfig {
    /// Names this server's data folder; every child carries it as `MAINSPRING_DATA_ID`, so that
    /// what outlives the server can be found.
    pub data_id: String,
    /// Logs go to `logs` below it, files of live attempts to `work`, git worktrees to `worktrees`.
    pub folder: PathBuf,
    /// Variables of the server's own environment that tasks see, beside PATH, HOME and LANG.
    pub pass_env: Vec<String>,
    /// Holds one file for each secret; without it they are variables of the server only.
    pub secrets_dir: Option<PathBuf>,
    /// Program and arguments that land a branch, told on stdin (`land_branch`). Empty where
    /// nothing is landed.
    pub git_merge: Vec<String>,
}

/// Why no executor could be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("cannot make the folder {path}")]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("cannot start the threads that spawn processes")]
    Threads(#[source] std::io::Error),
    #[error("cannot become the reaper of orphaned processes")]
    Subreaper(#[source] std::io::Error),
}
