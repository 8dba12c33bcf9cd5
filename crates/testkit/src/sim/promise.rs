//! What is promised, one name for each sentence, and what it is to break one.

use std::fmt;

macro_rules! promises {
    ($($variant:ident = $name:literal, $says:literal;)*) => {
        /// A promise that is checked while a world is played.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Promise { $(#[doc = $says] $variant,)* }

        impl Promise {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            pub const fn says(self) -> &'static str {
                match self { $(Self::$variant => $says),* }
            }
        }
    };
}

promises! {
    Kept = "kept", "an accepted run is never lost";
    Rest = "rest", "no run is silently stuck: in peace every one comes to its end";
    Explained = "explained", "whatever does not go on says what it waits for, to everybody who can read it";
    OneOutcome = "one-outcome", "an attempt's outcome is recorded exactly once";
    BegunOnce = "begun-once", "an attempt is started at most once";
    SettledStays = "settled-stays", "what is settled changes only when a person asks for it again";
    LostOnce = "lost-once", "on_lost: fail makes the first loss final";
    Dependencies = "dependencies", "nothing starts before its dependencies are satisfied";
    StandsOnEnds = "stands-on-ends", "what ran because something ended goes back with it";
    Limits = "limits", "limits are never exceeded: nothing starts beyond one, whenever it was changed";
    Rates = "rates", "no more starts than a rate allows are in any time of its length, across restarts";
    Served = "served", "of those that wait for the same permits the more urgent go first, and runs take turns";
    ActiveRuns = "active-runs", "no more runs are active than their workflow and their group allow";
    InTurn = "in-turn", "pending runs are let in by their priority, then by their age";
    Gone = "gone", "when the state says that it is over, the work is gone, unless it was given up by force";
    DurableFirst = "durable-first", "nothing is acted on before it is durable";
    Told = "told", "an attempt is told its number and what those above it put out";
    SettledLast = "settled-last", "executors are told to forget an attempt only once its end is durable";
    Forgotten = "forgotten", "whatever an executor still holds at the end was settled";
    AnsweredLast = "answered-last", "whoever asked hears back only after the commit";
    AnsweredOnce = "answered-once", "every question gets exactly one answer, or an unknown outcome";
    Reflected = "reflected", "what was answered with yes is to be seen in what is stored";
    RefusedUnchanged = "refused-unchanged", "a refusal changes nothing";
    Owned = "owned", "nobody is told that another scheduler owns a run when there is but one";
    ReadAgain = "read-again", "what was read too early is read again, and nobody hears of it";
    Fenced = "fenced", "a report about an attempt that is not current changes nothing";
    Arrows = "arrows", "a run's state moves along its arrows, and for a reason";
    Announced = "announced", "the end of a run is announced at most once, and only when it is durable";
    PausedRests = "paused-rests", "a paused run starts no attempt, nor does a held task";
    CancelledRests = "cancelled-rests", "a run that is cancelling starts no attempt but of what runs always, a final one none";
    Verdict = "verdict", "a run ends as the worst thing in it that nobody handled";
    Words = "words", "the words shown follow from the rows by the rules of the vocabulary";
    Views = "views", "a server that does not own a run shows what its owner would";
    Transitions = "transitions", "a stored fact changes only along the table of transitions";
    Numbers = "numbers", "attempt numbers have no gap and are never used twice";
    Tries = "tries", "tries and losses count what happened; only a person resets them";
    Delays = "delays", "a delay is as long as the policy says and is neither forgotten nor shortened";
    Stopping = "stopping", "why an attempt is being stopped decides how it ends, and is never forgotten";
    Overdue = "overdue", "a run needs somebody while something was told to end five minutes ago and is not known to be gone";
    WindingDown = "winding-down", "a run that is cancelling stops everything that is live but what runs always";
    Always = "always", "what runs always is left in peace after a cancel for as long as its grace, and no longer";
    Checkpoint = "checkpoint", "a run is paused after the success of a checkpoint until somebody resumes it";
    CancelReach = "cancel-reach", "a cancel reaches what it names and what is below, not through finished edges";
    RetryReach = "retry-reach", "a retry takes back what was cancelled with it, and nothing cancelled for itself";
    Copied = "copied", "a run that runs another one anew begins with what that had come to, and runs nothing of it again";
    Added = "added", "tasks that were added are there once, whatever happens, and those that were refused are not";
    Group = "group", "a group's row says of its instances what their rows say";
    OpenedOnce = "opened-once", "a group has as many instances as it was told to, each index once";
    AtOnce = "at-once", "no more instances are at work than a group may have at once";
    FailFast = "fail-fast", "after a failure a group that fails fast cancels the rest and opens no more";
    GroupEnd = "group-end", "a group ends when its last instance has, as its strategy says";
    FanIn = "fan-in", "a group puts out the list of what its instances did, in the order of their indexes";
    RunOutput = "run-output", "a run that succeeds puts out what its definition says, and no other does";
    PutOut = "put-out", "what an attempt put out is kept with it";
    History = "history", "no attempt is ever lost";
    Conditions = "conditions", "a task runs, is skipped or fails as its condition says";
    Heeded = "heeded", "an answer to a question that is not open changes nothing";
    Departed = "departed", "a run that is over leaves memory";
    EverStarted = "ever-started", "that a task has started is for good";
    Timeouts = "timeouts", "what has run out of time is being stopped";
    Storable = "storable", "what is decided can be stored";
    Waits = "waits", "a wait is over when what it waits for has come, once, and is what came of that: a rejection never looks like an approval";
    Landing = "landing", "what lands work is tried by its own policy and in its turn, never after a cancel, and no work is done again for it";
    Hindered = "hindered", "a merge that something is in the way of waits for as long as that takes, and nothing of it is counted";
    Kin = "kin", "a task that waits for a child has exactly one that goes on, a child has its parent, and what it came to is carried over once";
    Handed = "handed", "holds and cancels of a parent are its children's";
    Listed = "listed", "what waits for a person is listed, and nothing else";
    Bounded = "bounded", "a batch is cut at its limit";
    Counts = "counts", "the counts on a run equal its rows";
    Versions = "versions", "the same text twice makes no new version";
    Stamps = "stamps", "stamps strictly grow";
    Rows = "rows", "a row does not contradict itself";
    Indexes = "indexes", "every index equals a naive recomputation";
    NoPanic = "no-panic", "no assertion fails";
}

/// A promise that did not hold, and how that showed.
#[derive(Clone, Debug)]
pub struct Broken {
    pub promise: Promise,
    pub what: String,
}

pub type Check = Result<(), Broken>;

impl Promise {
    pub fn broken(self, what: impl Into<String>) -> Broken {
        Broken { promise: self, what: what.into() }
    }

    pub fn ensure(self, holds: bool, what: impl FnOnce() -> String) -> Check {
        if holds { Ok(()) } else { Err(self.broken(what())) }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' ({}): {}", self.promise.says(), self.promise.name(), self.what)
    }
}
