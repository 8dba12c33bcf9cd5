//! What a control task waits for, as its definition says.

use crate::expr::Text;
use crate::kernel::record::Role;
use crate::time::Span;
use std::sync::Arc;

/// A task that nobody carries out: it is parked until something happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    Sleep(Sleep),
    Wait(WaitFor),
    Approval(Arc<Approval>),
    Child(ChildOf),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Sleep {
    /// A duration, from when it is parked.
    For(Text),
    /// A moment.
    Until(Text),
}

/// Waits for a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitFor {
    pub signal: Text,
    /// None: for ever.
    pub timeout: Option<Span>,
    pub on_timeout: OnTimeout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTimeout {
    Fail,
    /// A success with the output null.
    Continue,
}

/// Waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    pub message: Text,
    /// Who may decide; empty: whoever may steer runs.
    pub by: Vec<Decider>,
    /// None: for ever.
    pub timeout: Option<Span>,
    pub on_timeout: OnSilence,
    pub on_reject: OnReject,
}

/// Somebody who may decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decider {
    /// Whoever has this role or a higher one.
    Role(Role),
    Name(Arc<str>),
}

/// What it means that nobody decided in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSilence {
    Reject,
    Approve,
    Fail,
}

impl OnSilence {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reject => "reject",
            Self::Approve => "approve",
            Self::Fail => "fail",
        }
    }
}

/// Waits for a run of another workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildOf {
    pub workflow: Arc<str>,
    /// None: the latest when it begins.
    pub version: Option<u32>,
    /// Of one attempt. None: as long as the child's own timeout lets it.
    pub timeout: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnReject {
    Fail,
    /// A success that says that it was rejected.
    Continue,
}

impl Control {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Sleep(_) => "sleep",
            Self::Wait(_) => "wait",
            Self::Approval(_) => "approval",
            Self::Child(_) => "workflow",
        }
    }
}

impl Decider {
    /// The words of roles are no names: a token called `admin` is not one by that.
    pub fn of(word: &str) -> Self {
        let role = Role::ALL.iter().find(|role| role.word() == word);
        role.map_or_else(|| Self::Name(word.into()), |role| Self::Role(*role))
    }

    pub fn word(&self) -> &str {
        match self {
            Self::Role(role) => role.word(),
            Self::Name(name) => name,
        }
    }
}

impl Approval {
    pub fn may_decide(&self, name: &str, role: Role) -> bool {
        let is_meant = |decider: &Decider| match decider {
            Decider::Role(needed) => role >= *needed,
            Decider::Name(known) => **known == *name,
        };
        self.by.is_empty() || self.by.iter().any(is_meant)
    }
}
