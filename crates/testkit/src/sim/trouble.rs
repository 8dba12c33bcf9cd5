//! What can go wrong, each kind by name so that it can be switched off: a world that still
//! breaks its promise with less trouble is easier to read.

use crate::sim::tally::Tally;
use mainspring_core::world::chance::Chance;
use std::collections::BTreeSet;

macro_rules! troubles {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Trouble { $($(#[$doc])* $variant,)* }

        impl Trouble {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

troubles! {
    /// kill -9: the process and everything it started are gone.
    Kill = "kill",
    /// The machine slept, or its clock was set.
    ClockAhead = "clock-ahead",
    /// The wall clock was set back while the process was down: a new life begins earlier
    /// than the last one ended.
    ClockBack = "clock-back",
    /// A commit fails and nothing of it is there.
    CommitLost = "commit-lost",
    /// A commit is durable and reported failed.
    CommitUnsure = "commit-unsure",
    /// A commit takes long, and much is gathered meanwhile.
    CommitSlow = "commit-slow",
    /// The same report comes again.
    ReportTwice = "report-twice",
    /// A report that was heard comes again, long after.
    ReportLate = "report-late",
    /// Nobody hears that an attempt has started.
    StartUnheard = "start-unheard",
    /// The executor cannot take an attempt now.
    StartRefused = "start-refused",
    /// A merge finds somebody's checkout in its way, before it starts or when it is about to land.
    Hindered = "hindered",
    /// What was read arrives long after it was read.
    ReadLate = "read-late",
    /// The same answer comes again.
    AnswerTwice = "answer-twice",
    /// An answer that was heard comes again, long after.
    AnswerLate = "answer-late",
    /// Outputs cannot be read or kept for a while.
    StoreAway = "store-away",
    /// Work that ends only when it is stopped.
    Endless = "endless",
    /// An output so large that it fills a batch.
    HeavyOutput = "heavy-output",
    /// Someone pauses or resumes.
    Pauses = "pauses",
    /// Someone cancels.
    Cancels = "cancels",
    /// Someone cancels and does not wait for the work to be gone.
    Force = "force",
    /// Someone asks for it again.
    Retries = "retries",
    /// Someone adds tasks to a run.
    Additions = "additions",
    /// Someone runs a run anew.
    Reruns = "reruns",
    /// Someone sends a signal or decides on an approval.
    Says = "says",
    /// Someone changes a limit, or the configuration is read anew.
    Limits = "limits",
    /// Someone names what is not there.
    Strangers = "strangers",
}

impl Trouble {
    const fn is_of_storms(self) -> bool {
        matches!(
            self,
            Self::CommitLost
                | Self::CommitUnsure
                | Self::ReportTwice
                | Self::ReportLate
                | Self::AnswerTwice
                | Self::AnswerLate
        )
    }
}

/// The seed's chance, with some kinds of trouble switched off, and what it has brought.
#[derive(Debug)]
pub struct Luck {
    chance: Chance,
    without: BTreeSet<Trouble>,
    /// In peace nothing goes wrong any more.
    pub at_peace: bool,
    /// Large outputs come one time in so many. Comparing them is dear, so few worlds have
    /// many.
    pub heavy_odds: u64,
    /// In some worlds the store fails often and reports come again and again: what takes
    /// several reloads in a row is hardly ever met in the others.
    stormy: bool,
    pub tally: Tally,
}

impl Luck {
    pub fn new(seed: u64, without: &BTreeSet<Trouble>) -> Self {
        let (mut chance, tally) = (Chance::new(seed), Tally::default());
        let heavy_odds = if chance.below(100) == 0 { 2 } else { 200 };
        let stormy = chance.below(8) == 0;
        Self { chance, without: without.clone(), at_peace: false, heavy_odds, stormy, tally }
    }

    pub fn draw(&mut self) -> u64 {
        self.chance.draw()
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.chance.below(bound)
    }

    /// A position in something that has `count`, which is not 0.
    pub fn pick(&mut self, count: usize) -> usize {
        usize::try_from(self.chance.below(count as u64)).expect("below a usize")
    }

    /// Whether it happens now, one time in `odds`.
    pub fn strikes(&mut self, trouble: Trouble, odds: u64) -> bool {
        let odds = if self.stormy && trouble.is_of_storms() { odds.div_ceil(5) } else { odds };
        let strikes = self.chance.below(odds) == 0 && self.allows(trouble);
        if strikes {
            self.tally.count(("trouble", trouble.name(), ""));
        }
        strikes
    }

    pub fn allows(&self, trouble: Trouble) -> bool {
        !self.at_peace && !self.without.contains(&trouble)
    }
}
