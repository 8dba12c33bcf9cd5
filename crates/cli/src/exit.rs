//! Exit codes are part of what the program promises to scripts.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Success,
    /// The run failed, or what was asked for was refused.
    Failed,
    /// A bad definition, bad input, bad usage, or something asked for that is not there. Nothing
    /// was started.
    Usage,
    /// The store failed under a run, which is kept and can be resumed.
    Store,
    /// The data folder or the database cannot be opened, read or written.
    Unreadable,
    /// No server answers, or it cannot work now.
    Unreachable,
    Cancelled,
}

impl Exit {
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Store | Self::Unreadable | Self::Unreachable => 3,
            Self::Cancelled => 130,
        }
    }

    /// As a run ended. A state that this program does not know is not taken for a success.
    pub fn of_run(status: &str) -> Self {
        match status {
            "success" => Self::Success,
            "cancelled" => Self::Cancelled,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
