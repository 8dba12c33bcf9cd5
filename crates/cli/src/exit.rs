//! Exit codes are part of what the program promises to scripts.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Success,
    /// The run failed.
    Failed,
    /// A bad definition, bad input, bad usage, or something asked for that is not there. Nothing
    /// was started.
    Usage,
    /// The store failed under a run, which is kept and can be resumed.
    Store,
    Cancelled,
}

impl Exit {
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Store => 3,
            Self::Cancelled => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
