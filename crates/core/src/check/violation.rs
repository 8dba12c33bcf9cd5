//! A promise that does not hold, and what to do about it.

use std::fmt;

macro_rules! promises {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $remedy:literal;)*) => {
        /// What is promised of a database.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Promise { $($(#[$doc])* $variant,)* }

        impl Promise {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Stable, for programs.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// What a person can do when it is broken.
            pub const fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy),* }
            }
        }
    };
}

promises! {
    /// The database is whole by its own measure.
    Integrity = "integrity",
        "stop the server, and restore the data folder from a backup";
    /// Every row can be read.
    Readable = "readable",
        "restore a backup; what else is in the database can still be shown";
    /// Rows belong to a run that is there.
    Strays = "strays",
        "they cost room and nothing else; please report it";
    /// A run is owned by a scheduler that is there.
    Owner = "owner",
        "put back the data folder's `id` file that belongs to this database; without it nobody \
         carries the run on";
    /// Stamps are in the order of commits.
    Stamps = "stamps",
        "readers of events may miss the run: they find it in the lists; please report it";
    /// The versions of a workflow are numbered without gaps, and their texts are unchanged.
    Versions = "versions",
        "restore a backup, or deploy the workflow anew: runs pinned to the version cannot go on";
    /// A run's counts are those of its tasks.
    Counts = "counts",
        "lists show wrong numbers, `show` the right ones; a server counts anew when it loads an \
         unfinished run";
    /// What is final is over, and ended as its tasks say.
    Final = "final",
        "look at the run with `show`; `retry` opens it again, `trigger` starts another";
    /// What is not final can go on, or waits for something.
    GoesOn = "goes_on",
        "restart the server, which looks at the run again; if it stays so, `cancel --force` ends it";
    /// What a task's row says does not contradict itself.
    Tasks = "tasks",
        "restore a backup; `cancel --force` ends an unfinished run, `trigger` starts another";
    /// Attempts are numbered without gaps, and those before the last have ended.
    Attempts = "attempts",
        "the run's history is incomplete, nothing else; please report it";
    /// The list of approvals names what waits for one.
    Approvals = "approvals",
        "`approvals` shows too much or too little; `show` tells what a run waits for, and \
         `approve` works all the same";
    /// A task that waits for a child run has one that goes on; a child run has its parent.
    Kin = "kin",
        "restart the server, which looks at the runs again; if it stays so, `cancel --force` ends \
         the parent, and `trigger` starts another";
    /// Logs belong to attempts, and are within limits.
    Logs = "logs",
        "the log is all that is concerned; please report it";
    /// A log that is kept in a file is there, and whole.
    LogFiles = "log_files",
        "bring the file back from a backup; nothing but the log is concerned";
    /// A large output is there, and is what was put out.
    Outputs = "outputs",
        "bring the blob back from a backup; without it `rerun` starts the run anew and makes it \
         again, and a task that needs it fails";
    /// Files that a task has left are there, and are what it left.
    Artifacts = "artifacts",
        "bring the blobs back from a backup; without them `rerun` starts the run anew and makes \
         them again, and a task that needs them fails";
    /// Idempotency keys name runs that are there.
    Keys = "keys",
        "a repeated request with this key would be answered wrongly: use another key";
}

/// One promise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub promise: Promise,
    /// What is, and what should be.
    pub what: String,
}

impl Violation {
    pub fn new(promise: Promise, what: impl Into<String>) -> Self {
        Self { promise, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
