//! Names of things: newtypes, so that no two kinds of number can be mixed up.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Builds an id of version 7 from its time and 74 bits of chance.
            pub fn from_parts(unix_ms: u64, chance: [u8; 10]) -> Self {
                Self(uuid::Builder::from_unix_timestamp_millis(unix_ms, &chance).into_uuid())
            }

            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0.hyphenated())
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

uuid_id!(
    /// A run, as people and programs outside name it.
    RunId
);
uuid_id!(
    /// One attempt. Every report names it; it is also the idempotency key of the attempt.
    AttemptId
);
uuid_id!(
    /// One Mainspring server, for as long as its data folder exists.
    SchedulerId
);
uuid_id!(
    /// A permission to ask, as people name it; never its secret.
    TokenId
);
uuid_id!(
    /// An order on many runs.
    BulkId
);

/// A run's row key: 64 bits beside the UUID, so that task rows are small and clustered.
///
/// The upper bits are the ordinal of the scheduler that accepted the run, so that several
/// schedulers number their runs without asking each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunKey(pub i64);

impl RunKey {
    /// 2^40 runs for each of 2^22 schedulers.
    const SEQUENCE_BITS: u32 = 40;

    pub fn new(ordinal: u32, sequence: u64) -> Self {
        assert!(sequence < 1 << Self::SEQUENCE_BITS, "a scheduler has used up its run keys");
        assert!(ordinal < 1 << 22, "scheduler ordinals are below 2^22");
        let upper = u64::from(ordinal) << Self::SEQUENCE_BITS;
        Self(i64::try_from(upper | sequence).expect("62 bits fit i64"))
    }

    /// The first key of a scheduler and the first of the next one.
    pub fn range(ordinal: u32) -> std::ops::Range<Self> {
        Self::new(ordinal, 0)..Self::new(ordinal + 1, 0)
    }

    pub fn sequence(self) -> u64 {
        self.0.unsigned_abs() & ((1 << Self::SEQUENCE_BITS) - 1)
    }
}

/// A task's number: its position in the definition, tasks added to a live run after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskNo(pub u32);

impl TaskNo {
    pub fn from_position(position: usize) -> Self {
        Self(u32::try_from(position).expect("task counts are bounded by TASKS_MAX"))
    }

    pub fn position(self) -> usize {
        self.0 as usize
    }
}

/// Where a task is inside its run: its number, and for an instance of a group its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskRef {
    pub no: TaskNo,
    pub index: Option<u32>,
}

impl TaskRef {
    /// None comes before it.
    pub const FIRST: Self = Self::plain(TaskNo(0));

    /// A task that is not an instance of a group.
    pub const fn plain(no: TaskNo) -> Self {
        Self { no, index: None }
    }
}

/// Names one attempt and where it belongs, so that a report finds its task without a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    pub run: RunKey,
    pub task: TaskRef,
    pub attempt: AttemptId,
}
