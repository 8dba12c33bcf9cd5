//! Why an attempt or a run did not succeed: a closed set of classes, decided where the error
//! arises and never by matching message text later.

use crate::limits::ERROR_MESSAGE_BYTES_MAX;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// What kind of thing went wrong. Retry policies name these.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorClass { $($(#[$doc])* $variant,)* }

        impl ErrorClass {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

classes! {
    /// The program ended with a code other than 0, or by a signal.
    Exit = "exit",
    Timeout = "timeout",
    StartTimeout = "start_timeout",
    HeartbeatLost = "heartbeat_lost",
    /// The server, agent or worker died; nothing is known to be wrong with the task.
    WorkerLost = "worker_lost",
    /// Connection errors, 408, 429, 5xx.
    Transient = "transient",
    Auth = "auth",
    Permission = "permission",
    /// Trying again the same way cannot help: command not found, bad output, other 4xx.
    Logic = "logic",
    Rejected = "rejected",
    Cancelled = "cancelled",
    Internal = "internal",
}

impl ErrorClass {
    /// A person's decision is never retried behind their back.
    pub const fn may_retry(self) -> bool {
        !matches!(self, Self::Rejected | Self::Cancelled)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What is recorded of a failure.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskError {
    pub class: ErrorClass,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

impl TaskError {
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: shorten(message.into()), exit_code: None, signal: None }
    }

    pub fn exit(code: i32) -> Self {
        let message = format!("exited with code {code}");
        Self { exit_code: Some(code), ..Self::new(ErrorClass::Exit, message) }
    }

    pub fn signal(signal: i32, name: &str) -> Self {
        let message = format!("ended by signal {signal} ({name})");
        Self { signal: Some(signal), ..Self::new(ErrorClass::Exit, message) }
    }
}

/// Keeps the beginning and the end of a message that is too long to store.
pub fn shorten(message: String) -> String {
    if message.len() <= ERROR_MESSAGE_BYTES_MAX {
        return message;
    }
    let half = ERROR_MESSAGE_BYTES_MAX / 2 - 32;
    let head = message.floor_char_boundary(half);
    let tail = message.ceil_char_boundary(message.len() - half);
    format!("{} … {} bytes cut … {}", &message[..head], tail - head, &message[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_keeps_both_ends() {
        let long = format!("start{}end", "é".repeat(ERROR_MESSAGE_BYTES_MAX));
        let error = TaskError::new(ErrorClass::Logic, long);
        assert!(error.message.len() <= ERROR_MESSAGE_BYTES_MAX);
        assert!(error.message.starts_with("start") && error.message.ends_with("end"));
    }

    #[test]
    fn words_round_trip() {
        for class in ErrorClass::ALL {
            assert_eq!(ErrorClass::from_word(class.word()), Some(*class));
        }
    }
}
