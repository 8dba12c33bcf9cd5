//! The transition function: one match on (fact, event). Every pair is a transition or a
//! named refusal; the table of all pairs is a golden file.

use crate::kernel::fact::Fact;
use std::fmt;

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// Something that happened to a task.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Event { $($(#[$doc])* $variant,)* }

        impl Event {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }
    };
}

events! {
    /// Dependencies satisfied, time come, not held, permits granted.
    Dispatched = "dispatched",
    /// A control task began to wait.
    Parked = "parked",
    /// Its condition was false when its dependencies were first satisfied.
    ConditionFalse = "condition_false",
    /// Decided without an attempt: a noop, zero items.
    DecidedSuccess = "decided_success",
    /// Decided without an attempt: a bad reference, condition or template.
    DecidedFailure = "decided_failure",
    /// Its success in another run was taken over.
    Copied = "copied",
    /// A fan-out task opened, with at least one instance.
    GroupOpened = "group_opened",
    /// Some instances of a group were asked for again.
    GroupReopened = "group_reopened",
    /// A person asked for a group again: this instance of it is tried once more.
    InstanceRetried = "instance_retried",
    /// The executor said that the attempt started.
    Started = "started",
    /// The executor could not take the attempt.
    StartRefused = "start_refused",
    /// The work is done and a finalizer follows.
    WorkDone = "work_done",
    /// The attempt succeeded, the wait was answered, or the finalizer landed.
    Succeeded = "succeeded",
    /// Failed with no retry left.
    FailedForGood = "failed_for_good",
    /// Failed with a retry left, lost with a loss left, or stopped for a pause.
    PutOff = "put_off",
    /// Cancelled, and the work is gone.
    Cancelled = "cancelled",
    /// A person asked for it again.
    Retried = "retried",
    /// A task above it is retried and this one has to follow.
    SentBack = "sent_back",
}

/// Why an event does not apply to a fact. Nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inapplicable {
    /// The task has its outcome already.
    Settled,
    /// No attempt of it is live.
    NotLive,
    /// The executor has said so already.
    Started,
    /// An attempt is live, or it is parked or done: it cannot begin.
    Begun,
    /// There is nothing to do again.
    NotSettled,
    /// A success or a skip is not retried by itself.
    NotFailed,
}

impl Inapplicable {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::NotLive => "not_live",
            Self::Started => "started",
            Self::Begun => "begun",
            Self::NotSettled => "not_settled",
            Self::NotFailed => "not_failed",
        }
    }
}

impl fmt::Display for Inapplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The fact that follows.
pub const fn transition(fact: Fact, event: Event) -> Result<Fact, Inapplicable> {
    use Fact::{
        Cancelled, Delayed, Dispatched, Failed, None, Open, Running, Skipped, Success, Waiting,
        WorkerDone,
    };
    match (fact, event) {
        (None | Delayed, Event::Dispatched) => Ok(Dispatched),
        (None | Delayed, Event::Parked) => Ok(Waiting),
        (None, Event::ConditionFalse) => Ok(Skipped),
        // Delayed: an instance without an attempt, asked for again.
        (None | Delayed, Event::DecidedSuccess) => Ok(Success),
        (None | Delayed, Event::DecidedFailure) => Ok(Failed),
        (None, Event::Copied) => Ok(Success),
        (None, Event::GroupOpened) => Ok(Open),
        (Failed | Cancelled, Event::GroupReopened) => Ok(Open),
        (Failed | Cancelled, Event::InstanceRetried) => Ok(Delayed),

        (Dispatched, Event::Started) => Ok(Running),
        (Dispatched, Event::StartRefused) => Ok(Delayed),
        (Dispatched | Running, Event::WorkDone) => Ok(WorkerDone),
        (Dispatched | Running | Waiting | WorkerDone | Open, Event::Succeeded) => Ok(Success),
        (Dispatched | Running | Waiting | WorkerDone | Open, Event::FailedForGood) => Ok(Failed),
        (Dispatched | Running | Waiting, Event::PutOff) => Ok(Delayed),

        (None | Delayed | Dispatched | Running | Waiting | WorkerDone | Open, Event::Cancelled) => {
            Ok(Cancelled)
        }

        (Failed | Cancelled, Event::Retried) => Ok(None),
        (Success | Failed | Skipped, Event::SentBack) => Ok(None),

        (_, Event::Retried | Event::SentBack | Event::GroupReopened | Event::InstanceRetried) => {
            Err(if fact.is_settled() { Inapplicable::NotFailed } else { Inapplicable::NotSettled })
        }
        (Success | Failed | Cancelled | Skipped, _) => Err(Inapplicable::Settled),
        (Delayed, Event::ConditionFalse | Event::Copied | Event::GroupOpened) => {
            Err(Inapplicable::Begun)
        }
        (
            Dispatched | Running | Waiting | WorkerDone | Open,
            Event::Dispatched
            | Event::Parked
            | Event::ConditionFalse
            | Event::DecidedSuccess
            | Event::DecidedFailure
            | Event::Copied
            | Event::GroupOpened,
        ) => Err(Inapplicable::Begun),
        (Running, Event::Started | Event::StartRefused) => Err(Inapplicable::Started),
        (
            None | Delayed | Waiting | WorkerDone | Open,
            Event::Started
            | Event::StartRefused
            | Event::WorkDone
            | Event::Succeeded
            | Event::FailedForGood
            | Event::PutOff,
        ) => Err(Inapplicable::NotLive),
    }
}

/// All pairs as a table: rows are facts, columns events.
pub fn table() -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for event in Event::ALL {
        let _ = writeln!(text, "{}:", event.word());
        for fact in Fact::ALL {
            let answer = match transition(*fact, *event) {
                Ok(next) => format!("-> {}", next.word()),
                Err(why) => format!("refused: {why}"),
            };
            let _ = writeln!(text, "  {:<12}{answer}", fact.word());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_in_the_golden_table() {
        insta::assert_snapshot!("transitions", table());
    }

    #[test]
    fn only_a_retry_leaves_an_outcome() {
        for fact in Fact::ALL.iter().filter(|fact| fact.is_settled()) {
            for event in Event::ALL {
                let leaves = transition(*fact, *event).is_ok();
                let again = matches!(
                    event,
                    Event::Retried
                        | Event::SentBack
                        | Event::GroupReopened
                        | Event::InstanceRetried
                );
                assert!(!leaves || again);
            }
        }
    }
}
