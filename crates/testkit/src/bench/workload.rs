//! Which benchmarks there are.

use super::report::Line;
use super::sizes::Sizes;
use super::{approvals, chain, fanout, foreach, http, memory, processes, start};
use std::path::Path;

/// One benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    Memory,
    Chain,
    Processes,
    Fanout,
    Start,
    Approvals,
    Foreach,
    Http,
}

impl Workload {
    /// Memory first: whatever ran before it would be counted too.
    pub const ALL: &[Self] = &[
        Self::Memory,
        Self::Chain,
        Self::Processes,
        Self::Fanout,
        Self::Start,
        Self::Approvals,
        Self::Foreach,
        Self::Http,
    ];

    /// Whether it measures the program itself, as a process of its own.
    pub const fn is_of_the_program(self) -> bool {
        matches!(self, Self::Foreach | Self::Http)
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Chain => "chain",
            Self::Processes => "processes",
            Self::Fanout => "fanout",
            Self::Start => "start",
            Self::Approvals => "approvals",
            Self::Foreach => "foreach",
            Self::Http => "http",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|workload| workload.word() == word)
    }

    /// Measures on a runtime of its own.
    pub fn measure(self, ground: Ground<'_>, sizes: &Sizes) -> Vec<Line> {
        let Ground { folder: ground, program } = ground;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime can be made");
        runtime.block_on(async {
            match self {
                Self::Memory => memory::measure(ground, sizes).await,
                Self::Chain => chain::measure(ground, sizes).await,
                Self::Processes => processes::measure(ground, sizes).await,
                Self::Fanout => fanout::measure(ground, sizes).await,
                Self::Start => start::measure(ground, sizes).await,
                Self::Approvals => approvals::measure(ground, sizes).await,
                Self::Foreach => foreach::measure(ground, sizes, program),
                Self::Http => http::measure(ground, sizes, program),
            }
        })
    }
}

/// Where to measure.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// New folders are made below it.
    pub folder: &'a Path,
    /// The binary `mainspring`, with the feature `bench` if `echo` is to be measured.
    pub program: &'a Path,
}

/// A folder of its own for one measurement.
pub(super) fn folder(ground: &Path) -> tempfile::TempDir {
    tempfile::Builder::new().prefix("bench-").tempdir_in(ground).expect("a folder can be made")
}
