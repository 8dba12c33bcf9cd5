//! A workflow, how its tasks stand, and what they put out.

use super::super::{
    Answer, Asked, Begin, Instance, InstanceOutput, Outputs, OutputsError, Parking, Question,
    Surroundings, Upstream, work_out,
};
use crate::ids::{AttemptId, RunId, RunKey, TaskNo, TaskRef, Ticket};
use crate::items::Items;
use crate::json::Json;
use crate::launch::{NotLaunched, StartAttempt};
use crate::output::{BlobRef, Output};
use crate::spec::{Context, definition::Definition, parse};
use crate::view::word::Word;
use crate::work::{Launch, ProcessWork, Work};
use crate::world::input::{KnownWorkflow, Prefetched};
use std::cell::RefCell;
use std::sync::Arc;

pub struct Stage {
    pub definition: Arc<Definition>,
    pub input: &'static str,
    upstream: Vec<(TaskNo, Word, Option<Output>)>,
    pub store: Store,
}

/// A blob store of one blob.
#[derive(Default)]
pub struct Store {
    pub blob: Option<Json>,
    pub is_away: bool,
    pub loads: RefCell<usize>,
    /// The only workflow that is stored.
    pub other: Option<KnownWorkflow>,
}

impl Stage {
    pub fn new(text: &str) -> Self {
        let parsed = parse(text, &Context::STORED);
        let parsed = parsed.unwrap_or_else(|found| panic!("{text}\n{found:#?}"));
        Self {
            definition: Arc::new(parsed.definition),
            input: r#"{"day": "monday", "n": 2}"#,
            upstream: Vec::new(),
            store: Store::default(),
        }
    }

    /// A task that has ended.
    pub fn with(mut self, task: &str, word: Word, output: Option<&str>) -> Self {
        let no = self.definition.task_no(task).expect("a task");
        let output = output.map(|text| Output::Inline(Json::parse(text).expect("JSON")));
        self.upstream.push((no, word, output));
        self
    }

    /// A task whose output is in the blob store.
    pub fn with_blob(mut self, task: &str, content: &str) -> Self {
        let no = self.definition.task_no(task).expect("a task");
        let blob = BlobRef { hash: [7; 32], bytes: content.len() as u64 };
        self.upstream.push((no, Word::Success, Some(Output::Blob(blob))));
        self.store.blob = Some(Json::parse(content).expect("JSON"));
        self
    }

    fn around(&self) -> Arc<Surroundings> {
        let upstream = |(no, word, output): &(TaskNo, Word, Option<Output>)| Upstream {
            no: *no,
            word: *word,
            output: output.clone(),
            attempt: None,
            work: None,
        };
        Arc::new(Surroundings {
            run: RunId::from_bytes([1; 16]),
            key: RunKey(1),
            definition: Arc::clone(&self.definition),
            run_input: Json::parse(self.input).expect("JSON"),
            parent: None,
            upstream: self.upstream.iter().map(upstream).collect(),
        })
    }

    pub fn ask(&self, what: Asked) -> Result<Answer, OutputsError> {
        let (number, around) = ((1, 1), self.around());
        let question = Question { run: RunKey(1), number, what, around, child: None };
        work_out(&question, &self.store)
    }

    /// What is said of the last task when its dependencies are satisfied.
    pub fn opening(&self) -> String {
        let last = TaskNo::from_position(self.definition.tasks.len() - 1);
        match self.ask(Asked::Opening(last)) {
            Ok(answer) => shown(&answer),
            Err(error) => format!("later: {error}"),
        }
    }

    /// What the executor of the last task is told.
    pub fn launch(&self, instance: Option<(u32, &str)>) -> Result<Launch, String> {
        self.started(instance, None)
    }

    /// What lands the work of this attempt is told.
    pub fn landing(&self, of: AttemptId) -> Result<Launch, String> {
        self.started(None, Some(of))
    }

    fn started(
        &self,
        instance: Option<(u32, &str)>,
        finalizes: Option<AttemptId>,
    ) -> Result<Launch, String> {
        let no = TaskNo::from_position(self.definition.tasks.len() - 1);
        let instance = instance.map(|(index, items)| {
            let items = Items::of(Json::parse(items).expect("JSON")).expect("a list");
            let count = u32::try_from(items.len()).expect("few");
            Instance { index, count, items: Some(Arc::new(items)) }
        });
        let start = StartAttempt {
            ticket: Ticket {
                run: RunKey(1),
                task: TaskRef { no, index: instance.as_ref().map(|instance| instance.index) },
                attempt: AttemptId::from_bytes([2; 16]),
            },
            attempt: 1,
            workdir: "/runs".into(),
            around: self.around(),
            instance,
            finalizes,
        };
        start.render(&self.store).map_err(|why| match why {
            NotLaunched::Failed(error) => format!("{}: {}", error.class.word(), error.message),
            NotLaunched::Later(what) => format!("later: {what}"),
        })
    }

    pub fn work(&self) -> Result<ProcessWork, String> {
        self.work_of(None)
    }

    pub fn work_of(&self, instance: Option<(u32, &str)>) -> Result<ProcessWork, String> {
        self.launch(instance).map(|launch| match launch.work {
            Work::Process(work) => work,
            other => panic!("not a process: {other:?}"),
        })
    }
}

pub fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Noop(Output::Inline(json)) => format!("noop {json}"),
        Answer::Fan { count, items } => {
            let items = items.as_ref().map_or(0, |items| items.len());
            format!("fan {count} of {items}")
        }
        Answer::Value(Output::Inline(json)) => format!("value {json}"),
        Answer::Park(Parking::Child(begin)) => {
            let Begin { version, input, group, .. } = &**begin;
            format!("child {} {input} {group:?}", version.number)
        }
        Answer::Failed(error) => format!("{}: {}", error.class.word(), error.message),
        other => format!("{other:?}").to_lowercase(),
    }
}

impl Outputs for Store {
    fn load(&self, _: RunId, _: &BlobRef) -> Result<Json, OutputsError> {
        *self.loads.borrow_mut() += 1;
        if self.is_away {
            return Err(OutputsError::Unreachable("no answer".to_owned()));
        }
        self.blob.clone().ok_or_else(|| OutputsError::Lost("0707".to_owned()))
    }

    fn file(&self, _: RunId, _: &BlobRef) -> Result<String, OutputsError> {
        Ok("/outputs/0707.json".to_owned())
    }

    fn written(&self, _: RunId, json: &Json) -> Result<String, OutputsError> {
        Ok(format!("/outputs/{}.json", json.as_str().len()))
    }

    fn keep(&self, _: RunId, json: Json) -> Result<Output, OutputsError> {
        match Output::fits_inline(&json) {
            true => Ok(Output::Inline(json)),
            false => Ok(Output::Blob(BlobRef { hash: [8; 32], bytes: json.as_str().len() as u64 })),
        }
    }

    fn workflow(&self, name: &Arc<str>, version: Option<u32>) -> Result<Prefetched, OutputsError> {
        if self.is_away {
            return Err(OutputsError::Unreachable("no answer".to_owned()));
        }
        let known = self.other.clone().filter(|known| known.row.name == *name);
        let latest = known.as_ref().map(|known| known.latest.clone());
        let version = latest.filter(|latest| version == Some(latest.number));
        Ok(Prefetched { workflow: known, version, ..Prefetched::default() })
    }

    fn instances(&self, _: RunKey, _: TaskNo, _: u32) -> Result<Vec<InstanceOutput>, OutputsError> {
        Ok(Vec::new())
    }
}
