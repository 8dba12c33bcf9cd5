//! What is asked, and what is answered.

use crate::error::{ErrorClass, TaskError};
use crate::ids::{AttemptId, RunId, RunKey, TaskNo};
use crate::items::Items;
use crate::json::Json;
use crate::output::Output;
use crate::spec::definition::Definition;
use crate::time::{Span, Timestamp};
use crate::view::word::Word;
use crate::world::input::KnownWorkflow;
use std::ops::Range;
use std::sync::Arc;

/// What expressions of a task, and its input, are made of.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub run: RunId,
    pub key: RunKey,
    pub definition: Arc<Definition>,
    pub run_input: Json,
    /// Whose child it is: what it puts out is that one's, too.
    pub parent: Option<RunId>,
    /// The tasks it depends on, then those above them that it names.
    pub upstream: Vec<Upstream>,
}

/// A task above, as it stands.
#[derive(Clone, Debug)]
pub struct Upstream {
    pub no: TaskNo,
    pub word: Word,
    pub output: Option<Output>,
    /// By which it succeeded; none for a group.
    pub attempt: Option<AttemptId>,
    /// What a fan-out is made of that does not wait until it has landed: other than `output`, this
    /// stays whatever becomes of it.
    pub work: Option<WorkDone>,
}

/// What work put out, landed or not.
#[derive(Clone, Debug)]
pub enum WorkDone {
    Output(Option<Output>),
    /// As the rows of so many instances have it.
    List {
        count: u32,
    },
}

/// Which instance of its group something is for.
#[derive(Clone, Debug)]
pub struct Instance {
    pub index: u32,
    pub count: u32,
    /// None for a group without `foreach`.
    pub items: Option<Arc<Items>>,
}

impl Instance {
    /// Instances of one item are next to each other.
    pub fn item(&self) -> Option<&str> {
        let items = self.items.as_ref()?;
        let times = (self.count as usize) / items.len().max(1);
        items.get(self.index as usize / times.max(1))
    }
}

/// One question about a run.
#[derive(Clone, Debug)]
pub struct Question {
    pub run: RunKey,
    /// Tells it from every other question, those of former worlds included.
    pub number: (u64, u64),
    pub what: Asked,
    pub around: Arc<Surroundings>,
    /// What a child of the task would be a run of, if that is in memory.
    pub child: Option<KnownChild>,
}

/// A version of another workflow.
#[derive(Clone, Debug)]
pub struct KnownChild {
    pub number: u32,
    pub definition: Arc<Definition>,
}

#[derive(Clone, Debug)]
pub enum Asked {
    /// Its dependencies are satisfied: whether it runs, and as how many.
    Opening(TaskNo),
    /// It is tried again: what it waits for this time.
    Parking(TaskNo),
    /// The items of a group that is open already.
    Items(TaskNo),
    /// What becomes of these instances of a group that nobody carries out: what noops put out,
    /// what control tasks wait for.
    Noops { task: TaskNo, indexes: Range<u32>, count: u32, items: Option<Arc<Items>> },
    /// The outputs of a group's instances, as one list.
    List { task: TaskNo, count: u32 },
    /// The same of a group whose work is done and has not all landed.
    Work { task: TaskNo, count: u32 },
    /// What the run as a whole puts out.
    RunOutput,
}

/// What a control task waits for, values put in.
#[derive(Clone, Debug)]
pub enum Parking {
    /// From when it is parked.
    For(Span),
    Until(Timestamp),
    /// The signal with this key.
    Signal(Arc<str>),
    /// Somebody who answers this.
    Approval(Box<str>),
    /// A run that is to be begun.
    Child(Box<Begin>),
}

/// A child run, ready to be accepted.
#[derive(Clone, Debug)]
pub struct Begin {
    /// Read for it, unless memory had it.
    pub workflow: Option<KnownWorkflow>,
    pub version: KnownChild,
    /// Checked against the schema, defaults filled in.
    pub input: Json,
    /// The key of its concurrency group.
    pub group: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub enum Answer {
    /// Its condition is false.
    Skip,
    /// One task, to be dispatched.
    Go,
    /// A noop's output.
    Noop(Output),
    /// A group. Without `foreach` there are no items.
    Fan {
        count: u32,
        items: Option<Arc<Items>>,
    },
    /// A control task, and what it waits for.
    Park(Parking),
    /// One for each index that was asked for, in order.
    Noops(Vec<Result<Output, TaskError>>),
    /// The same for control tasks.
    Parks(Vec<Result<Parking, TaskError>>),
    /// A list of outputs, or the run's.
    Value(Output),
    Failed(TaskError),
}

/// An answer that should have been another one is a bug, and must not stop the world.
pub fn error_of(answer: Answer) -> TaskError {
    match answer {
        Answer::Failed(error) => error,
        answer => {
            let message = format!("a question was answered by something else: {answer:?}");
            TaskError::new(ErrorClass::Internal, message)
        }
    }
}
