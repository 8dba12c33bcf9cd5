//! What a workflow's text means once it has been checked: plain data, names resolved to
//! numbers, every default filled in.

use super::control::Control;
use super::output::OutputSchema;
use crate::error::ErrorClass;
use crate::expr::{Expr, ShellLine, Text, Tree};
use crate::ids::TaskNo;
use crate::json::Json;
use crate::kernel::limit::Bound;
use crate::output::Output;
use crate::time::Span;
use crate::work::{ArtifactWanted, ExecutorKind};
use crate::work_git::{MergeStrategy, UpdateCheckout};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One version of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub name: Arc<str>,
    pub description: Option<String>,
    pub labels: BTreeMap<String, String>,
    /// JSON Schema of the run's input, as written.
    pub input_schema: Option<Json>,
    /// Of the whole run, from its last opening.
    pub timeout: Option<Span>,
    /// The workflow's own tiers: they bound all its runs together.
    pub tiers: BTreeMap<Arc<str>, Bound>,
    /// How many of its runs may be active at once; the latest version's number counts.
    pub max_active_runs: Option<u32>,
    pub concurrency_group: Option<ConcurrencyGroup>,
    /// In the order of the text; a task's number is its position.
    pub tasks: Vec<Task>,
    /// Instances that one fan-out may have.
    pub max_fanout: u32,
    /// What the run as a whole puts out when it is a success.
    pub outputs: Option<Outputs>,
}

/// Runs that keep out of each other's way: those with the same key, of whichever workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct ConcurrencyGroup {
    /// Worked out before the run begins, from its input.
    pub key: Text,
    /// How many of them may be active at once.
    pub limit: u32,
    pub on_conflict: OnConflict,
}

/// What becomes of a run when its group has no place for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// It waits.
    Queue,
    /// It is refused.
    Skip,
    /// The oldest are cancelled, and it waits until they are gone.
    CancelPrevious,
}

/// A map with templates, and the tasks that they name.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    pub values: Tree,
    pub reads: Vec<TaskNo>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub name: Arc<str>,
    pub description: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub action: Action,
    pub depends_on: Vec<Edge>,
    pub on_failure: OnFailure,
    /// It runs also after the run was cancelled or has timed out. Such a task is a *finally*.
    pub always: Option<Always>,
    pub allow_failure: bool,
    /// After its success the run is paused.
    pub checkpoint: bool,
    /// Without it, it runs; worked out once, when its dependencies are satisfied.
    pub condition: Option<Expr>,
    /// Values, a JSON object, templates in it.
    pub input: Tree,
    /// What its output has to look like.
    pub outputs: Option<OutputSchema>,
    pub cache: Option<Cache>,
    /// What lands its work. Only a task that somebody carries out has one.
    pub finalize: Option<Arc<Finalize>>,
    /// Where it works instead of the run's directory.
    pub workspace: Option<Workspace>,
    pub retries: Retries,
    pub on_lost: OnLost,
    /// Of one attempt, from its start.
    pub timeout: Span,
    /// From dispatched to started, refused starts included.
    pub start_timeout: Span,
    pub tier: Option<Arc<str>>,
    pub priority: i32,
    /// A group of instances instead of one task.
    pub fan_out: Option<FanOut>,
    /// Tasks above it, beside those it depends on, that its expressions name.
    pub reads: Vec<TaskNo>,
}

/// A git worktree of its own for each attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Workspace {
    /// Relative to the run's directory.
    pub repo: Text,
    pub base: Text,
}

/// A success is taken again while its key is the same and its time is not up.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    pub key: Text,
    pub ttl: Span,
}

/// The second step of a task, once its work is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Finalize {
    /// Where it waits its turn: the limit `queue:<name>`. A merge without one waits in that of its
    /// repository and target.
    pub queue: Option<Arc<str>>,
    pub action: FinalAction,
    pub retries: Retries,
    pub on_lost: OnLost,
    /// Of one attempt at it, from its start.
    pub timeout: Span,
    /// From dispatched to started, refused starts included.
    pub start_timeout: Span,
}

/// What a finalizer does.
#[derive(Clone, Debug, PartialEq)]
pub enum FinalAction {
    Process(Process),
    /// The built-in merge queue: lands the branch of the task's workspace.
    GitMerge(Landing),
}

/// Where a branch lands, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Landing {
    pub into: Text,
    /// A shell line that is run where the merge is, before it lands.
    pub verify: Option<Arc<str>>,
    pub strategy: MergeStrategy,
    pub update_checkout: UpdateCheckout,
    pub kill_grace: Span,
    pub log_bytes_max: u64,
}

impl FinalAction {
    pub const fn executor(&self) -> ExecutorKind {
        match self {
            Self::Process(_) | Self::GitMerge(_) => ExecutorKind::Process,
        }
    }

    fn has_calls(&self) -> bool {
        match self {
            Self::Process(process) => process.has_calls(),
            Self::GitMerge(landing) => landing.into.has_calls(),
        }
    }
}

/// How many instances there are, and what becomes of them.
#[derive(Clone, Debug, PartialEq)]
pub struct FanOut {
    /// So many for each item, or so many in all when there are no items.
    pub parallel: Option<Times>,
    /// One for each item.
    pub foreach: Option<Each>,
    /// Instances at once.
    pub concurrency: Option<u32>,
    pub failure_strategy: FailureStrategy,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Times {
    Fixed(u32),
    From(Path),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Each {
    /// A list in the definition.
    Fixed(Json),
    From(Path),
}

/// A place in the output of a task above: `discover.files`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    pub task: TaskNo,
    pub fields: Vec<Arc<str>>,
}

/// What the failure of an instance means for the others, and for the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureStrategy {
    /// The rest go on, then the group fails.
    CollectErrors,
    /// The rest are cancelled, and the group fails.
    FailFast,
    /// The group succeeds; a failed instance's output is null.
    IgnoreErrors,
}

/// What a task does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Process(Process),
    /// Settled where it is decided; its output is its input.
    Noop,
    /// Parked until something happens.
    Control(Control),
    /// Goes through dispatch, executor and report, and does nothing: what benchmarks measure.
    #[cfg(feature = "bench")]
    Echo,
}

impl Action {
    /// An attempt of it may end with an output of any size.
    pub const fn puts_out(&self) -> bool {
        matches!(self, Self::Process(_))
    }

    /// Who carries it out; None for what is settled where it is decided.
    pub const fn executor(&self) -> Option<ExecutorKind> {
        match self {
            Self::Process(_) => Some(ExecutorKind::Process),
            Self::Noop | Self::Control(_) => None,
            #[cfg(feature = "bench")]
            Self::Echo => Some(ExecutorKind::Echo),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub program: Program,
    pub env: BTreeMap<String, Variable>,
    /// Relative to the run's directory.
    pub workdir: Option<Text>,
    pub output: OutputFrom,
    pub kill_grace: Span,
    pub log_bytes_max: u64,
    pub artifacts: Artifacts,
}

impl Process {
    fn has_calls(&self) -> bool {
        let program = match &self.program {
            Program::Shell(line) => line.has_calls(),
            Program::Argv(words) => words.iter().any(Text::has_calls),
        };
        let env = || {
            let values = self.env.values();
            values.into_iter().any(|it| matches!(it, Variable::Text(text) if text.has_calls()))
        };
        let paths = || self.workdir.iter().chain(&*self.artifacts.out).any(Text::has_calls);
        program || env() || paths()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Program {
    /// A line for `/bin/sh -c`.
    Shell(ShellLine),
    /// Program and arguments, no shell. Never empty.
    Argv(Arc<[Text]>),
}

/// The value of an environment variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Variable {
    /// Secrets may stand among its templates.
    Text(Text),
    /// The name of a secret.
    Secret(Arc<str>),
}

/// Files between tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Artifacts {
    /// Paths below its workdir that a success leaves.
    pub out: Arc<[Text]>,
    /// What is put into its workdir before it starts.
    pub wanted: Vec<ArtifactWanted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFrom {
    /// What was written to `$MAINSPRING_OUTPUT`; nothing when nothing was.
    File,
    /// That, else stdout parsed as JSON.
    Stdout,
}

/// A dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub upstream: TaskNo,
    pub when: When,
}

/// When a dependency is satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    Merged,
    Completed,
    Started,
    Failed,
    Finished,
}

impl When {
    pub const ALL: &[Self] =
        &[Self::Merged, Self::Completed, Self::Started, Self::Failed, Self::Finished];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Completed => "completed",
            Self::Started => "started",
            Self::Failed => "failed",
            Self::Finished => "finished",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Needs every dependency satisfied.
    Skip,
    /// A *finally*: every edge is `finished`.
    Run,
}

/// For how long a task may go on in a run that was cancelled or has timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Always {
    /// From the moment at which all tasks that are not `always` are settled.
    pub grace: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLost {
    Retry,
    /// The first loss is final, for work that must not run twice.
    Fail,
}

/// When a failed attempt is followed by another.
#[derive(Clone, Debug, PartialEq)]
pub struct Retries {
    pub max: u32,
    pub delay: Span,
    pub factor: f64,
    pub max_delay: Span,
    pub jitter: bool,
    pub classes: RetryClasses,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryClasses {
    /// Every class that may be retried at all.
    All,
    Only(Vec<ErrorClass>),
    AllBut(Vec<ErrorClass>),
}

impl FanOut {
    /// Tasks whose outputs say how many instances there are, and of what.
    pub fn reads(&self) -> impl Iterator<Item = TaskNo> {
        let items = match &self.foreach {
            Some(Each::From(path)) => Some(path.task),
            Some(Each::Fixed(_)) | None => None,
        };
        let times = match &self.parallel {
            Some(Times::From(path)) => Some(path.task),
            Some(Times::Fixed(_)) | None => None,
        };
        items.into_iter().chain(times)
    }

    /// The number of instances, where the definition alone says it.
    pub fn fixed_count(&self) -> Option<u32> {
        match (&self.parallel, &self.foreach) {
            (Some(Times::Fixed(count)), None) => Some(*count),
            _ => None,
        }
    }
}

impl Task {
    /// It runs also after the run was cancelled or has timed out.
    pub const fn is_always(&self) -> bool {
        self.always.is_some()
    }

    /// Starting it takes more than what memory holds.
    pub fn needs_store(&self) -> bool {
        let wants_files = matches!(&self.action, Action::Process(process) if !process.artifacts.wanted.is_empty());
        self.cache.is_some() || wants_files
    }

    /// Its success leaves files for other tasks.
    pub fn leaves_files(&self) -> bool {
        matches!(&self.action, Action::Process(process) if !process.artifacts.out.is_empty())
    }

    /// Putting its values in may take a while, within the bounds that expressions have.
    pub fn has_calls(&self) -> bool {
        let in_process = || matches!(&self.action, Action::Process(process) if process.has_calls());
        self.input.has_calls() || in_process() || self.workspace_has_calls()
    }

    fn workspace_has_calls(&self) -> bool {
        let mut texts = self.workspace.iter().flat_map(|it| [&it.repo, &it.base]);
        texts.any(Text::has_calls)
    }

    /// The same for its finalizer, which sees the task's input as well.
    pub fn finalizer_has_calls(&self) -> bool {
        let in_action = || self.finalize.as_ref().is_some_and(|it| it.action.has_calls());
        self.input.has_calls() || in_action() || self.workspace_has_calls()
    }

    /// Why an output is not what it should be, if it is not.
    pub fn check_output(&self, output: Option<&Json>) -> Result<(), String> {
        self.outputs.as_ref().map_or(Ok(()), |schema| schema.check(output))
    }

    /// Its outputs have a schema.
    pub fn has_output_schema(&self) -> bool {
        self.outputs.is_some()
    }

    /// Something has to be worked out from payloads before it can be decided how it starts.
    pub fn needs_answer(&self) -> bool {
        let counted = self.fan_out.as_ref().is_some_and(|fan_out| fan_out.fixed_count().is_none());
        let is_noop = matches!(self.action, Action::Noop) && self.fan_out.is_none();
        let is_parked = self.control().is_some() && self.fan_out.is_none();
        self.condition.is_some() || counted || is_parked || is_noop && self.fixed_output().is_none()
    }

    /// What it waits for, if it is parked and carried out by nobody.
    pub const fn control(&self) -> Option<&Control> {
        match &self.action {
            Action::Control(control) => Some(control),
            _ => None,
        }
    }

    /// What a noop puts out, where nothing has to be worked out for it.
    pub fn fixed_output(&self) -> Option<&Json> {
        let input = self.input.fixed().filter(|input| Output::fits_inline(input));
        input.filter(|_| self.outputs.is_none())
    }
}

impl Definition {
    /// The run puts something out by itself.
    pub fn has_outputs(&self) -> bool {
        self.outputs.is_some()
    }

    /// Tasks that the run's outputs name.
    pub fn output_reads(&self) -> &[TaskNo] {
        self.outputs.as_ref().map_or(&[], |outputs| &outputs.reads)
    }

    pub fn task(&self, no: TaskNo) -> &Task {
        &self.tasks[no.position()]
    }

    pub fn task_no(&self, name: &str) -> Option<TaskNo> {
        self.tasks.iter().position(|task| &*task.name == name).map(TaskNo::from_position)
    }
}
