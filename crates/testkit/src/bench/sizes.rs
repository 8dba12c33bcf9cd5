//! How much of everything.

/// Counts of one run of the benchmarks.
#[derive(Clone, Debug)]
pub struct Sizes {
    pub rounds: usize,
    pub chain_tasks: usize,
    pub processes: usize,
    pub concurrencies: Vec<u32>,
    /// Fan-outs, smallest first; each is compared with the first.
    pub fanouts: Vec<usize>,
    pub unfinished_runs: usize,
    pub unfinished_tasks: usize,
    pub live_processes: usize,
    /// Elements of a list for `foreach`.
    pub elements: usize,
    /// Runs triggered over HTTP in one round.
    pub http_runs: usize,
}

impl Sizes {
    /// What the budgets speak of. A definition has at most 400,000 nodes, four for each task,
    /// which is why the large fan-out is not quite 100,000.
    pub fn full() -> Self {
        Self {
            rounds: 7,
            chain_tasks: 100,
            processes: 1_000,
            concurrencies: vec![16, 8],
            fanouts: vec![9_900, 99_000],
            unfinished_runs: 10_000,
            unfinished_tasks: 90_000,
            live_processes: 500,
            elements: 100_000,
            http_runs: 30_000,
        }
    }

    /// Enough to see that everything still works.
    pub fn tiny() -> Self {
        Self {
            rounds: 1,
            chain_tasks: 3,
            processes: 4,
            concurrencies: vec![2],
            fanouts: vec![2, 20],
            unfinished_runs: 3,
            unfinished_tasks: 8,
            live_processes: 2,
            elements: 20,
            http_runs: 40,
        }
    }
}
