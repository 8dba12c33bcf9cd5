//! Why something that takes git did not go well.

use mainspring_core::error::{ErrorClass, TaskError};
use std::io;

#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("nobody waits for it any more")]
    Abandoned,
    #[error("git was not found on PATH ({path}): install git, 2.31 or newer")]
    Missing { path: String },
    /// No process, memory or open file to be had: later it may go well.
    #[error("git cannot be started just now: {0}")]
    Scarce(#[source] io::Error),
    /// The definition asks for what is not there, or the task left what cannot be used. The text
    /// says what, and how to mend it.
    #[error("{0}")]
    Wrong(String),
    /// A checkout that a person has to see to, for however long that takes them.
    #[error("{0}")]
    InTheWay(String),
    #[error("`git {what}` failed: {why}")]
    Failed { what: String, why: String },
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

impl GitError {
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Abandoned => ErrorClass::Cancelled,
            Self::Missing { .. } | Self::Wrong(_) => ErrorClass::Logic,
            Self::Scarce(_) | Self::InTheWay(_) => ErrorClass::Transient,
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                ErrorClass::Permission
            }
            Self::Failed { .. } | Self::Io { .. } => ErrorClass::Internal,
        }
    }

    pub fn to_task_error(&self) -> TaskError {
        TaskError::new(self.class(), self.to_string())
    }
}
