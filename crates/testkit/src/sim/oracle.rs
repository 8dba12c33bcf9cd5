//! What rows mean, worked out once more from the vocabulary, naively and without a line of
//! the code under test: a mistake there is not made here too.

use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{CancelCause, RunProgress, RunStatus, TaskRow};
use mainspring_core::spec::definition::{Definition, When};

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    Open,
    Running,
    Success,
    Failed,
    // From here on by strength: of several causes the strongest is shown.
    Skipped,
    Cancelled,
    Blocked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    Yes,
    NotYet,
    /// Never, and what that makes of the dependent.
    Never(Standing),
}

impl Standing {
    pub fn is_settled(self) -> bool {
        !matches!(self, Self::Open | Self::Running)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Running => "running",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
            Self::Blocked => "blocked",
        }
    }
}

/// A run as stored, with what follows from it.
pub struct Reading<'a> {
    pub definition: &'a Definition,
    rows: Vec<Option<&'a TaskRow>>,
    standings: Vec<Standing>,
    /// Whether the run was cancelled or has timed out.
    over: bool,
}

impl<'a> Reading<'a> {
    /// Sketches name only what stands above: causes come first. Instances have no say of their
    /// own: what they mean to others is in their group's row.
    pub fn new(definition: &'a Definition, rows: impl Iterator<Item = &'a TaskRow>) -> Self {
        Self::read(definition, rows, false)
    }

    /// As it stands in its run: once that was cancelled or has timed out, what has not begun never
    /// will, unless it runs always.
    pub fn of(
        definition: &'a Definition,
        rows: impl Iterator<Item = &'a TaskRow>,
        progress: &RunProgress,
    ) -> Self {
        Self::read(definition, rows, progress.cancel.is_some())
    }

    fn read(
        definition: &'a Definition,
        rows: impl Iterator<Item = &'a TaskRow>,
        over: bool,
    ) -> Self {
        let count = definition.tasks.len();
        let mut reading = Self { definition, rows: vec![None; count], standings: Vec::new(), over };
        for row in rows.filter(|row| row.task.index.is_none()) {
            reading.rows[row.task.no.position()] = Some(row);
        }
        for position in 0..count {
            let standing = reading.derive(TaskNo::from_position(position));
            reading.standings.push(standing);
        }
        reading
    }

    fn derive(&self, no: TaskNo) -> Standing {
        match self.fact(no) {
            Fact::Success => Standing::Success,
            Fact::Failed => Standing::Failed,
            Fact::Cancelled => Standing::Cancelled,
            Fact::Skipped => Standing::Skipped,
            Fact::Running | Fact::Open => Standing::Running,
            Fact::Delayed | Fact::Dispatched | Fact::Waiting | Fact::WorkerDone => Standing::Open,
            Fact::None => {
                let nevers = self.dependencies(no).filter_map(|(_, met)| match met {
                    Met::Never(standing) => Some(standing),
                    Met::Yes | Met::NotYet => None,
                });
                let is_over = self.over && self.definition.task(no).always.is_none();
                let over = is_over.then_some(Standing::Cancelled);
                nevers.chain(over).max().unwrap_or(Standing::Open)
            }
        }
    }

    pub fn fact(&self, no: TaskNo) -> Fact {
        self.row(no).map_or(Fact::None, |row| row.fact)
    }

    pub fn row(&self, no: TaskNo) -> Option<&'a TaskRow> {
        self.rows[no.position()]
    }

    pub fn standing(&self, no: TaskNo) -> Standing {
        self.standings[no.position()]
    }

    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// The conditions of a task's edges and whether they are met.
    pub fn dependencies(&self, no: TaskNo) -> impl Iterator<Item = (When, Met)> {
        let edges = self.definition.task(no).depends_on.iter();
        edges.map(|edge| (edge.when, self.met(edge.upstream, edge.when)))
    }

    fn met(&self, upstream: TaskNo, when: When) -> Met {
        let standing = self.standing(upstream);
        // A group that is open has not started before one of its instances has.
        let started = self.row(upstream).is_some_and(|row| row.ever_started)
            || self.fact(upstream) == Fact::Running
            || standing == Standing::Success;
        let allowed = self.definition.task(upstream).allow_failure;
        match (when, standing) {
            (When::Started, _) if started => Met::Yes,
            (When::Completed, _) if self.is_done(upstream) => Met::Yes,
            (When::Finished, standing) if standing.is_settled() => Met::Yes,
            (_, Standing::Open | Standing::Running) => Met::NotYet,
            (When::Failed, Standing::Failed) => Met::Yes,
            (When::Failed, Standing::Success) => Met::Never(Standing::Skipped),
            (_, Standing::Success) => Met::Yes,
            (When::Merged | When::Completed, Standing::Failed) if allowed => Met::Yes,
            (_, Standing::Failed) => Met::Never(Standing::Blocked),
            (_, without) => Met::Never(without),
        }
    }

    /// Its work is done and has not landed. Whether a group says so rightly is looked at with its
    /// instances.
    fn is_done(&self, no: TaskNo) -> bool {
        let worked = |row: &TaskRow| row.group.as_ref().is_some_and(|group| group.worked);
        let is_open = self.fact(no) == Fact::Open;
        self.fact(no) == Fact::WorkerDone || is_open && self.row(no).is_some_and(worked)
    }

    /// How a run that is over has to be shown.
    pub fn verdict(&self, progress: &RunProgress) -> RunStatus {
        match &progress.cancel {
            Some(CancelCause::Asked(_)) => return RunStatus::Cancelled,
            Some(CancelCause::RunTimeout) => return RunStatus::Failed,
            None => {}
        }
        let tasks = || (0..self.standings.len()).map(TaskNo::from_position);
        if tasks().any(|no| self.fact(no) == Fact::Failed && !self.is_handled(no)) {
            RunStatus::Failed
        } else if tasks().any(|no| self.fact(no) == Fact::Cancelled) {
            RunStatus::Cancelled
        } else {
            RunStatus::Success
        }
    }

    fn is_handled(&self, failed: TaskNo) -> bool {
        let handles = |position: usize| {
            let edges = &self.definition.tasks[position].depends_on;
            self.standings[position] == Standing::Success
                && edges.iter().any(|edge| edge.upstream == failed && edge.when == When::Failed)
        };
        self.definition.task(failed).allow_failure || (0..self.standings.len()).any(handles)
    }
}
