//! What can go wrong between this program and a server.

use crate::exit::Exit;
use crate::out::tame;
use serde::Deserialize;
use std::fmt;
use std::time::Duration;

type Cause = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("{0}")]
    Refused(Box<Problem>),
    #[error("no server answers at {place}: is it running, and is the address right?")]
    Unreachable {
        place: String,
        #[source]
        source: Cause,
    },
    #[error(
        "{place} cannot prove that it is this server: its certificate must be for that name and \
         be trusted here, or by the file that SSL_CERT_FILE names{hint}"
    )]
    Untrusted {
        place: String,
        /// What is wrong with this one, where a person would not guess it.
        hint: &'static str,
        #[source]
        source: Cause,
    },
    #[error(
        "{place} did not answer within {} s: it is stopped, cut off, or has too much to do. Look at \
         its log and whether it is still at work, and ask again when it is",
        .after.as_secs()
    )]
    Silent { place: String, after: Duration },
    #[error("the connection to {place} was lost")]
    Lost {
        place: String,
        #[source]
        source: Cause,
    },
    #[error("what answers at {place} is not a Mainspring server, or a very different one: {what}")]
    Foreign { place: String, what: String },
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Nobody(String),
}

impl ClientError {
    pub fn exit(&self) -> Exit {
        match self {
            Self::Refused(problem) => match problem.status {
                400 | 404 | 413 | 415 | 422 => Exit::Usage,
                503 => Exit::Unreachable,
                _ => Exit::Failed,
            },
            Self::Unreachable { .. }
            | Self::Untrusted { .. }
            | Self::Silent { .. }
            | Self::Lost { .. }
            | Self::Nobody(_) => Exit::Unreachable,
            Self::Foreign { .. } => Exit::Failed,
            Self::Usage(_) => Exit::Usage,
        }
    }

    /// It may be different in a moment: the server starts, or is busy.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused(problem) => problem.status == 503,
            Self::Unreachable { .. } | Self::Silent { .. } | Self::Lost { .. } => true,
            Self::Foreign { .. } | Self::Untrusted { .. } | Self::Usage(_) | Self::Nobody(_) => {
                false
            }
        }
    }

    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) => Some(&problem.code),
            _ => None,
        }
    }
}

/// `application/problem+json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Problem {
    pub title: String,
    pub status: u16,
    pub code: String,
    #[serde(default)]
    pub detail: String,
    #[serde(default)]
    pub errors: Vec<Fault>,
}

/// One thing that is wrong with what was sent.
#[derive(Clone, Debug, Deserialize)]
pub struct Fault {
    pub message: String,
    pub path: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&tame(&self.title))?;
        if self.errors.is_empty() && !self.detail.is_empty() {
            write!(f, ": {}", tame(&self.detail))?;
        }
        for fault in &self.errors {
            write!(f, "\n  {fault}")?;
        }
        if self.status == 401 {
            f.write_str("\n  give it with --token-file, --token or MAINSPRING_TOKEN")?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, _) => {}
        }
        if let Some(path) = self.path.as_deref().filter(|path| !path.is_empty()) {
            write!(f, "{}: ", tame(path))?;
        }
        f.write_str(&tame(&self.message))?;
        match &self.hint {
            Some(hint) => write!(f, " ({})", tame(hint)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_what_and_where() {
        let text = r#"{"title":"The definition has errors","status":422,"code":"bad_definition",
            "detail":"x (and 1 more)","more":1,"errors":[
            {"message":"No `a`.","line":3,"column":7,"hint":"did you mean `b`?"},
            {"message":"too large","path":"/n"}]}"#;
        let problem: Problem = serde_json::from_str(text).expect("read");
        insta::assert_snapshot!(problem.to_string(), @r"
        The definition has errors
          line 3, column 7: No `a`. (did you mean `b`?)
          /n: too large
        ");
        assert_eq!(ClientError::Refused(Box::new(problem)).exit(), Exit::Usage);
    }
}
